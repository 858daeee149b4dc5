package repair

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// A LID that has moved to another switch has a row that leads to its old one: the host was plugged
// in elsewhere, or the LID was given to another. With new entries beside the old ones packets would
// circle, from the new switch by its old entry to the old one and back. So the old destination goes
// in one step, the new one comes in the next.

// hasMoved reports whether the entries in force for a LID are those for another switch: the switch where it is
// now sends its packets on, or it was elsewhere before.
func (a *attempt) hasMoved(lid fabric.LID) bool {
	e := a.f.Endpoint(a.f.Owner(lid))
	port := a.old(lid)[e.Switch]
	if port == a.f.LastPort(e) {
		return false
	}
	return a.f.Trunk(e.Switch, port) != fabric.None || a.problem.was.elsewhere(a.f, e.Switch, lid)
}

// elsewhere reports whether a LID, which is on switch now, was on another one before, which is still there.
func (h *history) elsewhere(f *fabric.Fabric, now fabric.NodeID, lid fabric.LID) bool {
	if h.tables == nil {
		return false
	}
	then := packetset.Home(h.tables.Fabric, lid)
	return then != fabric.None && then != h.counterpart[now] && f.NodeByGUID(h.tables.Fabric.Node(then).GUID) != fabric.None
}

// clearMoved has the switch of a LID deliver, and removes the entries of row that do not lead nearer to it:
// nothing that they forward arrives. Entries on shortest paths stay, so that no packet circles. Switches with
// sources that lose their path by that are noted in later.
func (a *attempt) clearMoved(lid fabric.LID, row []uint8) {
	p, heads := a.packets, a.f.Heads()
	a.step.Mended += a.deliver(lid, row)
	p.Begin(row, lid)
	a.measure()
	for s, port := range row {
		c := p.Entry[s]
		if fabric.NodeID(s) == p.Home || c != fabric.None && a.best[s] == a.best[heads[c]]+1 {
			continue
		}
		if p.Entry[s] = fabric.None; port != routing.NoPort {
			row[s] = routing.NoPort
			a.step.Drops++
		}
	}
	a.markWhole()
	if switches := a.missing(); switches != nil {
		a.later = append(a.later, Left{LID: lid, Switches: switches})
	}
}
