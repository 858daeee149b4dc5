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
	tops := f.Tops()
	if len(tops) == 0 || meanHops(f, tops) > meanHops(f, centres) {
		return [][]fabric.NodeID{centres}
	}
	return [][]fabric.NodeID{tops, centres}
}

// meanHops is the mean length of legal paths between switches with hosts; a pair
// without one counts as a path through every switch.
func meanHops(f *fabric.Fabric, roots []fabric.NodeID) float64 {
	o := orient.New(f, orient.ByRank(f, roots))
	var d dag.DAG
	leaves := f.Leaves()
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
