package mplash_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/mplash"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

type fataler interface{ Fatal(args ...any) }

func analyse(t fataler, f *fabric.Fabric, o mplash.Options) *mplash.Analysis {
	a, err := mplash.Analyse(context.Background(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Figure 5: "for 64 node networks, we never saw the need for more than six virtual
// layers to accommodate all shortest paths. The variance is still low, and the
// maximum number of layers needed occurred when there were about twice as many
// links as nodes in the network."
func TestFigure5(t *testing.T) {
	seeds := 8
	if testing.Short() {
		seeds = 2
	}
	sum := map[int]int{} // [links]
	for _, links := range []int{63, 80, 100, 128, 160, 256, 512, 1024, 2016} {
		least, most := 64, 0
		for seed := range seeds {
			a := analyse(t, testnet.Build(t, fmt.Sprintf("random:switches=64,links=%d,seed=%d", links, seed)), mplash.Options{})
			least, most = min(least, a.Layers), max(most, a.Layers)
			sum[links] += a.Layers
		}
		t.Logf("64 switches, %d links: %d to %d layers", links, least, most)
		if most > 6 || most > least+1 {
			t.Errorf("64 switches, %d links: %d to %d layers", links, least, most)
		}
	}
	for _, links := range []int{63, 80, 512, 1024, 2016} {
		if sum[links] >= sum[128] {
			t.Errorf("with %d links the sum is %d layers, with 128 it is %d", links, sum[links], sum[128])
		}
	}
}

// Section 6 takes pairs in any order: those farthest apart first need no more layers in the mean, and
// one destination after another has its maximum where the paper's is, at twice as many links.
func TestFigure5ByDestination(t *testing.T) {
	sum := map[bool]map[int]int{false: {}, true: {}} // [by destination][links]
	for _, links := range []int{96, 128, 192} {
		for seed := range 20 {
			f := testnet.Build(t, fmt.Sprintf("random:switches=64,links=%d,seed=%d", links, seed))
			for byDestination, of := range sum {
				a := analyse(t, f, mplash.Options{ByDestination: byDestination})
				of[links] += a.Layers
			}
		}
	}
	for links, n := range sum[true] {
		if n > sum[true][128] || n < sum[false][links] {
			t.Errorf("%d links: %d layers over 20 networks by destination, %d farthest first, %d by destination at 128", links, n, sum[false][links], sum[true][128])
		}
	}
	t.Log(sum)
}

// Section 5.2: "If we have minimal connectivity so that the network has the shape
// of a tree, one virtual layer suffices ... networks with maximal connectivity will
// also need only one layer, because no packet will traverse more than one link".
// That goes for all shortest paths as it does for one.
func TestTreesAndCompleteGraphs(t *testing.T) {
	for _, spec := range []string{
		"random:switches=64,links=63,seed=1", "mesh:9", "mesh:1,hosts=2", "karytree:k=3,n=3",
		"random:switches=20,links=190", "random:switches=7,links=30", // the last with parallel cables
	} {
		a := analyse(t, testnet.Build(t, spec), mplash.Options{Spread: true})
		if a.Layers != 1 || len(a.PerLayer) != 1 || a.PerLayer[0] != a.Paths {
			t.Errorf("%s: %d layers with %d paths of %d", spec, a.Layers, a.PerLayer, a.Paths)
		}
	}
}

// Section 6: "Find an existing layer Li such that letting Ri be enriched to support
// the path ... will not close a cycle of dependencies", for "all shortest paths
// between this pair"; and step 4.1, which enriches T(s,a) wherever that closes
// none. Paths are counted and layers are searched for cycles in another way here.
func TestPathsAndLayers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := testnet.Build(t, rapid.SampledFrom([]string{
			"ring:6", "torus:4x4", "torus:3x3x3", "hypercube:4", "dragonfly:p=1", "karytree:k=2,n=3",
			"random:switches=12,links=20,seed=4", "random:switches=5,links=20,seed=2",
		}).Draw(t, "network"))
		var gone []fabric.ChannelID
		for range rapid.IntRange(0, f.Trunks()/4).Draw(t, "cuts") {
			gone = append(gone, fabric.ChannelID(rapid.IntRange(0, f.Trunks()-1).Draw(t, "cut")))
		}
		f, err := f.Without(gone, nil)
		if err != nil {
			t.Fatal(err)
		}
		scope := rapid.SampledFrom([]routing.Scope{routing.HCA, routing.Adapters, routing.All}).Draw(t, "scope")
		once, all := analyse(t, f, mplash.Options{Scope: scope}), analyse(t, f, mplash.Options{Scope: scope, Spread: true})
		check(t, f, scope, once, true)
		check(t, f, scope, all, false)
		var first []uint64
		once.Each(func(_ []fabric.ChannelID, layers uint64) { first = append(first, layers) })
		i := 0
		all.Each(func(_ []fabric.ChannelID, layers uint64) {
			if first[i]&^layers != 0 {
				t.Fatalf("path %d: layers %b, with step 4 %b", i, first[i], layers)
			}
			i++
		})
	})
}

// check checks what an analysis says of itself.
func check(t *rapid.T, f *fabric.Fabric, scope routing.Scope, a *mplash.Analysis, single bool) {
	want, pairs := shortest(f, scope)
	turns := make([]map[[2]fabric.ChannelID]bool, a.Layers)
	for l := range turns {
		turns[l] = map[[2]fabric.ChannelID]bool{}
	}
	perLayer := make([]int64, a.Layers)
	known := map[string]bool{}
	a.Each(func(path []fabric.ChannelID, layers uint64) {
		name := fmt.Sprint(path)
		ends := [2]fabric.NodeID{f.Channel(path[0]).From, f.Channel(path[len(path)-1]).To}
		if known[name] || layers == 0 || single && layers&(layers-1) != 0 {
			t.Fatalf("path %v twice or with layers %b", path, layers)
		}
		known[name] = true
		want[ends]--
		for l := range turns {
			if layers>>l&1 == 0 {
				continue
			}
			perLayer[l]++
			for i := 1; i < len(path); i++ {
				if f.Channel(path[i-1]).To != f.Channel(path[i]).From {
					t.Fatalf("path %v has a gap", path)
				}
				turns[l][[2]fabric.ChannelID{path[i-1], path[i]}] = true
			}
		}
	})
	for ends, missing := range want {
		if missing != 0 {
			t.Fatalf("%d paths are missing from %d to %d", missing, ends[0], ends[1])
		}
	}
	if fmt.Sprint(perLayer) != fmt.Sprint(a.PerLayer) || int64(len(known)) != a.Paths || a.Pairs != pairs {
		t.Fatalf("%d paths, %v by layer, %d pairs; said to be %d, %v, %d", len(known), perLayer, pairs, a.Paths, a.PerLayer, a.Pairs)
	}
	for l := range turns {
		if circles(f, turns[l]) {
			t.Fatalf("layer %d has a cycle", l)
		}
	}
}

// shortest counts the shortest paths of every pair: Floyd and Warshall with
// numbers of paths of each length.
func shortest(f *fabric.Fabric, scope routing.Scope) (number map[[2]fabric.NodeID]int, pairs int64) {
	n := f.Switches()
	ends := make([]bool, n)
	for _, e := range f.Endpoints() {
		if e.Switch != fabric.None && scope.Includes(e.Class) {
			ends[e.Switch] = true
		}
	}
	number = map[[2]fabric.NodeID]int{}
	for s := range n {
		walks := make([]int, n) // from s, of the length at hand
		walks[s] = 1
		reached := make([]bool, n)
		for range n {
			for v, w := range walks {
				if w > 0 && !reached[v] {
					reached[v] = true
					if v != s && ends[s] && ends[v] {
						number[[2]fabric.NodeID{fabric.NodeID(s), fabric.NodeID(v)}] = w
						pairs++
					}
				}
			}
			next := make([]int, n)
			for c := range f.Trunks() {
				ch := f.Channel(fabric.ChannelID(c))
				if !reached[ch.To] {
					next[ch.To] += walks[ch.From]
				}
			}
			walks = next
		}
	}
	return number, pairs
}

// circles takes away trunks that nothing leads to until none is left, or only
// cycles.
func circles(f *fabric.Fabric, turns map[[2]fabric.ChannelID]bool) bool {
	before := make([]int, f.Trunks())
	after := make([][]fabric.ChannelID, f.Trunks())
	for t := range turns {
		before[t[1]]++
		after[t[0]] = append(after[t[0]], t[1])
	}
	var free []fabric.ChannelID
	for c, n := range before {
		if n == 0 {
			free = append(free, fabric.ChannelID(c))
		}
	}
	for i := 0; i < len(free); i++ {
		for _, c := range after[free[i]] {
			if before[c]--; before[c] == 0 {
				free = append(free, c)
			}
		}
	}
	return len(free) < f.Trunks()
}

func TestRefuses(t *testing.T) {
	f := testnet.Build(t, "torus:4x4")
	_, err := mplash.Analyse(context.Background(), f, mplash.Options{MostPaths: 23})
	want := "sw-2-2: has more to sw-0-0 (rule: a pair of switches has at most 23 shortest paths)"
	if refused := (*routing.Refusal)(nil); !errors.As(err, &refused) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if a := analyse(t, f, mplash.Options{MostPaths: 24}); a.MostPaths != 24 || a.Pairs != 16*15 {
		t.Errorf("%+v", a)
	}
	if _, err := mplash.Analyse(context.Background(), testnet.Build(t, "torus:8x8x8"), mplash.Options{}); err == nil {
		t.Error("lists 277,200 paths of a pair")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mplash.Analyse(ctx, f, mplash.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}

// Networks without anything to route.
func TestNothing(t *testing.T) {
	var b fabric.Builder
	empty, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*fabric.Fabric{empty, testnet.Build(t, "mesh:1")} {
		if a := analyse(t, f, mplash.Options{Spread: true}); a.Layers != 1 || a.Paths != 0 || a.Pairs != 0 {
			t.Errorf("%+v", a)
		}
	}
}
