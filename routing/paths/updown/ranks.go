package updown

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// byRank lists the switches by their distance from the nearest root, then by
// number, which is by GUID. Parts of the network without a root follow, each
// ranked from its lowest switch.
func byRank(f *fabric.Fabric, roots []fabric.NodeID) []fabric.NodeID {
	rank := distances(f, roots)
	for s := range rank {
		if rank[s] == dag.NoPath {
			spreadFrom(f, []fabric.NodeID{fabric.NodeID(s)}, rank)
		}
	}
	return sortedBy(rank)
}

// byHeight lists the switches by their distance from the nearest host adapters,
// the farthest first; then by their distance from the centre of their part, so
// that where all switches have hosts the centre is the one root.
func byHeight(f *fabric.Fabric) []fabric.NodeID {
	height := distances(f, leaves(f))
	var centres []fabric.NodeID
	for _, part := range f.Parts() {
		centres = append(centres, centre(f, part))
	}
	order := byRank(f, centres)
	slices.SortStableFunc(order, func(a, b fabric.NodeID) int { return cmp.Compare(height[b], height[a]) })
	return order
}

// depthFirst lists the switches as Sancho's depth-first search finds them, with
// the switches it started from, one in each part.
func depthFirst(f *fabric.Fabric) (order, roots []fabric.NodeID) {
	n := f.Switches()
	far := make([]int64, n) // hops to all others together
	var d dag.DAG
	for s := range n {
		dag.Shortest(&d, f, fabric.NodeID(s))
		for _, u := range d.Order {
			far[s] += int64(d.Hops[u])
		}
	}
	farther := func(a, b fabric.NodeID) bool { return far[a] > far[b] || far[a] == far[b] && a < b }
	found := make([]bool, n)
	cables := make([]int32, n) // to switches already found
	heads := f.Heads()
	visit := func(s fabric.NodeID) {
		found[s] = true
		order = append(order, s)
		first, end := f.TrunksFrom(s)
		for _, v := range heads[first:end] {
			cables[v]++
		}
	}
	for _, part := range f.Parts() {
		root := part[0]
		for _, s := range part {
			if farther(s, root) {
				root = s
			}
		}
		roots = append(roots, root)
		visit(root)
		for stack := []fabric.NodeID{root}; len(stack) > 0; {
			next := fabric.NodeID(fabric.None)
			first, end := f.TrunksFrom(stack[len(stack)-1])
			for _, v := range heads[first:end] {
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

// distances is the hops of every switch from the nearest of some, dag.NoPath
// where there is none.
func distances(f *fabric.Fabric, from []fabric.NodeID) []int32 {
	d := make([]int32, f.Switches())
	for i := range d {
		d[i] = dag.NoPath
	}
	spreadFrom(f, from, d)
	return d
}

// spreadFrom gives switches not yet in d their hops from some.
func spreadFrom(f *fabric.Fabric, from []fabric.NodeID, d []int32) {
	queue := slices.Clone(from)
	for _, s := range queue {
		d[s] = 0
	}
	heads := f.Heads()
	for i := 0; i < len(queue); i++ {
		first, end := f.TrunksFrom(queue[i])
		for c := first; c < end; c++ {
			if v := heads[c]; d[v] == dag.NoPath {
				d[v] = d[queue[i]] + 1
				queue = append(queue, v)
			}
		}
	}
}

// sortedBy lists the switches by rank, then by number.
func sortedBy(rank []int32) []fabric.NodeID {
	order := make([]fabric.NodeID, len(rank))
	for s := range order {
		order[s] = fabric.NodeID(s)
	}
	slices.SortStableFunc(order, func(a, b fabric.NodeID) int { return cmp.Compare(rank[a], rank[b]) })
	return order
}
