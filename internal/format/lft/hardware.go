package lft

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
)

// byHardware corrects what resolve found by port GUIDs or a subnet list, for join, which calls it once. If most ports have the same LID in
// the dump and in the fabric, entries are for whoever has their LID in the fabric, as switches forward: it changes m.lids so, and the
// exceptions go to m.moved. Ports whose LID is not stated by the fabric, but given to them for want of any (LIDGiven), stay as found.
// If most have other LIDs, the tables are of another subnet manager, and m stays as it is. renumbered counts the destinations that
// are under another LID in m.lids than in the dump.
func (p *parser) byHardware(m *matching) (renumbered int) {
	if m.rule == ByLID || m.found == 0 {
		return 0
	}
	same, other := 0, 0
	for lid, ours := range m.lids {
		switch {
		case ours == 0:
		case int(ours) != lid:
			renumbered++
			if !p.f.LIDGiven(p.f.Owner(ours)) {
				other++
			}
		case !p.f.LIDGiven(p.f.Owner(ours)):
			same++
		}
	}
	if other > same {
		return renumbered
	}
	found := m.lids
	m.lids, m.found = make([]fabric.LID, len(found)), 0
	for lid, ours := range found {
		if p.dests[lid].row == nil {
			continue
		}
		if m.lids[lid] = p.heldFor(m, fabric.LID(lid), ours); m.lids[lid] != 0 {
			m.found++
		}
	}
	if m.moved != nil {
		m.rule = ByLID
	}
	gone := m.gone
	m.gone = nil // and stays so, not empty, if none is left
	for _, g := range gone {
		if m.lids[g.LID] == 0 {
			m.gone = append(m.gone, g)
		}
	}
	renumbered = 0
	for lid, ours := range m.lids {
		if ours != 0 && int(ours) != lid {
			renumbered++
		}
	}
	return renumbered
}

// heldFor is the LID of the fabric that the entries for a LID of the dump are for as switches forward, or 0; ours is
// the one of the port that the dump has for it, 0 if that is not in the fabric. If it is another port's in the fabric, it adds to m.moved.
func (p *parser) heldFor(m *matching, lid, ours fabric.LID) fabric.LID {
	now := p.f.Owner(lid)
	stated := now != fabric.None && !p.f.LIDGiven(now)
	switch {
	case ours == lid, ours != 0 && !stated && p.f.LIDGiven(p.f.Owner(ours)), ours == 0 && !stated:
		return ours
	case stated && ours == 0 && (p.dests[lid].guid == 0 || p.isPort(now, p.dests[lid].guid)): // nobody says whose it was
		return lid
	}
	d := &p.dests[lid]
	moved := Moved{LID: lid, GUID: d.guid, Name: d.name, Line: d.line, PortLID: ours, Now: fabric.None}
	if stated {
		moved.Now = now
	}
	m.moved = append(m.moved, moved)
	if stated {
		return lid
	}
	return 0
}

// isPort reports whether a port GUID of the dump can be that of an endpoint.
func (p *parser) isPort(e fabric.EndpointID, guid fabric.GUID) bool {
	ep := p.f.Endpoint(e)
	return ep.PortGUID == guid || p.f.Node(ep.Node).GUID+fabric.GUID(ep.Port) == guid
}

// misplaced is the error for a LID that has moved.
func (p *parser) misplaced(g *Moved, list *subnetlst.Map) error {
	guid, _ := listed(list, g.LID, g.GUID)
	if g.Now == fabric.None {
		return p.lines.ErrorAt(g.Line, "LID %d is that of the port with GUID %s here, which has LID %d in the fabric", g.LID, guid, g.PortLID)
	}
	return p.lines.ErrorAt(g.Line, "LID %d is that of the port with GUID %s here, and that of %s in the fabric", g.LID, guid, p.f.EndpointLabel(g.Now))
}
