package packets

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Deadlock describes packets that can never move again.
type Deadlock struct {
	Closed  Time // when the last packet of the cycle began to wait, or its last credit was used up
	Found   Time
	Cycle   []Blocked // each waits for space in the next, the last in the first
	Buffers int       // buffers that can never move again: those of the cycle and those that wait for them
	Packets int       // packets in those buffers
}

// Blocked is a full buffer whose head waits for space in another.
type Blocked struct {
	Channel fabric.ChannelID
	VL      uint8
	Output  bool // the output buffer before the channel; otherwise the input buffer at its far end
	Used    int  // blocks of it that its sender may not use
	Packets []Waiting
}

// Waiting is a packet in a buffer.
type Waiting struct {
	Src, Dst fabric.EndpointID
	LID      fabric.LID // 0 for adaptive routing
	SL       uint8
	Bytes    int
	Created  Time
}

// stuckNow is the packets that can never move again, nil if there are none. A buffer
// will move if something in it is moving or on its way to it, or if its head has a way
// on whose buffer has space for the first in line or will itself move. The buffers left
// over wait only for each other. So it never reports a deadlock that is not one, and it
// reports one as soon as all movement around it has ended.
func (s *sim) stuckNow() *Deadlock {
	if s.Config.Lifetime > 0 {
		return nil // every head is dropped at the end of its lifetime
	}
	w := &s.watch
	if w.moves == nil {
		w.moves = make([]bool, len(s.far))
	}
	clear(w.moves)
	w.queue = w.queue[:0]
	if s.Config.Flits {
		if s.stuckFlits() == 0 {
			return nil
		}
		return s.describe()
	}
	waiting := 0
	for q := range int32(len(s.far)) {
		if s.movesByItself(q) {
			w.moves[q] = true
			w.queue = append(w.queue, q)
		} else {
			waiting++
		}
	}
	for i := 0; i < len(w.queue); i++ {
		requests := s.regionOfSender(w.queue[i]).requests
		for r := s.near[w.queue[i]].first; r != none; r = requests[r].next {
			if q := requests[r].queue; !w.moves[q] && s.headMoves(q, func(into int32) bool { return w.moves[into] || s.hasRoom(into) }) {
				w.moves[q] = true
				w.queue = append(w.queue, q)
				waiting--
			}
		}
	}
	if waiting == 0 {
		return nil
	}
	return s.describe()
}

// movesByItself reports whether a buffer will move whatever others do.
func (s *sim) movesByItself(q int32) bool {
	b := &s.far[q]
	if b.asked == none {
		return true
	}
	return s.headMoves(q, s.hasRoom)
}

// hasRoom reports whether the oldest request for a buffer can be granted, or credits are on their way.
func (s *sim) hasRoom(into int32) bool {
	return s.returning(into) > 0 || s.near[into].free() >= s.regionOfSender(into).requests[s.near[into].first].blocks
}

// regionOfQueue is the region of the far end of a buffer, which has the packets of its queue
// and their requests.
func (s *sim) regionOfQueue(q int32) *region { return s.regions[s.near[q].region] }

// regionOfSender is the region of the near end of a buffer, which has the requests to enter it.
func (s *sim) regionOfSender(into int32) *region { return s.regions[s.far[into].region] }

// returning is blocks of a buffer whose packets have begun to leave and whose credits
// are not back.
func (s *sim) returning(q int32) uint16 { return s.far[q].freed - s.near[q].limit }

// describe is the deadlock of the buffers that will not move (watch.moves), with a cycle among them.
func (s *sim) describe() *Deadlock {
	d := &Deadlock{Found: s.now}
	start := int32(none)
	for q := range int32(len(s.far)) {
		if !s.watch.moves[q] {
			if !s.isSource(q >> s.shift) {
				d.Buffers++
				d.Packets += len(s.waiting(q))
			}
			if start == none {
				start = q
			}
		}
	}
	// Each of them waits for another of them, so that following them ends in a circle.
	var walk []int32
	for q := start; ; q = s.waitsFor(q) {
		if i := slices.Index(walk, q); i >= 0 {
			walk = walk[i:]
			break
		}
		walk = append(walk, q)
	}
	for _, q := range walk {
		port := q >> s.shift
		c := Blocked{Channel: fabric.ChannelID(port % s.channels), VL: s.laneOf(q), Output: port >= s.channels,
			Used: int(s.kindAt(port).blocks - s.near[q].free()), Packets: s.waiting(q)}
		d.Cycle = append(d.Cycle, c)
		d.Closed = max(d.Closed, s.near[q].changed)
		if r := s.far[q].asked; r != none {
			d.Closed = max(d.Closed, s.regionOfQueue(q).requests[r].since)
		}
	}
	return d
}

// waitsFor is the buffer that the packet at the front of a queue which will not move waits to
// enter.
func (s *sim) waitsFor(q int32) int32 {
	at := s.regionOfQueue(q)
	for r := s.far[q].asked; r != none; r = at.requests[r].sibling {
		if into := at.requests[r].into; !s.watch.moves[into] && !s.hasRoom(into) {
			return into
		}
	}
	return at.flits.worms[q].into
}

// waiting lists the packets in a buffer, the head first.
func (s *sim) waiting(q int32) []Waiting {
	var list []Waiting
	all := s.regionOfQueue(q).packets
	for i := s.far[q].head; i != none; i = all[i].next {
		p := &all[i]
		w := Waiting{Src: fabric.EndpointID(p.src), Dst: fabric.EndpointID(p.dst), SL: p.sl, Bytes: int(p.bytes), Created: p.created}
		if s.adaptive == nil {
			w.LID = fabric.LID(p.address)
		}
		list = append(list, w)
	}
	return list
}
