package deadlock

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// causeOfMixture is how to find what causes a step of a loop.
func (d *derivation) causeOfMixture() func(hold, want hop, answer bool) (MixtureStep, bool) {
	multicast := newSpreader(d)
	return func(hold, want hop, answer bool) (MixtureStep, bool) {
		step, found := d.causeOfStep(hold, want, answer)
		if !found && answer {
			step.LoopStep, found = multicast.cause(hold, want)
		}
		return step, found
	}
}

// causeOfStep finds a route that holds one hop and goes on to the other, either among packets
// on the SLs of their own direction or among answers: that of the lowest destination LID
// and, for it, the lowest source, and of its routes one with the fewest hops.
func (d *derivation) causeOfStep(hold, want hop, answer bool) (MixtureStep, bool) {
	sources := d.o.Scope.Endpoints(d.f)
	for lid, to := range d.o.Scope.LIDs(d.f) {
		if !d.leads(lid, hold.trunk) || !d.leads(lid, want.trunk) {
			continue
		}
		for _, src := range sources {
			if src == to {
				continue
			}
			there, back := d.ofSource(src, lid)
			sls := there
			if answer {
				sls = back &^ there
			}
			for ; sls != 0; sls &= sls - 1 {
				sl := uint8(bits.TrailingZeros16(sls))
				if way := d.way(src, lid, sl, hold, want); way != nil {
					return MixtureStep{LoopStep{Trunk: hold.trunk, VL: hold.vl, SL: sl, Src: src, Dst: lid, Answer: answer}, way}, true
				}
			}
		}
	}
	return MixtureStep{}, false
}

// ofSource is the service levels of packets from one source, as bits: those of their
// own direction, and those of answers.
func (d *derivation) ofSource(e fabric.EndpointID, lid fabric.LID) (there, back uint16) {
	if d.allowed != 0 {
		return d.allowed, 0
	}
	for i, t := range d.tables {
		there |= bit(t.Lanes.SL(e, lid))
		if a := d.answers[i]; a != nil {
			back |= a.toSource(t.Lanes.Row[d.f.Owner(lid)], e)
		}
	}
	if there == 0 {
		return 0, 0
	}
	return there, back
}

// leads reports whether any of the tables forwards packets to a LID by a trunk.
func (d *derivation) leads(lid fabric.LID, c fabric.ChannelID) bool {
	s, found := d.f.Channel(c).From, false
	for i := range d.tables {
		for table := range d.private {
			d.eachPort(i, table, s, lid, routing.SLs, func(port uint8, _ int) { found = found || d.f.Trunk(s, port) == c })
		}
	}
	return found
}

// static is the group of TableChoice where a packet takes the static port.
const static = -1

// eachPort visits the ports by which packets to a LID may leave a switch by the entry that one of the tables has in a
// private table, first the static port, and for each the index of the tables that give it to the entry's group. The
// packets are on a service level, or, if it is routing.SLs, on any.
func (d *derivation) eachPort(entry, table int, s fabric.NodeID, lid fabric.LID, sl uint8, visit func(port uint8, group int)) {
	t := d.tables[entry]
	switch {
	case table == 0:
		visit(t.Forwarding.Port(s, lid), static)
	case t.Groups != nil && table < t.Groups.Tables():
		visit(t.Groups.Static(table).Port(s, lid), static)
	}
	if t.Groups == nil || table >= t.Groups.Tables() || sl < routing.SLs && !d.mayChoose(s, sl) {
		return
	}
	choice := t.Groups.Row(table, lid)[s]
	for i, other := range d.tables {
		if choice == routing.NoChoice || other.Groups == nil || choice.Group() >= len(other.Groups.Sets(s)) {
			continue
		}
		for port := range other.Groups.Sets(s)[choice.Group()].All() {
			visit(port, i)
		}
	}
}

// mayChoose reports whether by any of the tables packets on a service level may choose at a switch.
func (d *derivation) mayChoose(s fabric.NodeID, sl uint8) bool {
	return slices.ContainsFunc(d.tables, func(t *routing.Tables) bool { return t.Groups != nil && t.Groups.Levels(s)>>sl&1 == 1 })
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
func (d *derivation) way(src fabric.EndpointID, lid fabric.LID, sl uint8, hold, want hop) []TableChoice {
	seen := map[hop]bool{}
	var list []state
	add := func(at fabric.NodeID, in uint8, came uint16, before int) {
		for _, s := range d.choices(at, in, lid, sl, came) {
			if !seen[s.hop] || before >= 0 && list[before].hop == hold && s.hop == want {
				seen[s.hop] = true
				s.before = before
				list = append(list, s)
			}
		}
	}
	add(d.f.Endpoint(src).Switch, d.f.LastPort(d.f.Endpoint(src)), 0, -1)
	for i := 0; i < len(list); i++ {
		if b := list[i].before; b >= 0 && list[b].hop == hold && list[i].hop == want {
			var way []TableChoice
			for ; i >= 0; i = list[i].before {
				way = append(way, list[i].by)
			}
			slices.Reverse(way)
			return way
		}
		c := d.f.Channel(list[i].trunk)
		add(c.To, c.ToPort, bit(list[i].vl), i)
	}
	return nil
}

// choices is the hops that a packet may hold next at a switch, to which it came on a lane (as a bit; 0
// from its source), each with the first tables that allow it.
func (d *derivation) choices(at fabric.NodeID, in uint8, lid fabric.LID, sl uint8, came uint16) []state {
	var all []state
	for entry := range d.tables {
		for private, t := range d.tables {
			table := 0
			if t.Groups != nil {
				table = t.Groups.Table(at, in, sl)
			}
			d.eachPort(entry, table, at, lid, sl, func(port uint8, group int) {
				c := d.f.Trunk(at, port)
				for j := 0; j < len(d.tables) && c != fabric.None; j++ {
					h := hop{c, uint8(bits.TrailingZeros16(mapped(d.tables[j:j+1], at, in, port, sl, came)))}
					if h.vl < dropLane && !slices.ContainsFunc(all, func(s state) bool { return s.hop == h }) {
						all = append(all, state{hop: h, by: TableChoice{Switch: at, Port: port, Entry: entry, Private: private, Group: group, Map: j}})
					}
				}
			})
		}
	}
	return all
}
