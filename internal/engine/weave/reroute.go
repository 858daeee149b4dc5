package weave

import (
	"context"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/internal/engine/steps/turnlanes"
	"github.com/weft-fabric/weft/routing"
)

// rerouting is one attempt of weave or weave-any: a copy of given paths, in which destinations are
// routed anew whose paths an assignment of lanes does not admit.
type rerouting struct {
	f      *fabric.Fabric
	fw     *routing.Forwarding // the copy
	lids   []fabric.LID        // those in scope, by switch
	grower *grower
	given  *routing.Forwarding // the paths as they were
	before uint64              // the largest load of the paths as they were
	budget routing.Budget

	byParts bool // from one part of the fabric to another packets turn in one direction only (turnlanes.Paths.AssignByParts)

	limit int // of the grower's work, after which no other destination is tried; 0: none
}

func newRerouting(f *fabric.Fabric, fw *routing.Forwarding, lids []fabric.LID, b routing.Budget) *rerouting {
	g := newGrower(f, b.Scope)
	r := &rerouting{f: f, fw: fw.Clone(), given: fw, lids: lids, grower: g, budget: b}
	for _, lid := range r.lids {
		counts := r.read(lid)
		g.loads.Charge(g.had.Order, g.had.Out, counts)
	}
	r.before = g.loads.Most()
	return r
}

// read sets grower.had to the tree of a LID's row, and returns what a route to the LID counts in loads.
func (r *rerouting) read(lid fabric.LID) (counts uint64) {
	e := r.f.Endpoint(r.f.Owner(lid))
	r.grower.had.Build(r.f, r.fw.Row(lid), e.Switch)
	return uint64(weight(e.Class))
}

// assigning assigns lanes to paths, and returns how many paths it leaves without.
type assigning func(*turnlanes.Paths) (l *turnlanes.Assignment, left int, err error)

// adaptions is how often at most an assignment is made: after the first, for the paths
// that were routed around the one before.
const adaptions = 3

// adapt routes destinations anew around an assignment, without escapes, and returns for how many
// LIDs that fails. If these are few, the paths have come nearer to what one assignment can admit: it
// begins again with the assignment that assign makes for the new paths.
func (r *rerouting) adapt(ctx context.Context, l *turnlanes.Assignment, assign assigning) (failed int, err error) {
	for i := range adaptions {
		before := failed
		failed, err = r.route(ctx, l)
		if failed == 0 || err != nil || failed > len(r.lids)/giveUp || i > 0 && failed > before/2 {
			return failed, err
		}
		paths, err := turnlanes.Gather(ctx, r.f, r.fw, r.budget, nil)
		if err != nil {
			return failed, err
		}
		if l, _, err = assign(paths); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// route routes the destinations anew whose paths the assignment does not admit, and
// returns for how many that fails.
func (r *rerouting) route(ctx context.Context, l *turnlanes.Assignment) (failed int, err error) {
	r.grower.lanes = l
	bad := make([]fabric.LID, 0, len(r.lids))
	for _, lid := range r.lids {
		if r.read(lid); !r.grower.admitted() {
			bad = append(bad, lid)
		}
	}
	const keep = true
	return r.pass(ctx, bad, keep)
}

// passes is how often at most all destinations are routed again, to balance them.
const passes = 3

// balance routes all destinations again, each around the load of the others, until the largest load
// is no more than goal or stops decreasing, or more than most work was done. The last pass is undone
// where it did not help.
func (r *rerouting) balance(ctx context.Context, goal uint64, most int) error {
	g := r.grower
	g.work = 0
	for range passes {
		before := r.grower.loads.Most()
		if before <= goal || g.work > most {
			break
		}
		const keep = false
		old := r.fw.Clone()
		if _, err := r.pass(ctx, r.lids, keep); err != nil {
			return err
		}
		if r.grower.loads.Most() >= before {
			r.fw = old
			break
		}
	}
	return nil
}

// pass routes LIDs again, if keep with the paths that are admitted already where that can be, and
// counts those for which no tree was found or tried; they keep their row.
func (r *rerouting) pass(ctx context.Context, lids []fabric.LID, keep bool) (failed int, err error) {
	d := dag.DAG{Root: fabric.None}
	for i, lid := range lids {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if r.limit > 0 && r.grower.work > r.limit {
			return failed + len(lids) - i, nil
		}
		found := r.routeAgain(&d, lid, func() bool { return keep && r.grower.mend(&d) || r.grower.grow(&d) })
		if !found {
			failed++
		}
	}
	return failed, nil
}

// routeAgain routes a LID again by makeTree, which finds the tree of its row in grower.had and makes
// the new one in grower.tree. If it makes none, the row stays. routeAgain keeps loads up to date, and
// makes d the shortest paths to the switch of the LID, if it is not that from the LID before.
func (r *rerouting) routeAgain(d *dag.DAG, lid fabric.LID, makeTree func() bool) (found bool) {
	g := r.grower
	counts := r.read(lid)
	if root := g.had.Order[0]; d.Root != root {
		dag.Shortest(d, r.f, root)
	}
	g.loads.Charge(g.had.Order, g.had.Out, -counts)
	if !makeTree() {
		g.loads.Charge(g.had.Order, g.had.Out, counts)
		return false
	}
	intree.Write(r.f, r.fw.Row(lid), lid, g.tree.Order, g.tree.Out)
	g.loads.Charge(g.tree.Order, g.tree.Out, counts)
	return true
}

// relieve routes destinations anew, as far as their paths pass trunks with a load above goal, until
// there are none, or no fewer than before.
func (r *rerouting) relieve(ctx context.Context, goal uint64) error {
	g := r.grower
	d := dag.DAG{Root: fabric.None}
	for range passes {
		before := g.loads.Most()
		if before <= goal {
			break
		}
		for _, lid := range r.lids {
			if err := ctx.Err(); err != nil {
				return err
			}
			if r.markFull(r.fw.Row(lid), goal) {
				r.routeAgain(&d, lid, func() bool { return g.mend(&d) })
				clear(g.leave)
			}
		}
		if g.loads.Most() >= before {
			break
		}
	}
	return nil
}

// markFull marks the trunks of a row with a load above goal in grower.leave, and reports whether there
// are any.
func (r *rerouting) markFull(row []uint8, goal uint64) bool {
	full := false
	for s, port := range row {
		if c := r.f.Trunk(fabric.NodeID(s), port); c != fabric.None && r.grower.loads.On[c] > goal {
			full, r.grower.leave[c] = true, true
		}
	}
	return full
}

// remark adds to the forwarding's notes how many destinations have new paths, and how many of them
// longer ones than necessary.
func (r *rerouting) remark() {
	d := dag.DAG{Root: fabric.None}
	t := &r.grower.had
	changed, longer := 0, 0
	for _, lid := range r.lids {
		row, root := r.fw.Row(lid), r.f.Endpoint(r.f.Owner(lid)).Switch
		if slices.Equal(row, r.given.Row(lid)) {
			continue
		}
		changed++
		if d.Root != root {
			dag.Shortest(&d, r.f, root)
		}
		t.Build(r.f, row, root)
		if slices.ContainsFunc(t.Order, func(s fabric.NodeID) bool { return t.Depth(s) > int(d.Hops[s]) }) {
			longer++
		}
	}
	if changed == 0 {
		return
	}
	r.fw.Notes = append(r.fw.Notes, fmt.Sprintf("%d of %d destinations routed anew for the sake of lanes, %d of them over longer paths", changed, len(r.lids), longer))
}
