package repair

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// follow gives entries to switches that no packet in scope passes, and for LIDs out of
// scope. They add no dependency, because no packet in scope uses them; so they need no
// check against the graph, only paths that arrive. Dead entries that remain are
// removed, so that they do nothing unexpected when a cable comes back.
func (s *step) follow(ctx context.Context) error {
	m := newMender(s)
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
		s.flow.begin(s.before.Forwarding, lid)
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
		m.reattachAll(int32(s.f.Switches())) // any length of path is allowed
		s.Follow += m.write(row) + m.clearDead(row)
	}
	return nil
}

// clearDead removes the dead entries of a row, and counts them.
func (m *mender) clearDead(row []uint8) int {
	n := 0
	for s, port := range row {
		s := fabric.NodeID(s)
		if s != m.flow.home && port != routing.NoPort && m.trunk(s, port) == fabric.None {
			row[s] = routing.NoPort
			n++
		}
	}
	return n
}
