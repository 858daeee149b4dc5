package routing_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

const no = routing.NoPort

func TestTree(t *testing.T) {
	f := testnet.Mesh(t, 6)
	var tree routing.Tree // used again and again
	for _, c := range []struct {
		name  string
		row   []uint8
		root  fabric.NodeID
		order []fabric.NodeID
		depth []int // -1: none
	}{
		{"a chain", []uint8{2, 3, 4, 5, 6, 6}, 5, []fabric.NodeID{5, 4, 3, 2, 1, 0}, []int{5, 4, 3, 2, 1, 0}},
		{"a star", []uint8{3, 3, 3, 3, 3, 3}, 2, []fabric.NodeID{2, 0, 1, 3, 4, 5}, []int{1, 1, 0, 1, 1, 1}},
		{"no entries", []uint8{no, no, no, no, no, no}, 0, []fabric.NodeID{0}, []int{0, -1, -1, -1, -1, -1}},
		{"a loop with a tail", []uint8{1, 3, 4, 2, 2, 1}, 0, []fabric.NodeID{0, 5}, []int{0, -1, -1, -1, -1, 1}},
		{"there and back", []uint8{1, 3, 2, 1, 4, 5}, 0, []fabric.NodeID{0, 3, 4, 5}, []int{0, -1, -1, 1, 2, 3}},
		{"to hosts, to nowhere", []uint8{1, 2, 0, 7, 1, 3}, 0, []fabric.NodeID{0, 4}, []int{0, -1, -1, -1, 1, -1}},
		{"the root leads on", []uint8{2, 3, 1, 1, 4, no}, 0, []fabric.NodeID{0, 2, 3, 1, 4}, []int{0, 2, 1, 1, 2, -1}},
		{"a chain again", []uint8{2, 3, 4, 5, 6, 6}, 5, []fabric.NodeID{5, 4, 3, 2, 1, 0}, []int{5, 4, 3, 2, 1, 0}},
	} {
		tree.Build(f, c.row, c.root)
		if !slices.Equal(tree.Order, c.order) {
			t.Errorf("%s: order is %v, want %v", c.name, tree.Order, c.order)
		}
		for s, want := range c.depth {
			n := fabric.NodeID(s)
			if got := tree.Depth(n); got != want && (want >= 0 || got >= 0) {
				t.Errorf("%s: switch %d has depth %d, want %d", c.name, s, got, want)
			}
			out := fabric.ChannelID(fabric.None)
			if want > 0 {
				out = f.Out(n, c.row[s])
			}
			if tree.Out[s] != out {
				t.Errorf("%s: switch %d goes out by channel %d, want %d", c.name, s, tree.Out[s], out)
			}
		}
	}
}

// A tree of any row holds the switches from which walking arrives, whichever tree it was before.
func TestTreeIsWhereWalkingArrives(t *testing.T) {
	nets := []*fabric.Fabric{testnet.Mesh(t, 2), testnet.Mesh(t, 5), testnet.Mesh(t, 9)}
	var tree routing.Tree
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(nets).Draw(t, "network")
		n := f.Switches()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "row"), 1))
		row := make([]uint8, n)
		for s := range row {
			row[s] = uint8(rng.IntN(n + 2))
		}
		root := fabric.NodeID(rng.IntN(n))
		for range 8 { // rows that differ in one entry: many have the same depths
			tree.Build(f, row, root)
			holdsWhatArrives(t, f, row, root, &tree)
			row[rng.IntN(n)] = uint8(rng.IntN(n + 2))
		}
	})
}

func holdsWhatArrives(t *rapid.T, f *fabric.Fabric, row []uint8, root fabric.NodeID, tree *routing.Tree) {
	n := f.Switches()
	for s := range fabric.NodeID(n) {
		at, steps := s, 0
		for at != root && steps <= n && at >= 0 {
			c := f.Out(at, row[at])
			if at = fabric.None; c != fabric.None && f.Node(f.Channel(c).To).Kind == fabric.Switch {
				at = f.Channel(c).To
			}
			steps++
		}
		arrives, out := at == root, fabric.ChannelID(fabric.None)
		if arrives && s != root {
			out = f.Out(s, row[s])
		}
		if (tree.Depth(s) >= 0) != arrives || arrives && tree.Depth(s) != steps || slices.Contains(tree.Order, s) != arrives || tree.Out[s] != out {
			t.Fatalf("switch %d arrives: %v after %d steps by %d; its depth is %d by %d, the order %v", s, arrives, steps, out, tree.Depth(s), tree.Out[s], tree.Order)
		}
	}
	if !slices.IsSortedFunc(tree.Order, func(a, b fabric.NodeID) int { return cmp.Or(tree.Depth(a)-tree.Depth(b), int(a-b)) }) {
		t.Fatalf("order %v is not by depth, then by number", tree.Order)
	}
}

func ExampleTree() {
	f := testnet.Mesh(nil, 3)
	fw := routing.NewForwarding(f)
	// The host on switch 2 has LID 6: switch 0 sends by way of switch 1.
	copy(fw.Row(6), []uint8{2, 3, 3})
	var tree routing.Tree
	tree.Build(f, fw.Row(6), 2)
	for _, s := range tree.Order {
		fmt.Println("switch", s, "is", tree.Depth(s), "hops away")
	}
	// Output:
	// switch 2 is 0 hops away
	// switch 1 is 1 hops away
	// switch 0 is 2 hops away
}
