package alash

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// What is known of groups without listing their turns agrees with the lists: how
// many they have, and whether one layer takes all groups.
func TestGroupsUnlisted(t *testing.T) {
	met := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "switches")
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
	})
	if !testing.Short() && (met[true] == 0 || met[false] == 0) { // a few draws may all be alike
		t.Errorf("networks of one layer and others: %v", met)
	}
}
