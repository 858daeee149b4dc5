package packets

import (
	"context"

	"github.com/weft-fabric/weft/internal/par"
)

// mail is what one region sends to another in a window; it is read after the window.
type mail struct {
	credits []event
	packets []parcel
	ended   []endedPacket
}

// parcel is a packet with the time at which it may leave its buffer.
type parcel struct {
	at     Time
	packet packet
}

// run handles all events before a time, or all there are. The result is the same for
// any number of regions: see window.
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

// pending is the number of events that are still to come.
func (s *sim) pending() int {
	n := 0
	for _, r := range s.regions {
		n += r.wheel.count
	}
	return n
}

// run is the loop for the only region of a network.
func (s *region) run(ctx context.Context, until Time) error {
	const steps = 1 << 12
	for n := 1; s.step(until); n++ {
		if n%steps == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.failure != nil {
			break
		}
	}
	s.record(&s.outbox[s.number])
	return s.failure
}

// runRegions runs all regions window by window, on all cores. What they send to each
// other in a window is due after its end. Between windows every region reads its mail,
// in the order of regions.
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
			for r.failure == nil && r.step(before) {
			}
		})
		s.forRegions((*region).collect)
		for _, r := range s.regions {
			if r.failure != nil {
				return r.failure
			}
			for i := range r.outbox {
				r.outbox[i].credits, r.outbox[i].packets = r.outbox[i].credits[:0], r.outbox[i].packets[:0]
			}
		}
	}
}

// manyEvents is the number of pending events from which on it pays to wake other cores.
const manyEvents = 4096

// forRegions calls do for all regions, and is not interrupted in between, so that the
// figures of a run that is cancelled cover whole windows.
func (s *sim) forRegions(do func(r *region)) {
	if s.pending() < s.many {
		for _, r := range s.regions {
			do(r)
		}
		return
	}
	// The only possible error is that of the context, which has none.
	_ = par.For(context.Background(), len(s.regions), func(_, i int) { do(s.regions[i]) })
}

// collect reads the mail of a region.
func (s *region) collect() {
	for _, from := range s.whole.regions {
		m := &from.outbox[s.number]
		for _, e := range m.credits {
			s.wheel.push(e.at, e.what)
		}
		for i := range m.packets {
			index := s.allot()
			s.packets[index] = m.packets[i].packet
			s.count.inside++
			s.wheel.push(m.packets[i].at, code(evReady, index, 0))
		}
		s.record(m)
	}
}

// window is the least time between a cause in one region and its effect in another: for
// a packet, over a cable and what follows; for a credit, which leaves when the tail of
// a packet is gone but is known of when its head leaves.
func (s *sim) window() Time {
	fastest := s.kinds[0].perByte
	for _, k := range s.kinds {
		fastest = min(fastest, k.perByte)
	}
	tail := serial(s.shortest, fastest)
	if s.Config.Lifetime > 0 || s.rewrites != nil {
		tail = 0 // a dropped packet frees its space at once
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
