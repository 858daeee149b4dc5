package packets

import "fmt"

// audit counts every credit and every packet in the network by hand.
func (s *sim) audit() error {
	occupied := make([]int32, len(s.far))
	inside, atSource := int64(0), int64(0)
	for _, r := range s.regions {
		for i := range r.packets {
			p := &r.packets[i]
			if p.into == none {
				continue // free
			}
			if s.regionOfQueue(p.into) != r {
				return fmt.Errorf("region %d has a packet in a buffer of another", r.number)
			}
			if p.injected == waiting {
				atSource++
			} else {
				inside++
				occupied[p.into] += p.blocks()
			}
		}
	}
	if c := s.counted(); inside != c.inside || atSource != c.atSource {
		return fmt.Errorf("%d packets inside and %d at sources; the counters say %d and %d", inside, atSource, c.inside, c.atSource)
	}
	for b := range s.near {
		x := &s.near[b]
		if b>>s.shift >= int(s.ports) {
			continue
		}
		// What the sender may not use is what lies there, and what is on its way
		// back. A packet that leaves counts for the buffer it enters and, as
		// returning, for the one it leaves.
		used := s.kindAt(int32(b>>s.shift)).blocks - x.free()
		if used != occupied[b]+int32(s.returning(int32(b))) || x.free() < 0 {
			return fmt.Errorf("buffer %d: %d blocks used, %d in it, %d on their way back", b, used, occupied[b], s.returning(int32(b)))
		}
		requests := 0
		list := s.regionOfSender(int32(b)).requests
		for r := x.first; r != none; r = list[r].next {
			if s.far[list[r].queue].asked == none || list[r].into != int32(b) {
				return fmt.Errorf("buffer %d: a request that nobody makes", b)
			}
			requests++
		}
		if has := s.near[b>>s.shift<<s.shift].wanted>>(b&(1<<s.shift-1))&1 == 1; has != (requests > 0) {
			return fmt.Errorf("buffer %d: %d requests, but its port says %v", b, requests, has)
		}
	}
	return nil
}
