package nue

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
)

// escapes is a spanning tree of each part of the network. It has a path from
// every switch to every other, and no cycle of turns.
type escapes struct {
	up    []fabric.ChannelID // [switch] the trunk to its parent; None at a root
	depth []int32            // [switch] trunks up to the root
	order []fabric.NodeID    // every switch after its parent
	below []int32            // [switch] destinations of the layer in its subtree
	total []int32            // [switch] destinations of the layer in its part
}

func newEscapes(f *fabric.Fabric) *escapes {
	n := f.Switches()
	return &escapes{
		up:    make([]fabric.ChannelID, n),
		depth: make([]int32, n),
		order: make([]fabric.NodeID, 0, n),
		below: make([]int32, n),
		total: make([]int32, n),
	}
}

// span makes t the breadth-first trees from these roots, one in each part.
func (t *escapes) span(f *fabric.Fabric, roots []fabric.NodeID, dests []fabric.NodeID) {
	const unseen = -1
	for s := range t.depth {
		t.depth[s], t.below[s] = unseen, 0
	}
	t.order = append(t.order[:0], roots...)
	for _, r := range roots {
		t.up[r], t.depth[r] = fabric.None, 0
	}
	heads, reverses := f.Heads(), f.Reverses()
	for i := 0; i < len(t.order); i++ {
		u := t.order[i]
		first, end := f.TrunksFrom(u)
		for c := first; c < end; c++ {
			if v := heads[c]; t.depth[v] == unseen {
				t.up[v], t.depth[v] = reverses[c], t.depth[u]+1
				t.order = append(t.order, v)
			}
		}
	}
	for _, d := range dests {
		t.below[d]++
	}
	for _, u := range slices.Backward(t.order) {
		if c := t.up[u]; c != fabric.None {
			t.below[heads[c]] += t.below[u]
		}
	}
	for _, u := range t.order {
		if c := t.up[u]; c == fabric.None {
			t.total[u] = t.below[u]
		} else {
			t.total[u] = t.total[heads[c]]
		}
	}
}

// reserve adds every turn on an escape path to a destination of the layer to its
// graph, which must be empty.
func (t *escapes) reserve(f *fabric.Fabric, g *acyclic.Graph, state []uint8) {
	t.eachTurn(f, func(in, out fabric.ChannelID) {
		if !g.Add(in, out) {
			panic("nue: a tree has a cycle of turns")
		}
		state[f.Turn(in, out)] = used
	})
}

// eachTurn visits every turn on an escape path to a destination of the layer.
func (t *escapes) eachTurn(f *fabric.Fabric, visit func(in, out fabric.ChannelID)) {
	heads, reverses := f.Heads(), f.Reverses()
	var tree []fabric.ChannelID // the trunks of the tree that leave a switch
	for _, u := range t.order {
		tree = tree[:0]
		first, end := f.TrunksFrom(u)
		for c := first; c < end; c++ {
			if c == t.up[u] || t.up[heads[c]] == reverses[c] {
				tree = append(tree, c)
			}
		}
		for _, out := range tree {
			ahead := t.below[heads[out]] // destinations that out leads to
			if out == t.up[u] {
				ahead = t.total[u] - t.below[u]
			}
			if ahead == 0 {
				continue
			}
			for _, back := range tree {
				if back == out {
					continue
				}
				visit(reverses[back], out)
			}
		}
	}
}

// out is the trunk of switch v on its escape path to another: down to the child
// that has it below, or up.
func (t *escapes) out(f *fabric.Fabric, v, to fabric.NodeID) fabric.ChannelID {
	heads := f.Heads()
	for t.depth[to] > t.depth[v] {
		c := t.up[to]
		if heads[c] == v {
			return f.Reverses()[c]
		}
		to = heads[c]
	}
	return t.up[v]
}
