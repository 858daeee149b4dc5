package repair

import (
	"bytes"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/internal/walk"
	"github.com/weft-fabric/weft/routing"
)

// merge makes one step of several steps of p that follow each other, where every mixture of the tables
// before the first and after the last is safe. tables is what p begins with. Steps that were added after a
// search for tables in which others make way may change much that the steps before them could have
// changed at once.
//
// Steps that drop packets stay, since the next one needs that to be over; and steps that spread
// the load stay apart from what mends.
func (p *Plan) merge(ctx context.Context, in *problem, tables *routing.Tables) error {
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Rebuilt }) {
		return nil // what mends near did all that it could in each step
	}
	merged := &Plan{}
	for _, s := range p.Steps {
		if n := len(merged.Steps); n > 0 && merged.Steps[n-1].Drops+s.Drops == 0 && merged.Steps[n-1].Balanced == s.Balanced {
			last := merged.Steps[n-1]
			merged.Steps = merged.Steps[:n-1]
			one, err := in.asOneStep(ctx, merged.end(tables), s.Tables)
			if err != nil {
				return err
			}
			if one != nil {
				one.Rebuilt, one.Balanced = last.Rebuilt || s.Rebuilt, s.Balanced
				s = *one
			} else {
				merged.Steps = append(merged.Steps, last)
			}
		}
		merged.Steps = append(merged.Steps, s)
	}
	p.Steps = merged.Steps
	return nil
}

// asOneStep is a single step from some tables to others, or nil, without an error, if some mixture of the two
// has a cycle of dependencies, lets packets circle, or loses packets of a switch whose path was whole.
func (p *problem) asOneStep(ctx context.Context, before, after *routing.Tables) (*Step, error) {
	a := p.newAttempt(before)
	if err := a.derive(ctx); err != nil {
		return nil, err
	}
	a.step.Tables = after
	m := &merger{a: a, mixed: make([]uint8, a.f.Switches())}
	for lid := range a.f.TopLID() + 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !bytes.Equal(before.Forwarding.Row(lid), after.Forwarding.Row(lid)) && !m.addRow(lid) {
			return nil, nil
		}
	}
	return &a.step, nil
}

// merger checks, LID by LID, that one step can have all changes between two tables.
type merger struct {
	a     *attempt
	mixed []uint8   // [switch] the entry that packets meet beside the old one: the new one if it leads on
	walk  walk.Walk // by the old entries and mixed
}

// addRow adds to the graph what the new entries for a LID cause beside the old ones, and counts them in the
// step. It reports whether that is safe; if not, the step is given up.
func (m *merger) addRow(lid fabric.LID) bool {
	a, old, row := m.a, m.a.old(lid), m.a.row(lid)
	owner, home := a.f.Owner(lid), packetset.Home(a.f, lid)
	sent := owner != fabric.None && a.problem.o.Scope.Includes(a.f.Endpoint(owner).Class) || slices.Contains(a.problem.gone, lid) // as eachSent has it
	a.begin(lid)
	if sent {
		a.packets.Start(packetset.Any) // these dependencies are in the graph already
	}
	for s := range a.dist {
		a.dist[s] = unknown
	}
	if home != fabric.None {
		a.markWhole()
	}
	copy(m.mixed, old)
	for s, port := range row {
		if fabric.NodeID(s) != home && a.f.Trunk(fabric.NodeID(s), port) != fabric.None {
			m.mixed[s] = port
		}
	}
	end := home // where packets of the walk arrive
	if home != fabric.None && a.packets.Entry[home] != fabric.None {
		end = fabric.None // packets pass until the entry has changed
	}
	m.walk.Along(a.f, end, old, m.mixed)
	for s, fate := range m.walk.Fate {
		if fate == walk.Circle || fate == walk.Dropped && a.dist[s] != unknown {
			return false
		}
	}
	for s, port := range m.mixed {
		at := fabric.NodeID(s)
		if sent && port != old[s] && !a.packets.Add(at, a.f.Trunk(at, port), a.graph.Admit) {
			return false
		}
	}
	for s := range row {
		switch at := fabric.NodeID(s); {
		case row[s] == old[s] || home == fabric.None: // entries for hosts that are gone are not counted
		case sent && (at == home || a.packets.Visit(at)):
			a.step.Mended++
		default:
			a.step.Follow++
		}
	}
	return true
}
