package packets

import "fmt"

// audit counts every credit and every packet in the network by hand.
func (s *sim) audit() error {
	occupied := make([]int32, len(s.buffers))
	inside, atSource := int64(0), int64(0)
	for i := range s.packets {
		if s.packets[i].into == none {
			continue // free
		}
		if p := &s.packets[i]; p.injected == waiting {
			atSource++
		} else {
			inside++
			occupied[p.into] += p.blocks()
		}
	}
	if inside != s.count.inside || atSource != s.count.atSource {
		return fmt.Errorf("%d packets inside and %d at sources; the counters say %d and %d", inside, atSource, s.count.inside, s.count.atSource)
	}
	for b := range s.buffers {
		x := &s.buffers[b]
		if b>>s.shift >= int(s.ports) {
			continue
		}
		// What the sender may not use is what lies there, and what is on its way
		// back. A packet that leaves counts for the buffer it enters and, as
		// returning, for the one it leaves.
		used := s.kindAt(int32(b>>s.shift)).blocks - x.free()
		if used != occupied[b]+int32(x.returning) || x.free() < 0 {
			return fmt.Errorf("buffer %d: %d blocks used, %d in it, %d on their way back", b, used, occupied[b], x.returning)
		}
		requests := 0
		for r := x.first; r != none; r = s.requests[r].next {
			if s.buffers[s.requests[r].queue].asked == none || s.requests[r].into != int32(b) {
				return fmt.Errorf("buffer %d: a request that nobody makes", b)
			}
			requests++
		}
		if has := s.port(int32(b>>s.shift)).wanted>>(b&(1<<s.shift-1))&1 == 1; has != (requests > 0) {
			return fmt.Errorf("buffer %d: %d requests, but its port says %v", b, requests, has)
		}
	}
	return nil
}
