package repair

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Bring plans the way from tables in force to other tables for the same fabric, for
// instance to those from before a failure when all cables are back, or to newly
// balanced ones. Service levels and SL2VL maps stay those of the tables in force;
// target has to be free of deadlock with them.
//
// Each step changes what the graph of its union allows: for each destination the whole
// row or, if that closes a cycle, single entries from the destination outwards. The
// dependencies of the entries that were replaced are gone when the step is confirmed.
// If a step would change nothing, other rows are tried on the way (detour), and if these do
// not lead to target either, Options.AllowDrops permits to drop the packets of the remaining
// destinations for one step. The plan is empty if nothing differs; Left lists the
// destinations for which no further step makes progress.
func Bring(ctx context.Context, tables, target *routing.Tables, o Options) (*Plan, error) {
	if err := tables.Check(); err != nil {
		return nil, err
	}
	if err := byLevels(tables); err != nil {
		return nil, err
	}
	if o.Steps == 0 {
		o.Steps = defaultWay
	}
	sh := newShared(tables, nil, o)
	plan := &Plan{}
	if err := plan.bring(ctx, sh, tables, target, upTo{steps: o.Steps}); err != nil {
		return nil, err
	}
	if len(plan.Left) > 0 {
		if err := plan.detour(ctx, sh, tables, target, o.Steps); err != nil {
			return nil, err
		}
	}
	if o.AllowDrops && len(plan.Left) > 0 {
		if err := plan.bring(ctx, sh, tables, target, upTo{steps: o.Steps, drops: true}); err != nil {
			return nil, err
		}
	}
	plan.followTarget(sh, tables, target.Forwarding)
	if len(plan.Left) > 0 {
		plan.clearDead(sh, tables)
	}
	return plan, plan.keepWhole(ctx, tables, o.Scope)
}

// clearDead adds a step that removes what is dead in the rows that are left, as the last step of
// Mend does.
func (p *Plan) clearDead(sh *shared, tables *routing.Tables) {
	s := sh.newStep(p.end(tables))
	m := newMender(s)
	for _, left := range p.Left {
		s.flow.begin(s.before.Forwarding.Row(left.LID), left.LID)
		s.Follow += m.clearDead(s.Tables.Forwarding.Row(left.LID))
	}
	if s.Follow > 0 {
		p.Steps = append(p.Steps, s.Step)
	}
}

// upTo is how far bring goes.
type upTo struct {
	steps int    // at most
	need  []Left // it ends as soon as these destinations are done; empty: when all are
	drops bool   // a step may drop packets, if nothing else helps
}

// bring adds steps towards target, as Bring has them. Packets to hosts that are gone follow
// the tables in force until the first step has changed their rows too.
func (p *Plan) bring(ctx context.Context, sh *shared, tables, target *routing.Tables, to upTo) error {
	for i := range to.steps {
		s := sh.newStep(p.end(tables))
		if err := s.derive(ctx); err != nil {
			return err
		}
		for _, lid := range s.gone {
			copy(s.Tables.Forwarding.Row(lid), target.Forwarding.Row(lid))
		}
		b := &rowBringer{mender: newMender(s), target: target.Forwarding, twins: newTwins(s.levels)}
		// First the others, which make way for those in need.
		for _, needed := range []bool{false, true} {
			if err := s.eachInScope(ctx, func(lid fabric.LID) {
				if anyOf(to.need, lid) == needed {
					b.destination(lid, s.Tables.Forwarding.Row(lid))
				}
			}); err != nil {
				return err
			}
		}
		p.Left = s.left
		if to.drops && (s.Mended == 0 || i == to.steps-2) { // the last step then brings the entries
			s.drop(target.Forwarding)
		}
		if s.Mended+s.Drops == 0 {
			break
		}
		s.followTarget(target.Forwarding, false)
		p.Steps = append(p.Steps, s.Step)
		if !anyLeft(s.left, to.need) {
			break
		}
	}
	return nil
}

// followTarget adds the steps that change the rows of LIDs out of scope to those of target.
func (p *Plan) followTarget(sh *shared, tables *routing.Tables, target *routing.Forwarding) {
	for i := range followSteps {
		s := sh.newStep(p.end(tables))
		whole := s.followTarget(target, i == followSteps-1)
		if s.Follow > 0 {
			p.Steps = append(p.Steps, s.Step)
		}
		if whole {
			break
		}
	}
}

// followTarget changes the rows of LIDs out of scope to those of target: entry by entry from
// the destination outwards, those that circle in no mixture with the entries before, or all.
// It says whether these are all that differ.
func (s *step) followTarget(target *routing.Forwarding, all bool) bool {
	m := newMender(s)
	var differ []fabric.NodeID
	whole := true
	for lid, owner := range s.f.LIDs() {
		ep := s.f.Endpoint(owner)
		if ep.Switch == fabric.None || s.o.Scope.Includes(ep.Class) {
			continue
		}
		row, to := s.Tables.Forwarding.Row(lid), target.Row(lid)
		differ = differ[:0]
		for at := range row {
			if row[at] != to[at] {
				differ = append(differ, fabric.NodeID(at))
			}
		}
		if len(differ) == 0 {
			continue
		}
		s.flow.begin(s.before.Forwarding.Row(lid), lid)
		m.measure()
		slices.SortFunc(differ, func(x, y fabric.NodeID) int { return cmp.Or(cmp.Compare(m.best[x], m.best[y]), cmp.Compare(x, y)) })
		for _, at := range differ {
			c := m.f.Trunk(at, to[at])
			if c != fabric.None && !all && s.flow.passes(s.f.Heads()[c], at) {
				whole = false
				continue
			}
			s.flow.next[at] = c
			row[at] = to[at]
			s.Follow++
		}
	}
	return whole
}

// anyLeft says whether any destination is left; if need is not empty, only those in
// need count.
func anyLeft(left, need []Left) bool {
	if len(need) == 0 {
		return len(left) > 0
	}
	return slices.ContainsFunc(need, func(n Left) bool { return anyOf(left, n.LID) })
}

// anyOf says whether a LID is among those that are left.
func anyOf(left []Left, lid fabric.LID) bool {
	return slices.ContainsFunc(left, func(l Left) bool { return l.LID == lid })
}

// drop removes the entries that differ for the destinations that are left. The graph of
// the next step is then a part of target's graph, because every other row is as in
// target or dropped too, and no row closes a cycle.
func (s *step) drop(target *routing.Forwarding) {
	for _, left := range s.left {
		row := s.Tables.Forwarding.Row(left.LID)
		for _, at := range left.Switches {
			if row[at] != target.Port(at, left.LID) && row[at] != routing.NoPort {
				row[at] = routing.NoPort
				s.Drops++
			}
		}
	}
}

// rowBringer changes rows towards those of other tables.
type rowBringer struct {
	*mender
	target *routing.Forwarding
	twins  *twins
	differ []fabric.NodeID
}

// destination changes the row of a LID as far as possible. A twin of an earlier one can change
// as far as that one, since the graph of a step only grows.
func (b *rowBringer) destination(lid fabric.LID, row []uint8) {
	target, home := b.target.Row(lid), b.f.Endpoint(b.f.Owner(lid)).Switch
	b.Mended += b.deliver(lid, row)
	b.differ = b.differ[:0]
	for s, port := range target {
		if row[s] != port && fabric.NodeID(s) != home {
			b.differ = append(b.differ, fabric.NodeID(s))
		}
	}
	if len(b.differ) == 0 {
		return
	}
	done := b.Tables.Forwarding.Row(b.twins.of(lid, b.before.Forwarding, b.target))
	if &done[0] == &row[0] {
		b.change(lid, row, target)
	}
	left := Left{LID: lid}
	for _, s := range b.differ {
		if row[s] = done[s]; row[s] == target[s] {
			b.Mended++
		} else {
			left.Switches = append(left.Switches, s)
		}
	}
	if left.Switches != nil {
		b.left = append(b.left, left)
	}
}

// change gives the switches of differ their entries of a target, as far as possible.
func (b *rowBringer) change(lid fabric.LID, row, target []uint8) {
	w := b.flow
	w.begin(b.before.Forwarding.Row(lid), lid)
	w.startAll() // these dependencies are in the graph already
	if !b.takeRow(target) {
		b.markWhole()
		b.measure()
		slices.SortFunc(b.differ, func(x, y fabric.NodeID) int {
			return cmp.Or(cmp.Compare(b.best[x], b.best[y]), cmp.Compare(x, y))
		})
		for _, s := range b.differ {
			// Skip switches whose own path is broken.
			if c := b.f.Trunk(s, target[s]); c != fabric.None && b.dist[b.f.Heads()[c]] != unknown && !b.circles(s, c) && b.takeSafely(s, c) {
				b.markReached(s, b.dist[b.f.Heads()[c]]+1)
			}
		}
	}
	for _, s := range b.differ {
		if w.next[s] != fabric.None || b.f.Trunk(s, target[s]) == fabric.None && !w.comes(s) {
			row[s] = target[s]
		}
	}
}

// takeRow takes all entries that differ, or none of them.
func (b *rowBringer) takeRow(target []uint8) bool {
	b.begin()
	for _, s := range b.differ {
		if b.flow.next[s] = b.f.Trunk(s, target[s]); b.flow.next[s] == fabric.None {
			b.rollBack(b.differ)
			return false
		}
	}
	for _, s := range b.differ {
		if !b.join(s, b.flow.next[s]) || b.circles(s, b.flow.next[s]) {
			b.rollBack(b.differ)
			return false
		}
	}
	return true
}

// circles says whether packets could circle with a new entry of a switch that no packet in
// scope passes. Those in scope cannot: they would close a cycle of dependencies.
func (b *rowBringer) circles(s fabric.NodeID, c fabric.ChannelID) bool {
	return !b.flow.comes(s) && b.flow.passes(b.f.Heads()[c], s)
}
