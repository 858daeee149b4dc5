// Package weave is in the making.
package weave

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/loom"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/paths/dag"
)

// Any is weave-any.
type Any struct {
	Paths routing.PathFinder // whose paths to keep where that can be
}

// mostWork is how many trunks may be looked at before no other attempt is made.
const mostWork = 60_000_000

// Route implements routing.Router.
func (o Any) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*routing.Tables, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	fw, err := o.Paths.Paths(ctx, f, p)
	if err != nil {
		return nil, err
	}
	paths, err := loom.Gather(ctx, f, fw, b.Scope, nil)
	if err != nil {
		return nil, err
	}
	l, left, err := paths.OneLevel(ctx, b.VLs)
	if err != nil {
		return nil, err
	}
	if left == 0 {
		return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l.Tables(fw, paths.LIDs())}, nil
	}
	best, err := attempts(ctx, f, b, fw, paths, l)
	if err != nil {
		return nil, err
	}
	return &routing.Tables{Fabric: f, Forwarding: best.fw, Lanes: best.grower.loom.Tables(best.fw, best.lids)}, nil
}

// attempts routes anew what a loom leaves over: around the loom given, then around
// escape trees of several kinds, and returns the routing with the smallest largest
// load. It makes no further attempt once one is as good as the paths were, or when
// enough work was done and one succeeded, as those with escapes do.
func attempts(ctx context.Context, f *fabric.Fabric, b routing.Budget, fw *routing.Forwarding, paths *loom.Paths, l *loom.Loom) (*rerouting, error) {
	var best *rerouting
	work := 0
	good := func(r *rerouting, ok bool) bool {
		work += r.grower.work
		if ok && (best == nil || r.max() < best.max()) {
			best = r
		}
		return best != nil && (work > mostWork || best.max() <= best.before)
	}
	r := newRerouting(f, fw, paths, b.Scope)
	ok, err := r.adapt(ctx, l, b)
	if err != nil || good(r, ok) {
		return best, err
	}
	for _, s := range shapes(f, b.VLs) {
		e := newEscapes(f, s.roots)
		reserved := e.turns(s.lanes, s.low)
		r := newRerouting(f, fw, paths, b.Scope)
		l, _, err := paths.Around(ctx, reserved, s.lanes)
		if err != nil {
			return nil, err
		}
		r.grower.escapes = e
		ok, err := r.route(ctx, l)
		if err != nil {
			return nil, err
		}
		if !ok {
			panic("weave: an escape path is not carried")
		}
		if good(r, ok) {
			break
		}
	}
	return best, nil
}

// shape is a kind of escape tree.
type shape struct {
	roots []fabric.NodeID // one in each part
	lanes int
	low   bool
}

// mostRoots is how many roots are tried.
const mostRoots = 8

// shapes is the escape trees to try for so many lanes, the likeliest to be good
// first.
func shapes(f *fabric.Fabric, vls int) []shape {
	kinds := []shape{{nil, 3, false}, {nil, 2, true}, {nil, 2, false}, {nil, 4, false}, {nil, 1, true}}
	var all []shape
	for _, roots := range roots(f) {
		for _, k := range kinds {
			if k.lanes <= vls {
				all = append(all, shape{roots, k.lanes, k.low})
			}
		}
	}
	return all
}

// roots is sets of roots, one root in each part of the network, spread evenly over
// the switches by how far they are from all others, the farthest first.
func roots(f *fabric.Fabric) [][]fabric.NodeID {
	far := make([]int64, f.Switches())
	var d dag.DAG
	for s := range far {
		dag.Shortest(&d, f, fabric.NodeID(s))
		for _, u := range d.Order {
			far[s] += int64(d.Hops[u])
		}
	}
	parts := f.Parts()
	sets := make([][]fabric.NodeID, min(mostRoots, len(parts[0])))
	for _, part := range parts {
		slices.SortStableFunc(part, func(a, b fabric.NodeID) int { return int(far[b] - far[a]) })
		for i := range sets {
			sets[i] = append(sets[i], part[i*(len(part)-1)/max(1, len(sets)-1)])
		}
	}
	return sets
}
