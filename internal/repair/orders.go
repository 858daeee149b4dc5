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

// inOrder mends the destinations in scope, some of them before all others. If the very first is
// left, it ends with that, and if others of the first are, with these.
func (m *mender) inOrder(ctx context.Context, first []fabric.LID) error {
	early := make([]bool, m.f.TopLID()+1)
	for i, lid := range first {
		early[lid] = true
		if m.destination(lid, m.Tables.Forwarding.Row(lid)); i == 0 && len(m.left) > 0 {
			return nil
		}
	}
	if len(first) > 0 && len(m.left) > 0 {
		return nil
	}
	return m.eachInScope(ctx, func(lid fabric.LID) {
		if !early[lid] {
			m.destination(lid, m.Tables.Forwarding.Row(lid))
		}
	})
}

// otherOrders mends all destinations anew with those first that were left, as long as fewer are
// left by that. If no order leaves none, the step stays as it was. load is that of the tables in
// force.
func (m *mender) otherOrders(ctx context.Context, load []int64) error {
	was, left, later, taken, loads := m.Step, m.left, m.later, slices.Clone(m.added), slices.Clone(m.load)
	var first []fabric.LID
	for range mostOrders {
		before := m.left
		first = comeFirst(before, first)
		m.beginAgain(load)
		if err := m.inOrder(ctx, first); err != nil || len(m.left) == 0 {
			return err
		}
		if m.left[0].LID == first[0] || len(m.left) >= len(before) {
			break
		}
	}
	m.beginAgain(loads)
	m.Step, m.left, m.later = was, left, later
	for _, d := range taken {
		if !m.graph.Add(d[0], d[1]) {
			panic("repair: a dependency that was there closes a cycle")
		}
	}
	m.added = append(m.added, taken...)
	return nil
}

// comeFirst is the destinations that are left, and then those that came first before.
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

// beginAgain takes back all that was mended. The tables so far stay as they are.
func (m *mender) beginAgain(load []int64) {
	for _, d := range m.added {
		m.graph.Remove(d[0], d[1])
	}
	m.added = m.added[:0]
	copy(m.load, load)
	t := *m.Tables
	t.Forwarding = m.entriesOf(m.before)
	m.Step, m.left, m.later = Step{Tables: &t}, nil, nil
}
