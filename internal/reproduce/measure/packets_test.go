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
	"github.com/weft-fabric/weft/packets"
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

// Methods that can fill any number of lanes use those that they are given, and the judge
// frees them.
func TestMethodsUseTheirLanes(t *testing.T) {
	f := testnet.Build(t, "random:switches=16,links=32,hosts=1,seed=1")
	for _, vls := range []int{3, 4} {
		for _, name := range []string{"deterministic:updn-dfs", "deterministic:updn-dfs, by tables", "deterministic:d-mroots", "deterministic:lash", "source:mroots", "source:lash"} {
			m, err := packetMethodNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			x, err := m.route(context.Background(), f, vls, 1)
			if err != nil {
				t.Fatal(err)
			}
			if x.tables != nil {
				v, err := deadlock.Verify(context.Background(), x.tables, deadlock.Options{Contract: routing.Directed})
				if err != nil || !v.Free() || !v.Complete() || v.VLs != vls {
					t.Errorf("%s with %d lanes: %+v, %v", name, vls, v, err)
				}
				continue
			}
			v, err := deadlock.VerifyAdaptive(context.Background(), x.adaptive, deadlock.AdaptiveOptions{})
			used := uint16(0)
			for a := range routing.Address(x.adaptive.Addresses()) {
				for s := range fabric.NodeID(f.Switches()) {
					used |= x.adaptive.Allowed(s, a)
				}
			}
			if err != nil || !v.Free() || !v.Complete() || len(x.adaptive.Lanes) != vls || used != 1<<vls-1 {
				t.Errorf("%s with %d lanes: uses %b, %+v, %v", name, vls, used, v, err)
			}
		}
	}
}

// The throughput is a load of the grid that is still delivered, and the next is not.
func TestDeliveredIsTheLargestLoad(t *testing.T) {
	f := testnet.Build(t, "random:switches=12,links=18,hosts=1,seed=3")
	p := Point{Measure: Delivered, Engine: "deterministic:updn-dfs", Traffic: Uniform, Patterns: 20000}
	got, err := delivered(context.Background(), f, p, 1)
	if err != nil {
		t.Fatal(err)
	}
	load := got.values[0]
	n, err := simulated(context.Background(), f, p.Engine, 1)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[float64]bool{load: true, load + 1./gridOfLoads: false} {
		r, err := offer(context.Background(), n, p, at, 1, 0, false)
		if err != nil || (r.Status != packets.Saturated) != want {
			t.Errorf("at %g: %s, %v; the largest load delivered is said to be %g", at, r.Status, err, load)
		}
	}
	if load < 0.1 || load > 0.9 || got.latency < 32 {
		t.Errorf("delivered up to %g, latency %g: no test", load, got.latency)
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
		b := NewMeter(nil)
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
