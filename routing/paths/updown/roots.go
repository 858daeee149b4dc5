package updown

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/paths/dag"
)

// candidates is the sets of roots worth trying, the better first; the last has
// one root in each part of the network, which never leaves a pair apart.
func candidates(f *fabric.Fabric) [][]fabric.NodeID {
	parts := f.Parts()
	centres := make([]fabric.NodeID, 0, len(parts))
	for _, part := range parts {
		centres = append(centres, centre(f, part))
	}
	slices.Sort(centres)
	tops := tops(f)
	if len(tops) == 0 || meanHops(f, tops) > meanHops(f, centres) {
		return [][]fabric.NodeID{centres}
	}
	return [][]fabric.NodeID{tops, centres}
}

// centre is the switch of a part with the smallest eccentricity, of several the
// one nearest to all others, then the one with the lowest GUID.
func centre(f *fabric.Fabric, part []fabric.NodeID) fabric.NodeID {
	var d dag.DAG
	best, bestEcc, bestSum := part[0], int32(0), int64(0)
	for i, s := range part {
		dag.Shortest(&d, f, s)
		ecc, sum := d.Hops[d.Order[len(d.Order)-1]], int64(0)
		for _, u := range d.Order {
			sum += int64(d.Hops[u])
		}
		if i == 0 || ecc < bestEcc || (ecc == bestEcc && sum < bestSum) {
			best, bestEcc, bestSum = s, ecc, sum
		}
	}
	return best
}

// tops is the switches without host adapters whose neighbours are all nearer to
// host adapters than they are: the spines of a fat tree. In a network that has
// hosts everywhere there are none.
func tops(f *fabric.Fabric) []fabric.NodeID {
	var leaves []fabric.NodeID
	for s := range f.Switches() {
		if hosts(f, fabric.NodeID(s)) > 0 {
			leaves = append(leaves, fabric.NodeID(s))
		}
	}
	height := distances(f, leaves)
	heads := f.Heads()
	var tops []fabric.NodeID
	for s := range f.Switches() {
		first, end := f.TrunksFrom(fabric.NodeID(s))
		top := height[s] > 0
		for c := first; c < end && top; c++ {
			top = height[heads[c]] < height[s]
		}
		if top {
			tops = append(tops, fabric.NodeID(s))
		}
	}
	return tops
}

// hosts counts the host adapter ports on a switch.
func hosts(f *fabric.Fabric, s fabric.NodeID) int {
	n := 0
	for _, e := range f.Attached(s) {
		if f.Endpoint(e).Class == fabric.HostAdapter {
			n++
		}
	}
	return n
}

// meanHops is the mean length of legal paths between switches with hosts; a pair
// without one counts as a path through every switch.
func meanHops(f *fabric.Fabric, roots []fabric.NodeID) float64 {
	o := orient(f, roots)
	var d dag.DAG
	var leaves []fabric.NodeID
	for s := range f.Switches() {
		if hosts(f, fabric.NodeID(s)) > 0 {
			leaves = append(leaves, fabric.NodeID(s))
		}
	}
	sum := int64(0)
	for _, root := range leaves {
		o.legal(&d, f, root)
		for _, s := range leaves {
			if h := d.Hops[s]; h != dag.NoPath {
				sum += int64(h)
			} else {
				sum += int64(f.Switches())
			}
		}
	}
	return float64(sum) / float64(max(1, len(leaves)*len(leaves)))
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
