// Package dag is every path worth taking to one switch at once: a directed
// acyclic graph of trunks, each of which brings a packet one hop nearer. Path
// finders differ in which graph they build and which trunk of it they pick.
//
// Shortest builds the graph of all shortest paths, a breadth-first search,
// O(switches + trunks). A graph depends on the destination's switch only, so
// that all LIDs on a switch share it.
package dag

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// DAG is the paths to Root. It is scratch space, filled again and again without
// allocating.
type DAG struct {
	Root  fabric.NodeID
	Order []fabric.NodeID // switches that reach Root, Root first, each after those its trunks lead to

	// The trunks that Order[i] may take are
	// Out[First[i]:First[i+1]], by port; Head is where each leads.
	First []int32
	Out   []fabric.ChannelID
	Head  []fabric.NodeID

	Hops []int32 // [switch] to Root; NoPath without

	search // scratch of Shortest
}

// NoPath stands for the hops of a switch that does not reach the root.
const NoPath = -1

// Reset empties d and gives it a root.
func (d *DAG) Reset(f *fabric.Fabric, root fabric.NodeID) {
	if len(d.Hops) != f.Switches() {
		d.Hops = make([]int32, f.Switches())
		d.Order = make([]fabric.NodeID, 0, f.Switches())
	}
	for i := range d.Hops {
		d.Hops[i] = NoPath
	}
	d.Root = root
	d.Hops[root] = 0
	d.Order, d.First, d.Out, d.Head = append(d.Order[:0], root), append(d.First[:0], 0), d.Out[:0], d.Head[:0]
}

// Choices is the trunks that Order[i] may take.
func (d *DAG) Choices(i int) []fabric.ChannelID { return d.Out[d.First[i]:d.First[i+1]] }

// Siblings reports whether two switches have trunks to the same others, port by port, and a
// choice among them. They are not neighbours, for no switch is one of itself. The graph to
// one is that to the other with the two exchanged.
func Siblings(f *fabric.Fabric, a, b fabric.NodeID) bool {
	to := f.Neighbours(a)
	return len(to) > 1 && slices.Equal(to, f.Neighbours(b))
}

// MoveRoot changes the graph of all shortest paths to Root into that to a sibling of Root, which costs
// less than Shortest. Order is then another one than Shortest finds.
func (d *DAG) MoveRoot(f *fabric.Fabric, root fabric.NodeID) {
	old := d.Root
	i := slices.Index(d.Order, root) // siblings are two hops apart: the old root takes this place
	c, _ := f.TrunksFrom(old)
	for j := d.First[i]; j < d.First[i+1]; j++ {
		d.Out[j] = c
		c++
	}
	d.Root, d.Order[0], d.Order[i] = root, root, old
	d.Hops[root], d.Hops[old] = 0, d.Hops[root]
	heads := f.Heads()
	for i := 1; d.Hops[d.Order[i]] == 1; i++ { // the neighbours of both
		j := d.First[i]
		for c, end := f.TrunksFrom(d.Order[i]); c < end; c++ {
			if heads[c] == root {
				d.Out[j], d.Head[j] = c, root
				j++
			}
		}
	}
}

// Far is how far switches are from others. sum is the hops from each switch, [switch], to all
// switches in its part, each counted as often as its weight says, [switch]; nil: once. most is the
// hops to the farthest one whose weight is not 0.
func Far(f *fabric.Fabric, weight []int64) (sum []int64, most []int32) {
	sum, most = make([]int64, f.Switches()), make([]int32, f.Switches())
	var d DAG
	for root := range fabric.NodeID(f.Switches()) {
		w := int64(1)
		if weight != nil {
			w = weight[root]
		}
		if w == 0 {
			continue
		}
		Shortest(&d, f, root)
		for _, u := range d.Order {
			sum[u] += w * int64(d.Hops[u])
			most[u] = max(most[u], d.Hops[u])
		}
	}
	return sum, most
}

// Builder fills d with the paths to root that a path finder is ready to use.
type Builder func(d *DAG, f *fabric.Fabric, root fabric.NodeID)

// ByDestination calls visit for every switch in ascending order, with the paths
// to it and the LIDs that hang on it. The next graphs are built while visit works
// on some, so that two cores are used where the algorithm itself is sequential;
// build must therefore not share state with visit.
func ByDestination(ctx context.Context, f *fabric.Fabric, build Builder, visit func(d *DAG, lids []fabric.LID)) error {
	order := fabric.All[fabric.NodeID](f.Switches())
	return InOrder(ctx, f, order, build, visit)
}

// InOrder is ByDestination for some switches, in an order of the caller's.
func InOrder(ctx context.Context, f *fabric.Fabric, order []fabric.NodeID, build Builder, visit func(d *DAG, lids []fabric.LID)) error {
	n := atOnce(f, len(order))
	free, ready := make(chan []DAG, 2), make(chan []DAG, 2)
	for range cap(free) {
		free <- make([]DAG, n)
	}
	var broken any // a panic belongs to whoever called
	go func() {
		defer close(ready)
		defer func() { broken = recover() }()
		for len(order) > 0 {
			graphs := (<-free)[:min(n, len(order))]
			for i := range graphs {
				if ctx.Err() != nil {
					return
				}
				build(&graphs[i], f, order[i])
			}
			order = order[len(graphs):]
			ready <- graphs
		}
	}()
	var lids []fabric.LID
	for graphs := range ready {
		for i := range graphs {
			if d := &graphs[i]; ctx.Err() == nil {
				lids = LIDsOn(f, d.Root, lids[:0])
				visit(d, lids)
			}
		}
		free <- graphs
	}
	if broken != nil {
		panic(broken)
	}
	return ctx.Err()
}

// atOnce is how many of some graphs InOrder's goroutines hand over together: to wake the one that waits
// takes as long as a search of some thousand trunks. More are no gain, and take memory.
func atOnce(f *fabric.Fabric, graphs int) int {
	const most, trunks = 8, 1 << 18
	return max(1, min(most, trunks/(f.Trunks()+1), graphs/most))
}

// LIDsOn appends every LID that hangs on switch s, its own included, ascending
// by endpoint, then by offset.
func LIDsOn(f *fabric.Fabric, s fabric.NodeID, lids []fabric.LID) []fabric.LID {
	for _, e := range f.Attached(s) {
		lids = slices.AppendSeq(lids, f.Endpoint(e).LIDs())
	}
	return lids
}
