package packets

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Adaptive groups (routing.Groups). A packet whose entry has a group leaves by any port of it, or by
// the static port: by the free one with the most credits, and by whichever is granted first if none
// is free, so that a packet that waits is chosen for again. Where a hash decides, it is the same port
// for all packets of a pair of endpoints, and each switch has a hash of its own: with the same for all,
// half of the ports of a switch behind one that chooses between two would see no packet. Service levels that may not choose take the static port.

// askGroup sends the head of a queue by the free port with the most credits of those that its entry
// names, or requests them all. Too early, it asks again later.
func (s *region) askGroup(q int32, p *packet) {
	in := q >> s.shift
	best, most, latest, ways := int32(none), int32(-1), Time(0), 0
	s.eachChoice(q, p, func(into int32) {
		ways++
		latest = max(latest, s.earliestStart(p, q, into))
		b, o := &s.near[into], s.port(into>>s.shift)
		if free := b.free(); !o.sending && b.first == none && free >= p.blocks() && free > most {
			best, most = into, free
		}
	})
	switch {
	case latest > s.wheel.now:
		s.wheel.push(latest, code(evHead, q, 0))
	case ways == 0:
		s.stuck(q)
	case s.flits == nil && best != none && int(s.far[in<<s.shift].reading) < s.readers():
		s.request(q, best)
		s.start(s.far[q].asked)
	default:
		s.eachChoice(q, p, func(into int32) { s.requestLane(q, into) })
	}
}

// eachChoice visits the buffers by which the head of the input buffer of a channel may leave.
func (s *region) eachChoice(q int32, p *packet, visit func(into int32)) {
	g, in := s.tables.Groups, q>>s.shift
	at, came, lid := fabric.NodeID(s.links[in].to), s.links[in].inPort, fabric.LID(p.address)
	table := g.Table(at, came, p.sl)
	static := s.tables.Forwarding
	if table > 0 {
		static = g.Static(table)
	}
	ports := routing.PortSet{}
	choice := g.Row(table, lid)[at]
	if choice != routing.NoChoice && g.Levels(at)>>p.sl&1 == 1 {
		ports = g.Sets(at)[choice.Group()]
	}
	if port := static.Port(at, lid); port != routing.NoPort {
		ports.Add(port)
	}
	only := -1
	if choice != routing.NoChoice && choice.Hashed() {
		high, _ := bits.Mul64(scramble(scramble(uint64(p.src)<<32|uint64(p.dst))+uint64(at)), uint64(ports.Len()))
		only = int(high)
	}
	i := 0
	for port := range ports.All() {
		c := s.Fabric.Out(at, port)
		vl := s.tables.Lanes.SL2VL.Next(at, came, port, p.sl, s.laneOf(q))
		if (only < 0 || i == only) && c != fabric.None && int(vl) < s.lanes {
			visit(s.out(c, vl))
		}
		i++
	}
}
