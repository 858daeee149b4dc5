package hop

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// DN is DF-DN. It refuses a path of more hops than there are lanes with
// *routing.TooFewLanes, and paths that the 16 service levels cannot tell apart,
// or that circle, with *routing.Refusal.
//
// Service levels. A path of h hops has h-1 turns, which need rising lanes from 1
// to L-1 where the longest path has L hops: the shorter the path, the more freely
// they can be chosen. Finding the fewest service levels is hard even for L = 3,
// where it is to cover a directed graph over the turns, each path an edge, with
// the fewest cuts. DN first lets the paths vote: every turn gets the lane that
// suits most of the paths over it, the paths that rise along these lanes, or fit
// in beside those that do, have a service level, and the others vote for the next
// one. That needs about as many as the paper's way. Then it takes one service
// level away after the other and mends what that breaks: a path that rises
// nowhere gets new lanes for its turns in the service level where fewest other
// paths break, which are mended in turn. What breaks counts the more the oftener
// it was mended (P. Morris: The Breakout Method for Escaping from Local Minima,
// AAAI 1993). The search ends when there are as few service levels as one turn
// needs by itself, or after a number of steps that depends on the paths only. So
// a refusal for want of service levels says that none were found, not that there
// are none.
//
// Under contract honored all paths between two switches, both ways, are a bundle that
// needs one service level in which each of them rises. Else every path is a bundle by
// itself, and those that another continues need not be looked at.
//
// Lanes. Where 16 service levels are too few, DN tries the same with a lane more,
// up to the 15 there are: that leaves all paths more freedom. Lanes.Needed is
// then more than the longest path's hops.
//
// Complexity: O(D·S) for D destination LIDs and S switches to find the paths that
// no other continues; O(T) for each vote over the T turns of all of them; and at
// most 150 million steps of mending for each number of service levels tried.
type DN struct{}

// The rules, for refusals and Explain.
const (
	ruleTwoHops = "no path between endpoints has more than two hops from switch to switch"
	ruleEnds    = "no packet circles"
	ruleLevels  = "sixteen service levels suffice to let the lanes of every path rise"
)

// Lanes implements routing.LaneAssigner.
func (DN) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	all, err := gather(ctx, f, fw, b.Scope, p)
	if err != nil {
		return nil, err
	}
	far := longest(all)
	switch {
	case far.hops == circling:
		return nil, far.refusal(f, ruleEnds)
	case far.hops > routing.MaxDataVLs:
		return nil, &routing.TooFewLanes{Need: far.hops, Have: b.VLs}
	}
	var s *sequences
	var list []bundle
	what := "paths"
	if b.Contract.EitherWay() {
		s, list = bundlesOf(all, f.Turns())
		what = "pairs of switches"
	} else {
		s = sequencesOf(all, f.Turns())
	}
	lanes, plan, left, err := fewestLanes(ctx, s, max(1, far.hops))
	switch {
	case err != nil:
		return nil, err
	case plan == nil:
		return nil, routing.Refuse(f, ruleLevels, fabric.None, 0,
			"%d %s are left over after %d service levels and %d lanes; the longest path has %d hops", left, what, routing.SLs, lanes, far.hops)
	case lanes > b.VLs:
		return nil, &routing.TooFewLanes{Need: lanes, Have: b.VLs}
	}
	l := routing.NewLanes(f, mapLanes(f, far.hops, plan.lane))
	l.Needed = lanes
	if list != nil {
		plan.giveBothWays(l, list)
	} else {
		plan.giveOut(f, l, all)
	}
	return l, nil
}

// fewestLanes makes a plan with as few lanes as it can, starting with the
// longest path's hops. Without a plan it says how many paths are left over with
// all lanes there are.
func fewestLanes(ctx context.Context, s *sequences, hops int) (lanes int, p *plan, left int, err error) {
	for lanes = hops; lanes <= routing.MaxDataVLs; lanes++ {
		p, left, err = makePlan(ctx, s, lanes-1)
		if p != nil || err != nil {
			return lanes, p, 0, err
		}
	}
	return routing.MaxDataVLs, nil, left, nil
}

// giveOut gives every source and LID the service level of its path.
func (p *plan) giveOut(f *fabric.Fabric, l *routing.Lanes, all []*ways) {
	i := 0
	eachLong(all, func(w *ways, leaf int32) {
		w.sl[leaf] = p.sl[i]
		i++
	})
	for _, w := range all {
		w.settle()
		for i, lid := range w.lids {
			row := l.SLRow(lid)
			for s, n := range w.first[i*f.Switches():][:len(row)] {
				if n != none {
					row[s] = w.sl[n]
				}
			}
		}
	}
}
