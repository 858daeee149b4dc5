package weft

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// The engine auto tries engines, has each result judged under the requested contract,
// and keeps what is proven. Among the proven results it takes, in this order,
//
//  1. the largest effective bisection bandwidth Λ (T. Hoefler, T. Schneider, A.
//     Lumsdaine: Optimized Routing for Large-Scale InfiniBand Networks, HOTI 2009,
//     section IV.A), all engines simulated on the same random patterns;
//     what is within alike of the best counts as equal;
//  2. a proof that holds for aggregation nodes and routers too, where the request is
//     about host adapters only;
//  3. the fewest lanes needed;
//  4. the smallest load of a channel;
//  5. the place in the table of engines.
//
// If the options have an aim or weights of hosts, only engines are tried that use them
// for their paths; Λ is still that of all hosts alike.
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

// alike is the difference of Λ below which results count as equal.
const alike = 0.002

// leastTime is the budget of time for all but large networks.
const leastTime = 10 * time.Second

// overrun is how many times the budget of time the clock may reach.
const overrun = 1.5

// Choice is how Auto chose.
type Choice struct {
	Trials []Trial // in the order of their places
	Why    string  // a sentence

	// Stopped is how many engines the clock kept from being tried. Unless it is
	// none, another run may choose otherwise.
	Stopped int
}

type search struct {
	Request
	contract  routing.Contract
	fabric    *fabric.Fabric
	placement traffic.Placement
	trials    []Trial       // in the order of the table
	best      float64       // largest Λ so far; -Inf before the first proof
	left      time.Duration // of the budget, by estimates
	balanced  bool          // balanced paths have been made
	limit     time.Time
	table     []engines.Engine
}

// choose is Route where the engine is Auto.
func (r *Request) choose(ctx context.Context, f *fabric.Fabric) (*Result, error) {
	s := newSearch(f, *r, candidates())
	var p routing.Progress
	if r.Stages != nil {
		var done func()
		p, done = r.Stages("choose")
		defer done()
	}
	return s.run(ctx, p)
}

func newSearch(f *fabric.Fabric, r Request, table []engines.Engine) *search {
	contract := routing.Any
	if r.Contract != nil {
		contract = *r.Contract
	}
	r.Contract = &contract
	if r.Time == 0 {
		r.Time = defaultTime(f)
	}
	r.Options = r.Options.Sharing()
	return &search{
		Request: r, contract: contract, fabric: f, placement: r.Scope.Endpoints(f), best: math.Inf(-1),
		left: r.Time, limit: time.Now().Add(time.Duration(overrun * float64(r.Time))), table: table,
	}
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
	t := Trial{Engine: e.Name, place: place}
	cost := estimate(e, s.fabric, s.balanced)
	switch {
	case deaf(e, s.Options):
		t.Outcome, t.Why = Skipped, "it does not heed --aim and --weight"
	case s.proven() && cost > s.left:
		t.Outcome, t.Why = Skipped, fmt.Sprintf("about %s, and %s of %s are left (--time-budget)", round(cost), round(max(0, s.left)), round(s.Time))
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
		*t, err = Trial{Engine: t.Engine, Outcome: Stopped, Why: s.limitText(), Spent: t.Spent, place: t.place}, nil
	}
	return err
}

func (s *search) limitText() string {
	return fmt.Sprintf("the clock reached %s, the limit for a --time-budget of %s", round(time.Duration(overrun*float64(s.Time))), round(s.Time))
}

// limited says whether the clock is a limit at present.
func (s *search) limited() bool { return s.proven() && !s.Patient }

func (s *search) proven() bool { return !math.IsInf(s.best, -1) }

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
	if won := s.won(); won != nil {
		before = won.place
	}
	if t.Outcome == Proven {
		s.best = max(s.best, t.Lambda)
	}
	at, _ := slices.BinarySearchFunc(s.trials, t.place, func(t Trial, place int) int { return cmp.Compare(t.place, place) })
	s.trials = slices.Insert(s.trials, at, t)
	for i := range s.trials {
		if x := &s.trials[i]; x.Outcome != Proven || x.Lambda < s.best-alike {
			x.result = nil
		}
	}
	if won := s.won(); s.Found != nil && won != nil && won.place != before {
		if c, err := s.choice(); err == nil {
			s.Found(c)
		}
	}
}

// won is the best trial so far; nil: nothing is proven.
func (s *search) won() *Trial {
	var won *Trial
	for i := range s.trials {
		t := &s.trials[i]
		if t.result != nil && (won == nil || t.before(won)) {
			won = t
		}
	}
	return won
}

// choice is the best trial, and how it was found.
func (s *search) choice() (*Result, error) {
	won := s.won()
	trials := slices.Clone(s.trials)
	stopped := 0
	for i := range trials {
		trials[i].result = nil
		if trials[i].Outcome == Stopped {
			stopped++
		}
	}
	if won == nil {
		return nil, &NoneProven{s.contract, trials}
	}
	best := *won.result
	best.Choice = &Choice{Trials: trials, Why: s.why(won, stopped), Stopped: stopped}
	return &best, nil
}
