// Package choose finds the best proven engine for a fabric: the engine auto.
//
// It runs engines by name, has each result judged under the contract that was
// wished for, and keeps what is proven. Of that it takes, in this order,
//
//  1. the largest effective bisection bandwidth Λ (T. Hoefler, T. Schneider, A.
//     Lumsdaine: Optimized Routing for Large-Scale InfiniBand Networks, HOTI 2009,
//     section IV.A), all engines simulated on the same random patterns;
//     what is within Close of the best counts as equal;
//  2. a proof that holds for aggregation nodes and routers too, where the wish is
//     about host adapters only;
//  3. the fewest lanes needed;
//  4. the smallest load of a channel;
//  5. the place in the table of candidates.
//
// Where the options have an aim or weights of hosts, only engines are tried that
// make their paths for them; Λ stays that of all hosts alike.
//
// An engine is never taken on its word: tables that the judge does not find free
// of deadlock are no choice, and tables of an engine that promises nothing are, if
// the judge proves them.
//
// Time. Candidates come in the order of the table, the likely first. The budget of
// time is held against estimates by the size of the network, not against a clock,
// so that the same input gives the same bytes on a loaded machine too. Whatever
// the budget, the search goes on until something is proven.
package choose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// Close is the difference of Λ that counts as none.
const Close = 0.002

// DefaultBudget is the time that estimates may add up to where no other is given.
const DefaultBudget = 10 * time.Second

// Wish is what is wanted.
type Wish struct {
	Contract routing.Contract // what clients do with service levels
	Budget   routing.Budget   // lanes, service levels, and for whom lanes are planned
	Scope    routing.Scope    // endpoints that must be proven, and among which Λ is measured
	Options  engines.Options
	Time     time.Duration // zero: DefaultBudget
	Patterns int           // random patterns for Λ; zero: as many as make its error small beside Close

	// Accept says why proven tables will not do for what they are meant for; nil: they
	// always will.
	Accept func(*routing.Tables) error

	Progress routing.Progress // of engines
}

// Outcome is what came of trying an engine.
type Outcome uint8

// The outcomes.
const (
	Proven  Outcome = iota // free of deadlock under the contract
	Loop                   // has a credit loop under the contract
	Refused                // by the engine, or not accepted
	Skipped                // not tried: the time budget was spent, or it would not heed the options
)

func (o Outcome) String() string {
	return [...]string{"proven", "credit-loop", "refused", "skipped"}[o]
}

// Trial is an engine that was tried.
type Trial struct {
	Engine  string
	Outcome Outcome
	Why     string        // of a refusal or a skip
	VLs     int           // lanes needed
	SLs     int           // service levels given out
	Lambda  float64       // measured where it is proven
	MaxLoad uint32        // routes on the fullest channel
	Wider   bool          // proven with aggregation nodes and routers as endpoints too, or there are none
	Spent   time.Duration // measured, and the only thing that differs from run to run

	place   int // in the table of candidates
	tables  *routing.Tables
	verdict *deadlock.Verdict
}

// Choice is the best engine and how it was found.
type Choice struct {
	Engine  engines.Engine
	Tables  *routing.Tables
	Verdict *deadlock.Verdict // under the contract and in the scope of the wish
	Trials  []Trial           // in the order of the table
	Why     string            // a sentence
}

// NoneProven is the error where no engine is proven within the wish.
type NoneProven struct {
	Contract routing.Contract
	Trials   []Trial
}

func (e *NoneProven) Error() string {
	return fmt.Sprintf("choose: none of %d engines is proven under contract %s within the lanes and service levels given", len(e.Trials), e.Contract)
}

// search is one run of Best.
type search struct {
	wish      Wish
	fabric    *fabric.Fabric
	placement traffic.Placement
	trials    []Trial
	best      float64 // largest Λ so far
}

// Best tries engines and returns the best. The error is *NoneProven, the
// context's, or that of a fabric on which nothing can be measured.
func Best(ctx context.Context, f *fabric.Fabric, w Wish) (*Choice, error) {
	if w.Time == 0 {
		w.Time = DefaultBudget
	}
	s := &search{wish: w, fabric: f, placement: w.Scope.Endpoints(f), best: math.Inf(-1)}
	left := w.Time
	for i, c := range candidates {
		w.Progress.Report(i, len(candidates))
		if !c.fits(w.Contract) {
			continue
		}
		if c.deaf(w.Options) {
			s.skip(c, i, "it does not heed --aim and --weight")
			continue
		}
		cost := c.estimate(f)
		if cost > left && !math.IsInf(s.best, -1) {
			s.skip(c, i, fmt.Sprintf("about %s, and %s of %s are left (--budget)", round(cost), round(max(0, left)), round(w.Time)))
			continue
		}
		left -= cost
		t, err := s.try(ctx, c, i)
		if err != nil {
			return nil, err
		}
		s.add(t)
	}
	return s.choice()
}

// skip notes a candidate that is not tried.
func (s *search) skip(c candidate, place int, why string) {
	s.trials = append(s.trials, Trial{Engine: c.engine, Outcome: Skipped, Why: why, place: place})
}

// round leaves as much of an estimate as it is worth.
func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// try routes with one engine, judges the result and measures it. An error is one
// that ends the search; a refusal is an outcome.
func (s *search) try(ctx context.Context, c candidate, place int) (Trial, error) {
	began := time.Now()
	t := Trial{Engine: c.engine, place: place}
	err := s.route(ctx, c, &t)
	if err == nil {
		err = s.measure(ctx, &t)
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
		t.Outcome, t.Why, err = Refused, strings.TrimPrefix(err.Error(), "routing: "), nil
	}
	return t, err
}

// route fills in the tables and the verdict. Where lanes for all adapters are too
// many, those in scope must do, as in weft route.
func (s *search) route(ctx context.Context, c candidate, t *Trial) error {
	e, err := engines.Named(c.engine)
	if err != nil {
		return fmt.Errorf("choose: the table of candidates: %w", err)
	}
	b := s.wish.Budget
	if _, fixed := s.wish.Contract.FixedMask(); c.oneLane && fixed {
		b.VLs = 1
	}
	if t.tables, _, err = e.RouteWide(ctx, s.fabric, s.wish.Options, b, s.wish.Scope, nil); err != nil {
		return err
	}
	t.verdict, err = deadlock.Verify(ctx, t.tables, deadlock.Options{Contract: s.wish.Contract, Scope: s.wish.Scope})
	if err == nil && t.verdict.Loops > 0 {
		err = fmt.Errorf("choose: packets circle for ever in the tables of %s", c.engine)
	}
	if err != nil || !t.verdict.Free() {
		return err
	}
	t.Wider = true
	if n := s.fabric.Count(); s.wish.Scope == routing.HCA && n.Aggregation+n.Router > 0 {
		var wider *deadlock.Verdict
		wider, err = deadlock.Verify(ctx, t.tables, deadlock.Options{Contract: s.wish.Contract, Scope: routing.Adapters})
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
	bisect, err := traffic.Parse("bisect")
	if err != nil {
		return err
	}
	r, err := congestion.Simulate(ctx, t.tables, congestion.Options{
		Pattern: bisect, Placement: s.placement, Seed: s.wish.Options.Seed, Runs: s.patterns(),
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

// add notes a trial, and lets go of tables that can no longer win.
func (s *search) add(t Trial) {
	s.trials = append(s.trials, t)
	if t.Outcome == Proven {
		s.best = max(s.best, t.Lambda)
	}
	for i := range s.trials {
		if x := &s.trials[i]; x.Outcome != Proven || x.Lambda < s.best-Close {
			x.tables, x.verdict = nil, nil
		}
	}
}

// choice is the best trial.
func (s *search) choice() (*Choice, error) {
	var won *Trial
	for i := range s.trials {
		t := &s.trials[i]
		if t.tables != nil && (won == nil || t.before(won)) {
			won = t
		}
	}
	if won == nil {
		return nil, &NoneProven{s.wish.Contract, s.trials}
	}
	e, err := engines.Named(won.Engine)
	if err != nil {
		return nil, err
	}
	c := &Choice{Engine: e, Tables: won.tables, Verdict: won.verdict, Trials: s.trials, Why: s.why(won)}
	for i := range s.trials {
		s.trials[i].tables, s.trials[i].verdict = nil, nil
	}
	return c, nil
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
