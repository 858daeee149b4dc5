package repair

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Entries that no packet in scope uses follow those that were mended: of switches that no
// packet in scope passes by the tables in force nor by the new ones, and for LIDs out of
// scope. They add no dependency, so they need no check against the graph, only paths that
// arrive and do not circle while the step is written. Most are part of the step that mends the
// others. A spine that leaves avoid has to wait: with a new entry in the same step it would
// send what still comes by their old entries back up.

// follow is the last step of Mend, or the last two: what could not follow before. Where
// packets would circle, the old entries, which lead into nothing, are removed, and the last
// step has the new ones. Entries that remain without a cable or another switch behind them are
// removed, so that they do nothing unexpected when a cable comes back.
func (s *step) follow(ctx context.Context, last bool) error {
	m := newMender(s)
	s.flow.depend = func(in, out fabric.ChannelID) bool { return true } // in place of newMender's
	for lid, owner := range s.f.LIDs() {
		ep := s.f.Endpoint(owner)
		if ep.Switch == fabric.None {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		row := s.Tables.Forwarding.Row(lid)
		s.Follow += m.deliver(lid, row)
		before := s.before.Forwarding.Row(lid)
		if !s.dead.has(before, lid, ep.Switch) {
			continue
		}
		s.flow.begin(before, lid)
		if !m.findRoots() {
			s.Follow += m.clearDead(row)
			continue
		}
		unused := m.anywhere
		if s.o.Scope.Includes(ep.Class) {
			s.flow.startAll()
			unused = m.unused
		}
		m.attachUnused(row, unused, false)
		if last || !m.makeRoom(row, unused) {
			s.Follow += m.clearDead(row)
		}
	}
	return nil
}

// followOutside mends the entries for LIDs out of scope as far as one step can.
func (m *mender) followOutside(ctx context.Context) error {
	for lid, owner := range m.f.LIDs() {
		ep := m.f.Endpoint(owner)
		if ep.Switch == fabric.None || m.o.Scope.Includes(ep.Class) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		row := m.Tables.Forwarding.Row(lid)
		m.Follow += m.deliver(lid, row)
		if m.isBroken(lid) {
			m.attachUnused(row, m.anywhere, ep.Class == fabric.SwitchPort) // adapters out of scope have traffic, too
		}
	}
	return nil
}

// unused says whether no packet in scope passes a switch on its way to the LID at hand, in any
// mixture of the entries in force and the new ones; anywhere is for LIDs out of scope.
func (m *mender) unused(s fabric.NodeID) bool { return !m.flow.comes(s) }

func (m *mender) anywhere(fabric.NodeID) bool { return true }

// attachUnused gives switches that are unused new entries that do not circle. If patient,
// a switch to which all neighbours forward has one of them change, and goes by that one in the
// next step: all others can keep their entries.
func (m *mender) attachUnused(row []uint8, unused func(s fabric.NodeID) bool, patient bool) {
	wanted, take := m.wanted, m.take
	m.wanted, m.patient = unused, patient
	m.take = func(at fabric.NodeID, c fabric.ChannelID) bool {
		if m.flow.passes(m.f.Heads()[c], at) {
			return false
		}
		m.flow.next[at] = c
		return true
	}
	for slack := range int32(m.o.Slack + 1) {
		m.reattachAll(slack)
	}
	m.reattachAll(int32(m.f.Switches())) // of any length: it delays nobody in scope
	m.Follow += m.write(row)
	m.wanted, m.take, m.patient = wanted, take, false
}

// makeRoom removes the entries of unused switches whose paths are still broken, and counts
// them. It says whether there is any such switch.
func (m *mender) makeRoom(row []uint8, unused func(s fabric.NodeID) bool) bool {
	any := false
	for s, c := range m.flow.cur {
		at := fabric.NodeID(s)
		if m.dist[s] != unknown || m.best[s] == unknown || !unused(at) {
			continue
		}
		any = true
		if c != fabric.None {
			row[s] = routing.NoPort
			m.Follow++
		}
	}
	return any
}

// clearDead removes the entries of a row that lead to no switch, and counts them.
func (m *mender) clearDead(row []uint8) int {
	n := 0
	for s, port := range row {
		at := fabric.NodeID(s)
		if at != m.flow.home && port != routing.NoPort && m.f.Trunk(at, port) == fabric.None {
			row[at] = routing.NoPort
			n++
		}
	}
	return n
}
