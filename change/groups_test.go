package change_test

import (
	"errors"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/adaptive/minimal"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// withChoices is tables of an engine with groups of ports.
func withChoices(t *testing.T, spec, engine string) *routing.Tables {
	t.Helper()
	f := testnet.Build(t, spec)
	tables := routed.Of(t, f, engine, routing.Budget{VLs: 8})
	var err error
	if tables.Groups, err = minimal.Groups(t.Context(), tables, routing.Any, routing.HCA, nil); err != nil {
		t.Fatal(err)
	}
	return tables
}

// kept counts the entries with a group.
func kept(t *routing.Tables) (n int) {
	for lid := range t.Fabric.LIDs() {
		for _, c := range t.Groups.Row(0, lid) {
			if c != routing.NoChoice {
				n++
			}
		}
	}
	return n
}

// proven reports whether every step of a plan is free, and its last tables are, whatever the switches choose.
func proven(t *testing.T, p *change.Proven, o change.Options) {
	t.Helper()
	before := p.Before
	for i, s := range p.Steps {
		u, err := transition.Verify(t.Context(), before, s.Tables, deadlock.Options{Contract: o.Contract})
		if err != nil || !u.Free() || s.Tables.Groups == nil {
			t.Fatalf("step %d: %v, %+v", i+1, err, u)
		}
		before = s.Tables
	}
}

// Repairs of tables with groups: every pair that the repair without groups serves is served whatever the switches
// choose, every step is proven with the groups, most entries keep theirs, and the way back restores all.
func TestRepairsKeepGroups(t *testing.T) {
	o := change.Options{Contract: routing.Any}
	for _, c := range []struct {
		spec, engine string
		keep         int // of a hundred entries with groups, after each failure
	}{{"xgft:m=4x4,w=2x2,hosts=4", "ftree", 40}, {"karytree:k=3,n=3", "ftree", 60}, {"torus:4x4", "weave-any", 0}} {
		tables := withChoices(t, c.spec, c.engine)
		all := kept(tables)
		for _, x := range change.Sample(append(change.Cables(tables.Fabric), change.Switches(tables.Fabric)...), 8) {
			live, err := tables.Fabric.Without(x.Channels, x.Nodes)
			if err != nil {
				t.Fatal(err)
			}
			static := *tables
			static.Groups = nil
			want, err := change.Mend(t.Context(), &static, live, o)
			if err != nil {
				t.Fatal(err)
			}
			p, err := change.Mend(t.Context(), tables, live, o)
			if err != nil {
				t.Fatalf("%s: %v", c.spec, err)
			}
			proven(t, p, o)
			if p.CutAfter != want.CutAfter || len(p.Left) != len(want.Left) || transition.CostOf(p.After, want.After).Entries != 0 {
				t.Errorf("%s: %d pairs cut off after %d steps, %d without groups", c.spec, p.CutAfter, len(p.Steps), want.CutAfter)
			}
			if n := kept(p.After); n*100 < all*c.keep {
				t.Errorf("%s: %d of %d entries keep their groups", c.spec, n, all)
			}
			if _, err := change.Return(t.Context(), want.After, &static, o); err != nil {
				t.Logf("%s: without groups: %v", c.spec, err)
				continue
			}
			back, err := change.Return(t.Context(), p.After, tables, o)
			if err != nil {
				t.Fatal(err)
			}
			proven(t, back, o)
			if cost := transition.CostOf(back.After, tables); len(back.Left) > 0 || cost.Entries+cost.Choices > 0 {
				t.Errorf("%s: %d entries and %d groups are not as they were", c.spec, cost.Entries, cost.Choices)
			}
		}
	}
}

// No steps lead to groups that close a credit loop under the assumptions of the plan, and the planner is not to blame.
func TestGroupsThatLoop(t *testing.T) {
	f := testnet.Build(t, "random:switches=8,links=16,hosts=1,seed=198")
	tables := routed.Of(t, f, "updn", routing.Budget{VLs: 1})
	static := *tables
	var err error
	if tables.Groups, err = minimal.Groups(t.Context(), tables, routing.Any, routing.HCA, nil); err != nil {
		t.Fatal(err)
	}
	o := change.Options{Contract: routing.Any, Scope: routing.All} // proven for host adapters
	if _, err := change.Return(t.Context(), &static, tables, o); !errors.Is(err, repair.ErrLoopAfter) {
		t.Errorf("error %v, want %v", err, repair.ErrLoopAfter)
	}
	o.Scope = routing.HCA
	if p, err := change.Return(t.Context(), &static, tables, o); err != nil || transition.CostOf(p.After, tables).Choices > 0 {
		t.Errorf("for host adapters: %+v, %v", p, err)
	}
}

// After a drain no switch chooses the parts that go, and before that no pair is cut.
func TestDrainsKeepGroups(t *testing.T) {
	o := change.Options{Contract: routing.Any}
	for _, spec := range []string{"xgft:m=4x4,w=2x2,hosts=4", "karytree:k=3,n=3"} {
		tables := withChoices(t, spec, "ftree")
		for _, x := range change.Sample(change.Cables(tables.Fabric), 5) {
			less, err := tables.Fabric.Without(x.Channels, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := change.Remove(t.Context(), tables, less, o)
			if err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			proven(t, p, o)
			on, err := transition.On(less, p.After, nil)
			if err != nil {
				t.Fatal(err)
			}
			v, err := deadlock.Verify(t.Context(), on, deadlock.Options{Contract: o.Contract})
			if err != nil || !v.Complete() || p.Exposed() != 0 || len(p.Left) > 0 {
				t.Errorf("%s: %d pairs are cut when %s is pulled, %d before, %d destinations left: %v", spec, v.Unreachable, tables.Fabric.ChannelLabel(x.Channels[0]), p.Exposed(), len(p.Left), err)
			}
			for s := range fabric.NodeID(tables.Fabric.Switches()) {
				for lid := range less.LIDs() {
					c := p.After.Groups.Row(0, lid)[s]
					if ch := tables.Fabric.Channel(x.Channels[0]); c != routing.NoChoice && ch.From == s && p.After.Groups.Sets(s)[c.Group()].Has(ch.FromPort) {
						t.Fatalf("%s: %s may choose the cable that goes", spec, tables.Fabric.Label(s))
					}
				}
			}
			back, err := p.Undo(t.Context(), o)
			if err != nil || transition.CostOf(back.After, tables).Choices > 0 {
				t.Errorf("%s: not undone: %v", spec, err)
			}
		}
	}
}
