package packets

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Deadlock is packets that can never move again.
type Deadlock struct {
	Closed  Time // the last packet of the cycle began to wait, or the last credit of it was used up
	Found   Time
	Cycle   []Blocked // each waits for space in the next, the last for the first
	Buffers int       // that can never move again, in the cycle and behind it
	Packets int       // in them
}

// Blocked is a full buffer whose head waits for another.
type Blocked struct {
	Channel fabric.ChannelID
	VL      uint8
	Output  bool // the output buffer before the channel; otherwise the input buffer behind it
	Used    int  // blocks that its sender may not use
	Packets []Waiting
}

// Waiting is a packet in a buffer, the head first.
type Waiting struct {
	Src, Dst fabric.EndpointID
	LID      fabric.LID // 0 for adaptive routing
	SL       uint8
	Bytes    int
	Created  Time
}

// stuckNow is the packets that can never move again, nil if there are none. A
// buffer will move if something in it is moving, or on its way to where it asks,
// or if its head has a way on whose buffer has space for whoever is first in line,
// or will move. What is left when all that is marked waits for itself. So it says
// nothing false, and it says something as soon as all movement around it ended.
func (s *sim) stuckNow() *Deadlock {
	if s.lifetime {
		return nil // every head gives way in the end
	}
	w := &s.watch
	if w.moves == nil {
		w.moves = make([]bool, len(s.buffers))
	}
	clear(w.moves)
	w.queue = w.queue[:0]
	waiting := 0
	for q := range int32(len(s.buffers)) {
		if s.movesByItself(q) {
			w.moves[q] = true
			w.queue = append(w.queue, q)
		} else {
			waiting++
		}
	}
	for i := 0; i < len(w.queue); i++ {
		for r := s.buffers[w.queue[i]].first; r != none; r = s.requests[r].next {
			if q := s.requests[r].queue; !w.moves[q] {
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

func (s *sim) movesByItself(q int32) bool {
	b := &s.buffers[q]
	if b.asked == none {
		return true
	}
	for r := b.asked; r != none; r = s.requests[r].sibling {
		into := &s.buffers[s.requests[r].into]
		first := s.requests[into.first].queue
		if into.returning > 0 || into.free() >= s.packets[s.buffers[first].head].blocks() {
			return true
		}
	}
	return false
}

// describe finds a cycle among the buffers that do not move.
func (s *sim) describe() *Deadlock {
	d := &Deadlock{Found: s.wheel.now}
	start := int32(none)
	for q := range int32(len(s.buffers)) {
		if !s.watch.moves[q] {
			if q>>s.shift < s.ports {
				d.Buffers++
				d.Packets += len(s.waiting(q))
			}
			if start == none {
				start = q
			}
		}
	}
	// Every one of them waits for one of them: walking on ends in a circle.
	var walk []int32
	for q := start; ; q = s.requests[s.buffers[q].asked].into {
		if i := slices.Index(walk, q); i >= 0 {
			walk = walk[i:]
			break
		}
		walk = append(walk, q)
	}
	for _, q := range walk {
		b := &s.buffers[q]
		port := q >> s.shift
		c := Blocked{Channel: fabric.ChannelID(port % s.channels), VL: uint8(q & (1<<s.shift - 1)), Output: port >= s.channels,
			Used: int(s.kindAt(port).blocks - b.free()), Packets: s.waiting(q)}
		d.Cycle = append(d.Cycle, c)
		d.Closed = max(d.Closed, s.requests[b.asked].since, b.changed)
	}
	return d
}

// waiting is the packets in a buffer.
func (s *sim) waiting(q int32) []Waiting {
	var list []Waiting
	for i := s.buffers[q].head; i != none; i = s.packets[i].next {
		p := &s.packets[i]
		w := Waiting{Src: fabric.EndpointID(p.src), Dst: fabric.EndpointID(p.dst), SL: p.sl, Bytes: int(p.bytes), Created: p.created}
		if s.adaptive == nil {
			w.LID = fabric.LID(p.address)
		}
		list = append(list, w)
	}
	return list
}
