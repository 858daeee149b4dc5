package repair_test

import (
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
)

// Rows that bar each other's way back go by other entries first: without dropping packets the
// tables come back, entry for entry, after every failure; every step changes something, and none
// comes after they are back.
func TestDetours(t *testing.T) {
	f := testnet.Build(t, "random:switches=24,links=40,hosts=1,seed=3")
	was, contract := route(t, f, "weave-any")
	detours := 0
	every(t, f, func(what string, live *fabric.Fabric) {
		now, err := transition.On(live, was, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := repair.Mend(t.Context(), now, was, repair.Options{Contract: contract})
		if err != nil || len(plan.Left) > 0 {
			t.Fatalf("%s: %v, left %v", what, err, plan.Left)
		}
		if n := len(plan.Steps); n > 0 {
			now = plan.Steps[n-1].Tables
		}
		if now, err = transition.On(f, now, was); err != nil {
			t.Fatal(err)
		}
		back, err := repair.Migrate(t.Context(), now, was, repair.Options{Contract: contract})
		if err != nil || len(back.Left) > 0 {
			t.Fatalf("%s: %v, left on the way back %v", what, err, back.Left)
		}
		for i, s := range back.Steps {
			v, err := transition.Verify(t.Context(), now, s.Tables, deadlock.Options{Contract: contract})
			if err != nil || !v.Free() || v.Circles != 0 || v.CutAfter() > v.CutBefore() || s.Drops > 0 {
				t.Fatalf("%s: step %d back: %+v %+v, %v", what, i+1, v.MixtureVerdict, v.Cost, err)
			}
			if v.Entries == 0 || transition.CostOf(now, was).Entries == 0 {
				t.Errorf("%s: step %d of %d back changes %d entries, of %d that differ", what, i+1, len(back.Steps), v.Entries, transition.CostOf(now, was).Entries)
			}
			if s.Rebuilt {
				detours++
			}
			now = s.Tables
		}
		if cost := transition.CostOf(now, was); cost.Entries != 0 {
			t.Errorf("%s: %d entries differ after %d steps back", what, cost.Entries, len(back.Steps))
		}
	})
	if detours == 0 {
		t.Error("no detour was needed: the case tests nothing")
	}
}
