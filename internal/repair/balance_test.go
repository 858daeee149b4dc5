package repair

import (
	"errors"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/minhop"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// uneven5x5 is weave-any's tables of a torus, and Up*/Down* rows in place of its rows.
func uneven5x5(t *testing.T) (was, skewed *routing.Tables) {
	t.Helper()
	f := testnet.Build(t, "torus:5x5,hosts=2")
	e, err := engines.Named("weave-any")
	if err != nil {
		t.Fatal(err)
	}
	was, err = e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: 8, Scope: routing.Adapters}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fw, err := updown.Finder{}.Paths(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return was, &routing.Tables{Fabric: f, Forwarding: fw, Lanes: was.Lanes}
}

// Up*/Down* rows in place of weave-any's load the trunks around the root. Balancing spreads
// them again, by steps that the judge accepts, and keeps its sums right.
func TestBalance(t *testing.T) {
	was, skewed := uneven5x5(t)
	o := Options{Contract: routing.Any, Slack: defaultSlack}
	sum := func(tables *routing.Tables) float64 {
		a := newProblem(tables, nil, o).newAttempt(tables)
		if err := a.derive(t.Context()); err != nil {
			t.Fatal(err)
		}
		return intree.Squares(a.load)
	}
	for _, first := range []Step{{Mended: 10000}, {Rebuilt: true, Mended: 50}, {Rebuilt: true, Mended: 10000}} {
		first.Tables = skewed
		plan := &Plan{Steps: []Step{first}}
		if err := plan.balance(t.Context(), newProblem(skewed, was, o), skewed); err != nil {
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
	a := newProblem(skewed, was, o).newAttempt(skewed)
	if err := a.derive(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := newBalancer(a, 0)
	if err := a.problem.eachInScope(t.Context(), b.destination); err != nil {
		t.Fatal(err)
	}
	if after := sum(a.step.Tables); b.sum != after || intree.Squares(a.load) != after {
		t.Errorf("squares %.0f and %.0f, counted anew %.0f", b.sum, intree.Squares(a.load), after)
	}
}

// Tables that had a credit loop before a failure say no less how loads were.
func TestBalanceAfterLoop(t *testing.T) {
	was, skewed := uneven5x5(t)
	o := Options{Contract: routing.Any, Slack: defaultSlack}
	fw, err := minhop.Finder{}.Paths(t.Context(), was.Fabric, nil)
	if err != nil {
		t.Fatal(err)
	}
	looped := &routing.Tables{Fabric: was.Fabric, Forwarding: fw, Lanes: was.Lanes}
	if err := newProblem(looped, nil, o).newAttempt(looped).derive(t.Context()); !errors.Is(err, ErrLoop) {
		t.Fatalf("the tables before are to have a loop: %v", err)
	}
	plan := &Plan{Steps: []Step{{Tables: skewed, Rebuilt: true, Mended: 10000}}}
	if err := plan.balance(t.Context(), newProblem(skewed, looped, o), skewed); err != nil || len(plan.Steps) < 2 {
		t.Errorf("%d steps, %v", len(plan.Steps), err)
	}
	// Loads are the same with and without a graph.
	a := newProblem(was, nil, o).newAttempt(was)
	if err := a.derive(t.Context()); err != nil {
		t.Fatal(err)
	}
	if load, err := loads(t.Context(), was, o); err != nil || !slices.Equal(load, a.load) {
		t.Errorf("loads %v, beside the graph %v; %v", load, a.load, err)
	}
}

// A path that is taken is at most Slack hops longer than a shortest one; one that is given up
// may be of any length.
func TestBalanceLengths(t *testing.T) {
	_, skewed := uneven5x5(t)
	f := skewed.Fabric
	longest := 0
	for _, slack := range []int{0, 1} {
		o := Options{Contract: routing.Any, Slack: slack}
		a := newProblem(skewed, nil, o).newAttempt(skewed)
		if err := a.derive(t.Context()); err != nil {
			t.Fatal(err)
		}
		b := newBalancer(a, 0)
		if err := a.problem.eachInScope(t.Context(), func(lid fabric.LID) {
			b.destination(lid)
			for _, s := range a.packets.Added() {
				to, hops := a.packets.Last(s), int32(1)
				if changesOn(f, a.packets, f.Heads()[to]) {
					continue // the rest of the path was changed later
				}
				for ; f.Heads()[to] != a.packets.Home; hops++ {
					to = a.packets.Entry[f.Heads()[to]]
				}
				if hops > a.best[s]+int32(slack) {
					t.Errorf("LID %d: %s has a path of %d hops, a shortest has %d", lid, f.Label(s), hops, a.best[s])
				}
				if a.dist[s] > a.best[s]+int32(slack) {
					longest++
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if longest == 0 {
		t.Error("no path of more hops than one may take is given up")
	}
}

// changesOn reports whether any entry from a switch on is new.
func changesOn(f *fabric.Fabric, p *packetset.Packets, s fabric.NodeID) bool {
	for ; s != p.Home; s = f.Heads()[p.Entry[s]] {
		if len(p.More[s]) > 0 {
			return true
		}
	}
	return false
}
