package lft

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// Mismatches is what a dump has and the fabric does not: one of the two is older.
type Mismatches struct {
	UnknownSwitches []UnknownSwitch // in the order of the file
	Gone            []Gone          // by LID
	Moved           []Moved         // by LID
	Dead            []DeadEntries
}

// Moved is a LID that belongs to another port in the dump than in the fabric. Its entries are for
// whoever has it in the fabric: switches forward by LIDs.
type Moved struct {
	LID     fabric.LID
	GUID    fabric.GUID       // port GUID that the dump or the subnet list has for it; 0: none
	Name    string            // of its node, as these have it; may be empty
	Line    int               // the first entry for it
	PortLID fabric.LID        // the LID that this port has in the fabric; 0: there is no such port
	Now     fabric.EndpointID // whose it is in the fabric, or None
}

// UnknownSwitch is a switch with a table that is not in the fabric.
type UnknownSwitch struct {
	GUID fabric.GUID
	Name string // as the dump has it; may be empty
	Line int    // where its table begins
}

// Gone is a destination of the dump that no endpoint of the fabric has.
type Gone struct {
	LID  fabric.LID  // of the dump
	GUID fabric.GUID // port GUID that the dump prints; 0: none
	Name string      // of its node, as the dump or the subnet list has it; may be empty
	Line int         // the first entry for it
	Why  string      // a sentence

	Beyond bool // its endpoint exists but has fewer LIDs (LMC) than the dump lists for it
}

// DeadPort is a port of a switch of the fabric that has no cable.
type DeadPort struct {
	Switch fabric.NodeID
	Port   uint8
}

// DeadEntries is the number of entries that lead to such a port.
type DeadEntries struct {
	DeadPort
	Entries int
}

// unknownSwitch records a switch that the fabric does not have; c is the rest of its header.
func (p *parser) unknownSwitch(guid fabric.GUID, c reading.Cursor) error {
	for i := range p.unknownSwitches {
		if s := &p.unknownSwitches[i]; s.GUID == guid {
			return p.lines.Errorf("a second table of %s; the first begins in %s", guid, p.lines.Line(s.Line))
		}
	}
	name := quoted(c)
	if name == "" {
		name = between(c, "(", "):")
	}
	p.unknownSwitches = append(p.unknownSwitches, UnknownSwitch{GUID: guid, Name: name, Line: p.lines.Number()})
	return nil
}

// quoted is the name that a dump gives to a node: 'name'.
func quoted(c reading.Cursor) string { return between(c, "'", "'") }

// between is the text between the first and the last of two marks.
func between(c reading.Cursor, open, end string) string {
	_, rest, ok := bytes.Cut(c, []byte(open))
	i := bytes.LastIndex(rest, []byte(end))
	if !ok || i < 0 {
		return ""
	}
	return string(rest[:i])
}

// deadEntry counts an entry of the switch at hand that leads to a port without a cable.
func (p *parser) deadEntry(port uint8) {
	if p.dead == nil {
		p.dead = map[DeadPort]int{}
	}
	p.dead[DeadPort{Switch: p.at, Port: port}]++
}

// mismatches collects what does not fit. The subnet list supplies names that the dump does
// not have.
func (p *parser) mismatches(m *matching, list *subnetlst.Map) Mismatches {
	all := Mismatches{UnknownSwitches: p.unknownSwitches, Gone: m.gone, Moved: m.moved}
	for i := range all.UnknownSwitches {
		p.inFile(&all.UnknownSwitches[i].Line)
	}
	for i := range all.Gone {
		g := &all.Gone[i]
		if g.Name == "" {
			_, g.Name = listed(list, g.LID, g.GUID)
		}
		p.inFile(&g.Line)
	}
	for i := range all.Moved {
		g := &all.Moved[i]
		if g.Name == "" {
			g.GUID, g.Name = listed(list, g.LID, g.GUID)
		}
		p.inFile(&g.Line)
	}
	for at, n := range p.dead {
		all.Dead = append(all.Dead, DeadEntries{at, n})
	}
	slices.SortFunc(all.Dead, func(a, b DeadEntries) int {
		return cmp.Or(cmp.Compare(a.Switch, b.Switch), cmp.Compare(a.Port, b.Port))
	})
	return all
}

// inFile makes of the number of a line of the text that of the line in its file.
func (p *parser) inFile(line *int) { _, *line = p.lines.Where(*line) }

// listed is the port GUID and the name that the subnet list has for a LID, unless the dump has another port GUID for it:
// guid, 0 if it has none. Then, or without a list, it is guid and no name.
func listed(list *subnetlst.Map, lid fabric.LID, guid fabric.GUID) (port fabric.GUID, name string) {
	if list == nil {
		return guid, ""
	}
	if entry, _, ok := list.ByLID(lid); ok && (guid == 0 || guid == entry.GUID) {
		return entry.GUID, entry.Name
	}
	return guid, ""
}

// plausible refuses tables of another fabric or for other LIDs. In tables that fit, the
// destination's own switch delivers to the right port for nearly all destinations.
func (p *parser) plausible(m *matching) error {
	if m.found == 0 && len(m.gone) > 0 {
		return p.lines.ErrorAt(m.gone[0].Line, "%s, nor does any other destination fit: these are the tables of another fabric", m.gone[0].Why)
	}
	right, wrong := 0, 0
	for lid, ours := range m.lids {
		if ours == 0 {
			continue
		}
		e := p.f.Endpoint(p.f.Owner(ours))
		if e.Switch == fabric.None || p.begins[e.Switch] == 0 {
			continue
		}
		switch p.dests[lid].row[e.Switch] {
		case p.f.LastPort(e):
			right++
		case routing.NoPort:
		default:
			wrong++
		}
	}
	if wrong > right {
		return p.lines.Errorf("%d of %d destinations, found by %s, are handed to other ports than theirs by their own switches: these tables are of another fabric or of other LIDs; a subnet list of the same OpenSM (--lst) tells which port has which LID",
			wrong, right+wrong, m.rule)
	}
	return nil
}
