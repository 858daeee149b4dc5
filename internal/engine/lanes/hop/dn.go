package hop

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/routing"
)

// DN is DF-DN. It refuses a path of more hops than there are lanes with
// *routing.TooFewLanes, and paths that the 16 service levels cannot tell apart,
// or that do not arrive, with *routing.Refusal.
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
	ruleLevels  = "sixteen service levels suffice to let the lanes of every path rise"
)

// Lanes implements routing.LaneAssigner.
func (DN) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	all, err := forest.Of(f, fw, b.Scope).Grow(ctx, p)
	if err != nil {
		return nil, err
	}
	hops := 1
	for _, n := range all.Leaves {
		hops = max(hops, all.Hops(n))
	}
	if hops > routing.MaxDataVLs {
		return nil, &routing.TooFewLanes{Need: hops, Have: b.VLs}
	}
	var s *sequences
	var list []bundle
	what := "paths"
	if b.Contract.EitherWay() {
		s, list = bundlesOf(all)
		what = "pairs of switches"
	} else {
		s = sequencesOf(all)
	}
	lanes, plan, left, err := fewestLanes(ctx, s, hops)
	switch {
	case err != nil:
		return nil, err
	case plan == nil:
		return nil, routing.Refuse(f, ruleLevels, fabric.None, 0,
			"%d %s are left over after %d service levels and %d lanes; the longest path has %d hops", left, what, routing.SLs, lanes, hops)
	case lanes > b.VLs:
		return nil, &routing.TooFewLanes{Need: lanes, Have: b.VLs}
	}
	l := routing.NewLanes(f, mapLanes(f, hops, plan.lane))
	l.Needed = lanes
	if list != nil {
		plan.giveBothWays(l, list)
		return l, nil
	}
	return l, plan.giveOut(ctx, l, all)
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

// sequencesOf is the paths that need a service level found: those of three hops
// or more that no other path continues. Shorter ones have one turn or none, and
// take any service level.
func sequencesOf(all *forest.Forest) *sequences {
	s := newSequences(all.Fabric.Turns())
	eachLong(all, func(leaf int32) {
		s.add(all, leaf)
		s.close()
	})
	return s
}

// eachLong visits the leaves, which are first hops, of paths of three hops or more. Within an End they
// come last to first: the plan depends on the order, its correctness does not.
func eachLong(all *forest.Forest, visit func(leaf int32)) {
	leaves := all.Leaves
	for end := range all.Ends {
		_, last := all.Range(end)
		here, _ := slices.BinarySearch(leaves, last) // the leaves of this End
		for _, leaf := range slices.Backward(leaves[:here]) {
			if long(all, leaf) {
				visit(leaf)
			}
		}
		leaves = leaves[here:]
	}
}

// long reports whether the path that begins with a hop has three or more.
func long(all *forest.Forest, n int32) bool {
	next := all.Next[n]
	return next != forest.None && all.Next[next] != forest.None
}

// giveOut writes into l, for every source and LID, the service level of its path, or of one that it is
// the end of. It takes paths in the order of sequencesOf.
func (p *plan) giveOut(ctx context.Context, l *routing.Lanes, all *forest.Forest) error {
	sl := slices.Repeat([]uint8{routing.NoSL}, len(all.Trunk)) // [hop]
	i := 0
	eachLong(all, func(leaf int32) {
		sl[leaf] = p.sl[i]
		i++
	})
	for n := len(sl) - 1; n >= 0; n-- { // a hop comes behind the one after it
		if sl[n] == routing.NoSL {
			sl[n] = 0 // a short path that no other continues
		}
		if next := all.Next[n]; next != forest.None && sl[next] == routing.NoSL {
			sl[next] = sl[n]
		}
	}
	return all.EachLID(ctx, func(t *forest.InTree, hop []int32) {
		row := l.SLRow(t.LID)
		for _, s := range t.Order {
			row[s] = sl[hop[s]]
		}
	})
}
