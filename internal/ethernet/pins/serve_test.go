package pins

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/coloring"
	"github.com/weft-fabric/weft/internal/testnet"
)

// network is a tree with the leaf of each of its adapters, and roots as plain as can be, for so many addresses.
func network(t *testing.T, spec string, addresses int) (tree *coloring.Tree, leaf []int32, roots [][]Root) {
	t.Helper()
	f := testnet.Build(t, spec)
	if tree = coloring.Of(f); tree == nil {
		t.Fatalf("%s is no tree", spec)
	}
	planes, _ := tree.Roots()
	for i := range f.Endpoints() {
		if e := f.Endpoint(fabric.EndpointID(i)); e.Class == fabric.HostAdapter {
			list := make([]Root, addresses)
			for k := range list {
				list[k] = Root{Plane: int32((len(leaf) + k) % planes)}
			}
			leaf, roots = append(leaf, tree.Leaf[e.Switch]), append(roots, list)
		}
	}
	return tree, leaf, roots
}

// most is the fullest channel with pins, counted demand by demand.
func most(tree *coloring.Tree, leaf []int32, demands []Demand, roots [][]Root) float64 {
	load := map[[5]int32]float64{}
	full := 0.
	for _, d := range demands {
		if d.From == leaf[d.To] {
			continue
		}
		p, q := tree.Pod[d.From], tree.Pod[leaf[d.To]]
		for _, r := range roots[d.To] {
			channels := [][5]int32{{0, d.From, r.Plane}, {1, leaf[d.To], r.Plane}}
			if p != q {
				channels = append(channels, [5]int32{2, p, r.Plane, r.Top}, [5]int32{3, q, r.Plane, r.Top})
			}
			for _, c := range channels {
				load[c] += d.Bytes / float64(len(roots[d.To]))
				full = max(full, load[c])
			}
		}
	}
	return full
}

// Rings of servers never meet; other demands meet no more than with the roots that the search began with. Adapters without
// demands keep their roots, and so do all where the same demands come again.
func TestServed(t *testing.T) {
	for _, spec := range []string{"fattree:ports=12", "fattree:ports=8,levels=3"} {
		for seed := range uint64(8) {
			r := rand.New(rand.NewPCG(seed, 5))
			tree, leaf, roots := network(t, spec, 1)
			order := r.Perm(len(leaf))[:len(leaf)*3/4]
			var ring, any []Demand
			for i, a := range order {
				ring = append(ring, Demand{From: leaf[a], To: int32(order[(i+1)%len(order)]), Bytes: 1})
				any = append(any, Demand{From: leaf[a], To: int32(r.IntN(len(leaf))), Bytes: float64(1 + r.IntN(3))}, Demand{From: leaf[a], To: int32(r.IntN(len(leaf))), Bytes: 2})
			}
			found, exact := Serve(context.Background(), tree, leaf, ring, roots, false)
			if full := most(tree, leaf, ring, found); full > 1 || !exact {
				t.Errorf("%s, %d: a ring takes %v, exact %v", spec, seed, full, exact)
			}
			for a := range roots {
				if !slices.Contains(order, a) && !slices.Equal(found[a], roots[a]) {
					t.Errorf("%s: adapter %d has no demands, and another root", spec, a)
				}
			}
			again, _ := Serve(context.Background(), tree, leaf, ring, found, true)
			if !slices.EqualFunc(found, again, slices.Equal[[]Root]) {
				t.Errorf("%s, %d: the same ring has other roots again", spec, seed)
			}
			for _, addresses := range []int{1, 3} {
				_, _, roots := network(t, spec, addresses)
				found, _ := Serve(context.Background(), tree, leaf, any, roots, false)
				if before, after := most(tree, leaf, any, roots), most(tree, leaf, any, found); after > before {
					t.Errorf("%s, %d, %d addresses: %v, and %v to begin with", spec, seed, addresses, after, before)
				}
			}
		}
	}
}

// A job that is exchanged leaves the pins of others as they are, as long as there is room beside them.
func TestServedAgain(t *testing.T) {
	tree, leaf, roots := network(t, "fattree:ports=16", 1)
	r := rand.New(rand.NewPCG(1, 2))
	order := r.Perm(len(leaf))[:len(leaf)/2]
	half := len(order) / 2
	ring := func(list []int) (all []Demand) {
		for i, a := range list {
			all = append(all, Demand{From: leaf[a], To: int32(list[(i+1)%len(list)]), Bytes: 1})
		}
		return all
	}
	before, _ := Serve(context.Background(), tree, leaf, append(ring(order[:half]), ring(order[half:])...), roots, false)
	other := slices.Clone(order[half:])
	r.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	demands := append(ring(order[:half]), ring(other)...)
	after, exact := Serve(context.Background(), tree, leaf, demands, before, true)
	if full := most(tree, leaf, demands, after); full > 1 || !exact {
		t.Fatalf("takes %v", full)
	}
	moved := 0
	for _, a := range order[:half] {
		if after[a][0] != before[a][0] {
			moved++
		}
	}
	if moved > half/8 {
		t.Errorf("%d of %d pins of the job that stays are others", moved, half)
	}
}
