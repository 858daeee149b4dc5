package change_test

import (
	"fmt"
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Where switches have no entries for destinations whose packets do not pass them, they get these
// before packets are sent there: no plan cuts a pair that has a path.
func TestEmptyEntriesAreFilledFirst(t *testing.T) {
	drains, joined := 0, 0
	for _, spec := range []string{"xgft:m=3x3,w=2x2,hosts=1", "xgft:m=2x3,w=2x3,hosts=1"} {
		f := testnet.Build(t, spec)
		for seed := range 2 {
			was := withHoles(t, route(t, f, "updn"), seed)
			for i, x := range append(change.Switches(f), change.Cables(f)...) {
				if len(x.Nodes) > 0 && len(f.Attached(x.Nodes[0])) > 1 {
					continue // has hosts
				}
				less, err := f.Without(x.Channels, x.Nodes)
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%s, holes %d, failure %d", spec, seed, i)
				o := change.Options{}
				p, err := change.Remove(t.Context(), was, less, o)
				if err != nil {
					t.Fatal(err)
				}
				back, err := change.Return(t.Context(), p.After, was, o)
				if err != nil {
					t.Fatal(err)
				}
				undo, err := p.Undo(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if len(p.Left)+len(back.Left) > 0 || transition.CostOf(back.After, was).Entries+transition.CostOf(undo.After, was).Entries > 0 {
					t.Errorf("%s: %d destinations left, %d on the way back", what, len(p.Left), len(back.Left))
				}
				neverCuts(t, what+", out", p, 0)
				neverCuts(t, what+", back", back, 0)
				neverCuts(t, what+", undone", undo, 0)
				drains++
				if n := len(p.Steps); n > 1 {
					one, err := change.Prove(t.Context(), was, &repair.Plan{Steps: []repair.Step{p.Steps[n-1].Step}}, o)
					if err == nil && one.Cuts() > 0 {
						joined++
					}
				}
				mended, err := change.Mend(t.Context(), was, less, o)
				if err != nil {
					t.Fatal(err)
				}
				neverCuts(t, what+", pulled", mended, mended.CutBefore)
				back, err = change.Return(t.Context(), mended.After, was, o)
				if err != nil {
					t.Fatal(err)
				}
				neverCuts(t, what+", plugged in", back, back.CutBefore)
			}
		}
	}
	if joined == 0 {
		t.Error("no drain would cut a pair in one step")
	}
	t.Logf("%d drains, %d would cut pairs in one step", drains, joined)
}

// neverCuts checks a plan that begins where so many pairs are cut.
func neverCuts(t *testing.T, what string, p *change.Proven, cut int64) {
	t.Helper()
	if p.Cuts() > 0 {
		t.Errorf("%s: %d pairs are cut meanwhile that had a path", what, p.Cuts())
	}
	for i, s := range p.Steps {
		if s.Union.Exposed > cut {
			t.Errorf("%s, step %d: %d pairs are cut meanwhile, %d before", what, i+1, s.Union.Exposed, cut)
		}
		if s.Mended+s.Drops+s.Follow != s.Union.Entries || min(s.Mended, s.Drops, s.Follow) < 0 {
			t.Errorf("%s, step %d: %d entries, of them %d mended, %d drop and %d follow", what, i+1, s.Union.Entries, s.Mended, s.Drops, s.Follow)
		}
	}
}

// withHoles is tables without half of the entries that no packet between hosts follows.
func withHoles(t *testing.T, was *routing.Tables, seed int) *routing.Tables {
	t.Helper()
	f := was.Fabric
	holes := *was
	holes.Forwarding = routing.NewForwarding(f)
	removed := 0
	for lid := range f.TopLID() + 1 {
		row := holes.Forwarding.Row(lid)
		copy(row, was.Forwarding.Row(lid))
		owner := f.Owner(lid)
		if owner == fabric.None || !routing.HCA.Includes(f.Endpoint(owner).Class) {
			continue
		}
		home := f.Endpoint(owner).Switch
		used := make([]bool, f.Switches())
		used[home] = true
		for s, sends := range routing.HCA.Ends(f) {
			for at := fabric.NodeID(s); sends && !used[at]; at = f.Heads()[f.Out(at, row[at])] {
				used[at] = true
			}
		}
		for s := range row {
			if !used[s] && (s+int(lid)+seed)%2 == 0 {
				row[s] = routing.NoPort
				removed++
			}
		}
	}
	if removed == 0 {
		t.Fatal("no entry is unused")
	}
	return &holes
}
