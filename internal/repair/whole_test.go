package repair

import (
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// From one spine to the other, each with entries only while it is used: the new one gets its
// entry before packets go there, the old one loses its own after them. An entry for a host that
// is gone, which changes too, counts nowhere.
func TestKeepWhole(t *testing.T) {
	both := testnet.Build(t, "xgft:m=2,w=2,hosts=2")
	var gone []fabric.NodeID
	for _, s := range levels.Leaves(both) {
		gone = append(gone, both.Endpoint(both.Attached(s)[1]).Node)
	}
	f, err := both.Without(nil, gone)
	if err != nil {
		t.Fatal(err)
	}
	free := fabric.LID(1)
	for f.Owner(free) != fabric.None {
		free++
	}
	if free > f.TopLID() {
		t.Fatal("no LID is free")
	}
	full := routed.Of(t, f, "updn", routing.Budget{VLs: 1, Scope: routing.Adapters})
	scope := routing.HCA
	leaf, lid := fabric.NodeID(fabric.None), fabric.LID(0)
	for to, owner := range scope.LIDs(f) {
		lid = to
		for s, sends := range scope.Ends(f) {
			if at := fabric.NodeID(s); sends && at != f.Endpoint(owner).Switch {
				leaf = at
			}
		}
	}
	by := func(up fabric.ChannelID) *routing.Tables {
		only := stepWith(Step{Tables: full}, full.Forwarding).Tables
		row := only.Forwarding.Row(lid)
		row[leaf] = f.Channel(up).FromPort
		first, end := f.TrunksFrom(leaf)
		for c := first; c < end; c++ {
			if c != up {
				row[f.Heads()[c]] = routing.NoPort
			}
		}
		only.Forwarding.Row(free)[leaf] = f.Channel(up).FromPort
		return only
	}
	first, end := f.TrunksFrom(leaf)
	if end-first != 2 {
		t.Fatalf("%d trunks up", end-first)
	}
	before, after := by(first), by(first+1)
	plan, drops := &Plan{Steps: []Step{{Tables: after, Mended: 3}}}, &Plan{Steps: []Step{{Tables: after, Mended: 2, Drops: 1}}}
	whole, err := transition.Verify(t.Context(), before, after, deadlock.Options{})
	if err != nil || whole.Exposed != 1 || whole.Entries != 3 {
		t.Fatalf("at one go %+v, %v", whole, err)
	}
	if err := plan.keepWhole(t.Context(), before, scope); err != nil {
		t.Fatal(err)
	}
	if len(plan.Steps) != 3 || transition.CostOf(plan.end(before), after).Entries > 0 {
		t.Fatalf("%d steps", len(plan.Steps))
	}
	for i, s := range plan.Steps {
		v, err := transition.Verify(t.Context(), before, s.Tables, deadlock.Options{})
		if err != nil || !v.Free() || v.Exposed+v.CutAfter() > 0 || v.Entries != 1 || s.Mended+s.Follow != 1 || (s.Mended == 1) != (i == 1) {
			t.Errorf("step %d: %d entries, planned %d and %d; %d pairs cut meanwhile, %d after; %v", i+1, v.Entries, s.Mended, s.Follow, v.Exposed, v.CutAfter(), err)
		}
		before = s.Tables
	}
	if err := drops.keepWhole(t.Context(), by(first), scope); err != nil {
		t.Fatal(err)
	}
	for i, s := range drops.Steps { // the entry is dropped in the last, where it goes
		if (s.Drops == 1) != (i == 2) || s.Mended+s.Drops+s.Follow != 1 || min(s.Mended, s.Drops, s.Follow) < 0 {
			t.Errorf("with drops, step %d: %d entries mended, %d follow and %d drop", i+1, s.Mended, s.Follow, s.Drops)
		}
	}
	// A path that the step takes away is not to be kept.
	without := by(first)
	without.Forwarding.Row(lid)[leaf] = routing.NoPort
	cut := &Plan{Steps: []Step{{Tables: without, Drops: 1}}}
	if err := cut.keepWhole(t.Context(), by(first), scope); err != nil || len(cut.Steps) != 1 || cut.Steps[0].Drops != 1 {
		t.Errorf("a step that takes a path away: %+v, %v", cut.Steps, err)
	}
}
