package measure

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Far below saturation what is offered arrives, by every method and under both kinds
// of traffic; twice the same.
func TestWhatIsOfferedArrives(t *testing.T) {
	f := testnet.Build(t, "random:switches=12,links=24,hosts=1,seed=3")
	for _, c := range packetMethods {
		for _, pattern := range []string{Uniform, "bisect-both"} {
			p := Point{Measure: Accepted, Engine: c.name, Traffic: pattern, Load: 0.1, Patterns: 20000}
			got, err := accepted(context.Background(), f, p, 1)
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, pattern, err)
				continue
			}
			if math.Abs(got.values[0]-0.1) > 0.02 || got.latency < 32 {
				t.Errorf("%s, %s: %g of 0.1 accepted, latency %g", c.name, pattern, got.values[0], got.latency)
			}
			again, err := accepted(context.Background(), f, p, 1)
			if diff := cmp.Diff(got, again, cmp.AllowUnexported(sample{})); err != nil || diff != "" {
				t.Errorf("%s, %s: not the same twice: %s%v", c.name, pattern, diff, err)
			}
		}
	}
}

// All methods with tables use the lanes they are given, and the judge frees them.
func TestMethodsUseTheirLanes(t *testing.T) {
	f := testnet.Build(t, "random:switches=16,links=32,hosts=1,seed=1")
	for _, vls := range []int{2, 3} {
		for name, method := range map[string]func(context.Context, *fabric.Fabric, int, uint64) (network, error){"updn": upDown, "mroots": roots(false), "d-mroots": roots(true)} {
			x, err := method(context.Background(), f, vls, 1)
			if err != nil {
				t.Fatal(err)
			}
			v, err := deadlock.Verify(context.Background(), x.tables, deadlock.Options{Contract: routing.Directed})
			if err != nil || !v.Free() || !v.Complete() || v.VLs != vls {
				t.Errorf("%s with %d lanes: %+v, %v", name, vls, v, err)
			}
		}
	}
}

// Every host sends once and receives once, never to itself, and routes of the loop
// come first.
func TestLoopPairs(t *testing.T) {
	f := testnet.Build(t, "slimfly:q=3,hosts=2")
	e, _, err := methodNamed("sssp")
	if err != nil {
		t.Fatal(err)
	}
	r, err := route(context.Background(), f, e, budget.Scope, 1)
	if err != nil || r.Verdict.Free() {
		t.Fatalf("no loop to test with: %v", err)
	}
	v := r.Verdict
	list := loopPairs(f, v.Cycle, rand.New(rand.NewPCG(1, 2)))
	if len(list) < 35 || list[0].From != v.Cycle[0].Src || list[0].To != f.Owner(v.Cycle[0].Dst) {
		t.Errorf("%d messages of 36 hosts, the first %+v", len(list), list[0])
	}
	sends, receives := map[fabric.EndpointID]bool{}, map[fabric.EndpointID]bool{}
	for _, m := range list {
		if sends[m.From] || receives[m.To] || m.From == m.To {
			t.Errorf("%+v", m)
		}
		sends[m.From], receives[m.To] = true, true
	}
}

// The ring of HOTI 2016, figure 1, stops; on a tree nothing can.
func TestStop(t *testing.T) {
	for spec, stops := range map[string]bool{"ring:5": true, "karytree:k=2,n=2": false} {
		p := Point{Measure: Stops, Version: 1, Network: spec, Engine: "sssp", Repeats: 5, Seed: 1}
		b := NewMeter(nil, 1<<30)
		r, err := b.Take(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if (r.Count > 0) != stops || (r.Loops > 0) != stops || (r.Refused == "") != stops {
			t.Errorf("%s: %+v", spec, r)
		}
		again, err := b.Take(context.Background(), p)
		if diff := cmp.Diff(r, again, cmpopts.IgnoreFields(Result{}, "Spent")); err != nil || diff != "" {
			t.Errorf("%s: not the same twice: %s%v", spec, diff, err)
		}
	}
}

// What is raised when a measure's code changes is part of the key.
func TestVersionIsPartOfTheKey(t *testing.T) {
	a, b := Point{Measure: Lanes, Version: 1, Network: "ring:5"}, Point{Measure: Lanes, Version: 2, Network: "ring:5"}
	if a.Key() == b.Key() {
		t.Error("two versions of a measure have one key")
	}
}
