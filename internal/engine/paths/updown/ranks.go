package updown

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
)

// byHeightNote says so of byHeight.
const byHeightNote = "ranked from the switches with hosts"

// byHeight lists the switches by their distance from the nearest host adapters,
// the farthest first; then by their distance from the centre of their part, so
// that where all switches have hosts the centre is the one root.
func byHeight(f *fabric.Fabric) []fabric.NodeID {
	height := f.Hops(levels.Leaves(f)...)
	order := orient.ByRank(f, orient.Centres(f))
	slices.SortStableFunc(order, func(a, b fabric.NodeID) int { return cmp.Compare(height[b], height[a]) })
	return order
}

// depthFirst lists the switches as Sancho's depth-first search finds them, and
// the switches it started from, one in each part: first in its part, elsewhere, or if first is None,
// the farthest from all others.
func depthFirst(f *fabric.Fabric, first fabric.NodeID) (order, roots []fabric.NodeID) {
	n := f.Switches()
	far, _ := dag.Far(f, nil)
	farther := func(a, b fabric.NodeID) bool { return far[a] > far[b] || far[a] == far[b] && a < b }
	found := make([]bool, n)
	cables := make([]int32, n) // [switch] to switches already found
	visit := func(s fabric.NodeID) {
		found[s] = true
		order = append(order, s)
		for _, v := range f.Neighbours(s) {
			cables[v]++
		}
	}
	for _, part := range f.Parts() {
		root := part[0]
		for _, s := range part {
			if s == first {
				root = s
				break
			}
			if farther(s, root) {
				root = s
			}
		}
		roots = append(roots, root)
		visit(root)
		for stack := []fabric.NodeID{root}; len(stack) > 0; {
			next := fabric.NodeID(fabric.None)
			for _, v := range f.Neighbours(stack[len(stack)-1]) {
				if !found[v] && (next == fabric.None || cables[v] > cables[next] || cables[v] == cables[next] && farther(v, next)) {
					next = v
				}
			}
			if next == fabric.None {
				stack = stack[:len(stack)-1]
				continue
			}
			visit(next)
			stack = append(stack, next)
		}
	}
	return order, roots
}
