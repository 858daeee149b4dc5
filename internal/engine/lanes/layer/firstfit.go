package layer

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// FirstFit is the online layering of LASH.
//
// O. Lysne, T. Skeie, S.-A. Reinemo, I. Theiss: Layered Routing in Irregular
// Networks, IEEE TPDS 17(1), 2006, section 5.1, steps 1 to 4. Over the paths of
// sssp it is the online form of DFSSSP (IPDPS 2011, section IV).
//
// Guarantee: deadlock-free under contract honored for any paths that arrive, directed if
// that was asked for. Lanes needed: found out by doing; LASH's authors never saw more
// than 6 on 128 switches, directed. Refuses with *routing.TooFewLanes, and paths that do
// not arrive with *routing.Refusal.
//
// Complexity: O(P·h) for P paths of h hops while a layer already holds their
// turns, which is nearly always. A turn new to a layer costs a search within the
// part of the topological order that it upsets (package acyclic); a turn that
// would close a cycle is remembered, because a layer that only grows will never
// take it.
//
// Deviations from the paper: no cycle search per path, as said. Step 4 asks that
// a move lessens the imbalance, since moving a pair between layers that differ
// by one could go on for ever. Before it, the paths are taken again in other
// orders, which may save layers (squeeze); AsPrinted does not.
type FirstFit struct {
	Order      Order // in which paths are taken
	Unbalanced bool  // leaves out step 4, the balancing of layers
	AsPrinted  bool  // takes every path once: the layers that come of it are what is needed

	// Discard leaves out paths that fit into none of the lanes (routing.NoSL),
	// as long as the endpoint has another address for the source: section 6.
	Discard bool

	// Escape, if not 0, is an address (LID less base LID) that the paths route
	// by Up*/Down*. The last lane is its layer, for sources that have no other
	// address of the endpoint: section 5.1. It implies Discard.
	Escape int
}

// Lanes implements routing.LaneAssigner.
func (o FirstFit) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	set := newPathSet(f, fw, b)
	if err := set.Check(ctx, nil); err != nil {
		return nil, err
	}
	ff := newFirstFit(set)
	if o.Discard || o.Escape > 0 {
		return ff.discarding(ctx, o, b, p)
	}
	need, err := ff.fill(ctx, o, b.VLs, p)
	if err != nil {
		return nil, err
	}
	if !o.Unbalanced {
		if err := ff.balance(ctx); err != nil {
			return nil, err
		}
	}
	lanes := ff.giveOut()
	lanes.Needed = need
	return lanes, nil
}

// fill puts all bundles into as few layers as it can, and refuses more of them than
// there are lanes.
func (ff *firstFit) fill(ctx context.Context, o FirstFit, vls int, p routing.Progress) (need int, err error) {
	switch ok, err := ff.assign(ctx, o.Order, p); {
	case err != nil:
		return 0, err
	case !ok:
		return 0, &routing.TooFewLanes{Need: ff.layers.Len() + 1, AtLeast: true, Have: vls}
	}
	need = max(1, ff.layers.Len())
	if !o.AsPrinted {
		if need, err = ff.squeeze(ctx, need, vls); err != nil {
			return 0, err
		}
	}
	if need > vls {
		return 0, &routing.TooFewLanes{Need: need, Have: vls}
	}
	return need, nil
}

func newFirstFit(p *pathSet) *firstFit {
	return &firstFit{pathSet: p, limit: maxLayers, layers: acyclic.NewLayers(p.Fabric)}
}

// firstFit is a pathSet whose bundles are put into layers one by one.
type firstFit struct {
	*pathSet
	layers  *acyclic.Layers
	filled  [maxLayers]uint64 // [layer] paths between endpoints in it
	limit   int               // layers there may be
	discard bool              // paths that fit into none of them are left out

	turns []acyclic.Turn // scratch: the turns of the path at hand
}

// assign puts every bundle into the first layer that takes it. It returns false at the first
// that fits into none, unless such bundles are left out (discard).
func (ff *firstFit) assign(ctx context.Context, order Order, p routing.Progress) (ok bool, err error) {
	done, total := 0, ff.bundles()
	for d, s := range ff.inOrder(order) {
		if done++; done%(1<<16) == 0 {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			p.Report(done, total)
		}
		layer, ok := ff.place(d, s)
		switch {
		case ok:
			ff.filled[layer] += uint64(ff.weight(d, s))
			d.sl[s] = uint8(layer)
		case !ff.discard:
			return false, nil
		}
	}
	return true, ctx.Err()
}

// place puts a bundle into the first layer that takes it, with some of its paths left
// out if need be and allowed.
func (ff *firstFit) place(d *destination, s fabric.NodeID) (layer int, ok bool) {
	if ff.discard {
		return ff.placeSome(d, s)
	}
	ff.turns = ff.appendTurns(ff.turns[:0], d, s)
	return ff.layers.First(ff.turns, ff.limit)
}

// balance is step 4 of the paper: move pairs from a fuller layer to an emptier
// one that stays acyclic, until no move lessens the imbalance.
func (ff *firstFit) balance(ctx context.Context) error {
	for moved := ff.layers.Len() > 1; moved; {
		moved = false
		ff.layers.ResetRefused() // they have lost turns since
		tried := 0
		for d, s := range ff.all {
			if tried++; tried%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if ff.lighten(d, s) {
				moved = true
			}
		}
	}
	return nil
}

// lighten moves the bundle of d and s to the emptiest layer that takes it, if
// that lessens the imbalance, and reports whether it did.
func (ff *firstFit) lighten(d *destination, s fabric.NodeID) bool {
	layer := &d.sl[s]
	if *layer == routing.NoSL {
		return false
	}
	from, w := int(*layer), uint64(ff.weight(d, s))
	tried := uint64(0)
	collected := false
	for {
		to := ff.emptiest(tried)
		if to < 0 || ff.filled[from] <= ff.filled[to]+w {
			return false
		}
		tried |= 1 << to
		if !collected {
			ff.turns = ff.appendTurns(ff.turns[:0], d, s)
			collected = true
		}
		if !ff.layers.Into(to, ff.turns) {
			continue
		}
		ff.layers.Remove(from, ff.turns)
		ff.filled[from] -= w
		ff.filled[to] += w
		*layer = uint8(to)
		return true
	}
}

// emptiest is the layer with the fewest paths that is not in tried, as bits; -1 if there is none.
func (ff *firstFit) emptiest(tried uint64) int {
	best := -1
	for l, n := range ff.filled[:ff.layers.Len()] {
		if tried>>l&1 == 0 && (best < 0 || n < ff.filled[best]) {
			best = l
		}
	}
	return best
}
