package packets

// choose lets a port send the packet whose turn it is, if there is any.
func (s *sim) choose(o int32, p *buffer) {
	if s.shift == 0 {
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
	lane := s.turn(o, p, ready, &candidates)
	s.start(candidates[lane])
}

// turn is the lane that goes next.
func (s *sim) turn(o int32, p *buffer, ready uint16, candidates *[16]int32) uint8 {
	if a := s.Config.Arbitration; a != nil {
		lane, high := a.pick(&s.arbiters[o], ready)
		q := s.requests[candidates[lane]].queue
		s.arbiters[o].sent(high, s.packets[s.buffers[q].head].blocks())
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

// candidate is the oldest request for a buffer that can be granted now. What lacks
// credits is not overtaken on its lane; what waits for its own port, which sends
// another packet, is.
func (s *sim) candidate(into int32) int32 {
	b := &s.buffers[into]
	drawn, of := int32(none), 0
	for r := b.first; r != none; r = s.requests[r].next {
		q := s.requests[r].queue
		if s.packets[s.buffers[q].head].blocks() > b.free() {
			return drawn
		}
		in := s.port(q >> s.shift)
		switch {
		case int(in.reading) >= s.readers(q):
			in.skipped = true
		case !s.Config.Lottery:
			return r
		default:
			if of++; of == 1 || s.load.random.IntN(of) == 0 {
				drawn = r
			}
		}
	}
	return drawn
}

// readers is how many packets may leave the lanes of a port at once.
func (s *sim) readers(q int32) int {
	if s.Config.OutBuffer > 0 {
		return 1 // the speed-up is in the way through the switch
	}
	return s.Config.Speedup
}

// start sends the packet of a request.
func (s *sim) start(r int32) {
	now := s.wheel.now
	q, into := s.requests[r].queue, s.requests[r].into
	s.forget(q)
	b := &s.buffers[q]
	index := b.head
	p := &s.packets[index]
	b.head, b.leaving = p.next, true
	s.another(q)

	o := into >> s.shift
	l := &s.links[o]
	k := &s.kinds[l.kind]
	size := p.blocks()
	takes := serial(p.bytes, k.perByte)
	port, behind := s.port(o), s.port(q>>s.shift)
	port.sending, port.source = true, q
	behind.reading++
	s.wheel.push(now+takes+s.Config.Gap, code(evTail, o, 0))
	if q>>s.shift < s.ports {
		b.returning += p.size
		b.area += int64(size) * int64(now+takes-p.entered)
		s.wheel.push(now+takes+s.kinds[s.links[q>>s.shift].kind].credit, code(evCredit, q, uint32(size)))
	} else {
		p.injected = now
		s.count.atSource--
		s.count.inside++
	}
	next := &s.buffers[into]
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
	case l.to < 0 && o < s.channels:
		s.wheel.push(now+takes+k.latency, code(evDeliver, index, 0))
	case s.Config.StoreWhole && o < s.channels:
		s.wheel.push(now+takes+k.latency, code(evReady, index, 0))
	default:
		s.wheel.push(now+k.latency, code(evReady, index, 0))
	}
}

// deliver ends a packet's way. Endpoints take what arrives at once.
func (s *sim) deliver(index int32) {
	p := &s.packets[index]
	b := &s.buffers[p.into]
	b.area += int64(p.size) * int64(s.wheel.now-p.entered)
	b.returning += p.size
	s.wheel.push(s.wheel.now+s.kinds[s.links[p.into>>s.shift].kind].credit, code(evCredit, p.into, uint32(p.size)))
	s.count.inside--
	s.count.delivered++
	s.flows.arrive(p.src, p.dst, p.number)
	if s.observe != nil {
		s.observe(p)
	}
	s.watch.delivered(s.wheel.now, p)
	s.release(index)
	s.load.arrived(s)
}

// expire drops a packet that has headed its queue for too long.
func (s *sim) expire(q int32, number uint32) {
	b := &s.buffers[q]
	if b.asked == none || s.serials[q]&numberMask != number {
		return
	}
	s.forget(q)
	index := b.head
	p := &s.packets[index]
	b.head = p.next
	s.another(q)
	b.returning += p.size
	b.area += int64(p.size) * int64(s.wheel.now-p.entered)
	s.wheel.push(s.wheel.now+s.kinds[s.links[q>>s.shift].kind].credit, code(evCredit, q, uint32(p.size)))
	s.count.inside--
	s.count.dropped++
	s.flows.drop(p.src, p.dst)
	s.release(index)
	if b.head != none {
		s.fresh = append(s.fresh, q)
	}
	s.load.arrived(s)
}

// another notes that a queue has another head.
func (s *sim) another(q int32) {
	if s.serials != nil {
		s.serials[q]++
	}
}
