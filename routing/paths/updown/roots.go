package updown

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/dag"
	"github.com/weft-fabric/weft/routing/internal/orient"
)

// candidates is the sets of roots worth trying, the better first; the last has
// one root in each part of the network, which never leaves a pair apart.
func candidates(f *fabric.Fabric) [][]fabric.NodeID {
	centres := orient.Centres(f)
	slices.Sort(centres)
	tops := tops(f)
	if len(tops) == 0 || meanHops(f, tops) > meanHops(f, centres) {
		return [][]fabric.NodeID{centres}
	}
	return [][]fabric.NodeID{tops, centres}
}

// tops is the switches without host adapters whose neighbours are all nearer to
// host adapters than they are: the spines of a fat tree. In a network that has
// hosts everywhere there are none.
func tops(f *fabric.Fabric) []fabric.NodeID {
	height := orient.Distances(f, leaves(f))
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
	o := orient.New(f, orient.ByRank(f, roots))
	var d dag.DAG
	leaves := leaves(f)
	sum := int64(0)
	for _, root := range leaves {
		o.Legal(&d, f, root)
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
