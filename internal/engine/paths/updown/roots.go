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

// candidate is an orientation that is worth trying where no roots are given.
type candidate struct {
	*orient.Orientation
	note        string
	joins       bool    // every pair has a legal path
	most, apart float64 // by fullest
}

// mostApart is the part of the pairs of hosts that may have no legal path: OpenSM's search for roots
// takes as many for granted.
const mostApart = 0.1

// candidates is the orientations worth trying, the one with the fewest routes on its fullest trunk first:
// from all tops, from the highest of them, since a director in a larger network has tops of its own, from one
// central switch in each part, by levels, and by how far hosts are, where directors are cabled to each other.
// The last is that from central switches, which leaves no pair apart.
func candidates(f *fabric.Fabric) []candidate {
	var all []candidate
	add := func(order []fabric.NodeID, note string, joins bool) {
		o := orient.New(f, order)
		for i := range all { // as levels are what is from tops in a tree from which nothing is missing
			if c := &all[i]; slices.Equal(c.Up, o.Up) {
				c.joins = c.joins || joins
				return
			}
		}
		all = append(all, candidate{Orientation: o, note: note, joins: joins})
	}
	from := func(roots []fabric.NodeID, joins bool) { add(orient.ByRank(f, roots), "roots: "+name(f, roots), joins) }
	if tops := levels.Tops(f); len(tops) > 0 {
		from(tops, false)
		from(highest(f, tops), false)
	}
	centres := orient.Centres(f)
	slices.Sort(centres)
	from(centres, true)
	if l, refusal := levels.Find(f); refusal == nil {
		add(l.Order, "ranked by levels", false)
	}
	add(byHeight(f), byHeightNote, false)
	if len(all) == 1 {
		return all
	}
	for i := range all {
		all[i].most, all[i].apart = fullest(f, all[i].Orientation)
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return c.apart > mostApart })
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.most, b.most) })
	return all[:1+slices.IndexFunc(all, func(c candidate) bool { return c.joins })]
}

// highest is the tops that are farthest from hosts.
func highest(f *fabric.Fabric, tops []fabric.NodeID) []fabric.NodeID {
	height := f.Hops(levels.Leaves(f)...)
	top := slices.MaxFunc(tops, func(a, b fabric.NodeID) int { return cmp.Compare(height[a], height[b]) })
	return slices.DeleteFunc(slices.Clone(tops), func(s fabric.NodeID) bool { return height[s] < height[top] })
}

// fullest estimates how many routes between host adapters the fullest trunk carries by an
// orientation: as if each switch sent evenly by all trunks that it may take (orient.Orientation.Legal). apart
// is the part of the pairs that has no legal path, and counts for nothing there.
func fullest(f *fabric.Fabric, o *orient.Orientation) (most, apart float64) {
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
