package weft

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// The engine auto tries engines, has each result judged under the requested contract,
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
// engines, which begins with the simplest. See rank.go, also for lanes that cost nothing
// and for what is never passed over.
//
// If the options have weights of hosts, only engines are tried that use them for their
// paths; the figures are still those of all hosts alike.
//
// No engine is trusted: tables that the judge does not find free of deadlock are not
// chosen, and tables of an engine that promises nothing are chosen if the judge proves
// them.
//
// Time. An engine that is quick and routes every network comes first, so that there
// soon is a result, then the others by their places, the most promising first.
// Estimates of routing, judging and simulating, from the size of the network, decide
// which of them are begun, so that the same input gives the same bytes on a loaded
// machine too. The clock is only a limit, unless Patient is set: at overrun times the
// budget of time after the beginning, the engine at work is stopped and no other is
// begun. Then, and only then, the choice depends on the machine, and Choice.Stopped
// says so. Whatever the budget, the search goes on until something is proven.

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

type search struct {
	Request
	contract routing.Contract
	fabric   *fabric.Fabric
	meter    Meter
	aimed    []int         // of the meter's orders, those that the aim is about
	trials   []Trial       // in the order of the table
	left     time.Duration // of the budget, by estimates
	balanced bool          // balanced paths have been made
	limit    time.Time
	table    []engines.Engine
}

// choose is Route where the engine is Auto.
func (r *Request) choose(ctx context.Context, f *fabric.Fabric) (*Result, error) {
	contract := routing.Any
	if r.Contract != nil {
		contract = *r.Contract
	}
	if _, err := r.forClass(routing.Budget{VLs: r.VLs, SLs: r.SLs, Contract: contract}); err != nil {
		return nil, err
	}
	s, err := newSearch(f, *r, candidates())
	if err != nil {
		return nil, err
	}
	var p routing.Progress
	if r.Stages != nil {
		var done func()
		p, done = r.Stages("choose")
		defer done()
	}
	return s.run(ctx, p)
}

func newSearch(f *fabric.Fabric, r Request, table []engines.Engine) (*search, error) {
	contract := routing.Any
	if r.Contract != nil {
		contract = *r.Contract
	}
	r.Contract = &contract
	if r.Time == 0 {
		r.Time = defaultTime(f)
	}
	r.Options = r.Options.Sharing()
	s := &search{
		Request: r, contract: contract, fabric: f,
		left: r.Time, limit: time.Now().Add(time.Duration(overrun * float64(r.Time))), table: table,
	}
	return s, s.setMeter()
}

// setMeter settles what trials are measured by.
func (s *search) setMeter() (err error) {
	s.meter = Meter{Endpoints: s.fabric.ByPort(s.Scope.Endpoints(s.fabric)), Seed: s.Options.Seed, Demands: s.Options.Demands}
	hosts := len(s.meter.Endpoints)
	if hosts < 2 {
		return nil // nobody talks to anybody: all engines are alike
	}
	// The standard deviation of Λ over patterns falls with the root of the endpoints; that
	// of differences between engines on the same patterns is smaller still.
	s.meter.Runs = cmp.Or(s.Patterns, min(2000, max(200, 400_000/hosts)))
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

func (s *search) run(ctx context.Context, p routing.Progress) (*Result, error) {
	for n, place := range inTurn(s.table) {
		p.Report(n, len(s.table))
		if err := s.take(ctx, place); err != nil {
			return nil, err
		}
	}
	return s.choice()
}

// inTurn is the places in the table in the order of trying: engines that are Sure
// first.
func inTurn(table []engines.Engine) []int {
	var first, rest []int
	for i := range table {
		if table[i].Auto.Sure {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(first, rest...)
}

// take tries an engine if it fits the request and the time, and records the result.
func (s *search) take(ctx context.Context, place int) error {
	e := s.table[place]
	if !fits(e, s.contract) {
		return nil
	}
	t := Trial{Engine: e.Name, place: place, simple: simplicity(e.Name), safe: e.Safe}
	cost := estimate(e, s.fabric, s.balanced)
	switch {
	case deaf(e, s.Options):
		t.Outcome, t.Why = Skipped, "it does not heed --weight"
	case s.proven() && cost > s.left:
		t.Outcome, t.Why = Skipped, fmt.Sprintf("estimated at %s, and %s of %s are left by estimates, not by the clock (--time-budget)", round(cost), round(max(0, s.left)), round(s.Time))
	case s.limited() && !time.Now().Before(s.limit):
		t.Outcome, t.Why = Stopped, s.limitText()
	default:
		s.left -= cost
		s.balanced = s.balanced || balanced(e)
		if err := s.within(ctx, e, &t); err != nil {
			return err
		}
	}
	s.add(t)
	return nil
}

// within tries an engine within the limit of the clock; without a limit as long as
// nothing is proven.
func (s *search) within(ctx context.Context, e engines.Engine, t *Trial) error {
	limited := ctx
	if s.limited() {
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadline(ctx, s.limit)
		defer cancel()
	}
	err := s.try(limited, e, t)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		*t, err = Trial{Engine: t.Engine, Outcome: Stopped, Why: s.limitText(), Spent: t.Spent, place: t.place, simple: t.simple}, nil
	}
	return err
}

func (s *search) limitText() string {
	return fmt.Sprintf("the clock reached %s, the limit for a --time-budget of %s", round(time.Duration(overrun*float64(s.Time))), round(s.Time))
}

// limited says whether the clock is a limit at present.
func (s *search) limited() bool { return s.proven() && !s.Patient }

func (s *search) proven() bool {
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
func (s *search) add(t Trial) {
	before := -1
	if won := s.rank().won; won != nil {
		before = won.place
	}
	at, _ := slices.BinarySearchFunc(s.trials, t.place, func(t Trial, place int) int { return cmp.Compare(t.place, place) })
	s.trials = slices.Insert(s.trials, at, t)
	s.drop()
	if won := s.rank().won; s.Found != nil && won != nil && won.place != before {
		if c, err := s.choice(); err == nil {
			s.Found(c)
		}
	}
}

// drop drops the tables that can no longer win.
func (s *search) drop() {
	var all []*Trial
	for i := range s.trials {
		if t := &s.trials[i]; t.Outcome == Proven {
			all = append(all, t)
		} else {
			t.result = nil
		}
	}
	most, best := mostPairs(all), 0.0
	for _, t := range all {
		best = max(best, s.worth(t, most))
	}
	for _, t := range all {
		if s.worth(t, most) < best*keep {
			t.result = nil
		}
	}
}

// choice is the best trial, and how it was found.
func (s *search) choice() (*Result, error) {
	r := s.rank()
	trials := slices.Clone(s.trials)
	stopped := 0
	for i := range trials {
		trials[i].result = nil
		if trials[i].Outcome == Stopped {
			stopped++
		}
	}
	if r.won == nil {
		return nil, &NoneProven{s.contract, trials}
	}
	best := *r.won.result
	best.Choice = &Choice{Trials: trials, Why: s.why(r, stopped), Stopped: stopped, Aim: s.aim(), Meter: s.meter}
	return &best, nil
}

// aim is the name of what trials are ranked by.
func (s *search) aim() string {
	if s.served() {
		return engines.Demands.String()
	}
	return s.Options.Aim.String()
}
