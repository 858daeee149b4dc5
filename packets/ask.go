package packets

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
)

// ask makes the new head of a queue request its next buffer, or several; step calls it once for each
// new head. A queue is a buffer by its
// number (see Network): that at the far end of a port, or an endpoint's own.
func (s *region) ask(q int32) {
	p := &s.packets[s.far[q].head]
	in := q >> s.shift
	switch {
	case s.isSource(in):
		inject := s.Fabric.Endpoint(s.endpointOf(in)).Inject
		s.request(q, int32(inject)<<s.shift|int32(s.sendLane(q, int32(inject))))
	case in >= s.channels: // in an output buffer
		s.requestInTime(q, p, q-s.channels<<s.shift)
	case s.adaptive != nil:
		s.askAdaptive(q, p)
	case s.toGroup(p):
		s.askCopies(q, p)
	case s.rewrites == nil && s.tables.Groups != nil:
		s.askGroup(q, p)
	case s.rewrites != nil:
		into := s.wayNow(q, p)
		if into == none {
			s.dropHead(q)
			if s.far[q].head != none {
				s.ask(q)
			}
			return
		}
		s.requestInTime(q, p, into)
	default:
		s.requestInTime(q, p, s.wayOn(q, p))
	}
	if s.lifetime && !s.isSource(in) && s.far[q].asked != none {
		s.wheel.push(s.wheel.now+s.Config.Lifetime, code(evExpire, q, s.serials[q]))
	}
}

// wayOn is the buffer to which the tables send the head of the input buffer of a channel.
func (s *region) wayOn(q int32, p *packet) int32 {
	in := q >> s.shift
	at := fabric.NodeID(s.far[in<<s.shift].at)
	port := s.tables.Forwarding.Port(at, fabric.LID(p.address))
	lane := s.uniform[p.sl]
	if s.perPort {
		lane = s.tables.Lanes.SL2VL.Next(at, s.links[in].inPort, port, p.sl, s.laneOf(q))
	}
	return s.out(s.Fabric.Out(at, port), lane)
}

// out is the input buffer at the far end of a channel, or the output buffer before the
// channel if there are any.
func (s *region) out(c fabric.ChannelID, lane uint8) int32 {
	return (int32(c)+s.ports-s.channels)<<s.shift | int32(lane)
}

// requestInTime requests the only possible buffer, now or, by an event, as soon as the packet can be
// sent without a pause: its tail must have arrived before it has to leave.
func (s *region) requestInTime(q int32, p *packet, into int32) {
	if at := s.earliestStart(p, q, into); at > s.wheel.now {
		s.wheel.push(at, code(evHead, q, 0))
		return
	}
	s.requestLane(q, into)
}

// requestLane requests a buffer, or with Config.AnyLane all lanes of a port to an endpoint.
func (s *region) requestLane(q, into int32) {
	if !s.Config.AnyLane || !s.port(into>>s.shift).ends {
		s.request(q, into)
		return
	}
	for lane := range int32(s.lanes) {
		s.request(q, into>>s.shift<<s.shift|lane)
	}
}

// sendLane is the lane of port o, its link, on which an endpoint sends the next packet of a queue:
// that of the queue, or with Config.AnyLane the next round robin that has space for a flit, which is
// then the port's last; if none has, the next,
// on which the packet then waits for space.
func (s *region) sendLane(q, o int32) uint8 {
	if !s.Config.AnyLane {
		return s.laneOf(q)
	}
	last := &s.port(o).lastLane
	for i := range uint8(s.lanes) {
		lane := (*last + 1 + i) % uint8(s.lanes)
		if s.near[o<<s.shift|int32(lane)].free() >= 1 {
			*last = lane
			return lane
		}
	}
	return (*last + 1) % uint8(s.lanes)
}

// earliestStart is when a packet may begin to leave a buffer without its tail coming
// too late. Of a switch that stores packets whole this has passed when the head asks: the tail is there.
func (s *region) earliestStart(p *packet, q, into int32) Time {
	if !s.unequal || s.flits != nil {
		return 0
	}
	came := s.kindAt(q >> s.shift)
	return p.entered + came.latency + serial(p.bytes, came.perByte) - serial(p.bytes, s.kindAt(into>>s.shift).perByte)
}

// request adds the head of a queue to the list of those that want to enter a buffer.
func (s *region) request(q, into int32) {
	r := int32(len(s.requests))
	if last := len(s.spare) - 1; last >= 0 {
		r, s.spare = s.spare[last], s.spare[:last]
	} else {
		s.requests = append(s.requests, request{})
	}
	b := &s.near[into]
	s.requests[r] = request{queue: q, into: into, next: none, prev: b.last, sibling: s.far[q].asked, blocks: s.packets[s.far[q].head].blocks(), since: s.wheel.now}
	s.far[q].asked = r
	if b.last != none {
		s.requests[b.last].next = r
	} else {
		b.first = r
		s.port(into >> s.shift).wanted |= 1 << s.laneOf(into)
		s.noteWait(into >> s.shift)
	}
	b.last = r
	s.mark(into >> s.shift)
}

// forget withdraws all requests of the head of a queue.
func (s *region) forget(q int32) {
	r := s.far[q].asked
	s.far[q].asked = none
	for r != none {
		next := s.requests[r].sibling
		s.unlink(r)
		r = next
	}
}

// unlink takes a request out of the list of its buffer.
func (s *region) unlink(r int32) {
	x := &s.requests[r]
	b := &s.near[x.into]
	if x.prev != none {
		s.requests[x.prev].next = x.next
	} else {
		b.first = x.next
	}
	if x.next != none {
		s.requests[x.next].prev = x.prev
	} else {
		b.last = x.prev
	}
	if b.first == none {
		o := s.port(x.into >> s.shift)
		if o.wanted &^= 1 << s.laneOf(x.into); o.wanted == 0 {
			s.noteWaitEnd(x.into >> s.shift)
		}
	}
	s.spare = append(s.spare, r)
}

// askAdaptive sends the head of a queue by the way with the most free credits among those that are free
// now (the first of equals). If none is free it requests all of them. Too early, it asks again later.
func (s *region) askAdaptive(q int32, p *packet) {
	in := q >> s.shift
	lane := s.laneOf(q)
	at := fabric.NodeID(s.links[in].to)
	dst := s.Fabric.Endpoint(fabric.EndpointID(p.dst))
	if at == dst.Switch {
		s.requestInTime(q, p, s.out(dst.Deliver, lane))
		return
	}
	came := fabric.ChannelID(in)
	if int(in) >= s.Fabric.Trunks() {
		came = fabric.None
	}
	var addresses []int32
	if s.adaptive.FirstSwitch {
		addresses = s.firstSwitch(p, came)
	}
	own := [1]int32{p.address}
	if addresses == nil {
		addresses = own[:]
	}
	first, end := s.Fabric.TrunksFrom(at)
	best, most, asked, latest := int32(none), int32(-1), false, Time(0)
	eachWay := func(visit func(into int32)) {
		for _, a := range addresses {
			next := p.lanes
			switch {
			case came != fabric.None:
				next &= s.adaptive.Lanes[lane].Next
			case len(addresses) > 1:
				next = s.adaptive.Allowed(at, adaptive.Address(a))
			}
			for set := next; set != 0; set &= set - 1 {
				to := uint8(bits.TrailingZeros16(set))
				ways := s.adaptive.Ways(adaptive.Address(a), came, lane, to)
				for c := ways.Next(first, end); c < end; c = ways.Next(c+1, end) {
					visit(s.out(c, to))
				}
			}
		}
	}
	eachWay(func(into int32) {
		latest = max(latest, s.earliestStart(p, q, into))
		b, o := &s.near[into], s.port(into>>s.shift)
		if free := b.free(); !o.sending && b.first == none && free >= p.blocks() && free > most {
			best, most = into, free
		}
	})
	if latest > s.wheel.now {
		s.wheel.push(latest, code(evHead, q, 0))
		return
	}
	if s.flits == nil && best != none && int(s.far[in<<s.shift].reading) < s.readers() {
		s.request(q, best)
		s.start(s.far[q].asked)
		return
	}
	eachWay(func(into int32) {
		s.request(q, into)
		asked = true
	})
	if !asked {
		s.stuck(q)
	}
}

// firstSwitch is the addresses among which the switch of a packet's source may choose for it: at that
// switch (came None), all that the source may use; elsewhere nil, the packet's own. At the second switch
// it makes the address by which the packet left the first one the packet's own, with its lanes.
func (s *region) firstSwitch(p *packet, came fabric.ChannelID) []int32 {
	from := s.Fabric.Endpoint(fabric.EndpointID(p.src)).Switch
	all := s.addresses.of(from, s.Fabric.Endpoint(fabric.EndpointID(p.dst)).Switch)
	switch {
	case came == fabric.None:
		return all
	case s.Fabric.Channel(came).From != from:
		return nil
	}
	for _, a := range all {
		lanes := s.adaptive.Allowed(from, adaptive.Address(a))
		for set := lanes; set != 0; set &= set - 1 {
			if s.adaptive.Ways(adaptive.Address(a), fabric.None, 0, uint8(bits.TrailingZeros16(set))).Next(came, came+1) == came {
				p.address, p.lanes = a, lanes
				return nil
			}
		}
	}
	return nil
}

// stuck reports a packet for which the tables have no way on, although they claimed to
// cover the pair.
func (s *region) stuck(q int32) {
	p := &s.packets[s.far[q].head]
	s.fail("a packet from endpoint %d to %d, address %d, has no way on from switch %d", p.src, p.dst, p.address, s.links[q>>s.shift].to)
}
