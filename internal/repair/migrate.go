package repair

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// Migrate plans the way from tables in force to other tables for the same fabric, for
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
func Migrate(ctx context.Context, tables, target *routing.Tables, o Options) (*Plan, error) {
	if err := tables.Check(); err != nil {
		return nil, err
	}
	if err := byLevels(tables); err != nil {
		return nil, err
	}
	if o.Steps == 0 {
		o.Steps = migrateSteps
	}
	plan, in := &Plan{}, newProblem(tables, nil, o)
	if err := plan.migrate(ctx, in, tables, target, upTo{steps: o.Steps}); err != nil {
		return nil, err
	}
	if len(plan.Left) > 0 {
		if err := plan.detour(ctx, in, tables, target, o.Steps); err != nil {
			return nil, err
		}
	}
	if o.AllowDrops && len(plan.Left) > 0 {
		if err := plan.migrate(ctx, in, tables, target, upTo{steps: o.Steps, drops: true}); err != nil {
			return nil, err
		}
	}
	plan.migrateOutside(in, tables, target.Forwarding)
	if len(plan.Left) > 0 {
		plan.clearDead(in, tables)
	}
	return plan, plan.keepWhole(ctx, tables, o.Scope)
}

// clearDead adds a step that removes the dead entries in the rows of p.Left, as the last step of Mend does.
func (p *Plan) clearDead(in *problem, tables *routing.Tables) {
	a := in.newAttempt(p.end(tables))
	for _, left := range p.Left {
		a.begin(left.LID)
		a.step.Follow += a.clearDead(a.row(left.LID))
	}
	if a.step.Follow > 0 {
		p.Steps = append(p.Steps, a.step)
	}
}

// upTo is how far migrate goes.
type upTo struct {
	steps int    // at most
	need  []Left // it ends as soon as these destinations are done; empty: when all are
	drops bool   // a step may drop packets, if nothing else helps
}

// migrate adds steps to p towards target, straight and as far as upTo says, and sets p.Left to the destinations
// that do not have target's rows after them. tables is what p begins with. Rows for hosts that are gone
// become those of target in the first step; until it is confirmed their packets follow the old ones.
func (p *Plan) migrate(ctx context.Context, in *problem, tables, target *routing.Tables, to upTo) error {
	for i := range to.steps {
		a := in.newAttempt(p.end(tables))
		if err := a.derive(ctx); err != nil {
			return err
		}
		for _, lid := range in.gone {
			copy(a.row(lid), target.Forwarding.Row(lid))
		}
		m := &migration{a: a, target: target.Forwarding, twins: newTwins(in)}
		// First the others, as they may make way for those in need.
		for _, needed := range []bool{false, true} {
			if err := in.eachInScope(ctx, func(lid fabric.LID) {
				if anyOf(to.need, lid) == needed {
					m.destination(lid)
				}
			}); err != nil {
				return err
			}
		}
		p.Left = a.left
		if to.drops && (a.step.Mended == 0 || i == to.steps-2) { // the last step then writes the entries
			a.drop(target.Forwarding)
		}
		if a.step.Mended+a.step.Drops == 0 {
			break
		}
		a.migrateOutside(target.Forwarding, false)
		p.Steps = append(p.Steps, a.step)
		if !anyLeft(a.left, to.need) {
			break
		}
	}
	return nil
}

// migrateOutside adds to p the steps that change the rows of LIDs out of scope to those of target.
func (p *Plan) migrateOutside(in *problem, tables *routing.Tables, target *routing.Forwarding) {
	for i := range outsideSteps {
		a := in.newAttempt(p.end(tables))
		all := i == outsideSteps-1
		done := a.migrateOutside(target, all)
		if a.step.Follow > 0 {
			p.Steps = append(p.Steps, a.step)
		}
		if done {
			break
		}
	}
}

// migrateOutside changes entries for LIDs out of scope to those of target, from the destination outwards: all
// that differ, or only those with which packets circle in no mixture with the entries before.
// It reports whether none that differs remains.
func (a *attempt) migrateOutside(target *routing.Forwarding, all bool) (done bool) {
	var differ []fabric.NodeID
	done = true
	for lid, owner := range a.f.LIDs() {
		ep := a.f.Endpoint(owner)
		if ep.Switch == fabric.None || a.problem.o.Scope.Includes(ep.Class) {
			continue
		}
		row, to := a.row(lid), target.Row(lid)
		differ = differ[:0]
		for at := range row {
			if row[at] != to[at] {
				differ = append(differ, fabric.NodeID(at))
			}
		}
		if len(differ) == 0 {
			continue
		}
		a.begin(lid)
		a.measure()
		a.sortByHops(differ)
		for _, at := range differ {
			if c := a.f.Trunk(at, to[at]); c != fabric.None {
				if !all && a.packets.Pass(a.f.Heads()[c], at) {
					done = false
					continue
				}
				a.packets.Allow(at, c)
			}
			row[at] = to[at]
			a.step.Follow++
		}
	}
	return done
}

// anyLeft reports whether any destination is left; if need is not empty, only those in
// need count.
func anyLeft(left, need []Left) bool {
	if len(need) == 0 {
		return len(left) > 0
	}
	return slices.ContainsFunc(need, func(n Left) bool { return anyOf(left, n.LID) })
}

// anyOf reports whether a LID is among those that are left.
func anyOf(left []Left, lid fabric.LID) bool {
	return slices.ContainsFunc(left, func(l Left) bool { return l.LID == lid })
}

// drop removes the entries that differ from target for the destinations that are left, and counts them in the
// step. The graph of the next step is then a part of target's graph, which has no cycle: every entry is
// target's or none.
func (a *attempt) drop(target *routing.Forwarding) {
	for _, left := range a.left {
		row := a.row(left.LID)
		for _, at := range left.Switches {
			if row[at] != target.Port(at, left.LID) && row[at] != routing.NoPort {
				row[at] = routing.NoPort
				a.step.Drops++
			}
		}
	}
}

// migration is one step of migrate: it changes rows towards those of other tables.
type migration struct {
	a      *attempt
	target *routing.Forwarding
	twins  *twins          // by the rows before the step and by those of target
	differ []fabric.NodeID // switches, except home, whose entries for the LID at hand differ from target
}

// destination changes the row of a LID as far as possible, counts the entries in the step, and adds to left what
// still differs. A twin of an earlier one can change as far as that one, since the graph of a step only grows.
func (m *migration) destination(lid fabric.LID) {
	a := m.a
	row, target, home := a.row(lid), m.target.Row(lid), a.f.Endpoint(a.f.Owner(lid)).Switch
	a.step.Mended += a.deliver(lid, row)
	m.differ = m.differ[:0]
	for s, port := range target {
		if row[s] != port && fabric.NodeID(s) != home {
			m.differ = append(m.differ, fabric.NodeID(s))
		}
	}
	if len(m.differ) == 0 {
		return
	}
	first := m.twins.of(lid, a.before.Forwarding, m.target)
	if first == lid {
		m.change(lid, row, target)
	}
	done := a.row(first)
	left := Left{LID: lid}
	for _, s := range m.differ {
		if row[s] = done[s]; row[s] == target[s] {
			a.step.Mended++
		} else {
			left.Switches = append(left.Switches, s)
		}
	}
	if left.Switches != nil {
		a.left = append(a.left, left)
	}
}

// change gives the switches of differ their entries of target in row, as far as the graph allows.
func (m *migration) change(lid fabric.LID, row, target []uint8) {
	a := m.a
	a.begin(lid)
	a.packets.Start(packetset.Any) // these dependencies are in the graph already
	if !m.takeAll(target) {
		a.markWhole()
		a.measure()
		a.sortByHops(m.differ)
		for _, s := range m.differ {
			// Skip switches whose own path is broken.
			if c := a.f.Trunk(s, target[s]); c != fabric.None && a.dist[a.f.Heads()[c]] != unknown && !m.circles(s, c) && a.take(s, c) {
				a.markReached(s, a.dist[a.f.Heads()[c]]+1)
			}
		}
	}
	for _, s := range m.differ {
		if len(a.packets.More[s]) > 0 || a.f.Trunk(s, target[s]) == fabric.None && !a.packets.Visit(s) {
			row[s] = target[s]
		}
	}
}

// takeAll takes all entries that differ and reports true, or none of them.
func (m *migration) takeAll(target []uint8) bool {
	a := m.a
	for _, s := range m.differ {
		if a.f.Trunk(s, target[s]) == fabric.None {
			return false
		}
	}
	at := a.checkpoint()
	for _, s := range m.differ {
		if c := a.f.Trunk(s, target[s]); !a.packets.Add(s, c, a.graph.Admit) || m.circles(s, c) {
			a.rollback(at)
			return false
		}
	}
	return true
}

// circles reports whether packets could circle with a new entry of a switch that no packet in
// scope passes. Those in scope cannot: they would close a cycle of dependencies.
func (m *migration) circles(s fabric.NodeID, c fabric.ChannelID) bool {
	return !m.a.packets.Visit(s) && m.a.packets.Pass(m.a.f.Heads()[c], s)
}
