package weft

import (
	"context"
	"errors"
	"time"

	"github.com/weft-fabric/weft/internal/plain"
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

	place  int     // in the order of trying
	simple int     // in the order of the table of engines, which begins with the simplest
	safe   bool    // its engine makes no credit loop on any network
	result *Result // nil: not proven, or it can no longer win
}

// try routes with one engine, judges the result and measures it. An error is one
// that ends the search; a refusal is an outcome.
func (s *search) try(ctx context.Context, e engines.Engine, t *Trial) error {
	began := time.Now()
	defer func() { t.Spent = time.Since(began) }()
	r := s.Request
	r.Stages, r.NoCycle = nil, true
	if onOneLane(e, s.contract) {
		r.VLs = max(1, s.Classes)
	}
	var err error
	t.result, err = r.with(ctx, s.fabric, e)
	if loop := (*CreditLoop)(nil); errors.As(err, &loop) {
		t.Outcome = Loop
		t.figures(loop.Result)
		return nil
	}
	if err == nil {
		t.figures(t.result)
		if err = s.measure(ctx, t); err == nil && s.Accept != nil {
			if no := s.Accept(t.result); no != nil {
				t.Outcome, t.Why = Refused, no.Error()
			}
		}
		return err
	}
	if rule := (*routing.Refusal)(nil); errors.As(err, &rule) {
		t.Outcome, t.Why = Refused, rule.Brief()
		return nil
	}
	if routing.Refused(err) {
		t.Outcome, t.Why = Refused, plain.Error(err)
		return nil
	}
	return err
}

// figures notes what the judge and the routes say.
func (t *Trial) figures(r *Result) {
	t.VLs, t.SLs, t.MaxLoad = r.Tables.Lanes.Needed, r.Verdict.SLs, r.Loads.Max
	t.Wider = r.Verdict.Free() && (r.Wider == nil || r.Wider.Free())
}

// measure measures what is proven.
func (s *search) measure(ctx context.Context, t *Trial) (err error) {
	if len(s.meter.Endpoints) > 1 {
		t.Figures, err = s.meter.Measure(ctx, t.result.Tables)
	}
	return err
}
