package nue

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/routing"
)

// pairedTree is an in-tree while it grows.
type pairedTree struct {
	*intree.Tree
	root fabric.NodeID
	row  []uint8            // of the wanted paths
	lane []uint8            // [switch] of its path; the lane of its pair with the root
	near []fabric.ChannelID // scratch: trunks to choose from
}

// growAll begins the lanes anew with an escape tree, and grows all in-trees.
func (r *pairing) growAll(ctx context.Context, p routing.Progress) error {
	n := r.f.Switches()
	if err := r.chooseEscapes(ctx); err != nil {
		return err
	}
	r.tree = pairedTree{Tree: intree.New(r.f, r.loads), lane: make([]uint8, n)}
	err := dag.ByDestination(ctx, r.f, dag.Shortest, func(d *dag.DAG, _ []fabric.LID) {
		for _, lid := range r.lids[d.Root] {
			r.grow(d, lid)
		}
		p.Report(int(d.Root)+1, n)
	})
	r.paths.Notes = append(r.paths.Notes, r.count.String())
	return err
}

// chooseEscapes sets escapes to the tree, of a few, beside which the fewest pairs are left without a
// lane, and gives the others their lanes.
func (r *pairing) chooseEscapes(ctx context.Context) error {
	all := fabric.All[fabric.NodeID](r.f.Switches())
	sets := rootSets(r.f, all, fewestRoots)
	best, last, fewest := 0, 0, -1
	r.escapes = intree.NewEscapes(r.f)
	for i, roots := range sets {
		r.escapes.Span(roots, nil)
		left, err := r.placeOnce(ctx, r.byHops)
		if err != nil {
			return err
		}
		if last = i; fewest < 0 || left < fewest {
			best, fewest = i, left
		}
	}
	if best != last {
		r.escapes.Span(sets[best], nil)
	}
	_, err := r.place(ctx)
	return err
}

// grow grows the in-tree of a LID on d.Root, and writes it down.
func (r *pairing) grow(d *dag.DAG, lid fabric.LID) {
	t := &r.tree
	t.row, t.root = r.wanted.Row(lid), d.Root
	r.count.add(t.Grow(d, r.escapes, r))
	intree.Write(r.f, r.paths.Row(lid), lid, t.Order, t.Out)
	for _, u := range t.Order[1:] {
		r.decide(u, d.Root, t.lane[u])
	}
	if r.f.Endpoint(r.f.Owner(lid)).Class != fabric.SwitchPort {
		r.loads.Charge(t.Order, t.Out, 1)
	}
}

// Settle implements intree.Rules: by the wanted trunk, or by the lightest whose turns fit
// into the lane of u and the root.
func (r *pairing) Settle(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool {
	t := &r.tree
	t.near = t.near[:0]
	for _, c := range choices {
		if t.Hops[r.heads[c]] == hops {
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
		return cmp.Compare(t.Sum[r.heads[a]]+r.loads.On[a], t.Sum[r.heads[b]]+r.loads.On[b])
	})
	for _, c := range t.near {
		if r.put(u, c) {
			return true
		}
	}
	return false
}

// Escape implements intree.Rules: escape paths are in the graphs of all lanes.
func (r *pairing) Escape(u fabric.NodeID, c fabric.ChannelID) {
	if !r.put(u, c) {
		panic("nue: an escape path is not in the graph of a lane")
	}
}

// Retract implements intree.Rules: turns that were added for the tree before stay.
func (r *pairing) Retract() {}

// put settles u on trunk c, if a lane admits its path.
func (r *pairing) put(u fabric.NodeID, c fabric.ChannelID) bool {
	lane, ok := r.admit(u, c)
	if ok {
		r.tree.Put(u, c)
		r.tree.lane[u] = lane
	}
	return ok
}

// admit adds the turns of the path of u by trunk c to the lane of u and the root or, if these have
// none yet, to the first lane that takes them. ok: they fit.
func (r *pairing) admit(u fabric.NodeID, c fabric.ChannelID) (lane uint8, ok bool) {
	t := &r.tree
	r.turns = r.turns[:0]
	for in, out := c, t.Out[r.heads[c]]; out != fabric.None; in, out = out, t.Out[r.heads[out]] {
		r.turns = append(r.turns, acyclic.Turn{ID: int32(r.f.Turn(in, out)), In: in, Out: out})
	}
	if lane = r.lane[int(u)*r.f.Switches()+int(t.root)]; lane != undecided {
		return lane, r.layers.Into(int(lane), r.turns)
	}
	first, ok := r.layers.First(r.turns, r.vls)
	return uint8(first), ok
}
