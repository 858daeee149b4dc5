package updown

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/routing"
)

// candidates is the sets of roots worth trying, the better first; the last has one root in each
// part of the network, so that every pair has a legal path. In a network of levels all tops, the
// switches whose neighbours are all nearer to hosts, come first, if no more than a tenth of the
// pairs of leaves has no legal path then, as OpenSM's search for roots allows too, and if paths
// are not longer.
func candidates(f *fabric.Fabric) [][]fabric.NodeID {
	centres := orient.Centres(f)
	slices.Sort(centres)
	tops := levels.Tops(f)
	if len(tops) == 0 {
		return [][]fabric.NodeID{centres}
	}
	byTops, apart := meanHops(f, tops)
	if byCentres, _ := meanHops(f, centres); apart > 0.1 || byTops > byCentres {
		return [][]fabric.NodeID{centres}
	}
	return [][]fabric.NodeID{tops, centres}
}

// meanHops is the mean length of the paths that Orientation.Legal gives, down first where that leads
// all the way, between switches with hosts in the same part, and the share of pairs that have none:
// orient.Join leads these by way of a third leaf, so they count as twice the longest path.
func meanHops(f *fabric.Fabric, roots []fabric.NodeID) (mean, apart float64) {
	o := orient.New(f, orient.ByRank(f, roots))
	var d dag.DAG
	var sum, pairs, without, longest int64
	hosts := routing.HCA.Ends(f)
	for _, part := range f.Parts() {
		for _, to := range part {
			if !hosts[to] {
				continue
			}
			o.Legal(&d, f, to)
			for _, s := range part {
				if !hosts[s] {
					continue
				}
				pairs++
				if h := int64(d.Hops[s]); h != dag.NoPath {
					sum, longest = sum+h, max(longest, h)
				} else {
					without++
				}
			}
		}
	}
	n := float64(max(1, pairs))
	return float64(sum+without*2*longest) / n, float64(without) / n
}
