package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
)

// gain is by how much the largest load has to shrink, as 1/gain of the load in use, for
// a change that is not necessary otherwise.
const gain = 20

// mayImprove reports whether tables routed anew may be better than those in use, and no search
// for them was made yet: if tables were mended and the settings ask for it, or if there
// are links that the tables in use do not know, which would never carry traffic.
func (h *handed) mayImprove(set *settings) bool {
	return (set.keep == keepBalanced || h.grown) && !slices.Contains(h.balanced, h.key)
}

// hasMore reports whether a fabric has links between switches that another does not have.
func hasMore(f, than *fabric.Fabric) bool {
	parts := transition.PartsOf(than, f)
	return len(parts.New.Switches) > 0 || slices.ContainsFunc(parts.New.Cables, func(c fabric.ChannelID) bool { return int(c) < f.Trunks() })
}

// rebalance looks for better tables than h, those in use, when the hours for that have
// come, and returns a copy of h with the better ones as its goal; nil: there are
// none, or the plugin does not wait that long. follow calls it for a question for better tables.
func (s *Server) rebalance(ctx context.Context, x *place, h *handed, f *fabric.Fabric, set *settings, q *wire.Request, start time.Time) *handed {
	if !h.mayImprove(set) || !s.hoursCome(ctx, x, set, q, start) {
		return nil
	}
	job, _ := s.search(ctx, h.key, f, set, q.Lanes(), nil)
	s.jobs.leave(job) // it keeps no other fabric waiting
	select {
	case <-job.done:
	case <-x.lost:
		return nil
	case <-ctx.Done():
		return nil
	}
	p := job.result
	better := p.tables != nil && p.loads.Max <= h.loads.Max-h.loads.Max/gain && p.loads.Max < h.loads.Max
	s.Log.Info("rebalance", "better", better, "engine", p.engine, "largest_load_in_use", h.loads.Max, "largest_load", loadOf(p))
	if !better {
		s.keeper.put(h.withoutBetter(), q)
		return nil
	}
	now := *h
	now.state.Goal, now.state.Returning, now.grown, now.balanced = p.tables, true, false, []key{h.key}
	return &now
}

// withoutBetter is h as it is remembered once there are no better tables for its fabric, or no safe change to them: so
// none are looked for again.
func (h *handed) withoutBetter() *handed {
	now := *h
	now.balanced = append(slices.Clone(h.balanced[max(0, len(h.balanced)-handedKept):]), h.key)
	return &now
}

// loadOf is the largest load of tables; 0: there are none.
func loadOf(p *proven) uint32 {
	if p.loads == nil {
		return 0
	}
	return p.loads.Max
}

// clockLook is how often the clock is looked at while something waits for an hour of the day: it may be set.
const clockLook = time.Minute

// hoursCome waits for the hours of the day in which tables are rebalanced. false: the
// plugin does not wait that long.
func (s *Server) hoursCome(ctx context.Context, x *place, set *settings, q *wire.Request, start time.Time) bool {
	for {
		wait := min(set.hours.until(s.clock.Now()), clockLook)
		if wait == 0 {
			return true
		}
		if q.Deadline > 0 {
			left := working(q) - time.Since(start)
			if left <= 0 {
				return false // it asks again
			}
			wait = min(wait, left)
		}
		select {
		case <-time.After(wait):
		case <-x.lost:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
