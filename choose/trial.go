package choose

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/plain"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// Outcome is what came of trying an engine.
type Outcome uint8

// The outcomes.
const (
	Proven  Outcome = iota // free of deadlock under the contract
	Loop                   // has a credit loop under the contract
	Refused                // by the engine, or not accepted
	Skipped                // not tried: it would take more than is left of the budget, or not heed the options
	Stopped                // not begun, or not finished, when the clock reached the limit
)

func (o Outcome) String() string {
	return [...]string{"proven", "credit-loop", "refused", "skipped", "stopped"}[o]
}

// Trial is an engine that was tried.
type Trial struct {
	Engine  string
	Outcome Outcome
	Why     string        // of a refusal, a skip or a stop
	VLs     int           // lanes needed
	SLs     int           // service levels given out
	Lambda  float64       // measured where it is proven
	MaxLoad uint32        // routes on the fullest channel
	Wider   bool          // proven with aggregation nodes and routers as endpoints too, or there are none
	Spent   time.Duration // measured, and as long as the clock stops nothing the only thing that differs from run to run

	place   int // in the table of candidates
	tables  *routing.Tables
	verdict *deadlock.Verdict
}

// before says whether t is to be preferred to u, whose Λ is as good.
func (t *Trial) before(u *Trial) bool {
	switch {
	case t.Wider != u.Wider:
		return t.Wider
	case t.VLs != u.VLs:
		return t.VLs < u.VLs
	case t.MaxLoad != u.MaxLoad:
		return t.MaxLoad < u.MaxLoad
	}
	return t.place < u.place
}

// try routes with one engine, judges the result and measures it. An error is one
// that ends the search; a refusal is an outcome.
func (s *search) try(ctx context.Context, e engines.Engine, t *Trial) error {
	began := time.Now()
	err := s.route(ctx, e, t)
	if err == nil {
		err = s.measure(ctx, t)
	}
	if err == nil && t.Outcome == Proven && s.wish.Accept != nil {
		if no := s.wish.Accept(t.tables); no != nil {
			t.Outcome, t.Why = Refused, no.Error()
		}
	}
	t.Spent = time.Since(began)
	if rule := (*routing.Refusal)(nil); errors.As(err, &rule) {
		t.Outcome, t.Why, err = Refused, rule.Brief(), nil
	} else if routing.Refused(err) {
		t.Outcome, t.Why, err = Refused, plain.Error(err), nil
	}
	return err
}

// route fills in the tables and the verdict. Where lanes for all adapters are too
// many, those in scope must do, as in weft route.
func (s *search) route(ctx context.Context, e engines.Engine, t *Trial) error {
	b := s.wish.Budget
	b.Contract = s.wish.Contract
	if onOneLane(e, s.wish.Contract) {
		b.VLs = 1
	}
	var err error
	if t.tables, _, err = e.RouteWide(ctx, s.fabric, s.wish.Options, b, s.wish.Scope, nil); err != nil {
		return err
	}
	judge := deadlock.Options{Contract: s.wish.Contract, Scope: s.wish.Scope, NoCycle: true}
	t.verdict, err = deadlock.Verify(ctx, t.tables, judge)
	if err == nil && t.verdict.Loops > 0 {
		err = fmt.Errorf("choose: packets circle for ever in the tables of %s", e.Name)
	}
	if err != nil || !t.verdict.Free() {
		return err
	}
	t.Wider = true
	if n := s.fabric.Count(); s.wish.Scope == routing.HCA && n.Aggregation+n.Router > 0 {
		judge.Scope = routing.Adapters
		var wider *deadlock.Verdict
		wider, err = deadlock.Verify(ctx, t.tables, judge)
		t.Wider = err == nil && wider.Free()
	}
	return err
}

// measure fills in the figures.
func (s *search) measure(ctx context.Context, t *Trial) error {
	t.VLs, t.SLs = t.tables.Lanes.Needed, t.verdict.SLs
	t.MaxLoad = congestion.Count(s.fabric, t.tables.Forwarding, s.wish.Scope).Max
	if !t.verdict.Free() {
		t.Outcome = Loop
		return nil
	}
	if len(s.placement) < 2 {
		return nil // nobody talks to anybody: all engines are alike
	}
	r, err := congestion.Simulate(ctx, t.tables, congestion.Options{
		Pattern: traffic.Bisection(), Placement: s.placement, Seed: s.wish.Options.Seed, Runs: s.patterns(),
	})
	if err != nil {
		return err
	}
	t.Lambda = r.Lambda
	return nil
}

// patterns is how many random patterns are simulated. The standard deviation of Λ
// over patterns falls with the root of the endpoints; that of differences between
// engines on the same patterns is smaller still.
func (s *search) patterns() int {
	if s.wish.Patterns > 0 {
		return s.wish.Patterns
	}
	return min(2000, max(200, 400_000/max(1, len(s.placement))))
}
