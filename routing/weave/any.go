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
	Paths []routing.PathFinder // whose paths to keep where that can be, those with most bandwidth first
}

// Route implements routing.Router.
func (o Any) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*routing.Tables, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	t := trial{f: f, budget: b}
	for i, finder := range o.Paths {
		fw, err := finder.Paths(ctx, f, p)
		if err != nil {
			return nil, err
		}
		done, err := t.attempts(ctx, fw, i+1 == len(o.Paths))
		if err != nil {
			return nil, err
		}
		if done {
			break
		}
	}
	best := t.best
	return &routing.Tables{Fabric: f, Forwarding: best.fw, Lanes: best.grower.loom.Tables(best.fw, best.lids)}, nil
}

// trial is the best routing of several attempts.
type trial struct {
	f      *fabric.Fabric
	budget routing.Budget
	best   *rerouting
	goal   uint64 // the largest load of the first paths
	work   int    // trunks looked at
}

// mostWork is how many trunks may be looked at before no other attempt is made.
const mostWork = 60_000_000

// note notes a routing that is carried. It says whether no other is to be tried:
// one is as good as the paths were to begin with, or enough work was done.
func (t *trial) note(r *rerouting) bool {
	if t.best == nil || r.max() < t.best.max() {
		t.best = r
	}
	return t.work > mostWork || t.best.max() <= t.goal
}

// attempts routes anew what one loom leaves over of some paths: first as it is, then
// around escape trees of several kinds, and notes the routing with the smallest
// largest load.
func (t *trial) attempts(ctx context.Context, fw *routing.Forwarding, last bool) (done bool, err error) {
	paths, err := loom.Gather(ctx, t.f, fw, t.budget.Scope, nil)
	if err != nil {
		return false, err
	}
	if done, err := t.plain(ctx, fw, paths); done || err != nil {
		return done, err
	}
	if !last {
		return false, nil
	}
	for _, s := range shapes(t.f, t.budget.VLs) {
		r := newRerouting(t.f, fw, paths, t.budget.Scope)
		r.grower.escapes = newEscapes(t.f, s.roots)
		l, _, err := paths.Around(ctx, r.grower.escapes.turns(s.lanes, s.low), s.lanes)
		if err != nil {
			return false, err
		}
		ok, err := r.route(ctx, l)
		t.work += r.grower.work
		switch {
		case err != nil:
			return false, err
		case !ok:
			panic("weave: an escape path is not carried")
		case t.note(r):
			return true, nil
		}
	}
	return true, nil
}

// plain makes attempts without escapes, with more and more lanes as long as that
// leaves fewer paths over.
func (t *trial) plain(ctx context.Context, fw *routing.Forwarding, paths *loom.Paths) (done bool, err error) {
	fewest := -1
	for lanes := 1; lanes <= t.budget.VLs; lanes++ {
		again := func(p *loom.Paths) (*loom.Loom, int, error) { return p.Around(ctx, nil, lanes) }
		l, left, err := again(paths)
		if err != nil {
			return false, err
		}
		if fewest >= 0 && left >= fewest {
			break
		}
		fewest = left
		if lanes < min(2, t.budget.VLs) && !paths.Few(left) {
			continue
		}
		r := newRerouting(t.f, fw, paths, t.budget.Scope)
		if t.goal == 0 {
			t.goal = r.before
		}
		ok, err := r.adapt(ctx, l, again)
		t.work += r.grower.work
		if err != nil || ok && t.note(r) {
			return true, err
		}
	}
	return false, nil
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
