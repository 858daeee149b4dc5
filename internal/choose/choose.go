// Package choose is how the engine auto chooses: it tries engines, has each result judged under the requested contract,
// and keeps what is proven. All proven results are measured alike (see Meter), and the
// best for the aim of the options is taken:
//
//   - bisection: the largest effective bisection bandwidth Λ (T. Hoefler, T. Schneider,
//     A. Lumsdaine: Optimized Routing for Large-Scale InfiniBand Networks, HOTI 2009,
//     section IV.A);
//   - shifts: the least time of all to all in phases, with ranks by switch and by name,
//     or as Options.Orders says;
//   - mixed: both, as balance weighs them;
//   - alltoall: the fewest routes on the fullest channel;
//   - with Options.Demands, how long these take, whatever the aim.
//
// Of equally good ones it takes that whose proof holds for aggregation nodes and routers
// too, where the request is about host adapters only; then by time of phases, by lanes,
// engines that make no credit loop on any network first, and by the order of the table of
// engines, which begins with the simplest. See standing, also for lanes that cost nothing
// and for what is never passed over.
//
// If the options have weights of hosts, only engines are tried that use them for their
// paths; the figures are still those of all hosts alike.
//
// No engine is trusted: tables that the judge does not find free of deadlock are not
// chosen, and tables of an engine that promises nothing are chosen if the judge proves
// them.
//
// Time. Engines that are quick come first, so that there soon is a result: all of them on
// regular trees, elsewhere until one is proven. Where one of them has phases as short as
// alone, for an aim that these are part of, the others are
// not tried. If none of them is proven, one that routes every network comes next. Then
// the others follow by their places, the most promising first. Of what falls far behind
// on a part of the patterns and phases the rest is not measured, and paths between hosts
// that were measured already are not measured again.
// Estimates of routing, judging and simulating, from the size of the network, decide
// which of them are begun, so that the same input gives the same bytes on a loaded
// machine too. The clock is only a limit, unless Patient is set: at overrun times the
// budget of time after the beginning, the engine at work is stopped and no other is
// begun. Then, and only then, the choice depends on the machine, and Choice.Stopped
// says so. Whatever the budget, the search goes on until something is proven.
package choose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// leastTime is the budget of time for all but large networks.
const leastTime = 10 * time.Second

// overrun is how many times the budget of time the clock may reach.
const overrun = 1.5

// Choice is how Auto chose.
type Choice struct {
	Trials []Trial // in the order of their places
	Why    string  // a sentence
	Aim    string  // what the trials are ranked by
	Meter  Meter   // what they are measured by

	// Stopped is how many engines the clock kept from being tried. Unless it is
	// none, another run may choose otherwise.
	Stopped int
}

// Request says what is wanted.
type Request struct {
	Options  engines.Options
	Contract routing.Contract
	Scope    routing.Scope
	Time     time.Duration // what estimates may add up to; zero: ten seconds, more on large networks
	Patient  bool          // the clock is no limit
	Patterns int           // random patterns to simulate; zero: as many as tell engines apart
	Table    []engines.Engine
}

// Router is whoever routes for a search, and has the results.
type Router interface {
	// Route routes by an engine, on one lane if no other is safe, and keeps what comes of it
	// until it is dropped. The error is a refusal, or ends the search.
	Route(ctx context.Context, e engines.Engine, oneLane bool) (Judged, error)
	// Accept says why proven tables will not do.
	Accept(engine string) error
	// Found is told of every choice that is better than all before.
	Found(engine string, c *Choice)
	// Drop is told what can no longer win.
	Drop(engine string)
}

// Judged is tables with what is known of them.
type Judged struct {
	Tables  *routing.Tables
	Verdict *deadlock.Verdict
	Wider   *deadlock.Verdict // for all adapters; nil: there are no others than in scope
	Loads   *congestion.Loads
}

// Search is a choice that is being made.
type Search struct {
	Request
	router   Router
	fabric   *fabric.Fabric
	meter    Meter
	aimed    []int         // of the meter's orders, those that the aim is about
	trials   []Trial       // in the order of the table
	left     time.Duration // of the budget, by estimates
	balanced bool          // balanced paths have been made
	regular  bool          // all switches with hosts have equally many cables to others
	timed    bool          // whoever asks has set the budget
	limit    time.Time
}

// New is a search that has tried nothing yet.
func New(f *fabric.Fabric, r Request, router Router) (*Search, error) {
	timed := r.Time > 0
	if !timed {
		r.Time = DefaultTime(f)
	}
	s := &Search{Request: r, timed: timed, router: router, fabric: f, left: r.Time, limit: time.Now().Add(time.Duration(overrun * float64(r.Time)))}
	hosts := routing.HCA.Ends(f)
	s.regular = balance.Alike(f, func(u fabric.NodeID) bool { return hosts[u] })
	return s, s.setMeter()
}

// setMeter settles what trials are measured by.
func (s *Search) setMeter() (err error) {
	s.meter = Meter{Endpoints: s.fabric.ByPort(s.Scope.Endpoints(s.fabric)), Seed: s.Options.Seed, Demands: s.Options.Demands}
	hosts := len(s.meter.Endpoints)
	if hosts < 2 {
		return nil // nobody talks to anybody: all engines are alike
	}
	// The standard deviation of Λ over patterns falls with the root of the endpoints; that
	// of differences between engines on the same patterns is smaller still.
	s.meter.Runs = cmp.Or(s.Patterns, min(2000, max(50, 400_000/hosts)))
	s.meter.Phases = min(1000, max(64, 400_000/hosts))
	if s.meter.Orders, err = Orders(s.fabric, s.meter.Endpoints, s.Options.Seed); err != nil {
		return err
	}
	s.aimed = []int{0, 1} // by switch, and by name
	if s.Options.Orders != nil {
		s.aimed = nil
		for _, order := range s.Options.Orders {
			s.aimed = append(s.aimed, len(s.meter.Orders))
			s.meter.Orders = append(s.meter.Orders, order)
		}
	}
	return nil
}

// Run tries the engines, and is the best; empty: none is proven.
func (s *Search) Run(ctx context.Context, p routing.Progress) (engine string, c *Choice, err error) {
	done := make([]bool, len(s.Table))
	n := 0
	for _, now := range []func(auto.Row) bool{
		func(a auto.Row) bool { return a.Quick && (s.regular || !s.proven()) },
		func(a auto.Row) bool { return a.Sure && !s.proven() },
		func(auto.Row) bool { return true },
	} {
		for place := range s.Table {
			if done[place] || !now(s.Table[place].Auto) {
				continue
			}
			p.Report(n, len(s.Table))
			done[place] = true
			n++
			if err := s.take(ctx, place); err != nil {
				return "", nil, err
			}
		}
	}
	engine, c = s.choice()
	return engine, c, nil
}

// take tries an engine if it fits the request and the time, and records the result.
func (s *Search) take(ctx context.Context, place int) error {
	e := s.Table[place]
	if !Fits(e, s.Contract) {
		return nil
	}
	t := Trial{Engine: e.Name, place: place, simple: simplicity(e.Name), safe: e.Safe}
	cost := Estimate(e, s.fabric, s.balanced)
	switch {
	case deaf(e, s.Options):
		t.Outcome, t.Why = Skipped, "it does not heed --weight"
	case s.perfect() != nil:
		t.Outcome, t.Why = Skipped, fmt.Sprintf("no flow of a phase meets another on the paths of %s, which need one lane", s.perfect().Engine)
	case s.proven() && cost > s.left:
		t.Outcome, t.Why = Skipped, fmt.Sprintf("estimated at %s, and %s of %s are left by estimates, not by the clock (--time-budget)", round(cost), round(max(0, s.left)), round(s.Time))
	case s.outdone(e):
		s.left -= cost // else what takes longer would be tried in its place
		t.Outcome, t.Why = Skipped, "balanced paths are proven on one lane, and worth more on a large tree; a --time-budget has it tried"
	case s.limited() && !time.Now().Before(s.limit):
		t.Outcome, t.Why = Stopped, s.limitText()
	default:
		s.left -= cost
		s.balanced = s.balanced || Balanced(e)
		if err := s.within(ctx, e, &t); err != nil {
			return err
		}
	}
	s.add(t)
	return nil
}

// outdone says that an engine need not be tried: it picks paths without a search, the network
// is a tree, as an engine for trees is proven for it, and so are balanced paths, on one lane and
// for all adapters. So it is on all sixty networks of test/bench/patchwork, and on none of them
// was one of those that pick paths at once worth more than .970 of weave-any (dmodc; df-d2 .944,
// updn .942, minhop .908). On regular trees engines for these may be better than what is searched
// there, where large. Whoever sets a time has time, and where there are few hosts nobody waits: both
// get them for comparison.
func (s *Search) outdone(e engines.Engine) bool {
	if s.timed || s.served() || s.Options.Aim != engines.Mixed || len(s.meter.Endpoints) < manyHosts || e.Auto.Quick && s.regular || e.Auto.Search > 0 || Balanced(e) {
		return false
	}
	tree, balanced := false, false
	for i := range s.trials {
		t := &s.trials[i]
		made := s.Table[t.place]
		tree = tree || t.Outcome == Proven && made.Auto.Quick
		balanced = balanced || t.held && t.VLs == 1 && t.Wider && Balanced(made)
	}
	return tree && balanced
}

// perfect is a trial that leaves the aim nothing to gain, as a search for balanced paths has
// it, which ends there too: on one lane, for all adapters, with phases that take no longer
// than alone; nil: there is none.
func (s *Search) perfect() *Trial {
	if s.served() || s.Options.Aim != engines.Mixed && s.Options.Aim != engines.Shifts || len(s.meter.Endpoints) < 2 {
		return nil
	}
	for i := range s.trials {
		t := &s.trials[i]
		if t.held && t.VLs == 1 && t.Wider && !slices.ContainsFunc(s.aimed, func(order int) bool { return order >= len(t.Shifts) || t.Shifts[order].Time != 1 }) {
			return t
		}
	}
	return nil
}

// within tries an engine within the limit of the clock; without a limit as long as
// nothing is proven.
func (s *Search) within(ctx context.Context, e engines.Engine, t *Trial) error {
	limited := ctx
	if s.limited() {
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadline(ctx, s.limit)
		defer cancel()
	}
	err := s.try(limited, e, t)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		s.release(t)
		*t, err = Trial{Engine: t.Engine, Outcome: Stopped, Why: s.limitText(), Spent: t.Spent, place: t.place, simple: t.simple}, nil
	}
	return err
}

func (s *Search) limitText() string {
	return fmt.Sprintf("the clock reached %s, the limit for a --time-budget of %s", round(time.Duration(overrun*float64(s.Time))), round(s.Time))
}

// limited reports whether the clock is a limit at present.
func (s *Search) limited() bool { return s.proven() && !s.Patient }

func (s *Search) proven() bool {
	return slices.ContainsFunc(s.trials, func(t Trial) bool { return t.Outcome == Proven })
}

// round rounds a time to a sensible number of digits.
func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(10 * time.Millisecond)
	}
	if d < 20*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// add records a trial, drops tables that can no longer win, and reports a result that
// is better than those before.
func (s *Search) add(t Trial) {
	before := -1
	if won := s.rank().won; won != nil {
		before = won.place
	}
	at, _ := slices.BinarySearchFunc(s.trials, t.place, func(t Trial, place int) int { return cmp.Compare(t.place, place) })
	s.trials = slices.Insert(s.trials, at, t)
	s.drop()
	if won := s.rank().won; won != nil && won.place != before {
		s.router.Found(s.choice())
	}
}

// drop drops the tables that can no longer win.
func (s *Search) drop() {
	var all []*Trial
	for i := range s.trials {
		if t := &s.trials[i]; t.Outcome == Proven {
			all = append(all, t)
		} else {
			s.release(t)
		}
	}
	most, best := mostPairs(all), 0.0
	for _, t := range all {
		best = max(best, s.worth(t, most))
	}
	for _, t := range all {
		if s.worth(t, most) < best*keep {
			s.release(t)
		}
	}
}

// release lets the tables of a trial go.
func (s *Search) release(t *Trial) {
	if t.held {
		t.held, t.tables = false, nil
		s.router.Drop(t.Engine)
	}
}

// choice is the best trial, and how it was found; empty: none is proven.
func (s *Search) choice() (engine string, c *Choice) {
	r := s.rank()
	c = &Choice{Trials: slices.Clone(s.trials), Aim: s.aim(), Meter: s.meter}
	for i := range c.Trials {
		if c.Trials[i].Outcome == Stopped {
			c.Stopped++
		}
	}
	if r.won == nil {
		return "", c
	}
	c.Why = s.why(r, c.Stopped)
	return r.won.Engine, c
}

// aim is the name of what trials are ranked by.
func (s *Search) aim() string {
	if s.served() {
		return option.Demands.String()
	}
	return s.Options.Aim.String()
}
