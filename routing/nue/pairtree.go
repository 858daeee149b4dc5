package nue

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// pairedTree is an in-tree while it grows.
type pairedTree struct {
	root   fabric.NodeID
	row    []uint8            // the wanted one
	order  []fabric.NodeID    // settled switches, each after the one it forwards to
	out    []fabric.ChannelID // [switch] the trunk it forwards to; None at the root
	hops   []int32            // [switch] to the root; unsettled
	sum    []uint64           // [switch] load on its path
	lane   []uint8            // [switch] of its path
	frozen []bool             // [switch] it keeps to its escape path
	late   []fabric.NodeID    // switches without a path so far
	routes []uint64           // [switch] scratch: sources in its subtree
	near   []fabric.ChannelID // scratch: trunks to choose from
}

// growAll begins the lanes anew with an escape tree, and grows all in-trees.
func (r *pairing) growAll(ctx context.Context, p routing.Progress) error {
	n := r.f.Switches()
	if err := r.root(ctx); err != nil {
		return err
	}
	r.tree = pairedTree{
		out: make([]fabric.ChannelID, n), hops: make([]int32, n), sum: make([]uint64, n), lane: make([]uint8, n),
		frozen: make([]bool, n), routes: make([]uint64, n),
	}
	var d dag.DAG
	for root := range fabric.NodeID(n) {
		if err := ctx.Err(); err != nil {
			return err
		}
		dag.Shortest(&d, r.f, root)
		for _, lid := range r.lids[root] {
			r.grow(&d, lid)
		}
		p.Report(int(root)+1, n)
	}
	note := fmt.Sprintf("%d in-trees, %d of them with detours", r.count.trees, r.count.detours)
	if r.count.escapes > 0 {
		note += fmt.Sprintf(", %d with escape paths", r.count.escapes)
	}
	r.paths.Notes = append(r.paths.Notes, note)
	return nil
}

// root chooses the escape tree beside which the fewest pairs are left over, of a few,
// and places the others.
func (r *pairing) root(ctx context.Context) error {
	all := make([]fabric.NodeID, r.f.Switches())
	for s := range all {
		all[s] = fabric.NodeID(s)
	}
	candidates := newSearch(r.f).candidates(all, fewestRoots)
	best, last, fewest := 0, 0, -1
	for i, roots := range candidates {
		left, err := r.beside(ctx, roots, all)
		if err != nil {
			return err
		}
		if last = i; fewest < 0 || left < fewest {
			best, fewest = i, left
		}
	}
	if best != last {
		r.escapes.span(r.f, candidates[best], all)
	}
	_, err := r.place(ctx)
	return err
}

// beside places what fits beside escape trees from some roots.
func (r *pairing) beside(ctx context.Context, roots, all []fabric.NodeID) (left int, err error) {
	r.escapes = newEscapes(r.f)
	r.escapes.span(r.f, roots, all)
	return r.placeOnce(ctx, r.byHops)
}

// grow grows the in-tree of a LID on d.Root, and writes it down.
func (r *pairing) grow(d *dag.DAG, lid fabric.LID) {
	t := &r.tree
	t.row = r.wanted.Row(lid)
	r.plant(d.Root)
	for i := 1; i < len(d.Order); i++ {
		if u := d.Order[i]; !r.settle(u, d.Choices(i), d.Hops[u]-1) {
			t.late = append(t.late, u)
		}
	}
	r.count.trees++
	if len(t.late) > 0 {
		r.count.detours++
		r.detours()
		if len(t.late) > 0 {
			r.count.escapes++
		}
		for len(t.late) > 0 {
			r.escape(d)
			r.detours()
		}
		clear(t.frozen)
	}
	e := r.f.Endpoint(r.f.Owner(lid))
	row := r.paths.Row(lid)
	row[d.Root] = r.f.LastPort(e)
	for _, u := range t.order[1:] {
		row[u] = r.f.Channel(t.out[u]).FromPort
		r.decide(u, d.Root, t.lane[u])
	}
	if e.Class != fabric.SwitchPort {
		r.charge()
	}
}

// plant begins a tree.
func (r *pairing) plant(root fabric.NodeID) {
	t := &r.tree
	for u := range t.hops {
		t.hops[u] = unsettled
	}
	t.root = root
	t.hops[root], t.sum[root], t.out[root] = 0, 0, fabric.None
	t.order, t.late = append(t.order[:0], root), t.late[:0]
}

// settle gives u a path that begins with one of some trunks, to a switch so many hops
// from the root, if its turns fit into the lane of u and the root: by the wanted trunk,
// or by the lightest that fits.
func (r *pairing) settle(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool {
	t := &r.tree
	t.near = t.near[:0]
	for _, c := range choices {
		if t.hops[r.heads[c]] == hops {
			t.near = append(t.near, c)
		}
	}
	wanted := r.f.Out(u, t.row[u])
	slices.SortStableFunc(t.near, func(a, b fabric.ChannelID) int {
		switch wanted {
		case a:
			return -1
		case b:
			return 1
		}
		return cmp.Compare(t.sum[r.heads[a]]+r.load[a], t.sum[r.heads[b]]+r.load[b])
	})
	for _, c := range t.near {
		if lane, ok := r.fits(u, c); ok {
			r.put(u, c, lane)
			return true
		}
	}
	return false
}

// fits adds the path of u by trunk c to the lane of u and the root, or finds one for it.
func (r *pairing) fits(u fabric.NodeID, c fabric.ChannelID) (lane uint8, ok bool) {
	t := &r.tree
	r.turns = r.turns[:0]
	for in, out := c, t.out[r.heads[c]]; out != fabric.None; in, out = out, t.out[r.heads[out]] {
		r.turns = append(r.turns, acyclic.Turn{ID: int32(r.f.Turn(in, out)), In: in, Out: out})
	}
	if lane = r.lane[int(u)*r.f.Switches()+int(t.root)]; lane != undecided {
		return lane, r.layers.Into(int(lane), r.turns)
	}
	first, ok := r.layers.First(r.turns, r.vls)
	return uint8(first), ok
}

// put settles u on trunk c.
func (r *pairing) put(u fabric.NodeID, c fabric.ChannelID, lane uint8) {
	t := &r.tree
	v := r.heads[c]
	t.out[u], t.hops[u], t.sum[u], t.lane[u] = c, t.hops[v]+1, t.sum[v]+r.load[c], lane
	t.order = append(t.order, u)
}

// detours settles late switches by longer paths, the shortest first.
func (r *pairing) detours() {
	t := &r.tree
	top := int32(0)
	for _, u := range t.order {
		top = max(top, t.hops[u])
	}
	var choices []fabric.ChannelID
	for hops := int32(0); hops <= top && len(t.late) > 0; hops++ {
		t.late = slices.DeleteFunc(t.late, func(u fabric.NodeID) bool {
			choices = choices[:0]
			first, end := r.f.TrunksFrom(u)
			for c := first; c < end; c++ {
				choices = append(choices, c)
			}
			if !r.settle(u, choices, hops) {
				return false
			}
			top = max(top, hops+1)
			return true
		})
	}
}

// escape begins the tree anew, with the late switches and all between them and the root
// on their escape paths. Turns that were added for the tree before stay.
func (r *pairing) escape(d *dag.DAG) {
	t := &r.tree
	for _, u := range t.late {
		for ; u != d.Root && !t.frozen[u]; u = r.heads[r.escapes.out(r.f, u, d.Root)] {
			t.frozen[u] = true
		}
	}
	r.plant(d.Root)
	t.late = append(t.late, d.Order[1:]...)
	for before := 0; before != len(t.late); {
		before = len(t.late)
		t.late = slices.DeleteFunc(t.late, func(u fabric.NodeID) bool {
			if !t.frozen[u] {
				return false
			}
			c := r.escapes.out(r.f, u, d.Root)
			if t.hops[r.heads[c]] == unsettled {
				return false
			}
			lane, ok := r.fits(u, c)
			if !ok {
				panic("nue: an escape path is not in the graph of a lane")
			}
			r.put(u, c, lane)
			return true
		})
	}
}

// charge adds the routes of the tree at hand to the loads.
func (r *pairing) charge() {
	t := &r.tree
	for _, u := range t.order {
		t.routes[u] = r.sources[u]
	}
	for _, u := range slices.Backward(t.order[1:]) {
		r.load[t.out[u]] += t.routes[u]
		t.routes[r.heads[t.out[u]]] += t.routes[u]
	}
}
