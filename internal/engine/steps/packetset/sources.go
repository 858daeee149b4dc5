package packetset

import (
	"bytes"
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Sources is the endpoints in a scope as sources of packets: on which service levels they send,
// by a contract and the lanes of some tables.
type Sources struct {
	SLs   []uint8 // those in use; one stands for all where the packets on each do the same
	Lanes int     // one more than the highest lane that packets are mapped to between switches

	f        *fabric.Fabric
	lanes    *routing.Lanes
	fixed    uint16  // all service levels that clients may use, as bits; 0: what the tables say
	alike    bool    // the packets on every service level do the same, if on lanes of their own
	laneZero bool    // all packets are on lane 0, wherever they are
	count    []int64 // [switch] sources on it
	ends     []fabric.NodeID
	groups   []group
	first    []int32  // [switch, plus one] into groups
	answers  []uint16 // [row of the destination × groups + group] the service levels of answers; nil: none
}

// group is sources of a switch whose packets are treated alike.
type group struct {
	row   int32             // of Lanes.Row, which they have in common
	port  uint8             // of the switch, by which the packets of the first come in
	only  fabric.EndpointID // the first of them, and the only one if count is 1
	count int32
}

// NewSources finds the sources in a scope for tables and a contract. Sources.Lanes is counted over
// further service levels too, given as bits.
func NewSources(t *routing.Tables, c routing.Contract, scope routing.Scope, further uint16) *Sources {
	f, maps := t.Fabric, t.Lanes.SL2VL
	s := &Sources{f: f, lanes: t.Lanes, count: make([]int64, f.Switches()), first: make([]int32, f.Switches()+1)}
	used, fixed := c.FixedMask()
	if !fixed {
		used = givenOut(t)
	}
	lane, uniform := maps.Uniform()
	if s.alike = maps.IgnoresSL() || uniform && fixed; s.alike {
		for used&(used-1) != 0 && uniform && lane[bits.TrailingZeros16(used)] >= routing.MaxDataVLs {
			used &= used - 1 // dropped everywhere
		}
		used &= -used
	}
	if fixed {
		s.fixed = used
	}
	for m := used; m != 0; m &= m - 1 {
		s.SLs = append(s.SLs, uint8(bits.TrailingZeros16(m)))
	}
	s.Lanes = s.countLanes(used | further)
	s.laneZero = uniform && len(s.SLs) == 1 && lane[s.SLs[0]] == 0
	answers := c.EitherWay() && !s.alike && t.Lanes.SLRow(0) != nil
	s.group(scope.Endpoints(f), answers)
	return s
}

// givenOut is the service levels that tables give to any pair, as bits, also to LIDs of hosts that are
// gone, to which packets are on the way.
func givenOut(t *routing.Tables) (used uint16) {
	for lid := range t.Fabric.TopLID() + 1 {
		row := t.Lanes.SLRow(lid)
		if row == nil {
			return 1
		}
		for _, sl := range row {
			used |= bit(sl)
		}
	}
	return used
}

// bit is a service level as a bit; 0 for routing.NoSL.
func bit(sl uint8) uint16 { return 1 << sl }

// countLanes is one more than the highest lane of packets of some service levels on trunks.
func (s *Sources) countLanes(sls uint16) int {
	top := uint8(0)
	count := func(lane [routing.SLs]uint8) {
		for m := sls; m != 0; m &= m - 1 {
			if vl := lane[bits.TrailingZeros16(m)]; vl < routing.MaxDataVLs {
				top = max(top, vl)
			}
		}
	}
	if lane, uniform := s.lanes.SL2VL.Uniform(); uniform {
		count(lane)
		return int(top) + 1
	}
	for at := range fabric.NodeID(s.f.Switches()) {
		first, end := s.f.TrunksFrom(at)
		for out := first; out < end; out++ {
			for in := range uint8(s.f.Node(at).Ports + 1) {
				count(s.lanes.SL2VL.Map(at, in, s.f.TailPorts()[out]))
			}
		}
	}
	return int(top) + 1
}

// group puts sources that are treated alike into groups, counts those on each switch and, if answers,
// finds the service levels on which groups answer.
func (s *Sources) group(sources []fabric.EndpointID, answers bool) {
	on := make([][]group, s.f.Switches())
	place := make([]int, len(sources)) // of its group among those of its switch
	for i, e := range sources {
		ep := s.f.Endpoint(e)
		at, row, port := ep.Switch, s.lanes.Row[e], s.f.LastPort(ep)
		if s.count[at]++; s.count[at] == 1 {
			s.ends = append(s.ends, at)
		}
		for place[i] < len(on[at]) {
			if g := on[at][place[i]]; g.row == row && s.lanes.SL2VL.SameFrom(at, port, g.port) {
				break
			}
			place[i]++
		}
		if place[i] == len(on[at]) {
			on[at] = append(on[at], group{row: row, port: port, only: e})
		}
		on[at][place[i]].count++
	}
	for at, groups := range on {
		s.groups = append(s.groups, groups...)
		s.first[at+1] = int32(len(s.groups))
	}
	if !answers {
		return
	}
	s.answers = make([]uint16, s.lanes.Rows*len(s.groups))
	for i, e := range sources {
		at := int(s.first[s.f.Endpoint(e).Switch]) + place[i]
		for lid := range s.f.Endpoint(e).LIDs() {
			for r, sl := range s.lanes.SLRow(lid) {
				s.answers[r*len(s.groups)+at] |= bit(sl)
			}
		}
	}
}

// levels is the service levels, as bits, of the packets from a group, by its number, to a LID; 0: there
// are none.
func (s *Sources) levels(number int32, lid fabric.LID) uint16 {
	g, to := &s.groups[number], s.f.Owner(lid)
	if g.count == 1 && g.only == to {
		return 0
	}
	if s.fixed != 0 {
		return s.fixed
	}
	row := s.lanes.SLRow(lid)
	if row == nil {
		return 1
	}
	mask := bit(row[g.row])
	if mask != 0 && s.answers != nil && to != fabric.None {
		mask |= s.answers[int(s.lanes.Row[to])*len(s.groups)+int(number)]
	}
	if mask != 0 && s.alike {
		return bit(s.SLs[0])
	}
	return mask
}

// Send reports whether any source on a switch sends to a LID.
func (s *Sources) Send(at fabric.NodeID, lid fabric.LID) bool {
	for g := s.first[at]; g < s.first[at+1]; g++ {
		if s.levels(g, lid) != 0 {
			return true
		}
	}
	return false
}

// Count is the number of sources on a switch.
func (s *Sources) Count(at fabric.NodeID) int64 { return s.count[at] }

// pairs is how many sources on a switch send to a LID.
func (s *Sources) pairs(at fabric.NodeID, lid fabric.LID) int64 {
	if s.fixed == 0 && !s.Send(at, lid) {
		return 0
	}
	return s.count[at]
}

// Alike reports whether packets to two LIDs of the same switch, which have owners, are on the same
// service levels from every other switch.
func (s *Sources) Alike(a, b fabric.LID) bool {
	if s.fixed != 0 {
		return true
	}
	x, y := s.lanes.SLRow(a), s.lanes.SLRow(b)
	return bytes.Equal(x, y) && (x == nil) == (y == nil) &&
		(s.answers == nil || s.lanes.Row[s.f.Owner(a)] == s.lanes.Row[s.f.Owner(b)])
}
