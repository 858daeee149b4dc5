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
			found, exact := Serve(context.Background(), tree, Speeds{}, leaf, ring, roots, false)
			if full := most(tree, leaf, ring, found); full > 1 || !exact {
				t.Errorf("%s, %d: a ring takes %v, exact %v", spec, seed, full, exact)
			}
			for a := range roots {
				if !slices.Contains(order, a) && !slices.Equal(found[a], roots[a]) {
					t.Errorf("%s: adapter %d has no demands, and another root", spec, a)
				}
			}
			again, _ := Serve(context.Background(), tree, Speeds{}, leaf, ring, found, true)
			if !slices.EqualFunc(found, again, slices.Equal[[]Root]) {
				t.Errorf("%s, %d: the same ring has other roots again", spec, seed)
			}
			for _, addresses := range []int{1, 3} {
				_, _, roots := network(t, spec, addresses)
				found, _ := Serve(context.Background(), tree, Speeds{}, leaf, any, roots, false)
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
	before, _ := Serve(context.Background(), tree, Speeds{}, leaf, append(ring(order[:half]), ring(order[half:])...), roots, false)
	other := slices.Clone(order[half:])
	r.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	demands := append(ring(order[:half]), ring(other)...)
	after, exact := Serve(context.Background(), tree, Speeds{}, leaf, demands, before, true)
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

// Where cables of one plane are slower, less goes by it: on a quarter of the speed of others a ring that uses every plane of each leaf
// once takes four times as long, and twice where two of six share a faster one. Cables that are alike by level change nothing.
func TestServedBySpeed(t *testing.T) {
	for _, spec := range []string{"fattree:ports=12", "fattree:ports=8,levels=3"} {
		tree, leaf, roots := network(t, spec, 1)
		planes, tops := tree.Roots()
		r := rand.New(rand.NewPCG(7, 7))
		order := r.Perm(len(leaf))
		var ring []Demand
		for i, a := range order {
			ring = append(ring, Demand{From: leaf[a], To: int32(order[(i+1)%len(order)]), Bytes: 1})
		}
		speeds := Speeds{Leaf: make([]float64, len(tree.Leaves)*planes), Top: make([]float64, len(tree.Spines)*planes*tops)}
		for i := range speeds.Leaf {
			speeds.Leaf[i] = 400
		}
		for i := range speeds.Top {
			speeds.Top[i] = 100
		}
		alike, exact := Serve(context.Background(), tree, speeds, leaf, ring, roots, false)
		same, _ := Serve(context.Background(), tree, Speeds{}, leaf, ring, roots, false)
		if !exact || !slices.EqualFunc(alike, same, slices.Equal[[]Root]) {
			t.Errorf("%s: cables that are alike by level: other roots, exact %v", spec, exact)
		}
		for i := range speeds.Top {
			speeds.Top[i] = 400
		}
		for i := range speeds.Leaf {
			if i%planes == 0 {
				speeds.Leaf[i] = 100
			}
		}
		full := func(roots [][]Root) (most float64) {
			load := map[[3]int32]float64{}
			for _, d := range ring {
				to := leaf[d.To]
				if d.From == to {
					continue
				}
				plane := roots[d.To][0].Plane
				for _, c := range [][3]int32{{0, d.From, plane}, {1, to, plane}} {
					load[c] += 400 / speeds.Leaf[int(c[1])*planes+int(plane)]
					most = max(most, load[c])
				}
			}
			return most
		}
		found, exact := Serve(context.Background(), tree, speeds, leaf, ring, roots, false)
		if got, blind := full(found), full(same); got > 2 || blind < 4 || exact {
			t.Errorf("%s: takes %v, and %v if speeds are not looked at; exact %v", spec, got, blind, exact)
		}
	}
}
