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
			sum += s.port(index).source
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
			sum += s.buffers[s.port(index).source].head + s.warmNext(index<<s.shift)
		}
	}
	s.sink += sum
}

// warmNext reads what a port needs that may send another packet.
func (s *sim) warmNext(into int32) int32 {
	r := s.buffers[into].first
	if r == none {
		return 0
	}
	return s.packets[s.buffers[s.requests[r].queue].head].next
}

// warmWay reads what the way on of a packet needs.
func (s *sim) warmWay(p *packet) int32 {
	q := p.into
	sum := s.buffers[q].head
	if s.adaptive != nil || q>>s.shift >= s.channels {
		return sum
	}
	at := fabric.NodeID(s.links[q>>s.shift].to)
	into := s.out(s.Fabric.Out(at, s.tables.Forwarding.Port(at, fabric.LID(p.address))), s.uniform[p.sl])
	return sum + s.buffers[into].head
}
