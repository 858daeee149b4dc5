package repair

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// A LID that has moved to another switch has a row that leads to its old one: the host was plugged
// in elsewhere, or the LID was given to another. With new entries beside the old ones packets would
// circle, from the new switch by its old entry to the old one and back. So the old destination goes
// in one step, the new one comes in the next.

// hasMoved says whether the entries in force for a LID are those for another switch: where it is
// now, packets are sent on, or it was elsewhere before.
func (m *mender) hasMoved(lid fabric.LID) bool {
	e := m.f.Endpoint(m.f.Owner(lid))
	port := m.before.Forwarding.Port(e.Switch, lid)
	if port == m.f.LastPort(e) {
		return false
	}
	return m.f.Trunk(e.Switch, port) != fabric.None || m.was.elsewhere(m.f, e.Switch, lid)
}

// elsewhere says whether a LID was on another switch than it is now, which is still there.
func (h *history) elsewhere(f *fabric.Fabric, now fabric.NodeID, lid fabric.LID) bool {
	if h.tables == nil {
		return false
	}
	then := homeOf(h.tables.Fabric, lid)
	return then != fabric.None && then != h.same[now] && f.NodeByGUID(h.tables.Fabric.Node(then).GUID) != fabric.None
}

// clearMoved has the switch of a LID deliver, and removes the entries that do not lead nearer to it:
// nothing that they forward arrives. Entries on shortest paths stay, so that no packet circles.
func (m *mender) clearMoved(lid fabric.LID, row []uint8) {
	w, heads := m.flow, m.f.Heads()
	m.Mended += m.deliver(lid, row)
	w.begin(row, lid)
	m.measure()
	for s, port := range row {
		c := w.cur[s]
		if fabric.NodeID(s) == w.home || c != fabric.None && m.best[s] == m.best[heads[c]]+1 {
			continue
		}
		if w.cur[s] = fabric.None; port != routing.NoPort {
			row[s] = routing.NoPort
			m.Drops++
		}
	}
	m.markWhole()
	if switches := m.missing(lid); switches != nil {
		m.later = append(m.later, Left{LID: lid, Switches: switches})
	}
}
