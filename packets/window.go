package packets

import (
	"context"

	"github.com/weft-fabric/weft/internal/par"
)

// mail is what a region sends to another: it is read when the window is over.
type mail struct {
	credits []event
	packets []parcel
	ended   []ended
}

// parcel is a packet that may leave its buffer at a time.
type parcel struct {
	at     Time
	packet packet
}

// run lets everything happen that is due before a time, or all there is. It comes
// to the same however many regions there are: see window.
func (s *sim) run(ctx context.Context, until Time) error {
	var err error
	if len(s.regions) == 1 {
		err = s.regions[0].run(ctx, until)
	} else {
		err = s.runRegions(ctx, until)
	}
	if s.now = until; s.pending() == 0 || err != nil {
		s.now = 0
		for _, r := range s.regions {
			s.now = max(s.now, r.wheel.now)
		}
	}
	return err
}

// pending is the events that are to come.
func (s *sim) pending() int {
	n := 0
	for _, r := range s.regions {
		n += r.wheel.count
	}
	return n
}

// run is run for the only region.
func (s *region) run(ctx context.Context, until Time) error {
	const steps = 1 << 12
	for n := 1; s.step(until); n++ {
		if n%steps == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.broken != nil {
			break
		}
	}
	s.settle(&s.post[s.number])
	return s.broken
}

// runRegions lets all regions go on window by window, on as many cores as there are.
// What they send to each other in a window is due after it. In between, every region
// reads its mail, in the order of regions.
func (s *sim) runRegions(ctx context.Context, until Time) error {
	length := s.window()
	for {
		from := never
		for _, r := range s.regions {
			from = min(from, r.wheel.earliest())
		}
		if from >= until || ctx.Err() != nil {
			return ctx.Err()
		}
		before := until
		if from < until-length {
			before = from + length
		}
		s.forRegions(func(r *region) {
			for r.broken == nil && r.step(before) {
			}
		})
		s.forRegions((*region).collect)
		for _, r := range s.regions {
			if r.broken != nil {
				return r.broken
			}
			for i := range r.post {
				r.post[i].credits, r.post[i].packets = r.post[i].credits[:0], r.post[i].packets[:0]
			}
		}
	}
}

// manyEvents is how many are to come where it is worth while to wake other cores.
const manyEvents = 4096

// forRegions does something for all regions, to its end: who interrupts a run gets
// figures of whole windows.
func (s *sim) forRegions(do func(r *region)) {
	if s.pending() < s.many {
		for _, r := range s.regions {
			do(r)
		}
		return
	}
	// It has no other error than that of the context, which does not end.
	_ = par.For(context.Background(), len(s.regions), func(_, i int) { do(s.regions[i]) })
}

// collect reads the mail of a region.
func (s *region) collect() {
	for _, from := range s.whole.regions {
		m := &from.post[s.number]
		for _, e := range m.credits {
			s.wheel.push(e.at, e.what)
		}
		for i := range m.packets {
			index := s.allot()
			s.packets[index] = m.packets[i].packet
			s.count.inside++
			s.wheel.push(m.packets[i].at, code(evReady, index, 0))
		}
		s.settle(m)
	}
}

// window is the least time between a cause in one region and its effect in another:
// a packet's over a cable and through what follows, and a credit's, which sets out
// when the tail of a packet is gone, and is known of when its head goes.
func (s *sim) window() Time {
	fastest := s.kinds[0].perByte
	for _, k := range s.kinds {
		fastest = min(fastest, k.perByte)
	}
	tail := serial(s.shortest, fastest)
	if s.Config.Lifetime > 0 {
		tail = 0 // what is dropped frees its space at once
	}
	length := never
	for port := range s.ports {
		if from, to := s.regionsOf(port); from != to {
			k := s.kindAt(port)
			length = min(length, k.latency, tail+k.credit)
		}
	}
	return length
}
