package repair

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// levels is the service levels on which packets leave a switch for a LID, under a
// contract, scope and lanes.
type levels struct {
	f       *fabric.Fabric
	lanes   *routing.Lanes
	sources [][]fabric.EndpointID // [switch] in scope
	ends    []fabric.NodeID       // switches with sources
	row     []int32               // [switch] the row of service levels of all its sources; -1: they have several
	ports   [][]uint8             // [switch] in-ports of its sources, one of each set from which packets are mapped to the same lanes
	fixed   uint16                // all service levels that clients may use, as bits; 0: what the tables say
	used    []uint8               // the service levels that any source may use
	back    []uint16              // [row of the destination × switches + switch] those of answers; nil: none
}

func newLevels(t *routing.Tables, o Options) *levels {
	f := t.Fabric
	n := f.Switches()
	l := &levels{f: f, lanes: t.Lanes, sources: make([][]fabric.EndpointID, n), row: make([]int32, n), ports: make([][]uint8, n)}
	for _, e := range o.Scope.Endpoints(f) {
		l.addSource(e)
	}
	used := uint16(0)
	if mask, fixed := o.Contract.FixedMask(); fixed {
		if oneIsEnough(t.Lanes.SL2VL, mask) {
			mask &= -mask
		}
		l.fixed, used = mask, mask
	} else {
		for lid := range f.TopLID() + 1 { // also those of hosts that are gone, to which packets are on the way
			row := t.Lanes.SLRow(lid)
			if row == nil {
				used = 1
				break
			}
			for _, sl := range row {
				used |= 1 << sl // routing.NoSL is beyond all bits
			}
		}
		if o.Contract.EitherWay() && t.Lanes.SLRow(0) != nil && !t.Lanes.SL2VL.IgnoresSL() {
			l.wayBack()
		}
	}
	for ; used != 0; used &= used - 1 {
		l.used = append(l.used, uint8(bits.TrailingZeros16(used)))
	}
	return l
}

func (l *levels) addSource(e fabric.EndpointID) {
	ep := l.f.Endpoint(e)
	s, row := ep.Switch, l.lanes.Row[e]
	if len(l.sources[s]) == 0 {
		l.row[s], l.ends = row, append(l.ends, s)
	} else if l.row[s] != row {
		l.row[s] = -1
	}
	l.sources[s] = append(l.sources[s], e)
	in := l.f.LastPort(ep)
	if !slices.ContainsFunc(l.ports[s], func(p uint8) bool { return l.lanes.SL2VL.SameFrom(s, p, in) }) {
		l.ports[s] = append(l.ports[s], in)
	}
}

// oneIsEnough says whether one of some service levels that all clients may use stands
// for all of them: either all have the same lanes, or each stays on a lane of its own,
// so that the packets on one lane travel like those on any other.
func oneIsEnough(m *routing.SL2VL, mask uint16) bool {
	lane, uniform := m.Uniform()
	if !uniform {
		return m.IgnoresSL()
	}
	for ; mask != 0; mask &= mask - 1 {
		if lane[bits.TrailingZeros16(mask)] >= dropLane {
			return false
		}
	}
	return true
}

// wayBack collects the service levels of answers: those on which each row may send to
// the sources on each switch (routing.Honored).
func (l *levels) wayBack() {
	n := l.f.Switches()
	l.back = make([]uint16, l.lanes.Rows*n)
	for s, sources := range l.sources {
		for _, e := range sources {
			for lid := range l.f.Endpoint(e).LIDs() {
				for r, sl := range l.lanes.SLRow(lid) {
					l.back[r*n+s] |= 1 << sl
				}
			}
		}
	}
}

// of is the service levels of the packets from the sources on a switch to a LID, as
// bits; 0: there are none.
func (l *levels) of(s fabric.NodeID, lid fabric.LID) uint16 {
	to, sources := l.f.Owner(lid), l.sources[s]
	if len(sources) == 0 || len(sources) == 1 && sources[0] == to {
		return 0
	}
	row := l.lanes.SLRow(lid)
	mask := uint16(0)
	switch {
	case l.fixed != 0:
		return l.fixed
	case row == nil:
		return 1
	case l.row[s] >= 0:
		mask = 1 << row[l.row[s]]
	default:
		for _, e := range sources {
			if e != to {
				mask |= 1 << row[l.lanes.Row[e]]
			}
		}
	}
	if mask != 0 && l.back != nil && to != fabric.None {
		mask |= l.back[int(l.lanes.Row[to])*l.f.Switches()+int(s)]
	}
	return mask
}

// pairs is how many sources on a switch, other than that of its owner, send to a LID.
func (l *levels) pairs(s fabric.NodeID, lid fabric.LID) int64 {
	if l.fixed == 0 && l.of(s, lid) == 0 {
		return 0
	}
	return int64(len(l.sources[s]))
}

// first is the lanes on which packets of a service level leave their switch by a
// trunk, as bits.
func (l *levels) first(s fabric.NodeID, out, sl uint8) uint16 {
	mask := uint16(0)
	for _, in := range l.ports[s] {
		mask |= 1 << l.lanes.SL2VL.VL(s, in, out, sl)
	}
	return mask
}
