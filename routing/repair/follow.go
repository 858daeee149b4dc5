package repair

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// follow is the last step of Mend: entries that no packet in scope uses follow those that
// were mended before. It gives them to switches that no packet in scope passes by the tables
// in force (a spine that leaves avoid now would send what still comes by their old entries
// back up, if it had a new one in the same step), and for LIDs out of scope. They add no
// dependency, so they need no check against the graph, only paths that arrive. Entries that
// remain without a cable or another switch behind them are removed, so that they do nothing
// unexpected when a cable comes back.
func (s *step) follow(ctx context.Context) error {
	m := newMender(s)
	// In place of newMender's checks.
	s.flow.depend = func(in, out fabric.ChannelID) bool { return true }
	m.take = func(at fabric.NodeID, c fabric.ChannelID) bool {
		s.flow.next[at] = c
		return true
	}
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
		s.flow.begin(s.before.Forwarding.Row(lid), lid)
		if !m.findRoots() {
			s.Follow += m.clearDead(row)
			continue
		}
		m.wanted = func(fabric.NodeID) bool { return true }
		if s.o.Scope.Includes(ep.Class) {
			s.flow.startAll()
			m.wanted = func(at fabric.NodeID) bool { return !s.flow.comes(at) }
		}
		m.was.read(lid, m.had)
		for slack := range int32(s.o.Slack + 1) {
			m.reattachAll(slack)
		}
		m.reattachAll(int32(s.f.Switches())) // of any length: it delays nobody in scope
		s.Follow += m.write(row) + m.clearDead(row)
	}
	return nil
}

// clearDead removes the entries of a row that lead to no switch, and counts them.
func (m *mender) clearDead(row []uint8) int {
	n := 0
	for s, port := range row {
		at := fabric.NodeID(s)
		if at != m.flow.home && port != routing.NoPort && m.trunk(at, port) == fabric.None {
			row[at] = routing.NoPort
			n++
		}
	}
	return n
}
