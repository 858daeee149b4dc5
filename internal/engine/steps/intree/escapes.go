package intree

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Escapes is a spanning tree of each part of the network. It has a path from every
// switch to every other, and its turns close no cycle.
type Escapes struct {
	Up []fabric.ChannelID // [switch] the trunk to its parent; None at a root

	f     *fabric.Fabric
	depth []int32         // [switch] trunks up to the root
	order []fabric.NodeID // every switch after its parent
	below []int32         // [switch] destinations in its subtree
	total []int32         // [switch] destinations in its part
}

// NewEscapes makes room for the trees of a network; Span makes them.
func NewEscapes(f *fabric.Fabric) *Escapes {
	n := f.Switches()
	return &Escapes{
		Up: make([]fabric.ChannelID, n),
		f:  f, depth: make([]int32, n), order: make([]fabric.NodeID, 0, n), below: make([]int32, n), total: make([]int32, n),
	}
}

// Span makes the breadth-first trees from the given roots, one in each part, for paths
// to some destinations; nil: to all switches.
func (e *Escapes) Span(roots, dests []fabric.NodeID) {
	const unseen = -1
	for s := range e.depth {
		e.depth[s], e.below[s] = unseen, 0
	}
	e.order = append(e.order[:0], roots...)
	for _, r := range roots {
		e.Up[r], e.depth[r] = fabric.None, 0
	}
	heads, reverses := e.f.Heads(), e.f.Reverses()
	for i := 0; i < len(e.order); i++ {
		u := e.order[i]
		for c, end := e.f.TrunksFrom(u); c < end; c++ {
			if v := heads[c]; e.depth[v] == unseen {
				e.Up[v], e.depth[v] = reverses[c], e.depth[u]+1
				e.order = append(e.order, v)
			}
		}
	}
	if dests == nil {
		dests = e.order
	}
	for _, d := range dests {
		e.below[d]++
	}
	for _, u := range slices.Backward(e.order) {
		if c := e.Up[u]; c != fabric.None {
			e.below[heads[c]] += e.below[u]
		}
	}
	for _, u := range e.order {
		if c := e.Up[u]; c == fabric.None {
			e.total[u] = e.below[u]
		} else {
			e.total[u] = e.total[heads[c]]
		}
	}
}

// EachTurn visits every turn on a path along the trees to one of the destinations.
func (e *Escapes) EachTurn(visit func(in, out fabric.ChannelID)) {
	heads, reverses := e.f.Heads(), e.f.Reverses()
	var tree []fabric.ChannelID // the trunks of the tree that leave the switch
	for _, u := range e.order {
		tree = tree[:0]
		for c, end := e.f.TrunksFrom(u); c < end; c++ {
			if c == e.Up[u] || e.Up[heads[c]] == reverses[c] {
				tree = append(tree, c)
			}
		}
		for _, out := range tree {
			ahead := e.below[heads[out]] // destinations that out leads to
			if out == e.Up[u] {
				ahead = e.total[u] - e.below[u]
			}
			if ahead == 0 {
				continue
			}
			for _, back := range tree {
				if back != out {
					visit(reverses[back], out)
				}
			}
		}
	}
}

// Out is the trunk of switch v on its escape path to another switch in its part: down
// to the child that has it in its subtree, or up.
func (e *Escapes) Out(v, to fabric.NodeID) fabric.ChannelID {
	heads := e.f.Heads()
	for e.depth[to] > e.depth[v] {
		c := e.Up[to]
		if heads[c] == v {
			return e.f.Reverses()[c]
		}
		to = heads[c]
	}
	return e.Up[v]
}

// RootSets is at most so many sets of roots, each with one root in each part of the
// network: no choice is best everywhere, so callers try several. They are spread evenly
// over the switches in the order of a measure, [switch], ascending.
func RootSets(f *fabric.Fabric, measure []int64, most int) [][]fabric.NodeID {
	parts := f.Parts()
	sets := make([][]fabric.NodeID, min(most, len(parts[0])))
	for _, part := range parts {
		slices.SortStableFunc(part, func(a, b fabric.NodeID) int { return cmp.Compare(measure[a], measure[b]) })
		for i := range sets {
			sets[i] = append(sets[i], part[i*(len(part)-1)/max(1, len(sets)-1)])
		}
	}
	return sets
}
