package choose

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Outcome is what came of trying an engine.
type Outcome uint8

// The outcomes.
const (
	Proven  Outcome = iota // free of deadlock under the contract
	Loop                   // has a credit loop under the contract
	Refused                // by the engine, or not accepted
	Skipped                // not tried: it would take more than is left of the budget, or not heed weights of hosts
	Stopped                // not begun, or not finished, when the clock reached the limit
)

func (o Outcome) String() string {
	return [...]string{"proven", "credit-loop", "refused", "skipped", "stopped"}[o]
}

// Trial is what became of one engine that auto tried.
type Trial struct {
	Engine  string
	Outcome Outcome
	Why     string        // of a refusal, a skip or a stop
	VLs     int           // lanes needed
	SLs     int           // service levels given out
	Figures               // where it is proven
	MaxLoad uint32        // routes on the fullest channel
	Wider   bool          // proven with aggregation nodes and routers as endpoints too, or there are none
	Spent   time.Duration // measured, and as long as the clock stops nothing the only thing that differs from run to run

	place  int             // in the order of trying
	simple int             // in the order of the table of engines, which begins with the simplest
	safe   bool            // its engine makes no credit loop on any network
	held   bool            // proven, and it can still win
	tables *routing.Tables // as long as it is held
}

// try has one engine route, and measures what is proven. An error is one that ends the
// search; a refusal is an outcome.
func (s *Search) try(ctx context.Context, e engines.Engine, t *Trial) error {
	began := time.Now()
	defer func() { t.Spent = time.Since(began) }()
	made, err := s.router.Route(ctx, e, onOneLane(e, s.Contract))
	if rule := (*routing.Refusal)(nil); errors.As(err, &rule) {
		t.Outcome, t.Why = Refused, rule.Brief()
		return nil
	}
	if routing.Refused(err) {
		t.Outcome, t.Why = Refused, err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	t.VLs, t.SLs, t.MaxLoad = made.Tables.Lanes.Needed, made.Verdict.SLs, made.Loads.Max
	if !made.Verdict.Free() {
		t.Outcome = Loop
		return nil
	}
	t.held, t.Wider = true, made.Wider == nil || made.Wider.Free()
	if len(s.meter.Endpoints) > 1 {
		if t.Figures, err = s.measure(ctx, made.Tables); err != nil {
			return err
		}
		t.tables = made.Tables
	}
	if no := s.router.Accept(t.Engine); no != nil {
		t.Outcome, t.Why = Refused, no.Error()
	}
	return nil
}

// A glance is a part of what is measured: one in so many of patterns and phases. What is
// worth less than farBehind of the best by it is not measured further: it is dropped at keep,
// and phases, which one in eight of them tells to a few hundredths, count for a tenth.
const (
	glance    = 8
	farBehind = 0.95
	manyHosts = 2000 // with fewer, all that is measured takes no time
)

// measure measures tables as far as they can win, and not what was measured before.
func (s *Search) measure(ctx context.Context, t *routing.Tables) (Figures, error) {
	most := 0.0
	for i := range s.trials {
		if was := &s.trials[i]; was.held && was.tables != nil {
			if s.samePaths(was.tables, t) {
				return was.Figures, ctx.Err()
			}
			most = max(most, was.Lambda)
		}
	}
	if len(s.meter.Endpoints) < manyHosts || s.served() || s.Options.Aim == engines.AllToAll || s.Options.Aim == engines.Shifts {
		return s.meter.Measure(ctx, t)
	}
	best := 0.0
	for i := range s.trials {
		if was := &s.trials[i]; was.held {
			best = max(best, s.worth(was, most))
		}
	}
	if best > 0 {
		m := s.meter
		m.Runs, m.Phases = (m.Runs+glance-1)/glance, (m.PhasesOf()+glance-1)/glance
		if part, err := m.Measure(ctx, t); err != nil || s.worth(&Trial{Figures: part}, most) < best*farBehind {
			return part, err
		}
	}
	return s.meter.Measure(ctx, t)
}

// samePaths reports whether hosts reach each other on the same paths by two tables, so that
// they measure alike.
func (s *Search) samePaths(a, b *routing.Tables) bool {
	if a.Groups != nil || b.Groups != nil || a.HasWithheld() || b.HasWithheld() {
		return false
	}
	for _, e := range s.meter.Endpoints {
		for lid := range s.fabric.Endpoint(e).LIDs() {
			if !slices.Equal(a.Forwarding.Row(lid), b.Forwarding.Row(lid)) {
				return false
			}
		}
	}
	return true
}
