package weft

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

var specs = []string{"ring:6", "torus:4x4,hosts=2", "mesh:4x4", "karytree:k=4,n=2", "dragonfly:p=2", "kautz:b=2,n=3,hosts=3", "random:switches=20,links=40,hosts=3,seed=5"}

var contracts = []routing.Contract{routing.Any, routing.Honored, routing.Single(3)}

func best(t testnet.TB, f *fabric.Fabric, w Request) *Result {
	t.Helper()
	c, err := Route(context.Background(), f, w)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The choice is proven under the contract wished for, asked anew, and nothing that
// is proven too is better, as measured anew: nowhere worse and somewhere better.
func TestBestIsProvenAndBest(t *testing.T) {
	for _, spec := range specs {
		for _, contract := range contracts {
			t.Run(spec+" "+contract.String(), func(t *testing.T) {
				f := testnet.Build(t, spec)
				c := best(t, f, Request{Contract: new(contract), Patterns: 100})
				v, err := deadlock.Verify(context.Background(), c.Tables, deadlock.Options{Contract: contract})
				if err != nil || !v.Free() || v.Unreachable > 0 {
					t.Fatalf("%s is not proven: %v, %d pairs without a route", c.Engine.Name, err, v.Unreachable)
				}
				won := c.Choice.Trials[slices.IndexFunc(c.Choice.Trials, func(x choose.Trial) bool { return x.Engine == c.Engine.Name })]
				if got := lambda(t, c.Tables, 100); got != won.Lambda {
					t.Errorf("%s: measured anew it has %v, not %v", won.Engine, got, won.Lambda)
				}
				for _, x := range c.Choice.Trials {
					if x.Outcome == choose.Proven && (!won.Wider || x.Wider) && passedOver(&won, &x) {
						t.Errorf("%s was taken with %d lanes and %+v; %s has %d and %+v", won.Engine, won.VLs, won.Figures, x.Engine, x.VLs, x.Figures)
					}
					// On one lane it holds whatever clients do.
					if x.Engine == "nue" && contract != routing.Honored && x.Outcome != choose.Skipped && (x.Outcome != choose.Proven || x.VLs != 1) {
						t.Errorf("nue: %v on %d lanes (%s), want it proven on one", x.Outcome, x.VLs, x.Why)
					}
				}
			})
		}
	}
}

// passedOver reports whether x is nowhere worse than what won, and better somewhere.
func passedOver(won, x *choose.Trial) bool {
	better := x.Lambda > won.Lambda+.002 || x.VLs < won.VLs
	for i := range 2 { // by switch and by name
		if x.Shifts[i].Time > won.Shifts[i].Time {
			return false
		}
		better = better || x.Shifts[i].Time < won.Shifts[i].Time/1.01
	}
	return better && x.Lambda >= won.Lambda && x.VLs <= won.VLs
}

func lambda(t testing.TB, tables *routing.Tables, runs int) float64 {
	t.Helper()
	bisect, err := traffic.Parse("bisect")
	if err != nil {
		t.Fatal(err)
	}
	r, err := congestion.Simulate(context.Background(), tables, congestion.Options{
		Pattern: bisect, Placement: tables.Fabric.ByPort(routing.HCA.Endpoints(tables.Fabric)), Seed: DefaultSeed, Runs: runs,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Lambda
}

// Where phases take as long as alone on the paths of a quick engine, the others are not
// tried, and none of those that are proven would be better for them or need fewer lanes. Who
// asks about pairs at random gets all of them tried.
func TestPerfectEndsTheSearch(t *testing.T) {
	for _, spec := range []string{"fattree:ports=6,levels=3", "karytree:k=4,n=2", "xgft:m=4x3,w=4x4,hosts=4"} {
		f := testnet.Build(t, spec)
		c := best(t, f, Request{Contract: new(routing.Any), Patterns: 200})
		if c.Engine.Name != "ftree" || slices.ContainsFunc(c.Choice.Trials, func(x choose.Trial) bool { return x.Engine != "ftree" && x.Outcome != choose.Skipped }) {
			t.Errorf("%s: %s of %s", spec, c.Engine.Name, outcomes(c))
		}
		w := Request{Contract: new(routing.Any), Patterns: 200}
		w.Options.Aim = engines.Bisection
		all := best(t, f, w)
		won := all.Choice.Trials[slices.IndexFunc(all.Choice.Trials, func(x choose.Trial) bool { return x.Engine == "ftree" })]
		for _, x := range all.Choice.Trials {
			if x.Outcome == choose.Skipped || x.Outcome == choose.Proven && (x.Lambda > won.Lambda*1.01 || x.Shifts[0].Time < 1 || x.VLs < 1) {
				t.Errorf("%s: %s %v has %+v, ftree %+v", spec, x.Engine, x.Outcome, x.Figures, won.Figures)
			}
		}
	}
}

// However little time there is, something is proven; what was left out is said.
func TestBudgetOfTime(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=2")
	c := best(t, f, Request{Contract: new(routing.Any), Time: time.Nanosecond, Patterns: 10})
	if i := slices.IndexFunc(c.Choice.Trials, func(x choose.Trial) bool { return x.Outcome == choose.Proven }); c.Choice.Trials[i].Engine != c.Engine.Name {
		t.Errorf("%s was taken, and %s was the first proven", c.Engine.Name, c.Choice.Trials[i].Engine)
	}
	last := c.Choice.Trials[len(c.Choice.Trials)-1]
	if last.Outcome != choose.Skipped || last.Why == "" {
		t.Errorf("the last candidate %s is %v (%q), not skipped with a reason", last.Engine, last.Outcome, last.Why)
	}
}

// Whatever falls out of a network, something is proven under any contract, on a
// single lane.
func TestDamage(t *testing.T) {
	f := testnet.Build(t, "random:switches=14,links=24,hosts=2,seed=3")
	rapid.Check(t, func(t *rapid.T) {
		var gone []fabric.ChannelID
		for range rapid.IntRange(0, 20).Draw(t, "cables") {
			gone = append(gone, fabric.ChannelID(rapid.IntRange(0, f.Trunks()-1).Draw(t, "cable")))
		}
		damaged, err := f.Without(gone, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := best(t, damaged, Request{Contract: new(routing.Any), VLs: 1, Patterns: 10, Time: time.Millisecond})
		if !c.Verdict.Free() {
			t.Fatalf("%s is not proven", c.Engine.Name)
		}
	})
}

// The same on one core as on many.
func TestSameOnAnyNumberOfCores(t *testing.T) {
	for _, spec := range testnet.First([]string{"torus:4x4,hosts=3", "xgft:m=4x4,w=2x4,hosts=2", testnet.Small}, 2) {
		sameOnAnyNumberOfCores(t, testnet.Build(t, spec))
	}
}

func sameOnAnyNumberOfCores(t *testing.T, f *fabric.Fabric) {
	t.Helper()
	was := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(was)
	one := best(t, f, Request{Contract: new(routing.Honored), Patient: true})
	runtime.GOMAXPROCS(4)
	four := best(t, f, Request{Contract: new(routing.Honored), Patient: true})
	for lid := range f.LIDs() {
		if !slices.Equal(one.Tables.Forwarding.Row(lid), four.Tables.Forwarding.Row(lid)) {
			t.Fatalf("other paths to LID %d", lid)
		}
	}
	if d := cmp.Diff(one.Choice.Trials, four.Choice.Trials, cmpopts.IgnoreUnexported(choose.Trial{}), cmpopts.IgnoreFields(choose.Trial{}, "Spent")); d != "" {
		t.Error(d)
	}
}

// A network without hosts, or with one, has nothing to measure and is routed all
// the same.
func TestNothingToMeasure(t *testing.T) {
	f := testnet.Build(t, "ring:3")
	var hosts []fabric.NodeID
	for i, n := range f.Nodes() {
		if n.Kind == fabric.Adapter {
			hosts = append(hosts, fabric.NodeID(i))
		}
	}
	for _, keep := range []int{0, 1} {
		bare, err := f.Without(nil, hosts[keep:])
		if err != nil {
			t.Fatal(err)
		}
		if c := best(t, bare, Request{Contract: new(routing.Any)}); !c.Verdict.Free() {
			t.Errorf("%d hosts: %s is not proven", keep, c.Engine.Name)
		}
	}
}

// What is said to heed weights of hosts makes other tables for them, what is not
// makes the same; and where there are weights, only the former is tried.
func TestHeeds(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	weights := make([]uint8, len(f.Endpoints()))
	for i := range weights {
		weights[i] = 1
		if i%5 == 0 {
			weights[i] = 100
		}
	}
	weighed := engines.Options{Weights: weights}
	for _, e := range choose.Candidates() {
		route := func(o engines.Options) *routing.Tables {
			tables, err := e.Route(context.Background(), f, o, routing.Budget{VLs: routing.DefaultVLs}, nil)
			if routing.Refused(err) {
				return nil
			}
			if err != nil {
				t.Fatal(err)
			}
			return tables
		}
		plain, heavy := route(engines.Options{}), route(weighed)
		if plain == nil || heavy == nil {
			if choose.Balanced(e) {
				t.Errorf("%s refuses", e.Name)
			}
			continue
		}
		same := true
		for lid := range f.LIDs() {
			same = same && slices.Equal(plain.Forwarding.Row(lid), heavy.Forwarding.Row(lid))
		}
		if same == choose.Balanced(e) {
			t.Errorf("%s: heeds %v, and its tables are the same: %v", e.Name, choose.Balanced(e), same)
		}
	}
	for _, x := range best(t, f, Request{Contract: new(routing.Honored), Options: weighed, Patterns: 10}).Choice.Trials {
		e, err := engines.Named(x.Engine)
		if err != nil {
			t.Fatal(err)
		}
		if (x.Outcome == choose.Skipped) == choose.Balanced(e) {
			t.Errorf("%s: heeds %v, and is %v (%s)", e.Name, choose.Balanced(e), x.Outcome, x.Why)
		}
	}
}

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
		var err error
		if c, err = newTries(f, &w).best(t.Context(), table, nil); err != nil {
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
		e.Auto = auto.Row{Sure: e.Auto.Sure}
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
		i := slices.IndexFunc(c.Choice.Trials, func(x choose.Trial) bool { return x.Outcome == choose.Stopped })
		if x := c.Choice.Trials[i]; x.Why != "the clock reached 15s, the limit for a --time-budget of 10s" || x.VLs != 0 {
			t.Errorf("%v: %+v", test.takes, x)
		}
	}
}

// Balanced paths count once in the estimates, whoever begins with them.
func TestSharedPathsCountOnce(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=2") // that of slowly
	enough := time.Duration(0)
	for i, c := range short[:3] {
		enough += choose.Estimate(c, f, i == 1)
	}
	if twice := choose.Estimate(short[1], f, false); twice <= choose.Estimate(short[1], f, true) {
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
	if d := choose.DefaultTime(testnet.Build(t, "ring:5")); d != 10*time.Second {
		t.Errorf("a small network gets %v", d)
	}
	f := testnet.Build(t, "xgft:m=20x18,w=18x18,hosts=18")
	likely, ready := time.Duration(0), false
	for _, name := range []string{"updn", "balance", "weave-any", "weave"} {
		c := choose.Candidates()[slices.IndexFunc(choose.Candidates(), func(c engines.Engine) bool { return c.Name == name })]
		likely += choose.Estimate(c, f, ready)
		ready = ready || name == "balance"
	}
	if d := choose.DefaultTime(f); d != likely || d <= 10*time.Second {
		t.Errorf("a large one gets %v, not %v", d, likely)
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

// Loads of paths that an engine takes over from another are counted once, and those of others anew.
func TestPathsAreCountedOnce(t *testing.T) {
	f := testnet.Build(t, "mesh:4x4")
	c, want := new(counted), map[string]*congestion.Loads{}
	made := map[string]*routing.Tables{}
	for _, engine := range []string{"dor", "updn"} {
		made[engine] = best(t, f, Request{Engine: engine}).Tables
		want[engine] = congestion.Count(f, made[engine].Forwarding, routing.HCA)
	}
	if cmp.Equal(want["dor"], want["updn"]) {
		t.Fatal("the two have the same loads: no test")
	}
	var before *congestion.Loads
	for _, engine := range []string{"dor", "dor", "updn", "dor"} {
		got, err := c.of(context.Background(), made[engine], routing.HCA)
		if err != nil || !cmp.Equal(got, want[engine]) {
			t.Errorf("%s: %v, other loads than counted alone", engine, err)
		}
		before = got
	}
	again, _ := c.of(context.Background(), made["dor"], routing.HCA)
	if again != before {
		t.Error("the same paths are counted twice")
	}
}
