package updown

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/dag"
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
	height := distances(f, leaves(f))
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

// leaves is the switches with host adapters.
func leaves(f *fabric.Fabric) []fabric.NodeID {
	var leaves []fabric.NodeID
	for s := range f.Switches() {
		for _, e := range f.Attached(fabric.NodeID(s)) {
			if f.Endpoint(e).Class == fabric.HostAdapter {
				leaves = append(leaves, fabric.NodeID(s))
				break
			}
		}
	}
	return leaves
}

// meanHops is the mean length of legal paths between switches with hosts; a pair
// without one counts as a path through every switch.
func meanHops(f *fabric.Fabric, roots []fabric.NodeID) float64 {
	o := orient(f, byRank(f, roots))
	var d dag.DAG
	leaves := leaves(f)
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
