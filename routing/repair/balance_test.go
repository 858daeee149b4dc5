package repair

import (
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/routing/paths/updown"
	"github.com/weft-fabric/weft/transition"
)

// Up*/Down* rows in place of weave-any's load the trunks around the root. Balancing spreads
// them again, by steps that the judge accepts, and keeps its sums right.
func TestBalance(t *testing.T) {
	f := testnet.Build(t, "torus:5x5,hosts=2")
	e, err := engines.Named("weave-any")
	if err != nil {
		t.Fatal(err)
	}
	was, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: 8, Scope: routing.Adapters}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fw, err := updown.Finder{}.Paths(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	skewed := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: was.Lanes}
	o := Options{Contract: routing.Any, Slack: defaultSlack}
	sum := func(tables *routing.Tables) float64 {
		s := newShared(tables, nil, o).newStep(tables)
		if err := s.derive(t.Context()); err != nil {
			t.Fatal(err)
		}
		return squares(s.load)
	}
	for _, first := range []Step{{Mended: 10000}, {Rebuilt: true, Mended: 50}, {Rebuilt: true, Mended: 10000}} {
		first.Tables = skewed
		plan := &Plan{Steps: []Step{first}}
		if err := plan.balance(t.Context(), newShared(skewed, was, o), skewed); err != nil {
			t.Fatal(err)
		}
		if !first.Rebuilt || first.Mended == 50 {
			if len(plan.Steps) > 1 {
				t.Errorf("a plan that changes %d entries, rebuilt %v, is balanced", first.Mended, first.Rebuilt)
			}
			continue
		}
		now := skewed
		for i, s := range plan.Steps[1:] {
			v, err := transition.Verify(t.Context(), now, s.Tables, deadlock.Options{Contract: routing.Any})
			if err != nil || !v.Free() || v.Circles != 0 || v.CutAfter() > 0 || v.Exposed > 0 || v.Entries != s.Mended {
				t.Fatalf("step %d: %+v %+v, %v", i+1, v.MixtureVerdict, v.Cost, err)
			}
			if sum(s.Tables) >= sum(now) {
				t.Errorf("step %d: squares %.0f, before it %.0f", i+1, sum(s.Tables), sum(now))
			}
			now = s.Tables
		}
		t.Logf("squares %.0f, Up*/Down* %.0f, after %d steps %.0f", sum(was), sum(skewed), len(plan.Steps)-1, sum(now))
		if gain := sum(skewed) - sum(now); gain < (sum(skewed)-sum(was))/2 {
			t.Errorf("the squares of the loads are %.0f, %.0f before, weave-any's %.0f", sum(now), sum(skewed), sum(was))
		}
	}
	// The sum that decides when it is enough is that of the tables which the step makes.
	s := newShared(skewed, was, o).newStep(skewed)
	if err := s.derive(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := balancer{mender: newMender(s), sum: squares(s.load)}
	if err := s.eachInScope(t.Context(), b.destination); err != nil {
		t.Fatal(err)
	}
	if after := sum(s.Tables); b.sum != after || squares(b.load) != after {
		t.Errorf("squares %.0f and %.0f, counted anew %.0f", b.sum, squares(b.load), after)
	}
}
