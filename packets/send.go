package packets

// choose makes port o, of state p, send the next packet, if one can be sent. step calls it for every
// port at which something changed.
func (s *region) choose(o int32, p *near) {
	if s.shift == 0 { // ports have one lane
		if r := s.candidate(o); r != none {
			s.start(r)
		}
		return
	}
	var candidates [16]int32
	ready := uint16(0)
	for lane := range int32(s.lanes) {
		if p.wanted>>lane&1 == 1 {
			if r := s.candidate(o<<s.shift | lane); r != none {
				candidates[lane] = r
				ready |= 1 << lane
			}
		}
	}
	if ready == 0 {
		return
	}
	lane := s.nextLane(o, p, ready, &candidates)
	s.start(candidates[lane])
}

// nextLane is the lane that sends next of those that are ready, as bits: by arbitration tables or
// else round robin. It counts the lane as served; candidates is the request of each, [lane].
func (s *region) nextLane(o int32, p *near, ready uint16, candidates *[16]int32) uint8 {
	if a := s.Config.Arbitration; a != nil {
		lane, high := a.pick(&s.arbiters[o], ready)
		s.arbiters[o].sent(high, s.requests[candidates[lane]].blocks)
		return lane
	}
	lane := p.lastLane
	for {
		if lane++; int(lane) >= s.lanes {
			lane = 0
		}
		if ready>>lane&1 == 1 {
			p.lastLane = lane
			return lane
		}
	}
}

// candidate is the oldest request for a buffer that can be granted now (with Config.Lottery, a
// random one); none: there is none. A request that lacks credits keeps the later ones waiting; one
// whose in-port is busy sending another packet does not.
func (s *region) candidate(into int32) int32 {
	b := &s.near[into]
	drawn, seen := int32(none), 0
	for r := b.first; r != none; r = s.requests[r].next {
		if s.requests[r].blocks > b.free() {
			return drawn
		}
		q := s.requests[r].queue
		in := &s.far[q>>s.shift<<s.shift] // lane 0 of the in-port, where that is noted for all lanes
		switch {
		case int(in.reading) >= s.readers():
			in.skipped = true
		case !s.Config.Lottery:
			return r
		default: // of those that can be granted, each is drawn as likely as another
			if seen++; seen == 1 || s.lot(into, seen) == 0 {
				drawn = r
			}
		}
	}
	return drawn
}

// readers is how many packets may leave the lanes of a port at once.
func (s *region) readers() int {
	if s.Config.OutBuffer > 0 {
		return 1 // the speed-up is modelled by the way to the output buffers
	}
	return s.Config.Speedup
}

// start sends the packet of a request.
func (s *region) start(r int32) {
	now := s.wheel.now
	q, into := s.requests[r].queue, s.requests[r].into
	index, more := s.packetFor(r)
	b := &s.far[q]
	p := &s.packets[index]
	if !more {
		s.forget(q)
		b.head, b.leaving = p.next, true
		s.headChanged(q)
	}

	o := into >> s.shift
	port := s.port(o)
	k := &s.kinds[port.kind]
	size := p.blocks()
	takes := serial(p.bytes, k.perByte)
	port.sending, port.source, port.copying = true, q, more
	s.noteSend(o, p.bytes)
	s.far[q>>s.shift<<s.shift].reading++
	s.wheel.push(now+takes+s.Config.Gap, code(evTail, o, 0))
	switch {
	case more: // the packet stays where it is: further copies are to leave
	case !s.isSource(q >> s.shift):
		b.area += int64(size) * int64(now+takes-p.entered)
		s.giveBack(q, b, now+takes, p.size)
	default:
		p.injected = now
		s.count.atSource--
		s.count.inside++
	}
	next := &s.near[into]
	next.sent += p.size
	next.changed = now
	next.busy += takes
	next.peak = max(next.peak, uint16(k.blocks-next.free()))
	p.into, p.entered = into, now
	if int(o) < s.Fabric.Trunks() {
		p.hops++
	}
	s.count.blockHops += int64(size)
	switch {
	case port.ends:
		s.wheel.push(now+takes+k.latency, code(evDeliver, index, 0))
	case s.Config.StoreWhole && o < s.channels:
		s.pass(now+takes+k.latency, index, port.region)
	default:
		s.pass(now+k.latency, index, port.region)
	}
}

// giveBack frees blocks of buffer q, whose far end is b, at a time, and sends the credit to the region
// of the near end.
func (s *region) giveBack(q int32, b *far, at Time, blocks uint16) {
	b.freed += blocks
	at += s.kinds[b.kind].credit
	what := code(evCredit, q, uint32(blocks))
	if b.region == s.number {
		s.wheel.push(at, what)
		return
	}
	mail := &s.outbox[b.region]
	mail.credits = append(mail.credits, event{at: at, what: what})
}

// pass makes a packet ready at the far end, in a region, at a time. In another region it gets another
// index.
func (s *region) pass(at Time, index int32, to uint8) {
	if to == s.number {
		s.wheel.push(at, code(evReady, index, 0))
		return
	}
	s.count.inside--
	mail := &s.outbox[to]
	mail.packets = append(mail.packets, parcel{at: at, packet: s.packets[index]})
	s.release(index)
}

// deliver removes a packet that arrived. Endpoints accept packets at once.
func (s *region) deliver(index int32) {
	p := &s.packets[index]
	b := &s.far[p.into]
	if s.flits != nil {
		s.occupy(p.into, -int32(p.size))
	} else {
		b.area += int64(p.size) * int64(s.wheel.now-p.entered)
	}
	s.giveBack(p.into, b, s.wheel.now, p.size)
	s.count.inside--
	s.count.delivered++
	s.end(p, false)
	if s.observe != nil {
		s.observe(p)
	}
	s.tally.delivered(s.wheel.now, p)
	s.release(index)
	s.arrived()
}

// endedBatch is how many delivered or dropped packets a region collects before it
// records them.
const endedBatch = 256

// end tells the region of a packet's source that the packet was delivered or dropped.
func (s *region) end(p *packet, dropped bool) {
	if s.toGroup(p) {
		return // it is of no flow
	}
	home := s.homes[p.src]
	mail := &s.outbox[home]
	mail.ended = append(mail.ended, endedPacket{src: p.src, dst: p.dst, number: p.number, dropped: dropped})
	if home == s.number && len(mail.ended) >= endedBatch {
		s.record(mail)
	}
}

// record checks, against flows, the packets from this region whose end a region has noted in mail, and
// empties that list.
func (s *region) record(m *mail) {
	if err := s.flows.record(m.ended); err != nil && s.failure == nil {
		s.failure = err
	}
	m.ended = m.ended[:0]
}

// expire drops a packet that has been the head of its queue for too long.
func (s *region) expire(q int32, number uint32) {
	b := &s.far[q]
	if b.asked == none || s.serials[q]&numberMask != number {
		return
	}
	s.forget(q)
	s.dropHead(q)
	if b.head != none {
		s.fresh = append(s.fresh, q)
	}
}

// headChanged is called when a queue has a new head, or none.
func (s *region) headChanged(q int32) {
	if s.serials != nil {
		s.serials[q]++
	}
}
