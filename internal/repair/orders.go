package repair

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Which destinations a step reaches depends on their order: the entry that one takes may bar the
// only one that closes no cycle for a later one, where another would have served the first as well.
// So where the first step of a plan leaves some, it is tried again with these before all others.

// mostOrders is how many other orders are tried at most.
const mostOrders = 8

// inOrder mends the destinations in scope, those of first before all others. If the very first of them is
// left, it ends at once, and if another of them is, after them.
func (a *attempt) inOrder(ctx context.Context, first []fabric.LID) error {
	early := make([]bool, a.f.TopLID()+1)
	for i, lid := range first {
		early[lid] = true
		if a.destination(lid); i == 0 && len(a.left) > 0 {
			return nil
		}
	}
	if len(first) > 0 && len(a.left) > 0 {
		return nil
	}
	return a.problem.eachInScope(ctx, func(lid fabric.LID) {
		if !early[lid] {
			a.destination(lid)
		}
	})
}

// otherOrders undoes what inOrder has mended and mends all destinations anew, with those first that were left, as
// long as fewer are left by that. An order that leaves none stands; if there is none, the first result is
// restored. load is the load by the tables in force.
func (a *attempt) otherOrders(ctx context.Context, load []int64) error {
	step, left, later, added, loads := a.step, a.left, a.later, a.graph.Added(), slices.Clone(a.load)
	var first []fabric.LID
	for range mostOrders {
		before := a.left
		first = comeFirst(before, first)
		a.beginAgain(load)
		if err := a.inOrder(ctx, first); err != nil || len(a.left) == 0 {
			return err
		}
		if a.left[0].LID == first[0] || len(a.left) >= len(before) {
			break
		}
	}
	a.step, a.left, a.later = step, left, later
	copy(a.load, loads)
	a.graph.Restore(added)
	return nil
}

// comeFirst is the order for the next try: the destinations that are left, and then those of before, the last
// try's.
func comeFirst(left []Left, before []fabric.LID) []fabric.LID {
	first := make([]fabric.LID, 0, len(left)+len(before))
	for _, l := range left {
		first = append(first, l.LID)
	}
	for _, lid := range before {
		if !anyOf(left, lid) {
			first = append(first, lid)
		}
	}
	return first
}

// beginAgain rolls back all that was mended, and gives the step new tables: otherOrders may restore the old ones.
func (a *attempt) beginAgain(load []int64) {
	a.graph.Rollback(0)
	copy(a.load, load)
	t := *a.step.Tables
	t.Forwarding = a.problem.entriesOf(a.before)
	a.step, a.left, a.later = Step{Tables: &t}, nil, nil
}
