// Package orient says which trunks lead up, for paths that go up, then down: Up*/Down*
// routing and trees (M. D. Schroeder et al.: Autonet: a High-Speed, Self-Configuring
// Local Area Network Using Point-to-Point Links, IEEE JSAC 9(8), 1991). The switches are
// put in an order, and up is towards the earlier one; so trunks taken up and then down
// never close a cycle.
//
// What such an order leaves apart, as several roots do, is joined by single turns from
// down to up (Join).
//
// Complexity: O(S + C) to orient C trunks between S switches, and for the paths to one of
// them; O(S·(S + C)) for Centres.
package orient

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
)

// Orientation says which trunks lead up.
type Orientation struct {
	Up    []bool          // [trunk]
	Order []fabric.NodeID // every switch, the highest first: up leads to an earlier one
}

// New is the orientation by an order of all switches.
func New(f *fabric.Fabric, order []fabric.NodeID) *Orientation {
	o := &Orientation{Up: make([]bool, f.Trunks()), Order: order}
	place := make([]int32, f.Switches())
	for i, s := range order {
		place[s] = int32(i)
	}
	for c := range o.Up {
		ch := f.Channel(fabric.ChannelID(c))
		o.Up[c] = place[ch.To] < place[ch.From]
	}
	return o
}

// Apart reports whether some switches cannot reach others by going up, then down:
// whether a part of the network has more than one switch without a trunk up.
func (o *Orientation) Apart(f *fabric.Fabric) bool {
	tops := 0
	for s := range fabric.NodeID(f.Switches()) {
		first, end := f.TrunksFrom(s)
		if !slices.Contains(o.Up[first:end], true) {
			tops++
		}
	}
	return tops > len(f.Parts())
}

// Descents fills d with the shortest paths to root that only go down; it is a
// dag.Builder.
func (o *Orientation) Descents(d *dag.DAG, f *fabric.Fabric, root fabric.NodeID) {
	o.descents(d, f, root, nil)
}

// descents leaves out the switches that are barred from going down, [switch]; nil: none.
func (o *Orientation) descents(d *dag.DAG, f *fabric.Fabric, root fabric.NodeID, barred []bool) {
	d.Reset(f, root)
	heads := f.Heads()
	for i := 0; i < len(d.Order); i++ { // breadth first, against the trunks that lead down
		u := d.Order[i]
		for c, end := f.TrunksFrom(u); c < end; c++ {
			v := heads[c]
			switch {
			case o.Up[c] && d.Hops[v] == dag.NoPath && (barred == nil || !barred[v]):
				d.Hops[v] = d.Hops[u] + 1
				d.Order = append(d.Order, v)
			case !o.Up[c] && i > 0 && d.Hops[v] == d.Hops[u]-1:
				d.Out, d.Head = append(d.Out, c), append(d.Head, v)
			}
		}
		d.First = append(d.First, int32(len(d.Out)))
	}
}

// Legal fills d with paths to root that go up, then down; it is a dag.Builder. Who can
// go down all the way does so, by a shortest way down: so nobody who comes from above is
// sent up again. The others go up, towards the nearest. First in d.Order are those who
// can go down, then those who go up; who can do neither is left out.
func (o *Orientation) Legal(d *dag.DAG, f *fabric.Fabric, root fabric.NodeID) {
	o.legal(d, f, root, nil, nil)
}

// Wide is a dag.Builder like Legal, in which switches may also go up by trunks that lead
// farther round, where few lead to the nearest: where narrow says so of a switch, the root,
// and the numbers of trunks up to the nearest and to all that have a path. Hops are those of
// the shortest ways all the same.
func (o *Orientation) Wide(narrow func(u, root fabric.NodeID, near, all int) bool) dag.Builder {
	return func(d *dag.DAG, f *fabric.Fabric, root fabric.NodeID) { o.legal(d, f, root, nil, narrow) }
}

// legal is Legal but for switches that are barred from going down, and for those with few
// trunks up to the nearest (nil: none).
func (o *Orientation) legal(d *dag.DAG, f *fabric.Fabric, root fabric.NodeID, barred []bool, narrow func(u, root fabric.NodeID, near, all int) bool) {
	o.descents(d, f, root, barred)
	heads := f.Heads()
	for _, u := range o.Order { // who is above comes before
		if d.Hops[u] != dag.NoPath {
			continue
		}
		best, near, all := int32(dag.NoPath), 0, 0
		for c, end := f.TrunksFrom(u); c < end; c++ {
			h := d.Hops[heads[c]]
			if !o.Up[c] || h == dag.NoPath {
				continue
			}
			if all++; best == dag.NoPath || h < best {
				best, near = h, 0
			}
			if h == best {
				near++
			}
		}
		if best == dag.NoPath {
			continue
		}
		d.Hops[u] = best + 1
		d.Order = append(d.Order, u)
		wide := near < all && narrow != nil && narrow(u, root, near, all)
		for c, end := f.TrunksFrom(u); c < end; c++ {
			if h := d.Hops[heads[c]]; o.Up[c] && (h == best || wide && h != dag.NoPath) {
				d.Out, d.Head = append(d.Out, c), append(d.Head, heads[c])
			}
		}
		d.First = append(d.First, int32(len(d.Out)))
	}
}

// ByRank lists the switches by their distance from the nearest root, then by
// number, which is by GUID. Parts of the network without a root follow, each
// ranked from its lowest switch.
func ByRank(f *fabric.Fabric, roots []fabric.NodeID) []fabric.NodeID {
	rank := f.Hops(roots...)
	for s := range rank {
		if rank[s] == fabric.None {
			f.AddHops(rank, fabric.NodeID(s))
		}
	}
	order := fabric.All[fabric.NodeID](len(rank))
	slices.SortStableFunc(order, func(a, b fabric.NodeID) int { return cmp.Compare(rank[a], rank[b]) })
	return order
}

// Centres is a switch of each part, in the order of f.Parts: that with the smallest
// eccentricity, of several the one nearest to all others, then the one with the lowest
// GUID.
func Centres(f *fabric.Fabric) []fabric.NodeID {
	sum, farthest := dag.Far(f, nil)
	var centres []fabric.NodeID
	for _, part := range f.Parts() {
		centres = append(centres, slices.MinFunc(part, func(a, b fabric.NodeID) int { // the first of several
			return cmp.Or(cmp.Compare(farthest[a], farthest[b]), cmp.Compare(sum[a], sum[b]))
		}))
	}
	return centres
}

// Roots is the switches with these GUIDs. It refuses what is no switch of the fabric.
func Roots(f *fabric.Fabric, guids ...fabric.GUID) ([]fabric.NodeID, error) {
	var roots []fabric.NodeID
	for _, g := range guids {
		n := f.NodeByGUID(g)
		if n == fabric.None {
			return nil, fmt.Errorf("root %s is no node of this fabric", g)
		}
		if node := f.Node(n); node.Kind != fabric.Switch {
			return nil, fmt.Errorf("root %s is a %s; roots are switches", f.Label(n), node.Kind)
		}
		roots = append(roots, n)
	}
	return roots, nil
}
