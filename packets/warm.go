package packets

import "github.com/weft-fabric/weft/fabric"

// large is the bytes of buffers from which on a network does not fit into the
// caches next to a core.
const large = 1 << 20

// warm reads what events will need soon. In a large network nearly everything that
// an event touches is far away in memory, and events wait for one after the other.
// Here the reads do not depend on each other, so that the processor has many of
// them under way at once: twice as fast on 11,664 hosts. It changes nothing.
func (s *sim) warm(events []event) {
	sum := int32(0)
	for _, e := range events {
		index := int32(uint32(e.what))
		switch e.what >> 60 << 60 {
		case evReady, evDeliver:
			sum += s.packets[index].into
		case evTail:
			sum += s.portsOf[index].from
		case evCredit:
			sum += s.buffers[index].head
		}
	}
	for _, e := range events {
		index := int32(uint32(e.what))
		switch e.what >> 60 << 60 {
		case evReady:
			sum += s.warmWay(&s.packets[index])
		case evDeliver:
			p := &s.packets[index]
			sum += s.buffers[p.into].head + int32(s.flows.rows[home(flowKey(p.src, p.dst), len(s.flows.rows)-1)].sent)
		case evTail:
			q := s.portsOf[index].from
			sum += s.buffers[q].head + s.portsOf[q>>s.shift].from
		}
	}
	s.sink += sum
}

// warmWay reads what the way on of a packet needs.
func (s *sim) warmWay(p *packet) int32 {
	q := p.into
	sum := s.buffers[q].head + s.portsOf[q>>s.shift].from
	if s.adaptive != nil || q>>s.shift >= s.channels {
		return sum
	}
	at := fabric.NodeID(s.links[q>>s.shift].to)
	into := s.out(s.Fabric.Out(at, s.tables.Forwarding.Port(at, fabric.LID(p.address))), s.uniform[p.sl])
	return sum + s.buffers[into].head + s.portsOf[into>>s.shift].from
}
