// Package weave has two engines that begin with good paths, assign lanes to their turns,
// and change paths only if lanes do not suffice.
//
// Engine is weave: for every service level a lane for every turn (package
// internal/engine/steps/turnlanes). It takes the fewest lanes with which all paths are
// admitted. If one lane fewer leaves only a few paths, it routes their destinations anew,
// first among shortest paths and then longer ones, as long as that costs little
// bandwidth. If paths still need too many lanes, it tries those of the next path finder.
//
// Any is weave-any, for clients that ignore service levels: one lane for every turn,
// whatever the service level. Then not all shortest paths of a network can be used: if on
// a ring every three channels in a row are part of a path, the dependencies close a cycle
// on any number of lanes, since a channel after another has one lane for all packets that
// come by it. If a path is not admitted, the admitted ones to its destination stay, and
// others are looked for beside them; then the destination is routed anew; finally
// switches use an escape tree whose turns have had lanes from the start, as in Nue (J.
// Domke, T. Hoefler, S. Matsuoka, HPDC 2016), so that it never fails. Several attempts, with and without escapes, are compared by their
// largest load.
//
// Guarantee: connected within each part of the network and free of deadlock, weave
// under contract honored, or directed if that was asked for, weave-any under contract
// any; for the endpoints in the budget's scope. Paths are minimal unless they had to be
// changed. weave refuses with *routing.TooFewLanes if lanes do not suffice; weave-any
// refuses nothing.
//
// Lanes needed: 1 to 3 in most networks; weave-any on tori with large rings one more than dimensions. Complexity: that of the path finders
// and of the rounds of package turnlanes; O(S·c) for every destination routed anew, S the
// switches and c the trunks of one; attempts end after a number of steps.
package weave

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/turnlanes"
	"github.com/weft-fabric/weft/routing"
)

// Prefer says what counts more if bandwidth and few lanes cannot both be had, as on
// tori, where balanced paths need more lanes than regular ones.
type Prefer uint8

// The preferences.
const (
	Bandwidth Prefer = iota // the first paths for which the lanes suffice
	Lanes                   // the paths that need fewest lanes
)

func (p Prefer) String() string { return [...]string{"bandwidth", "lanes"}[p] }

// ParsePrefer reads bandwidth or lanes.
func ParsePrefer(s string) (Prefer, error) {
	for _, p := range [...]Prefer{Bandwidth, Lanes} {
		if s == p.String() {
			return p, nil
		}
	}
	return 0, fmt.Errorf("one prefers bandwidth or lanes, not %q", s)
}

var errNoPaths = errors.New("no path finder to begin with; give at least one")

// Engine is weave. It needs at least one path finder.
type Engine struct {
	Paths  []routing.PathFinder // those with most bandwidth first
	Prefer Prefer               // the zero value prefers bandwidth
}

// Route implements routing.Engine. It plans for the endpoints in the budget's scope.
func (o Engine) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*routing.Tables, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	if len(o.Paths) == 0 {
		return nil, errNoPaths
	}
	var best *assigned
	bound := uint64(0)
	both := b.Contract.EitherWay()
	for _, finder := range o.Paths {
		fw, err := pathsOf(ctx, f, finder, b, p)
		if err != nil {
			return nil, err
		}
		w, err := o.assign(ctx, f, fw, b)
		if err != nil {
			return nil, err
		}
		if w == nil {
			continue
		}
		load := newRerouting(f, w.fw, w.lids, b).before
		if best != nil && load > bound {
			continue
		}
		if best == nil {
			bound = load + load/loadGrowth
		}
		if best = w; o.Prefer == Bandwidth {
			break
		}
		if b.VLs = w.lanes.Lanes() - 1; b.VLs == 0 { // other paths have to need fewer
			break
		}
	}
	if best == nil {
		return nil, &routing.TooFewLanes{Need: b.VLs + 1, AtLeast: true, Have: b.VLs}
	}
	return &routing.Tables{Fabric: f, Forwarding: best.fw, Lanes: best.lanes.Tables(best.fw, best.lids, both)}, nil
}

// pathsOf is the paths of a finder. If it left aggregation nodes or routers apart
// (Forwarding.Apart) and the budget's scope has these, too, shortest paths join them, and a note
// says so behind the finder's, which says what stays empty.
func pathsOf(ctx context.Context, f *fabric.Fabric, finder routing.PathFinder, b routing.Budget, p routing.Progress) (*routing.Forwarding, error) {
	fw, err := finder.Paths(ctx, f, p)
	if err != nil || !fw.Apart || b.Scope == routing.HCA {
		return fw, err
	}
	fw = fw.Clone()
	fw.Notes = append(fw.Notes, "entries that stayed empty got shortest paths before lanes were assigned: aggregation nodes and routers count, too")
	return fw, dag.Fill(ctx, f, fw)
}

// loadGrowth limits how much other paths may add to the largest load if few lanes are
// preferred: 1/loadGrowth of it.
const loadGrowth = 2

// assigned is paths with an assignment that admits all of them.
type assigned struct {
	fw    *routing.Forwarding
	lids  []fabric.LID
	lanes *turnlanes.Assignment
}

// assign finds lanes for the paths of fw, as few as can be, if need be with a few destinations routed
// anew (reroute). nil: the budget's lanes do not suffice.
func (o Engine) assign(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget) (*assigned, error) {
	paths, err := turnlanes.Gather(ctx, f, fw, b, nil)
	if err != nil {
		return nil, err
	}
	for lanes := 1; lanes <= b.VLs; lanes++ {
		levels := turnlanes.Levels
		if b.Contract.EitherWay() {
			// With one service level nothing binds paths to each other; with several, all
			// between two switches share one.
			levels = 1
		}
		l, left, err := paths.Assign(ctx, lanes, levels)
		if err != nil {
			return nil, err
		}
		if left > 0 && levels == 1 && lanes > 1 {
			most, over, err := paths.Assign(ctx, lanes, turnlanes.Levels)
			if err != nil {
				return nil, err
			}
			if over == 0 {
				l, left = most, 0
			}
		}
		if left == 0 {
			l, err := paths.Reduce(ctx, l)
			return &assigned{fw: fw, lids: paths.LIDs(), lanes: l}, err
		}
		if !paths.Few(left) {
			continue
		}
		if w, err := o.reroute(ctx, f, fw, paths, l, levels, b); w != nil || err != nil {
			return w, err
		}
	}
	return nil, nil
}

// tolerance is by how many percent the largest load may grow to save one lane, [Prefer].
var tolerance = [...]uint64{Bandwidth: 2, Lanes: 8}

// reroute routes the destinations of the few paths that the assignment l does not admit anew, in a
// copy of fw. nil: that fails, or costs too much bandwidth.
func (o Engine) reroute(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, paths *turnlanes.Paths, l *turnlanes.Assignment, levels int, b routing.Budget) (*assigned, error) {
	r := newRerouting(f, fw, paths.LIDs(), b)
	lanes := l.Lanes()
	failed, err := r.adapt(ctx, l, func(p *turnlanes.Paths) (*turnlanes.Assignment, int, error) { return p.Assign(ctx, lanes, levels) })
	if err != nil || failed > 0 || r.grower.loads.Most()*100 > r.before*(100+tolerance[o.Prefer]) {
		return nil, err
	}
	if paths, err = turnlanes.Gather(ctx, f, r.fw, b, nil); err != nil {
		return nil, err
	}
	r.remark()
	l, err = paths.Reduce(ctx, r.grower.lanes)
	return &assigned{fw: r.fw, lids: r.lids, lanes: l}, err
}
