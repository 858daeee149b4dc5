package alash_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/adaptive/judge"
	"github.com/weft-fabric/weft/internal/engine/adaptive/alash"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

func route(t testing.TB, o alash.Engine, f *fabric.Fabric, vls int) *adaptive.Tables {
	t.Helper()
	a, err := o.RouteAdaptive(context.Background(), f, routing.Budget{VLs: vls}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func judged(t testing.TB, a *adaptive.Tables, s judge.Switching) *judge.Verdict {
	t.Helper()
	v, err := judge.Verify(context.Background(), a, judge.Options{Switching: s})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// "If we have minimal connectivity so that the network has the shape of a tree, one
// virtual layer suffices … networks with maximal connectivity will also need only
// one layer, because no packet will traverse more than one link" (section 5.2, of
// LASH; the reasons hold for all shortest paths).
func TestOneLayerSuffices(t *testing.T) {
	for n := 2; n <= 20; n++ {
		for _, links := range []int{n - 1, n * (n - 1) / 2} {
			f := testnet.Build(t, fmt.Sprintf("random:switches=%d,links=%d,seed=%d", n, links, n))
			if a := route(t, alash.Engine{}, f, 1); a.Needed != 1 {
				t.Errorf("%d switches, %d links: %d layers", n, links, a.Needed)
			}
		}
	}
}

// Figure 6: the layers needed when all shortest paths are open to all packets. The
// networks are those of section 8, "each of which had twice as many links as
// switches", and for one size those of other connectivities, where "the maximum
// number of layers needed occurred when there were about twice as many links as
// nodes" (section 6).
func TestFigure6(t *testing.T) {
	for _, c := range []struct{ switches, most int }{{16, 3}, {32, 4}, {64, 5}, {128, 9}} {
		got := needed(t, c.switches, 2*c.switches)
		t.Logf("%d switches: %v layers in %d networks", c.switches, got, len(got))
		if slices.Max(got) > c.most {
			t.Errorf("%d switches need %v layers, more than %d", c.switches, got, c.most)
		}
	}
	peak, twice := 0, slices.Max(needed(t, 32, 64))
	for links := 31; links <= 320; links += 17 {
		most := slices.Max(needed(t, 32, links))
		t.Logf("32 switches, %d links: at most %d layers", links, most)
		peak = max(peak, most)
	}
	if peak > twice+1 {
		t.Errorf("32 switches need %d layers at most, with 64 links %d", peak, twice)
	}
}

func needed(t *testing.T, switches, links int) []int {
	var got []int
	for seed := range 10 {
		f := testnet.Build(t, fmt.Sprintf("random:switches=%d,links=%d,seed=%d", switches, links, seed))
		a := route(t, alash.Engine{OneLayer: true}, f, routing.MaxDataVLs)
		if v := judged(t, a, judge.CutThrough); !v.Free() || !v.Complete() || !v.Minimal || v.VLs != a.Needed {
			t.Errorf("%d switches, %d links, seed %d: verdict is %+v", switches, links, seed, v)
		}
		got = append(got, a.Needed)
	}
	return got
}

// "Theorem 3. In Cut Through and Store and Forward networks, the routing function R
// resulting from the above algorithm can be extended so that, for any ⟨s,a⟩, all
// packets associated with ⟨s,a⟩ can move freely between all layers in T(⟨s,a⟩)
// without creating deadlocks." In wormhole networks they must stay.
func TestTheorem3(t *testing.T) {
	for _, spec := range []string{"ring:8", "random:switches=32,links=64,seed=1"} {
		f := testnet.Build(t, spec)
		a := route(t, alash.Engine{}, f, 8)
		if v := judged(t, a, judge.CutThrough); !v.Free() || !v.Complete() {
			t.Errorf("%s, cut-through: verdict is %+v", spec, v)
		}
		if v := judged(t, a, judge.Wormhole); v.Free() || v.Cycle == nil {
			t.Errorf("%s, wormhole: no cycle", spec)
		}
		if v := judged(t, route(t, alash.Engine{Stay: true}, f, 8), judge.Wormhole); !v.Free() {
			t.Errorf("%s, wormhole, and packets stay: cycle %+v", spec, v.Cycle)
		}
	}
}

// "There are no cross dependencies between R' and R … because R' does not restrict
// any buffer with respect to what packets can end up there" (proof of Theorem 3):
// free moves add no dependencies.
func TestFreeMovesAddNoDependencies(t *testing.T) {
	f := testnet.Build(t, "torus:4x4")
	moves := judged(t, route(t, alash.Engine{}, f, 8), judge.CutThrough)
	stays := judged(t, route(t, alash.Engine{Stay: true}, f, 8), judge.CutThrough)
	if moves.Dependencies != stays.Dependencies || moves.Flows != stays.Flows {
		t.Errorf("%d dependencies of %d flows, and %d of %d without moves", moves.Dependencies, moves.Flows, stays.Dependencies, stays.Flows)
	}
}

// Step 4.1 leaves no layer untried: whatever T(s,a) lacks closes a cycle.
func TestStep4LeavesNothingOut(t *testing.T) {
	a := route(t, alash.Engine{}, testnet.Build(t, "random:switches=10,links=18,seed=2"), 3)
	lacking := 0
	for x := range adaptive.Address(a.Addresses()) {
		row := a.AllowedRow(x)
		for s, mask := range row {
			for lane := range a.Lanes {
				if mask == 0 || mask>>lane&1 == 1 {
					continue
				}
				lacking++
				row[s] |= 1 << lane
				if v := judged(t, a, judge.CutThrough); v.Free() {
					t.Errorf("switch %d to address %d fits into layer %d, too", s, x, lane)
				}
				row[s] = mask
			}
		}
	}
	if lacking == 0 {
		t.Fatal("all layers take everything: no test")
	}
	for x := range adaptive.Address(a.Addresses()) {
		one := route(t, alash.Engine{OneLayer: true}, a.Fabric, 3)
		for s, mask := range one.AllowedRow(x) {
			if bits.OnesCount16(mask) > 1 || (mask == 0) != (a.Allowed(fabric.NodeID(s), x) == 0) || mask&^a.Allowed(fabric.NodeID(s), x) != 0 {
				t.Errorf("switch %d to address %d: layers %b without step 4, %b with it", s, x, mask, a.Allowed(fabric.NodeID(s), x))
			}
		}
	}
}

// "We can group the shortest paths … according to the link they acquire from the
// first switch": on a ring of even length the far switch has two groups, an address
// each, and only the first trunk is fixed.
func TestGroupsOnARing(t *testing.T) {
	f := testnet.Build(t, "ring:6")
	a := route(t, alash.Engine{}, f, 2)
	if a.Addresses() != 12 {
		t.Fatalf("%d addresses, want 12", a.Addresses())
	}
	for s := range fabric.NodeID(6) {
		for d := range fabric.NodeID(6) {
			var open []fabric.ChannelID
			first, end := a.AddressesOf(d)
			from, to := f.TrunksFrom(s)
			for x := first; x < end; x++ {
				if a.Allowed(s, x) == 0 {
					continue
				}
				set := a.Ways(x, fabric.None, 0, 0)
				c := set.Next(from, to)
				if c == to || set.Next(c+1, to) != to {
					t.Errorf("from %d to %d: address %d does not fix the first trunk", s, d, x)
				}
				open = append(open, c)
			}
			want := 1
			if distance := (s - d + 6) % 6; distance == 3 {
				want = 2
			} else if distance == 0 {
				want = 0
			}
			if slices.Sort(open); len(open) != want || len(slices.Compact(open)) != want {
				t.Errorf("from %d to %d: groups by %v", s, d, open)
			}
		}
	}
}

// With too few layers the answer is no, or fewer paths where they are asked for.
func TestTooFewLayers(t *testing.T) {
	f := testnet.Build(t, "torus:6x6")
	_, err := alash.Engine{}.RouteAdaptive(context.Background(), f, routing.Budget{VLs: 8}, nil)
	few := (*routing.TooFewLanes)(nil)
	if !errors.As(err, &few) || few.Need <= 8 || few.AtLeast || few.Have != 8 {
		t.Fatalf("refusal is %v", err)
	}
	if a := route(t, alash.Engine{}, f, few.Need); a.Needed != few.Need {
		t.Errorf("%d layers needed, said to be %d", a.Needed, few.Need)
	}
	a := route(t, alash.Engine{Partial: true}, f, 8)
	v := judged(t, a, judge.CutThrough)
	if !v.Free() || !v.Complete() || !v.Minimal || v.Flows < v.Pairs || !slices.ContainsFunc(a.Notes, func(n string) bool { return strings.Contains(n, "left out") }) {
		t.Errorf("partial: %v, verdict is %+v", a.Notes, v)
	}
	if _, err := (alash.Engine{Partial: true}).RouteAdaptive(context.Background(), f, routing.Budget{VLs: 2}, nil); !errors.As(err, &few) || !few.AtLeast {
		t.Errorf("partial on 2 lanes: %v", err)
	}
}

func BenchmarkRoute(b *testing.B) {
	for _, spec := range []string{"random:switches=64,links=128,seed=1", "random:switches=128,links=256,seed=1", "dragonfly:p=4"} {
		f := testnet.Build(b, spec)
		b.Run(spec, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				route(b, alash.Engine{}, f, 15)
			}
		})
	}
}

func BenchmarkJudge(b *testing.B) {
	a := route(b, alash.Engine{}, testnet.Build(b, "random:switches=64,links=128,seed=1"), 8)
	b.ReportAllocs()
	for b.Loop() {
		judged(b, a, judge.CutThrough)
	}
}
