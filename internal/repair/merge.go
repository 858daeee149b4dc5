package repair

import (
	"bytes"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// merge makes one step of several that follow each other, where every mixture of the tables
// before the first and after the last is safe. The search for tables for which others make way
// begins with what the steps before left, and its steps towards them do not know that most of
// what they change could have been part of these.
//
// Steps that drop packets stay, since the next one needs that to be over; and steps that spread
// the load stay apart from what mends.
func (p *Plan) merge(ctx context.Context, sh *shared, tables *routing.Tables) error {
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Rebuilt }) {
		return nil // what mends near did all that it could in each step
	}
	merged := &Plan{}
	for _, s := range p.Steps {
		if n := len(merged.Steps); n > 0 && merged.Steps[n-1].Drops+s.Drops == 0 && merged.Steps[n-1].Balanced == s.Balanced {
			last := merged.Steps[n-1]
			merged.Steps = merged.Steps[:n-1]
			one, err := sh.inOne(ctx, merged.end(tables), s.Tables)
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

// inOne is the step from some tables to others, or nil if some mixture of the two has a cycle of
// dependencies, lets packets circle, or loses packets of a switch whose path was whole.
func (sh *shared) inOne(ctx context.Context, before, after *routing.Tables) (*Step, error) {
	s := sh.newStep(before)
	if err := s.derive(ctx); err != nil {
		return nil, err
	}
	s.Tables = after
	m := &merger{mender: newMender(s), state: make([]mixed, s.f.Switches())}
	for lid := range s.f.TopLID() + 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !bytes.Equal(before.Forwarding.Row(lid), after.Forwarding.Row(lid)) && !m.takes(lid) {
			return nil, nil
		}
	}
	return &s.Step, nil
}

// merger gives switches the entries of later tables.
type merger struct {
	*mender
	state []mixed // [switch]
}

// mixed is what is known of the packets at a switch, in any mixture of the entries in force and
// the new ones.
type mixed uint8

const (
	unseen mixed = iota
	onTheWay
	arrive
	mayDrop
	circle
)

// takes gives all switches their entries for a LID, if that is safe.
func (m *merger) takes(lid fabric.LID) bool {
	w, old, row := m.flow, m.before.Forwarding.Row(lid), m.Tables.Forwarding.Row(lid)
	owner := m.f.Owner(lid)
	sent := owner != fabric.None && m.o.Scope.Includes(m.f.Endpoint(owner).Class) || slices.Contains(m.gone, lid) // as eachSent has it
	w.begin(old, lid)
	if sent {
		w.startAll() // these dependencies are in the graph already
	}
	for s := range m.dist {
		m.dist[s] = unknown
	}
	if w.home != fabric.None {
		m.markWhole()
	}
	for s := range row {
		if fabric.NodeID(s) != w.home && row[s] != old[s] {
			w.next[s] = w.f.Trunk(fabric.NodeID(s), row[s])
		}
	}
	clear(m.state)
	for s := range m.state {
		if at := m.follow(fabric.NodeID(s)); at == circle || at == mayDrop && m.dist[s] != unknown {
			return false
		}
	}
	m.begin()
	for s, c := range w.next {
		if sent && c != fabric.None && !m.join(fabric.NodeID(s), c) {
			return false
		}
	}
	for s := range row {
		switch at := fabric.NodeID(s); {
		case row[s] == old[s] || w.home == fabric.None: // entries for hosts that are gone are not counted
		case sent && (at == w.home || w.comes(at)):
			m.Mended++
		default:
			m.Follow++
		}
	}
	return true
}

// follow finds what becomes of packets at a switch.
func (m *merger) follow(s fabric.NodeID) mixed {
	w := m.flow
	switch {
	case m.state[s] == onTheWay:
		return circle
	case m.state[s] != unseen:
		return m.state[s]
	case s == w.home && !w.passesHome():
		return arrive
	}
	m.state[s] = onTheWay
	found := arrive
	if w.cur[s] == fabric.None { // at home packets pass until the entry has changed
		found = mayDrop
	}
	for _, c := range [...]fabric.ChannelID{w.cur[s], w.next[s]} {
		if c != fabric.None {
			found = max(found, m.follow(m.f.Heads()[c]))
		}
	}
	m.state[s] = found
	return found
}
