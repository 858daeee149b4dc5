package deadlock

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// cause finds a route that holds one hop and goes on to the other, either among packets
// on the SLs of their own direction or among answers: that of the lowest destination LID
// and, for it, the lowest source, and of its routes one with the fewest hops.
func (m *mixture) cause(hold, want hop, answer bool) (MixtureStep, bool) {
	sources := m.o.Scope.Endpoints(m.f)
	for lid, to := range m.o.Scope.LIDs(m.f) {
		if !m.leads(lid, hold.trunk) || !m.leads(lid, want.trunk) {
			continue
		}
		for _, src := range sources {
			if src == to {
				continue
			}
			there, back := m.ofSource(src, lid)
			sls := there
			if answer {
				sls = back &^ there
			}
			for ; sls != 0; sls &= sls - 1 {
				sl := uint8(bits.TrailingZeros16(sls))
				if way := m.way(src, lid, sl, hold, want); way != nil {
					return MixtureStep{LoopStep{Trunk: hold.trunk, VL: hold.vl, SL: sl, Src: src, Dst: lid, Answer: answer}, way}, true
				}
			}
		}
	}
	return MixtureStep{}, false
}

// leads says whether any of the tables forwards packets to a LID by a trunk.
func (m *mixture) leads(lid fabric.LID, c fabric.ChannelID) bool {
	ch := m.f.Channel(c)
	for _, t := range m.tables {
		if t.Forwarding.Port(ch.From, lid) == ch.FromPort {
			return true
		}
	}
	return false
}

// state is a packet on its route: the hop that it holds, the tables by which it was
// forwarded, and the index of the state before.
type state struct {
	hop
	by     TableChoice
	before int
}

// way is a route on which packets from src hold one hop and go on to the other, found
// breadth first; nil: there is none.
func (m *mixture) way(src fabric.EndpointID, lid fabric.LID, sl uint8, hold, want hop) []TableChoice {
	seen := map[hop]bool{}
	var list []state
	add := func(at fabric.NodeID, in uint8, came uint16, before int) {
		for _, s := range m.choices(at, in, lid, sl, came) {
			if !seen[s.hop] || before >= 0 && list[before].hop == hold && s.hop == want {
				seen[s.hop] = true
				s.before = before
				list = append(list, s)
			}
		}
	}
	add(m.f.Endpoint(src).Switch, m.f.LastPort(m.f.Endpoint(src)), 0, -1)
	for i := 0; i < len(list); i++ {
		if b := list[i].before; b >= 0 && list[b].hop == hold && list[i].hop == want {
			var way []TableChoice
			for ; i >= 0; i = list[i].before {
				way = append(way, list[i].by)
			}
			slices.Reverse(way)
			return way
		}
		c := m.f.Channel(list[i].trunk)
		add(c.To, c.ToPort, bit(list[i].vl), i)
	}
	return nil
}

// choices is the hops that a packet may hold next at a switch, to which it came on a lane (as a bit; 0
// from its source), each with the first tables that allow it.
func (m *mixture) choices(at fabric.NodeID, in uint8, lid fabric.LID, sl uint8, came uint16) []state {
	var all []state
	for i, t := range m.tables {
		c := m.f.Trunk(at, t.Forwarding.Port(at, lid))
		if c == fabric.None {
			continue
		}
		for j := range m.tables {
			h := hop{c, uint8(bits.TrailingZeros16(mapped(m.tables[j:j+1], at, in, m.f.Channel(c).FromPort, sl, came)))}
			if h.vl < dropLane && !slices.ContainsFunc(all, func(s state) bool { return s.hop == h }) {
				all = append(all, state{hop: h, by: TableChoice{Switch: at, Entry: i, Map: j}})
			}
		}
	}
	return all
}
