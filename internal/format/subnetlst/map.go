package subnetlst

import (
	"io"
	"maps"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Port identifies a port independently of LIDs, which change when the subnet manager
// restarts.
type Port struct {
	Node   fabric.GUID // node GUID
	Number uint8       // 0 for the management port of a switch
	GUID   fabric.GUID // port GUID as the list prints it
	Name   string      // of the node
}

// Map says which ports the LIDs and port GUIDs of one OpenSM belong to.
type Map struct {
	byLID  map[fabric.LID]Port
	byGUID map[fabric.GUID]Port
	bases  []fabric.LID // ascending
}

// ReadMap reads the list as a Map. Two ports with one LID or one port GUID are
// refused; ports without a LID (0 or 0xFFFF) are found by their GUID only.
func ReadMap(r io.Reader, file string) (*Map, error) {
	l, err := parse(r, file)
	if err != nil {
		return nil, err
	}
	if _, _, err := l.join(); err != nil {
		return nil, err
	}
	m := &Map{byLID: map[fabric.LID]Port{}, byGUID: map[fabric.GUID]Port{}}
	for i := range l.links {
		k := &l.links[i]
		for _, s := range [2]*side{&k.a, &k.b} {
			p := Port{Node: l.nodes[s.node].GUID, Number: l.lidPort(s), GUID: s.portGUID, Name: l.nodes[s.node].Name}
			if old, ok := m.byGUID[p.GUID]; ok && old != p {
				return nil, l.lines.ErrorAt(k.line, "port GUID %s belongs to port %d of node %s and to port %d of node %s", p.GUID, old.Number, old.Node, p.Number, p.Node)
			}
			m.byGUID[p.GUID] = p
			if s.lid == 0 || s.lid == 0xFFFF {
				continue
			}
			if old, ok := m.byLID[s.lid]; ok && old != p {
				return nil, l.lines.ErrorAt(k.line, "LID %d belongs to port %d of node %s and to port %d of node %s", s.lid, old.Number, old.Node, p.Number, p.Node)
			}
			m.byLID[s.lid] = p
		}
	}
	m.bases = slices.Sorted(maps.Keys(m.byLID))
	return m, nil
}

// ByPortGUID is the port with a port GUID.
func (m *Map) ByPortGUID(g fabric.GUID) (Port, bool) {
	p, ok := m.byGUID[g]
	return p, ok
}

// ByLID is the port with the largest base LID that is not above lid, and that base: the
// only port that may have lid. Whether it does depends on its LMC, which is not in the
// list.
func (m *Map) ByLID(lid fabric.LID) (p Port, base fabric.LID, ok bool) {
	i, exact := slices.BinarySearch(m.bases, lid)
	if !exact {
		if i == 0 {
			return Port{}, 0, false
		}
		i--
	}
	base = m.bases[i]
	return m.byLID[base], base, true
}
