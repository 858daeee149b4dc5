package repair

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// levels is the service levels on which packets leave a switch for a LID, under a
// contract, scope and lanes.
type levels struct {
	f       *fabric.Fabric
	lanes   *routing.Lanes
	sources [][]fabric.EndpointID // [switch] in scope
	fixed   uint16                // all service levels that clients may use, as bits; 0: what the tables say
	used    []uint8               // the service levels that anybody may use
	back    []uint16              // [row of the destination × switches + switch] those of the way back; nil: none
}

func newLevels(t *routing.Tables, o Options) *levels {
	f := t.Fabric
	l := &levels{f: f, lanes: t.Lanes, sources: make([][]fabric.EndpointID, f.Switches())}
	for _, e := range o.Scope.Endpoints(f) {
		s := f.Endpoint(e).Switch
		l.sources[s] = append(l.sources[s], e)
	}
	used := uint16(0)
	if mask, fixed := o.Contract.FixedMask(); fixed {
		if t.Lanes.SL2VL.IgnoresSL() {
			mask &= -mask // one stands for all
		}
		l.fixed, used = mask, mask
	} else {
		for lid := range f.TopLID() + 1 {
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

// wayBack collects the service levels on which each row may send to the sources on
// each switch: those may answer on them (routing.Honored).
func (l *levels) wayBack() {
	n := l.f.Switches()
	l.back = make([]uint16, l.lanes.Rows*n)
	for s, sources := range l.sources {
		for _, e := range sources {
			ep := l.f.Endpoint(e)
			for i := range fabric.LID(1) << ep.LMC {
				for r, sl := range l.lanes.SLRow(ep.LID + i) {
					l.back[r*n+s] |= 1 << sl
				}
			}
		}
	}
}

// of is the service levels of the packets from the sources on a switch to a LID, as
// bits; 0: there are none.
func (l *levels) of(s fabric.NodeID, lid fabric.LID) uint16 {
	to := l.f.Owner(lid)
	mask := uint16(0)
	row := l.lanes.SLRow(lid)
	for _, e := range l.sources[s] {
		switch {
		case e == to:
		case l.fixed != 0:
			return l.fixed
		case row == nil:
			return 1
		default:
			mask |= 1 << row[l.lanes.Row[e]]
		}
	}
	if mask != 0 && l.back != nil && to != fabric.None {
		mask |= l.back[int(l.lanes.Row[to])*l.f.Switches()+int(s)]
	}
	return mask
}

// first is the lanes on which packets of a service level leave their switch by a
// trunk, as bits.
func (l *levels) first(s fabric.NodeID, out, sl uint8) uint16 {
	mask := uint16(0)
	for _, e := range l.sources[s] {
		in := uint8(0)
		if inject := l.f.Endpoint(e).Inject; inject != fabric.None {
			in = l.f.Channel(inject).ToPort
		}
		mask |= 1 << l.lanes.SL2VL.VL(s, in, out, sl)
	}
	return mask
}
