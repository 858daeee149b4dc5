package packets

import (
	"cmp"
	"slices"
)

// Flit by flit. With Config.Flits the packets of a run are worms: a lane of a channel is
// given to one packet until its tail has left, the packet begins as soon as there is space
// for one flit, and the lanes of a port share its cable flit by flit. That is how wormhole
// routers work, and BookSim's: W. J. Dally, B. Towles, Principles and Practices of
// Interconnection Networks, chapters 13, 16 and 19. It costs an event for each flit where
// packets as a whole cost one.
//
// Two choices are made, both round robin. A lane that is free goes to the next in-port whose
// packet wants it. Of the lanes that could send a flit, every in-port proposes one, every
// port accepts one of what is proposed to it, and so on until nobody can propose more
// (separable allocation, input first).

// worm is the packet that is leaving a buffer, and how full the buffer is.
type worm struct {
	into  int32 // the buffer that the packet is leaving for; none: no packet is leaving
	index int32 // of the packet
	bytes int32 // of the packet that have not left this buffer yet, arrived or not
	here  int32 // flits in the buffer that have arrived, of this packet and those queued after it
	begun bool  // its head has left

	occupied int32 // flits in the buffer, those on the way to it included
	since    Time  // when occupied last changed
}

// flits is what a region keeps to move single flits. A queue is a buffer that packets leave,
// and has the number of the buffer (see Network).
type flits struct {
	worms    []worm  // [buffer]
	owner    []int32 // [buffer] the queue whose packet has the lane; none: it is free
	gave     []int32 // [buffer] the in-port that had the lane last
	read     []uint8 // [in-port] its lane that was read last
	accepted []int32 // [port] the in-port whose flit it took last
	proposed []flitMove
}

// flitMove is a flit that a queue could send into a buffer.
type flitMove struct{ queue, into int32 }

func newFlits(n *Network) *flits {
	ports := len(n.links)
	f := &flits{
		worms: make([]worm, ports<<n.shift), owner: make([]int32, ports<<n.shift), gave: make([]int32, ports<<n.shift),
		read: make([]uint8, ports), accepted: make([]int32, ports),
	}
	for b := range f.worms {
		f.worms[b].into, f.owner[b] = none, none
	}
	return f
}

// moveFlits is what ports do at an instant, in place of choose: lanes are given to packets,
// and flits are sent.
func (s *region) moveFlits(ports []int32) {
	for _, o := range ports {
		for lane := range int32(s.lanes) {
			s.giveLane(o<<s.shift | lane)
		}
	}
	for s.propose(ports) {
		s.accept()
	}
}

// giveLane gives a free lane to the packet of the next in-port that wants it.
func (s *region) giveLane(into int32) {
	b, f := &s.near[into], s.flits
	if f.owner[into] != none || b.first == none {
		return
	}
	best, least := int32(none), int32(0)
	for r := b.first; r != none; r = s.requests[r].next {
		q := s.requests[r].queue
		if after := s.portsAfter(f.gave[into], q>>s.shift); best == none || after < least {
			best, least = q, after
		}
	}
	s.forget(best)
	f.owner[into], f.gave[into] = best, best>>s.shift
	far, w := &s.far[best], &f.worms[best]
	w.into, w.index, w.bytes, w.begun = into, far.head, s.packets[far.head].bytes, false
	far.head, far.leaving = s.packets[far.head].next, true
	b.changed = s.wheel.now
}

// portsAfter is how many ports come between two, round robin: a port served last, and another.
func (s *region) portsAfter(last, port int32) int32 {
	after := port - last - 1
	if after < 0 {
		after += int32(len(s.links))
	}
	return after
}

// propose sets proposed to a flit of each in-port that can send one by some of the ports, of its next
// such lane round robin, and reports whether there is any.
func (s *region) propose(ports []int32) bool {
	f := s.flits
	f.proposed = f.proposed[:0]
	for _, o := range ports {
		if s.port(o).sending {
			continue
		}
		for lane := range int32(s.lanes) {
			into := o<<s.shift | lane
			q := f.owner[into]
			if q == none || f.worms[q].bytes == 0 || s.near[into].free() < 1 {
				continue
			}
			in := q >> s.shift
			arrived := s.isSource(in) || f.worms[q].here >= 1
			if arrived && int(s.far[in<<s.shift].reading) < s.readers() {
				f.proposed = append(f.proposed, flitMove{queue: q, into: into})
			}
		}
	}
	// By in-port, and there by lane after the one read last: the first of each in-port stays.
	order := func(m flitMove) int32 {
		in := m.queue >> s.shift
		return in<<s.shift | (m.queue-int32(f.read[in])-1)&(1<<s.shift-1)
	}
	slices.SortFunc(f.proposed, func(a, b flitMove) int { return int(order(a) - order(b)) })
	f.proposed = slices.CompactFunc(f.proposed, func(a, b flitMove) bool { return a.queue>>s.shift == b.queue>>s.shift })
	return len(f.proposed) > 0
}

// accept sends, of what is proposed to each port, the flit of the next in-port round robin; the ports
// are busy then.
func (s *region) accept() {
	f := s.flits
	after := func(m flitMove) int32 { return s.portsAfter(f.accepted[m.into>>s.shift], m.queue>>s.shift) }
	slices.SortFunc(f.proposed, func(a, b flitMove) int {
		return cmp.Or(cmp.Compare(a.into>>s.shift, b.into>>s.shift), cmp.Compare(after(a), after(b)))
	})
	last := int32(none)
	for _, m := range f.proposed {
		if o := m.into >> s.shift; o != last {
			last = o
			f.accepted[o], f.read[m.queue>>s.shift] = m.queue>>s.shift, s.laneOf(m.queue)
			s.sendFlit(m.queue, m.into)
		}
	}
}

// sendFlit sends the next flit of the packet that leaves a queue.
func (s *region) sendFlit(q, into int32) {
	now, w := s.wheel.now, &s.flits.worms[q]
	o := into >> s.shift
	port, next, p := s.port(o), &s.near[into], &s.packets[w.index]
	k := &s.kinds[port.kind]
	bytes := min(w.bytes, Block)
	takes := serial(bytes, k.perByte)
	w.bytes -= bytes
	port.sending, port.source = true, q
	s.far[q>>s.shift<<s.shift].reading++
	s.wheel.push(now+takes, code(evTail, o, 0))
	next.sent++
	next.changed = now
	next.busy += takes
	next.peak = max(next.peak, uint16(k.blocks-next.free()))
	s.occupy(into, 1)
	s.count.blockHops++
	if !s.isSource(q >> s.shift) {
		w.here--
		s.occupy(q, -1)
		s.giveBack(q, &s.far[q], now+takes, 1)
	}
	if !w.begun {
		w.begun = true
		if s.isSource(q >> s.shift) {
			p.injected = now
			s.count.atSource--
			s.count.inside++
		}
		p.into, p.entered = into, now
		if int(o) < s.Fabric.Trunks() {
			p.hops++
		}
		if !port.ends {
			s.wheel.push(now+k.latency, code(evReady, w.index, 0))
		}
	}
	if !port.ends {
		s.wheel.push(now+k.latency, code(evFlit, into, 0))
	}
	if w.bytes > 0 {
		return
	}
	if port.ends {
		s.wheel.push(now+takes+k.latency, code(evDeliver, w.index, 0))
	}
	gap := s.Config.Gap
	if s.Config.AnyLane && s.lanes > 1 && s.isSource(q>>s.shift) {
		gap = 0 // which is between two packets on one lane: the source's next packet can take another at once
	}
	s.wheel.push(now+takes+gap, code(evLane, into, 0))
}

// occupy adds flits, which may be negative, to those in a buffer, for its mean.
func (s *region) occupy(b, flits int32) {
	w := &s.flits.worms[b]
	s.far[b].area += int64(w.occupied) * int64(s.wheel.now-w.since)
	w.occupied += flits
	w.since = s.wheel.now
}

// measureFrom begins the means of buffers anew.
func (f *flits) measureFrom(now Time) {
	for b := range f.worms {
		f.worms[b].since = now
	}
}

// flitCame is called when a flit that has arrived may go on.
func (s *region) flitCame(q int32) {
	w := &s.flits.worms[q]
	w.here++
	if w.into != none {
		s.mark(w.into >> s.shift)
	}
}

// flitLeft is called when a port has sent a flit. The in-port that it came from can be read
// again, so every port that one of its packets is leaving by may be able to send.
func (s *region) flitLeft(o int32) {
	p := s.port(o)
	p.sending = false
	s.mark(o)
	in := p.source >> s.shift
	s.far[in<<s.shift].reading--
	for lane := range int32(s.lanes) {
		if into := s.flits.worms[in<<s.shift|lane].into; into != none {
			s.mark(into >> s.shift)
		}
	}
}

// freeLane is called when the tail of a packet has left for a buffer: its lane is free, and
// the next packet of the queue may ask.
func (s *region) freeLane(into int32) {
	f := s.flits
	q := f.owner[into]
	f.owner[into], f.worms[q].into = none, none
	b := &s.far[q]
	b.leaving = false
	if b.head != none {
		s.fresh = append(s.fresh, q)
	}
	if s.isSource(q >> s.shift) {
		s.left(q>>s.shift - s.ports)
	}
	s.mark(into >> s.shift)
}

// stuckFlits marks the queues that will move (sim.watch.moves), and counts the others. A queue
// will move if
//   - it has no packet, or none that has asked for a lane yet;
//   - its packet has a lane, and its tail has left, there are credits, some are on their way back,
//     or the queue that it is leaving for will move;
//   - its packet has requested lanes, of which one is free, or held by a queue that will move.
//
// A packet that has credits and waits for its next flit counts as moving: its buffer is not
// full, and no circle of full buffers passes through it.
func (s *sim) stuckFlits() (waiting int) {
	f, moves := s.regions[0].flits, s.watch.moves
	mayMove := func(q int32) bool {
		if w := &f.worms[q]; w.into != none {
			return w.bytes == 0 || s.near[w.into].free() > 0 || s.returning(w.into) > 0 || moves[w.into]
		}
		r := s.far[q].asked
		if r == none {
			return true
		}
		for ; r != none; r = s.regions[0].requests[r].sibling {
			if on := f.owner[s.regions[0].requests[r].into]; on == none || moves[on] {
				return true
			}
		}
		return false
	}
	for {
		changed := false
		waiting = 0
		for q := range int32(len(moves)) {
			switch {
			case moves[q]:
			case mayMove(q):
				moves[q], changed = true, true
			default:
				waiting++
			}
		}
		if !changed {
			return waiting
		}
	}
}
