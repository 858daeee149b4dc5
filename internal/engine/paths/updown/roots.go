package updown

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/routing"
)

// candidate is an order of all switches that is worth trying where no roots are given.
type candidate struct {
	order []fabric.NodeID
	note  string
	most  float64 // routes on its fullest trunk, by fullest
	all   bool    // every pair has a legal path
}

// mostApart is the part of the pairs of hosts that may have no legal path: OpenSM's search for roots
// takes as many for granted.
const mostApart = 0.1

// candidates is the orders worth trying, the one with the fewest routes on its fullest trunk first: from
// one central switch in each part, from all tops, from the highest of them, since a director in a larger
// network has tops of its own, by levels, and by how far hosts are, where directors are cabled to each
// other. The last is that from central switches, which leaves no pair apart.
func candidates(f *fabric.Fabric) []candidate {
	from := func(roots []fabric.NodeID) candidate {
		return candidate{order: orient.ByRank(f, roots), note: "roots: " + name(f, roots)}
	}
	centres := orient.Centres(f)
	slices.Sort(centres)
	var several []candidate
	if tops := levels.Tops(f); len(tops) > 0 {
		several = append(several, from(tops))
		if high := highest(f, tops); len(high) < len(tops) {
			several = append(several, from(high))
		}
	}
	several = append(several, from(centres))
	several[len(several)-1].all = true
	if l, refusal := levels.Find(f); refusal == nil {
		several = append(several, candidate{order: l.Order, note: "ranked by levels"})
	}
	if len(levels.Leaves(f)) < f.Switches() { // else that is from central switches, too
		several = append(several, candidate{order: byHeight(f), note: byHeightNote})
	}
	var good []candidate
	for _, c := range several {
		var apart float64
		if c.most, apart = fullest(f, c.order); apart <= mostApart {
			good = append(good, c)
		}
	}
	slices.SortStableFunc(good, func(a, b candidate) int { return cmp.Compare(a.most, b.most) })
	return good[:1+slices.IndexFunc(good, func(c candidate) bool { return c.all })]
}

// highest is the tops that are farthest from hosts.
func highest(f *fabric.Fabric, tops []fabric.NodeID) []fabric.NodeID {
	height := f.Hops(levels.Leaves(f)...)
	top := slices.MaxFunc(tops, func(a, b fabric.NodeID) int { return cmp.Compare(height[a], height[b]) })
	return slices.DeleteFunc(slices.Clone(tops), func(s fabric.NodeID) bool { return height[s] < height[top] })
}

// fullest estimates how many routes between host adapters the fullest trunk carries with the switches in
// an order: as if each switch sent evenly by all trunks that it may take (orient.Orientation.Legal). apart is
// the part of the pairs that has no legal path, and counts for nothing there.
func fullest(f *fabric.Fabric, order []fabric.NodeID) (most, apart float64) {
	o := orient.New(f, order)
	hosts, heads := routing.HCA.PerSwitch(f), f.Heads()
	routes := make([]float64, f.Trunks())
	through := make([]float64, f.Switches()) // [switch] routes to the root at hand
	var d dag.DAG
	var pairs, without float64
	for _, part := range f.Parts() {
		for _, root := range part {
			to := float64(hosts[root])
			if to == 0 {
				continue
			}
			o.Legal(&d, f, root)
			for _, s := range part {
				through[s] = float64(hosts[s])
				pairs += through[s] * to
				if d.Hops[s] == dag.NoPath {
					without += through[s] * to
				}
			}
			for i := len(d.Order) - 1; i > 0; i-- { // whoever sends by way of a switch comes after it
				trunks := d.Choices(i)
				share := through[d.Order[i]] / float64(len(trunks))
				for _, c := range trunks {
					routes[c] += share * to
					through[heads[c]] += share
				}
			}
		}
	}
	return slices.Max(routes), without / max(1, pairs)
}
