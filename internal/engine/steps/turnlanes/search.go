package turnlanes

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// Limits of the search, in work and not in time, so that results do not depend on the
// machine.
const (
	mostRounds = 16      // for each policy
	placements = 1 << 20 // for each policy, but at least one round
	giveUp     = 16      // give up if more than one path in so many is left: further rounds do not make up for that
	few        = 32      // if at most one path in so many is left, these paths may be routed anew
)

// Assign looks for lanes for all paths with a number of lanes and service levels. It
// returns the assignment that leaves the fewest paths, and how many they are.
//
// Paths are placed one by one, those with most hops first. Paths that could not be
// placed go first in the next round (D. E. Joslin, D. P. Clements: "Squeaky Wheel"
// Optimization, JAIR 10, 1999). This is done with each policy.
func (p *Paths) Assign(ctx context.Context, lanes, levels int) (best *Assignment, fewest int, err error) {
	if p.both && levels > 1 && lanes > 1 {
		b := p.inBundles()
		all := fabric.All[int32](len(b.list))
		return p.searchInRounds(ctx, all, len(all), lanes, levels, func(n int32) [][]acyclic.Turn { return b.turns(p, n) })
	}
	return p.searchInRounds(ctx, p.maximal, len(p.Trunk), lanes, levels, p.alone())
}

// alone is every path as a bundle of its own, for placeAll.
func (p *Paths) alone() func(n int32) [][]acyclic.Turn {
	path := make([][]acyclic.Turn, 1)
	return func(n int32) [][]acyclic.Turn {
		path[0] = p.AppendTurns(path[0][:0], n)
		return path
	}
}

// searchInRounds is Assign for numbered paths or bundles: begin is the order of the first round, space
// is more than the highest number, and turns gives the turns of each path of a bundle.
func (p *Paths) searchInRounds(ctx context.Context, begin []int32, space, lanes, levels int, turns func(n int32) [][]acyclic.Turn) (best *Assignment, fewest int, err error) {
	rounds, policies := min(mostRounds, max(1, placements/max(1, len(begin)))), []Policy{Even, Low}
	if lanes == 1 { // neither further service levels nor another policy make a difference
		levels, rounds, policies = 1, 1, policies[:1]
	}
	for _, policy := range policies {
		order := begin
		for range rounds {
			l := New(p.Fabric, lanes, levels, policy, p.Change)
			left, err := l.placeAll(ctx, order, len(order)/giveUp, turns)
			if err != nil {
				return nil, 0, err
			}
			if best == nil || len(left) < fewest {
				best, fewest = l, len(left)
			}
			if fewest == 0 {
				return best, 0, nil
			}
			if len(left) > len(order)/giveUp {
				break
			}
			order = toFront(left, order, space)
		}
	}
	return best, fewest, nil
}

// AssignAround is Assign for one service level in which some turns have lanes from the start. It
// returns the assignment that leaves the fewest paths, and how many they are. A path whose turns others
// have taken is not helped by another order, so there are no rounds. Paths are placed by
// their hops; if that leaves many, by how many others use their turns; then, on one
// lane, after single turns, those that most paths use first.
func (p *Paths) AssignAround(ctx context.Context, reserved []Reserved, lanes int) (best *Assignment, fewest int, err error) {
	orders := [...]func(l *Assignment) []int32{
		func(*Assignment) []int32 { return p.maximal },
		func(*Assignment) []int32 { return p.mostSharedFirst() },
		func(l *Assignment) []int32 { l.placeTurns(p); return p.maximal },
	}
	for i := range orders {
		if i == 2 && lanes > 1 {
			break // with several lanes a single turn does not decide a lane
		}
		l := New(p.Fabric, lanes, 1, Even, Free)
		l.reserve(reserved)
		left, err := l.placeAll(ctx, orders[i](l), len(p.maximal), p.alone())
		if err != nil {
			return nil, 0, err
		}
		if best == nil || len(left) < fewest {
			best, fewest = l, len(left)
		}
		if p.Few(fewest) {
			break
		}
	}
	return best, fewest, nil
}

// uses is how many paths that are no suffix of another make each turn, [turn].
func (p *Paths) uses() []int32 {
	uses := make([]int32, p.Fabric.Turns())
	var steps []acyclic.Turn
	for _, n := range p.maximal {
		steps = p.AppendTurns(steps[:0], n)
		for _, s := range steps {
			uses[s.ID]++
		}
	}
	return uses
}

// mostSharedFirst is the paths in the order of how many paths use their turns, in total.
func (p *Paths) mostSharedFirst() []int32 {
	uses := p.uses()
	others := make([]int64, len(p.Trunk))
	var steps []acyclic.Turn
	for _, n := range p.maximal {
		steps = p.AppendTurns(steps[:0], n)
		for _, s := range steps {
			others[n] += int64(uses[s.ID])
		}
	}
	order := slices.Clone(p.maximal)
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(others[b], others[a]) })
	return order
}

// placeTurns puts turns one by one, those of most paths first, into the only lane: a
// greedy heaviest acyclic graph.
func (l *Assignment) placeTurns(p *Paths) {
	uses := p.uses()
	f, heads := p.Fabric, p.Fabric.Heads()
	var turns []acyclic.Turn
	for in := range fabric.ChannelID(f.Trunks()) {
		turn := int32(f.FirstTurn(in))
		first, end := f.TrunksFrom(heads[in])
		for out := first; out < end; out++ {
			if uses[turn] > 0 {
				turns = append(turns, acyclic.Turn{ID: turn, In: in, Out: out})
			}
			turn++
		}
	}
	slices.SortStableFunc(turns, func(a, b acyclic.Turn) int { return cmp.Compare(uses[b.ID], uses[a.ID]) })
	for i := range turns {
		l.Place(turns[i : i+1])
	}
}

// placeAll places paths or bundles in an order and returns the numbers of those that could not be
// placed. It stops when they are more than limit.
func (l *Assignment) placeAll(ctx context.Context, order []int32, limit int, turns func(n int32) [][]acyclic.Turn) (left []int32, err error) {
	for i, n := range order {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if l.Place(turns(n)...) {
			continue
		}
		if left = append(left, n); len(left) > limit {
			break
		}
	}
	return left, nil
}

// toFront is an order, of numbers below space, with some of them moved to the front.
func toFront(some, order []int32, space int) []int32 {
	moved := make([]bool, space)
	for _, n := range some {
		moved[n] = true
	}
	next := slices.Grow(slices.Clone(some), len(order)-len(some))
	for _, n := range order {
		if !moved[n] {
			next = append(next, n)
		}
	}
	return next
}

// Fewest looks for lanes for all paths with as few lanes as possible, at most vls, and
// then with as few service levels as possible. nil: it found none.
func (p *Paths) Fewest(ctx context.Context, vls int) (*Assignment, error) {
	for lanes := 1; lanes <= vls; lanes++ {
		l, left, err := p.withoutBundles(ctx, lanes)
		if err == nil && (l == nil || left > 0) {
			l, left, err = p.Assign(ctx, lanes, Levels)
		}
		if err != nil {
			return nil, err
		}
		if left == 0 {
			return p.Reduce(ctx, l)
		}
	}
	return nil, nil
}

// withoutBundles is Assign with a single service level, where that avoids bundles; else it returns nil.
func (p *Paths) withoutBundles(ctx context.Context, lanes int) (*Assignment, int, error) {
	if !p.both || p.Change == Never {
		return nil, 0, nil
	}
	return p.Assign(ctx, lanes, 1)
}

// Reduce looks for an assignment with the same number of lanes as one that admits all
// paths, but fewer service levels.
func (p *Paths) Reduce(ctx context.Context, l *Assignment) (*Assignment, error) {
	for l.Used() > 1 && p.Change != Never {
		fewer, left, err := p.Assign(ctx, l.lanes, l.Used()-1)
		if err != nil {
			return nil, err
		}
		if left > 0 {
			break
		}
		l = fewer
	}
	return l, nil
}

// Few reports whether the paths left are few enough to route them anew.
func (p *Paths) Few(left int) bool { return left <= len(p.maximal)/few }
