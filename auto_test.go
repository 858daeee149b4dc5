package weft

import (
	"context"
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
// is proven too has more bandwidth, measured anew.
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
					if x.Outcome == Proven && x.Lambda > won.Lambda+alike {
						t.Errorf("%s has %.3f and was taken; %s has %.3f", won.Engine, won.Lambda, x.Engine, x.Lambda)
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

func lambda(t testing.TB, tables *routing.Tables, runs int) float64 {
	t.Helper()
	bisect, err := traffic.Parse("bisect")
	if err != nil {
		t.Fatal(err)
	}
	r, err := congestion.Simulate(context.Background(), tables, congestion.Options{
		Pattern: bisect, Placement: routing.HCA.Endpoints(tables.Fabric), Seed: DefaultSeed, Runs: runs,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Lambda
}

// Among equals the order is: lanes, then load, then the table.
func TestOrderAmongEquals(t *testing.T) {
	trials := []Trial{
		{Engine: "updn", Lambda: .5, VLs: 2, MaxLoad: 9, place: 0},
		{Engine: "lash", Lambda: .5019, VLs: 1, MaxLoad: 9, place: 1},
		{Engine: "nue", Lambda: .501, VLs: 1, MaxLoad: 8, place: 2},
		{Engine: "dor", Lambda: .501, VLs: 1, MaxLoad: 8, place: 3},
		{Engine: "sssp", Lambda: .49, VLs: 1, MaxLoad: 1, place: 4},
		{Engine: "minhop", Lambda: .9, Outcome: Loop, place: 5},
	}
	s := &search{best: 0}
	for _, x := range trials {
		x.result = &Result{Engine: engines.Engine{Name: x.Engine}}
		s.add(x)
	}
	c, err := s.choice()
	if err != nil {
		t.Fatal(err)
	}
	if c.Engine.Name != "nue" {
		t.Errorf("%s was taken; nue has as much bandwidth as the best, one lane, the least load and comes first", c.Engine.Name)
	}
	const why = "of the 5 engines proven under contract honored, nue is as fast as updn, lash, dor, and comes first in the order of trying; the next, sssp, has 2.2 % less"
	if c.Choice.Why != why {
		t.Errorf("why: %s\nwant %s", c.Choice.Why, why)
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
	leftOut := []string{"dnup", "dmodc", "sssp", "p2sssp", "dfsssp-online", "df-d2-minhop", "df-dn-minhop", "mroots", "d-mroots", "mp-lash"}
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
