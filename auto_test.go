package weft

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/balance"
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
				won := c.Choice.Trials[slices.IndexFunc(c.Choice.Trials, func(x Trial) bool { return x.Engine == c.Engine.Name })]
				if got := lambda(t, c.Tables, 100); got != won.Lambda {
					t.Errorf("%s: measured anew it has %v, not %v", won.Engine, got, won.Lambda)
				}
				for _, x := range c.Choice.Trials {
					if x.Outcome == Proven && (!won.Wider || x.Wider) && passedOver(&won, &x) {
						t.Errorf("%s was taken with %d lanes and %+v; %s has %d and %+v", won.Engine, won.VLs, won.Figures, x.Engine, x.VLs, x.Figures)
					}
					// On one lane it holds whatever clients do.
					if x.Engine == "nue" && contract != routing.Honored && x.Outcome != Skipped && (x.Outcome != Proven || x.VLs != 1) {
						t.Errorf("nue: %v on %d lanes (%s), want it proven on one", x.Outcome, x.VLs, x.Why)
					}
				}
			})
		}
	}
}

// passedOver says whether x is nowhere worse than what won, and better somewhere.
func passedOver(won, x *Trial) bool {
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

// ranked is a trial as rank sees it.
func ranked(engine string, lambda, bySwitch, byName float64, lanes int, load uint32) Trial {
	return Trial{
		Engine: engine, Figures: Figures{Lambda: lambda, Shifts: []Shift{{"switch", bySwitch}, {"name", byName}}},
		VLs: lanes, MaxLoad: load, simple: simplicity(engine), safe: engine != "minhop", result: &Result{Engine: engines.Engine{Name: engine}},
	}
}

// What is taken for each aim, and why.
func TestRank(t *testing.T) {
	pairs, phases := ranked("weave-any", .702, 5.5, 5.5, 3, 40), ranked("weave", .690, 2, 2, 2, 50)
	type trials []Trial
	wider := func(x Trial) Trial { x.Wider = true; return x }
	for _, c := range []struct {
		aim    balance.Aim
		trials trials
		want   string
		why    string
	}{
		{balance.Bisection, trials{pairs, phases}, "weave-any", "weave-any has the most bandwidth for random pairs; the next is weave, with 1.7 % less"},
		{balance.Mixed, trials{pairs, phases}, "weave", "weave is best for random pairs and phases together; the next is weave-any"},
		{balance.Shifts, trials{pairs, phases}, "weave", "weave takes the least time for phases; the next is weave-any, which takes 175 % longer"},
		{balance.AllToAll, trials{pairs, phases}, "weave-any", "weave-any has the least on its fullest channel; the next is weave, with 25 % more"},
		// Bandwidth is not bought dearly with phases.
		{balance.Mixed, trials{ranked("updn", .70, 6, 6, 1, 1), ranked("nue", .61, 1, 1, 1, 1)}, "updn", "updn is best for random pairs and phases together; the next is nue"},
		// Equal bandwidth: shifts, then lanes, then the simplest.
		{balance.Bisection, trials{ranked("updn", .7015, 4, 4, 1, 1), ranked("nue", .7, 3, 3, 2, 2), ranked("weave", .701, 3.02, 3, 1, 3), ranked("lash", .7, 3, 3.02, 1, 9)},
			"lash", "lash is as good as updn, nue, weave, and of these it takes less time for phases, needs fewer lanes, is the simplest"},
		{balance.Shifts, trials{ranked("updn", .7, 3, 3, 1, 1), ranked("nue", .71, 3.02, 3, 1, 2)},
			"nue", "nue is as good as updn, and of these it has more bandwidth for random pairs"},
		{balance.Mixed, trials{ranked("minhop", .7, 3, 3, 1, 1), ranked("nue", .7, 3, 3, 1, 1), ranked("ftree", .7, 3, 3, 1, 1)},
			"ftree", "ftree is as good as minhop, nue, and of these it makes no credit loop on any network, is the simplest"},
		// The wider proof first.
		{balance.Mixed, trials{ranked("updn", .7, 3, 3, 1, 1), wider(ranked("nue", .7, 3, 3, 2, 2))},
			"nue", "nue is as good as updn, and of these it is proven for aggregation nodes and routers too"},
		// Lanes that gain nothing are saved, whatever they are worth to the aim only.
		{balance.Bisection, trials{pairs, ranked("ftree", .6951, 8, 8, 1, 90)}, "ftree",
			"ftree is at most 1 % behind weave-any, which has the most bandwidth for random pairs, and needs fewer lanes, 1 in place of 3"},
		{balance.Mixed, trials{pairs, ranked("ftree", .6951, 5.55, 5.55, 1, 90)}, "ftree",
			"ftree is at most 1 % behind weave-any, which is best for random pairs and phases together, and needs fewer lanes, 1 in place of 3"},
		{balance.Mixed, trials{pairs, ranked("ftree", .6951, 5.6, 5.4, 1, 90)}, "weave-any", "weave-any is best for random pairs and phases together; the next is ftree"},
		{balance.AllToAll, trials{ranked("weave", .7, 3, 3, 2, 200), ranked("updn", .1, 9, 9, 1, 202)}, "updn",
			"updn is at most 1 % behind weave, which has the least on its fullest channel, and needs fewer lanes, 1 in place of 2"},
		{balance.Bisection, trials{pairs, wider(pairs), ranked("ftree", .6951, 8, 8, 1, 90)}, "weave-any", ""},
		// What is nowhere worse and somewhere better is not passed over for a simpler one that is
		// as good on the whole.
		{balance.Mixed, trials{ranked("updn", .7, 3, 3.05, 1, 1), ranked("nue", .7, 3, 3, 1, 1)}, "nue",
			"nue is nowhere behind updn, and ahead in some of random pairs, phases and lanes"},
		{balance.Mixed, trials{ranked("updn", .7, 3, 3.05, 1, 1), ranked("nue", .7, 3, 3, 2, 1)}, "updn", ""},
		{balance.AllToAll, trials{ranked("updn", .5, 9, 9, 1, 100), ranked("nue", .6, 3, 3, 1, 101)}, "updn", ""},
	} {
		s := &search{contract: routing.Honored, aimed: []int{0, 1}, meter: Meter{Endpoints: make([]fabric.EndpointID, 2)}}
		s.Options.Aim = c.aim
		for i, x := range c.trials {
			x.place = i
			s.add(x)
		}
		got, err := s.choice()
		if err != nil {
			t.Fatal(err)
		}
		if got.Engine.Name != c.want {
			t.Errorf("%v: %s was taken of %+v, want %s", c.aim, got.Engine.Name, c.trials, c.want)
		}
		if why := fmt.Sprintf("of the %d engines proven under contract honored, %s", len(c.trials), c.why); c.why != "" && got.Choice.Why != why {
			t.Errorf("why: %s\nwant %s", got.Choice.Why, why)
		}
	}
}

// However little time there is, something is proven; what was left out is said.
func TestBudgetOfTime(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=2")
	c := best(t, f, Request{Contract: new(routing.Any), Time: time.Nanosecond, Patterns: 10})
	if i := slices.IndexFunc(c.Choice.Trials, func(x Trial) bool { return x.Outcome == Proven }); c.Choice.Trials[i].Engine != c.Engine.Name {
		t.Errorf("%s was taken, and %s was the first proven", c.Engine.Name, c.Choice.Trials[i].Engine)
	}
	last := c.Choice.Trials[len(c.Choice.Trials)-1]
	if last.Outcome != Skipped || last.Why == "" {
		t.Errorf("the last candidate %s is %v (%q), not skipped with a reason", last.Engine, last.Outcome, last.Why)
	}
}

// Every engine that makes tables for any fabric is a candidate or left out for a
// reason that the table's comment gives.
func TestCandidates(t *testing.T) {
	leftOut := []string{"dnup", "sssp", "p2sssp", "dfsssp-online", "df-d2-minhop", "df-dn-minhop", "mroots", "d-mroots", "mp-lash", "fatpaths", "parx", "dla", "d3r"}
	for _, e := range engines.All() {
		candidate := slices.ContainsFunc(candidates(), func(c engines.Engine) bool { return c.Name == e.Name })
		if out := slices.Contains(leftOut, e.Name); out == candidate {
			t.Errorf("%s: candidate %v, left out %v", e.Name, candidate, out)
		}
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
	for _, spec := range []string{"torus:4x4,hosts=3", testnet.Small} {
		sameOnAnyNumberOfCores(t, testnet.Build(t, spec))
	}
}

func sameOnAnyNumberOfCores(t *testing.T, f *fabric.Fabric) {
	t.Helper()
	was := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(was)
	one := best(t, f, Request{Contract: new(routing.Honored)})
	runtime.GOMAXPROCS(4)
	four := best(t, f, Request{Contract: new(routing.Honored)})
	for lid := range f.LIDs() {
		if !slices.Equal(one.Tables.Forwarding.Row(lid), four.Tables.Forwarding.Row(lid)) {
			t.Fatalf("other paths to LID %d", lid)
		}
	}
	if d := cmp.Diff(one.Choice.Trials, four.Choice.Trials, cmpopts.IgnoreUnexported(Trial{}), cmpopts.IgnoreFields(Trial{}, "Spent")); d != "" {
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
	for _, e := range candidates() {
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
			if balanced(e) {
				t.Errorf("%s refuses", e.Name)
			}
			continue
		}
		same := true
		for lid := range f.LIDs() {
			same = same && slices.Equal(plain.Forwarding.Row(lid), heavy.Forwarding.Row(lid))
		}
		if same == balanced(e) {
			t.Errorf("%s: heeds %v, and its tables are the same: %v", e.Name, balanced(e), same)
		}
	}
	for _, x := range best(t, f, Request{Contract: new(routing.Honored), Options: weighed, Patterns: 10}).Choice.Trials {
		if e := candidates()[x.place]; (x.Outcome == Skipped) == balanced(e) {
			t.Errorf("%s: heeds %v, and is %v (%s)", e.Name, balanced(e), x.Outcome, x.Why)
		}
	}
}
