package alash

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// What is known of groups without listing their turns agrees with the lists: how
// many they have, and whether one layer takes all groups.
func TestGroupsUnlisted(t *testing.T) {
	met := map[bool]int{}
	testnet.CheckCounted(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(2, 12), rapid.IntRange(8, 12)).Draw(t, "switches") // those of several layers are among the large
		links := rapid.IntRange(n-1, min(n*(n-1)/2, n+6)).Draw(t, "links")
		f := testnet.Build(t, fmt.Sprintf("random:switches=%d,links=%d,seed=%d", n, links, rapid.IntRange(1, 1000).Draw(t, "seed")))
		ends := routing.All.Ends(f)
		for s := range ends { // some switches only pass on
			ends[s] = ends[s] && rapid.Bool().Draw(t, "end")
		}
		g, err := newGroups(context.Background(), f, ends, nil)
		if err != nil {
			t.Fatal(err)
		}
		layers, count := acyclic.NewLayers(f), 0
		var d dag.DAG
		for dest := range fabric.NodeID(n) {
			dag.Shortest(&d, f, dest)
			g.counter.begin(&d)
			for i, s := range d.Order {
				if !ends[s] || !ends[dest] {
					continue
				}
				a, _ := g.t.AddressesOf(dest)
				for _, c := range d.Choices(i) {
					turns := g.search.from(c, dest, g.choices.Set(a, later))
					if got := g.counter.after(f.Heads()[c]); int(got) != len(turns) {
						t.Fatalf("trunk %d to switch %d: %d turns, want %v", c, dest, got, turns)
					}
					layers.First(turns, acyclic.MaxLayers)
					count++
				}
			}
		}
		if g.count != count || g.oneLayer != (layers.Len() <= 1) {
			t.Fatalf("%d groups, in one layer: %v; want %d in %d", g.count, g.oneLayer, count, layers.Len())
		}
		met[g.oneLayer]++
	}, func() {
		if met[true] == 0 || met[false] == 0 {
			t.Errorf("networks of one layer and others: %v", met)
		}
	})
}

// A pair counts as apart only if none of its groups fits, the largest of all included:
// on the first network that is the only one of its pair that does.
func TestApartOnlyIfNothingFits(t *testing.T) {
	some := false
	for _, c := range []struct {
		spec    string
		passing []fabric.NodeID // switches that only pass on
	}{
		{"random:switches=10,links=12,seed=69971", []fabric.NodeID{1, 7, 8}},
		{"random:switches=11,links=15,seed=77958", []fabric.NodeID{2, 4, 5, 6, 9}},
		{"random:switches=13,links=19,seed=29530", nil},
		{"torus:4x4", nil},
	} {
		f := testnet.Build(t, c.spec)
		ends := routing.All.Ends(f)
		for _, s := range c.passing {
			ends[s] = false
		}
		g, err := newGroups(context.Background(), f, ends, nil)
		if err != nil {
			t.Fatal(err)
		}
		apart, err := g.putOneOfEachPair(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		open := map[[2]fabric.NodeID]bool{} // [pair] it has a group in the layer
		for i := range g.list {
			x := &g.list[i]
			pair := [2]fabric.NodeID{x.source, x.dest}
			open[pair] = open[pair] || g.t.Allowed(x.source, x.address) != 0
		}
		without := 0
		for _, served := range open {
			if !served {
				without++
			}
		}
		if apart != without {
			t.Errorf("%s: %d pairs apart, %d are", c.spec, apart, without)
		}
		some = some || apart > 0
		for i := range g.list {
			if x := &g.list[i]; !open[[2]fabric.NodeID{x.source, x.dest}] && g.put(x, 1) {
				t.Errorf("%s: %d to %d is apart, and its paths over trunk %d fit", c.spec, x.source, x.dest, x.trunk)
			}
		}
	}
	if !some {
		t.Error("no pair is apart: no test")
	}
}
