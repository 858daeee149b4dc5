package weave

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/engine/steps/turnlanes"
	"github.com/weft-fabric/weft/routing"
)

// Any is weave-any. It needs at least one path finder.
type Any struct {
	Paths []routing.PathFinder // tried one after the other until a result is nearly as good as its paths; those with most bandwidth first

	// Bandwidth goes before repairs in one step: trees in planes then get no early and late
	// planes (trial.byParts), which cost up to 1/50 of it.
	Bandwidth bool
}

// Route implements routing.Engine. On tori with large rings it has paths of its own (trial.byDimensions). Else it makes attempts with the paths of one finder after the other
// (trial.plain), and with those of the last also around escape trees, until one is good enough
// (trial.done). It refuses no fabric; the only errors are those of the path finders, an invalid
// budget, and ctx.Err().
func (o Any) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*routing.Tables, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	if len(o.Paths) == 0 {
		return nil, errNoPaths
	}
	b.Contract = routing.Any // whatever is asked for
	t := trial{f: f, budget: b, bandwidth: o.Bandwidth}
	var before *routing.Forwarding
	for i, finder := range o.Paths {
		fw, err := pathsOf(ctx, f, finder, b, p)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			if free, err := onOneLane(ctx, f, fw, b); err != nil || free != nil {
				return free, err
			}
		}
		paths, err := turnlanes.Gather(ctx, f, fw, b, nil)
		if err != nil {
			return nil, err
		}
		t.most = mostWork(f, len(paths.LIDs()))
		if i == 0 {
			if final, err := t.byDimensions(ctx, fw, paths); err != nil {
				return nil, err
			} else if final {
				break
			}
		}
		if !sameRows(f, before, fw) { // the same paths would fail again
			if err := t.plain(ctx, fw, paths); err != nil {
				return nil, err
			}
		}
		before = fw
		if last := i+1 == len(o.Paths); last && !t.done() {
			if err := t.aroundEscapes(ctx, fw, paths, b.VLs); err != nil {
				return nil, err
			}
		}
		if t.done() {
			break
		}
	}
	best := t.best
	best.remark()
	if best.byParts {
		if err := best.fillSpares(ctx); err != nil {
			return nil, err
		}
	}
	const bothWays = false // under contract any a packet's service level does not matter, nor does that of its way back
	return &routing.Tables{Fabric: f, Forwarding: best.fw, Lanes: best.grower.lanes.Tables(best.fw, best.lids, bothWays)}, nil
}

// onOneLane is tables with all paths on lane 0 if their turns close no cycle, as in trees: no
// lanes need be assigned then. nil if they close one.
func onOneLane(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget) (*routing.Tables, error) {
	turns, err := forest.Of(f, fw, b.Scope).Turns(ctx)
	if err != nil || !acyclic.Free(f, turns) {
		return nil, err
	}
	lanes := routing.OneSL(f, routing.UniformSL2VL([routing.SLs]uint8{}))
	lanes.Needed = 1
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}, nil
}

// sameRows reports whether two forwardings, of which the first may be nil, are equal.
func sameRows(f *fabric.Fabric, a, b *routing.Forwarding) bool {
	if a == nil {
		return false
	}
	for lid := range f.LIDs() {
		if !slices.Equal(a.Row(lid), b.Row(lid)) {
			return false
		}
	}
	return true
}

// trial is the attempts of one call of Any.Route, of which it keeps the best.
type trial struct {
	f      *fabric.Fabric
	budget routing.Budget
	best   *rerouting // of the least largest load so far, all its paths admitted; nil: none yet
	goal   uint64     // the largest load of the first finder's paths; 0: not known yet
	work   int        // done so far: trunks that growers looked at, and placementCost for each path placed
	most   int        // mostWork

	bandwidth bool // Any.Bandwidth
}

// Work is counted in trunks looked at, so that no clock decides what comes out.
// These are bounds of time.
const (
	leastWork     = 50_000_000
	workPerEntry  = 1.5 // for every switch and destination, where that is more
	placementCost = 4   // of a path that is placed
)

// mostWork is the work after which no other attempt is made if one has succeeded.
func mostWork(f *fabric.Fabric, lids int) int {
	return max(leastWork, int(workPerEntry*float64(f.Switches())*float64(lids)))
}

// offer balances a routing whose paths are all admitted, counts its work, and makes it t.best if its
// largest load is less than that of the best so far.
func (t *trial) offer(ctx context.Context, r *rerouting) error {
	if err := r.balance(ctx, t.enough(), t.most/2); err != nil {
		return err
	}
	t.work += r.grower.work
	if t.best == nil || r.grower.loads.Most() < t.best.grower.loads.Most() {
		t.best = r
	}
	return nil
}

// done reports whether a routing nearly as good as the given paths was found, or any
// routing after enough work.
func (t *trial) done() bool {
	return t.best != nil && (t.work > t.most || t.best.grower.loads.Most() <= t.enough())
}

// nearly is 50 since a load is nearly as good as another if it is greater by no more than 1/50 of it.
const nearly = 50

// enough is a largest load that is accepted as nearly as good as that of the given
// paths.
func (t *trial) enough() uint64 {
	return t.goal + t.goal/nearly
}

// giveUp: if the destinations that could not be routed are more than one in so many,
// further lanes are not tried.
const giveUp = 16

// plain makes attempts without escape paths, which may all fail: it assigns lanes to the paths of fw,
// routes the destinations anew whose paths that does not admit, and offers the result if all could be.
// It does so with one lane, then with more as long as that leaves fewer paths without lanes.
func (t *trial) plain(ctx context.Context, fw *routing.Forwarding, paths *turnlanes.Paths) error {
	fewest := -1 // paths without lanes, of all attempts so far; -1: there was none
	for lanes := 1; lanes <= t.budget.VLs; lanes++ {
		assign := onLanes(ctx, lanes)
		onlyIfFew := lanes == 1 && t.budget.VLs > 1
		if onlyIfFew { // one lane is for paths that nearly fit, others need not be tried hard
			assign = func(p *turnlanes.Paths) (*turnlanes.Assignment, int, error) { return p.Assign(ctx, lanes, 1) }
		}
		l, left, err := assign(paths)
		if err != nil {
			return err
		}
		failed := 0
		if few := paths.Few(left); few || !onlyIfFew {
			t.work += placementCost * paths.Len()
			if lanes == 1 && few && !t.bandwidth {
				if err := t.byParts(ctx, fw, paths); err != nil || t.done() {
					return err
				}
			}
			if fewest >= 0 && left >= fewest {
				break
			}
			fewest = left
			if failed, err = t.around(ctx, fw, paths, l, assign); err != nil {
				return err
			}
		}
		if onlyIfFew && !t.done() {
			if err := t.oneLaneByLevels(ctx, fw, paths); err != nil {
				return err
			}
		}
		if t.done() || failed > len(paths.LIDs())/giveUp && t.work <= t.most/2 {
			break
		}
	}
	return nil
}

// onLanes tries hard to assign lanes, so many at most.
func onLanes(ctx context.Context, lanes int) assigning {
	return func(p *turnlanes.Paths) (*turnlanes.Assignment, int, error) { return p.AssignAround(ctx, nil, lanes) }
}

// begin is an attempt without escape paths, which takes half of the work at most. The first says what the goal is.
func (t *trial) begin(fw *routing.Forwarding, paths *turnlanes.Paths) *rerouting {
	r := newRerouting(t.f, fw, paths.LIDs(), t.budget)
	r.limit = t.most / 2
	if t.goal == 0 {
		t.goal = r.before
	}
	return r
}

// around is an attempt around an assignment, without escape paths: it offers the result, and returns for how
// many LIDs there is none.
func (t *trial) around(ctx context.Context, fw *routing.Forwarding, paths *turnlanes.Paths, l *turnlanes.Assignment, assign assigning) (failed int, err error) {
	r := t.begin(fw, paths)
	failed, err = r.adapt(ctx, l, assign)
	t.work += r.grower.work
	if err == nil && failed == 0 {
		r.limit = 0
		err = t.offer(ctx, r)
	}
	return failed, err
}

// oneLaneByLevels makes all attempts that there are on one lane where the fabric has levels: paths up and then
// down need no more, whatever fat-tree engine makes them. More lanes are then only for what needs them to be nearly
// as good as the given paths.
func (t *trial) oneLaneByLevels(ctx context.Context, fw *routing.Forwarding, paths *turnlanes.Paths) error {
	if _, refusal := levels.Find(t.f); refusal != nil {
		return nil
	}
	before := t.work
	assign := onLanes(ctx, 1)
	l, _, err := assign(paths)
	if err == nil {
		_, err = t.around(ctx, fw, paths, l, assign)
	}
	if err == nil && !t.done() {
		err = t.aroundEscapes(ctx, fw, paths, 1)
	}
	t.work = before // what comes is tried as if this had not been
	return err
}

// byParts is an attempt on one lane in which packets turn, at switches that send, from early parts of
// the fabric to late ones only (turnlanes.Paths.AssignByParts), so that repairs will find turns that
// close no cycle. Destinations with other turns are routed anew. The result becomes t.best only if it
// is nearly as good as the given paths, as it is where few packets turn at switches that send.
func (t *trial) byParts(ctx context.Context, fw *routing.Forwarding, paths *turnlanes.Paths) error {
	l, err := paths.AssignByParts(ctx)
	if err != nil || l == nil {
		return err
	}
	r := t.begin(fw, paths)
	r.byParts = true
	uneven := intree.Squares(r.grower.loads.On)
	failed, err := r.route(ctx, l)
	if err == nil && failed == 0 {
		err = r.relieve(ctx, t.enough())
	}
	t.work += r.grower.work + placementCost*paths.Len()
	if err == nil && failed == 0 && r.grower.loads.Most() <= t.enough() && intree.Squares(r.grower.loads.On) <= uneven*(1+1./nearly) {
		t.best = r
	}
	return err
}

// aroundEscapes makes attempts like plain, but around escape trees whose turns have lanes before all
// others, for one of shapes on at most vls lanes after the other. None can fail, since any switch may take its escape path.
func (t *trial) aroundEscapes(ctx context.Context, fw *routing.Forwarding, paths *turnlanes.Paths, vls int) error {
	for _, s := range shapes(t.f, vls) {
		r := newRerouting(t.f, fw, paths.LIDs(), t.budget)
		r.grower.escapes = intree.NewEscapes(t.f)
		r.grower.escapes.Span(s.roots, nil)
		l, _, err := paths.AssignAround(ctx, reserved(t.f, r.grower.escapes, s.lanes, s.low), s.lanes)
		if err != nil {
			return err
		}
		failed, err := r.route(ctx, l)
		t.work += r.grower.work + placementCost*paths.Len()
		switch {
		case err != nil:
			return err
		case failed > 0:
			panic("an escape path is not admitted")
		}
		if err := t.offer(ctx, r); err != nil || t.done() {
			return err
		}
	}
	return nil
}

// shape is a kind of escape tree.
type shape struct {
	roots []fabric.NodeID // one in each part of the network
	lanes int             // of the whole attempt
	low   bool            // turns down the tree are on lane 0 like those up, else on the highest
}

// mostRoots is the number of sets of roots that are tried: a bound of time.
const mostRoots = 8

// shapes is the escape trees to try on at most vls lanes, the most promising first.
func shapes(f *fabric.Fabric, vls int) []shape {
	kinds := []shape{{lanes: 2}, {lanes: 3}, {lanes: 1, low: true}, {lanes: 2, low: true}}
	var all []shape
	for _, roots := range rootSets(f) {
		for _, k := range kinds {
			if k.lanes <= vls {
				all = append(all, shape{roots: roots, lanes: k.lanes, low: k.low})
			}
		}
	}
	return all
}

// rootSets is sets of roots, spread evenly over the switches by how far they are from all
// others: the nearest first, then the farthest, then those between.
func rootSets(f *fabric.Fabric) [][]fabric.NodeID {
	far, _ := dag.Far(f, nil)
	sets := intree.RootSets(f, far, mostRoots)
	if len(sets) > 1 {
		last := len(sets) - 1
		sets = slices.Insert(sets[:last], 1, sets[last])
	}
	return sets
}

// reserved is every turn within escape trees with its lane: turns up are on lane 0; turns down on
// lane 0 if low, else on the highest lane, to which packets rise at the turn from up to down.
func reserved(f *fabric.Fabric, e *intree.Escapes, lanes int, low bool) []turnlanes.Reserved {
	top := uint8(lanes - 1)
	var all []turnlanes.Reserved
	e.EachTurn(func(in, out fabric.ChannelID) {
		r := turnlanes.Reserved{Turn: acyclic.Turn{ID: int32(f.Turn(in, out)), In: in, Out: out}, Within: true}
		up := e.Up[f.Heads()[in]]
		switch {
		case low: // on lane 0
		case f.Reverses()[in] == up: // from the parent, on down
			r.Lane = top
		case out != up: // from one child down to another
			r.Lane, r.Within = top, top == 0
		}
		all = append(all, r)
	})
	return all
}
