package weft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// slow is a router that takes a time, by the clock of the test, and then does what a
// real one does.
type slow struct {
	engines.Implementation
	takes time.Duration
}

func (s slow) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, stages engines.Stages) (*routing.Tables, error) {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.Implementation.Route(ctx, f, b, stages)
}

// slowly is how a search runs with engines that take so long, by name, on a clock of
// its own. Estimates are those of the table.
func slowly(t *testing.T, w Request, table []engines.Engine, takes map[string]time.Duration) (c *Result, spent time.Duration) {
	t.Helper()
	f := testnet.Build(t, "dragonfly:p=2")
	w.Patterns = 10
	table = slices.Clone(table)
	for i, e := range table {
		table[i].New = func(o engines.Options) engines.Implementation { return slow{e.New(o), takes[e.Name]} }
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s, err := newSearch(f, w, table)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = s.run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		spent = time.Since(began)
	})
	return c, spent
}

// outcomes is what came of a search, engine by engine.
func outcomes(c *Result) string {
	var words []string
	for _, t := range c.Choice.Trials {
		words = append(words, t.Engine+" "+t.Outcome.String())
	}
	return strings.Join(words, ", ")
}

// short is a table with nothing else that is proven on a Dragonfly.
var short = rows("balance", "weave-any", "updn", "nue")

// rows is engines of the table, routing with which is said to cost nothing.
func rows(names ...string) (table []engines.Engine) {
	for _, name := range names {
		e, err := engines.Named(name)
		if err != nil {
			panic(err)
		}
		e.Auto = engines.Auto{Sure: e.Auto.Sure}
		table = append(table, e)
	}
	return table
}

// As long as the clock does not reach one and a half times the budget, an engine that
// takes longer than was estimated changes nothing.
func TestSlowMachineChoosesAlike(t *testing.T) {
	want, _ := slowly(t, Request{Contract: new(routing.Any), Time: 10 * time.Second}, short, nil)
	for _, takes := range []time.Duration{time.Second, 3749 * time.Millisecond} {
		all := map[string]time.Duration{"balance": takes, "weave-any": takes, "updn": takes, "nue": takes}
		c, spent := slowly(t, Request{Contract: new(routing.Any), Time: 10 * time.Second}, short, all)
		if c.Engine.Name != want.Engine.Name || c.Choice.Stopped != 0 || outcomes(c) != outcomes(want) || c.Choice.Why != want.Choice.Why {
			t.Errorf("%s (%s), with %v each %s (%s)", want.Engine.Name, outcomes(want), takes, c.Engine.Name, outcomes(c))
		}
		if spent != 4*takes {
			t.Errorf("spent %v", spent)
		}
	}
}

// The clock ends the search at one and a half times the budget; what is proven by
// then is taken, and both is said.
func TestClockIsALimit(t *testing.T) {
	w := Request{Contract: new(routing.Any), Time: 10 * time.Second}
	for _, test := range []struct {
		takes   map[string]time.Duration
		engine  string
		all     string
		stopped int
	}{
		{map[string]time.Duration{"balance": time.Hour}, "updn",
			"balance stopped, weave-any stopped, updn proven, nue stopped", 3},
		{map[string]time.Duration{"weave-any": 14 * time.Second, "nue": 2 * time.Second}, "weave-any",
			"balance credit-loop, weave-any proven, updn proven, nue stopped", 1},
		{map[string]time.Duration{"updn": time.Second, "weave-any": 13 * time.Second, "nue": 1001 * time.Millisecond}, "weave-any",
			"balance credit-loop, weave-any proven, updn proven, nue stopped", 1},
	} {
		c, spent := slowly(t, w, short, test.takes)
		if c.Engine.Name != test.engine || outcomes(c) != test.all || c.Choice.Stopped != test.stopped {
			t.Errorf("%v: took %s of %s, %d stopped; want %s of %s, %d", test.takes, c.Engine.Name, outcomes(c), c.Choice.Stopped, test.engine, test.all, test.stopped)
		}
		if spent != 15*time.Second {
			t.Errorf("%v: spent %v", test.takes, spent)
		}
		if said := fmt.Sprintf("the clock ended the search, %d not tried", test.stopped); !strings.Contains(c.Choice.Why, said) {
			t.Errorf("%v: %s", test.takes, c.Choice.Why)
		}
		i := slices.IndexFunc(c.Choice.Trials, func(x Trial) bool { return x.Outcome == Stopped })
		if x := c.Choice.Trials[i]; x.Why != "the clock reached 15s, the limit for a --time-budget of 10s" || x.VLs != 0 || x.result != nil {
			t.Errorf("%v: %+v", test.takes, x)
		}
	}
}

// Balanced paths count once in the estimates, whoever begins with them.
func TestSharedPathsCountOnce(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=2") // that of slowly
	enough := time.Duration(0)
	for i, c := range short[:3] {
		enough += estimate(c, f, i == 1)
	}
	if twice := estimate(short[1], f, false); twice <= estimate(short[1], f, true) {
		t.Errorf("paths that are there save nothing of %v", twice)
	}
	for less, want := range map[time.Duration]string{
		0: "balance credit-loop, weave-any proven, updn proven, nue skipped",
		1: "balance credit-loop, weave-any skipped, updn proven, nue skipped",
	} {
		if c, _ := slowly(t, Request{Contract: new(routing.Any), Time: enough - less}, short, nil); outcomes(c) != want {
			t.Errorf("with %v: %s, want %s", enough-less, outcomes(c), want)
		}
	}
}

// Without a budget of time small networks get ten seconds, large ones what the likely
// engines are expected to take.
func TestDefaultTime(t *testing.T) {
	if d := defaultTime(testnet.Build(t, "ring:5")); d != 10*time.Second {
		t.Errorf("a small network gets %v", d)
	}
	f := testnet.Build(t, "xgft:m=20x18,w=18x18,hosts=18")
	likely, ready := time.Duration(0), false
	for _, name := range []string{"updn", "balance", "weave-any", "weave"} {
		c := candidates()[slices.IndexFunc(candidates(), func(c engines.Engine) bool { return c.Name == name })]
		likely += estimate(c, f, ready)
		ready = ready || name == "balance"
	}
	if d := defaultTime(f); d != likely || d <= 10*time.Second {
		t.Errorf("a large one gets %v, not %v", d, likely)
	}
}

// Times are told as exactly as they are worth.
func TestRound(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1234 * time.Microsecond: "0s", 987 * time.Millisecond: "990ms", time.Second: "1s", 1260 * time.Millisecond: "1.3s",
		19940 * time.Millisecond: "19.9s", 20 * time.Second: "20s", 20400 * time.Millisecond: "20s", 61500 * time.Millisecond: "1m2s",
	} {
		if got := round(d).String(); got != want {
			t.Errorf("%v is told as %s, not %s", d, got, want)
		}
	}
}

// Who asked may stop the search, which is no outcome.
func TestStoppedFromOutside(t *testing.T) {
	f := testnet.Build(t, "ring:5")
	ctx, cancel := context.WithCancel(t.Context())
	w := Request{Contract: new(routing.Any), VLs: 2, Found: func(*Result) { cancel() }}
	if c, err := Route(ctx, f, w); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", c, err)
	}
}

// As long as nothing is proven there is no limit.
func TestNothingProvenYet(t *testing.T) {
	table := rows("ftree", "balance", "weave-any", "nue")
	c, spent := slowly(t, Request{Contract: new(routing.Any), Time: time.Second}, table, map[string]time.Duration{"balance": time.Hour, "weave-any": time.Minute})
	if got := outcomes(c); got != "ftree refused, balance credit-loop, weave-any proven, nue stopped" {
		t.Error(got)
	}
	if spent != time.Hour+time.Minute {
		t.Errorf("spent %v", spent)
	}
}

// Whoever is patient lets the clock run, and gets what a quick machine chooses.
func TestPatient(t *testing.T) {
	w := Request{Contract: new(routing.Any), Time: 10 * time.Second, Patient: true}
	want, _ := slowly(t, w, short, nil)
	c, spent := slowly(t, w, short, map[string]time.Duration{"balance": time.Hour, "nue": time.Hour})
	if c.Engine.Name != want.Engine.Name || outcomes(c) != outcomes(want) || c.Choice.Stopped != 0 || spent != 2*time.Hour {
		t.Errorf("%s of %s after %v, want %s of %s", c.Engine.Name, outcomes(c), spent, want.Engine.Name, outcomes(want))
	}
}

// Whoever waits is told of each choice that is better than those before, with its
// proof, the quick one first.
func TestFound(t *testing.T) {
	type found struct {
		engine string
		at     time.Duration
	}
	var all []found
	var began time.Time
	w := Request{Contract: new(routing.Any), Time: 100 * time.Second}
	w.Found = func(c *Result) {
		if began.IsZero() {
			began = time.Now().Add(-time.Second) // what updn takes
		}
		if !c.Verdict.Free() || c.Tables == nil || c.Choice.Why == "" {
			t.Errorf("%s: no proof", c.Engine.Name)
		}
		all = append(all, found{c.Engine.Name, time.Since(began)})
	}
	takes := map[string]time.Duration{"balance": time.Second, "weave-any": 5 * time.Second, "updn": time.Second, "nue": 5 * time.Second}
	c, _ := slowly(t, w, short, takes)
	if want := []found{{"updn", time.Second}, {"weave-any", 7 * time.Second}}; !slices.Equal(all, want) {
		t.Errorf("found %v, want %v", all, want)
	}
	if c.Engine.Name != "weave-any" {
		t.Errorf("took %s in the end", c.Engine.Name)
	}
	all, began = nil, time.Time{}
	slowly(t, w, rows("updn", "balance"), nil)
	if len(all) != 1 || all[0].engine != "updn" {
		t.Errorf("found %v, and it is the first of the table", all)
	}
}
