package lft

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// join finds every destination of the dump in the fabric, when all lines are read, and copies its row there.
func (p *parser) join(j Join) (*Dump, error) {
	if j.Lenient && len(p.unknownSwitches) > 0 && !slices.ContainsFunc(p.begins, func(line int) bool { return line != 0 }) {
		return nil, p.lines.ErrorAt(p.unknownSwitches[0].Line, "the fabric has no switch with node GUID %s, nor any other that the file has a table of: these are the tables of another fabric", p.unknownSwitches[0].GUID)
	}
	m, err := p.resolve(j)
	if err != nil {
		return nil, err
	}
	renumbered := p.byHardware(m)
	if len(m.moved) > 0 && !j.Lenient {
		return nil, p.misplaced(&m.moved[0], j.List)
	}
	if j.Lenient {
		if err := p.plausible(m); err != nil {
			return nil, err
		}
	}
	d := &Dump{Forwarding: routing.NewForwarding(p.f), LIDs: m.lids, Rule: m.rule, Renumbered: renumbered, LeftOut: p.leftOut.lid(), Cut: p.cut, Groups: p.groups, Mismatches: p.mismatches(m, j.List)}
	if renumbered == 0 {
		d.Unowned = p.unowned()
	}
	reached := make([]bool, len(p.f.Endpoints()))
	for lid, ours := range m.lids {
		if ours == 0 {
			continue
		}
		copy(d.Forwarding.Row(ours), p.dests[lid].row)
		if e := p.f.Owner(ours); p.f.Endpoint(e).LID == ours {
			reached[e] = true
		}
	}
	for e, ok := range reached {
		if !ok {
			d.Unreached = append(d.Unreached, fabric.EndpointID(e))
		}
	}
	for s, line := range p.begins {
		if line == 0 {
			d.NoTable = append(d.NoTable, fabric.NodeID(s))
		}
	}
	return d, nil
}

// unowned is the rows of LIDs that nobody has in the fabric.
func (p *parser) unowned() (rows map[fabric.LID][]uint8) {
	for i := range p.dests {
		if lid := fabric.LID(i); p.dests[i].row != nil && p.f.Owner(lid) == fabric.None {
			if rows == nil {
				rows = map[fabric.LID][]uint8{}
			}
			rows[lid] = p.dests[i].row
		}
	}
	return rows
}

// matching is the result of applying a rule to the destinations of the dump.
type matching struct {
	rule  Rule
	lids  []fabric.LID // [LID of the dump] the LID of the fabric; 0: none
	gone  []Gone       // destinations that are not found, by LID
	moved []Moved      // see byHardware
	found int
}

// resolve chooses the rule, as in the package comment, and applies it.
func (p *parser) resolve(j Join) (*matching, error) {
	switch {
	case j.List != nil:
		return p.withoutChoice(j, p.assign(ByList, p.byList(j)))
	case p.guids == 0:
		return p.withoutChoice(j, p.assign(ByLID, p.byLID))
	}
	blocks := p.blocks()
	printed := p.assign(ByPortGUID, byGUID(p, blocks, portGUIDs(p.f))) // GUIDs as the fabric has them
	made := p.assign(ByNodeGUID, byGUID(p, blocks, madeGUIDs(p.f)))    // GUIDs as ibsim makes them
	alike := slices.Equal(printed.lids, made.lids)
	switch {
	case printed.gone == nil && made.gone == nil && !alike, j.Lenient && printed.found == made.found && !alike:
		return nil, p.lines.Errorf("the port GUIDs of the dump can be those of the fabric and can be node GUID + port number, with different outcomes; a subnet list of the same OpenSM is needed to tell")
	case printed.gone == nil, j.Lenient && printed.found >= made.found:
		return printed, nil
	case made.gone == nil, j.Lenient:
		return made, nil
	}
	return nil, p.neitherFits(printed.gone[0], made.gone[0])
}

// withoutChoice is the result of a rule beside which no other can be tried: an error if a destination is gone, unless lenient.
func (p *parser) withoutChoice(j Join, m *matching) (*matching, error) {
	if m.gone != nil && !j.Lenient {
		return nil, p.lines.ErrorAt(m.gone[0].Line, "%s", m.gone[0].Why)
	}
	return m, nil
}

// neitherFits is the error if both meanings of port GUIDs fail; it reports the one that
// got further.
func (p *parser) neitherFits(printed, made Gone) error {
	if printed.Line >= made.Line {
		return p.lines.ErrorAt(printed.Line, "%s (and if port GUIDs are node GUID + port number, %s does not fit: %s)", printed.Why, p.lines.Line(made.Line), made.Why)
	}
	return p.lines.ErrorAt(made.Line, "%s, if port GUIDs are node GUID + port number (and if they are the fabric's own, %s does not fit: %s)", made.Why, p.lines.Line(printed.Line), printed.Why)
}

// finder finds the endpoint that answers to a LID of the dump, and the offset of
// that LID from the endpoint's base LID.
type finder func(lid fabric.LID) (fabric.EndpointID, int, error)

// assign applies a rule to every destination; no two may get the same LID of the
// fabric.
func (p *parser) assign(rule Rule, find finder) *matching {
	m := &matching{rule: rule, lids: make([]fabric.LID, len(p.dests))}
	owner := make([]fabric.LID, int(p.f.TopLID())+1) // [LID of the fabric] LID of the dump
	for i := range p.dests {
		d, lid := &p.dests[i], fabric.LID(i)
		if d.row == nil {
			continue
		}
		noteGone := func(why string, args ...any) {
			m.gone = append(m.gone, Gone{LID: lid, GUID: d.guid, Name: d.name, Line: d.line, Why: fmt.Sprintf(why, args...)})
		}
		id, offset, err := find(lid)
		if err != nil {
			noteGone("LID %d: %v", lid, err)
			continue
		}
		e := p.f.Endpoint(id)
		if offset >= 1<<e.LMC {
			noteGone("LID %d is %d above the base LID of %s port %d, which has LMC %d in the fabric and so answers to %s",
				lid, offset, p.f.Label(e.Node), e.Port, e.LMC, reading.Count(1<<e.LMC, "LID", "LIDs"))
			m.gone[len(m.gone)-1].Beyond = true
			continue
		}
		ours := e.LID + fabric.LID(offset)
		if owner[ours] != 0 {
			noteGone("LID %d and LID %d of the dump are both %s port %d", owner[ours], lid, p.f.Label(e.Node), e.Port)
			continue
		}
		owner[ours], m.lids[lid] = lid, ours
		m.found++
	}
	return m
}

// byLID finds endpoints by the LIDs of the fabric.
func (p *parser) byLID(lid fabric.LID) (fabric.EndpointID, int, error) {
	id := p.f.Owner(lid)
	if id == fabric.None {
		return 0, 0, fmt.Errorf("nothing in the fabric answers to it")
	}
	return id, int(lid - p.f.Endpoint(id).LID), nil
}

// byList finds endpoints by the subnet list. If lenient, a port GUID takes precedence
// over a LID: the list may be a few minutes older or newer, and the port may have had
// another LID then.
func (p *parser) byList(j Join) finder {
	var blocks map[fabric.GUID]block
	if j.Lenient {
		blocks = p.blocks()
	}
	return func(lid fabric.LID) (fabric.EndpointID, int, error) {
		port, base, ok := j.List.ByLID(lid)
		guid := p.dests[lid].guid
		elsewhere := guid != 0 && guid != port.GUID // the dump and the list disagree whose LID it is
		if elsewhere && j.Lenient {
			if port, ok = j.List.ByPortGUID(guid); !ok {
				return 0, 0, fmt.Errorf("port GUID %s is not in the subnet list", guid)
			}
		}
		switch {
		case !ok:
			return 0, 0, fmt.Errorf("the subnet list has no port with this LID or a lower one")
		case elsewhere && !j.Lenient && lid == base:
			return 0, 0, fmt.Errorf("its port GUID is %s in the dump and %s in the subnet list: they are not of the same OpenSM run", guid, port.GUID)
		case elsewhere && !j.Lenient:
			return 0, 0, fmt.Errorf("port GUID %s is not in the subnet list with this LID", guid)
		}
		id, err := p.cabledPort(port)
		if err != nil {
			return 0, 0, err
		}
		if lmc := p.f.Endpoint(id).LMC; elsewhere || j.Lenient && guid != 0 && lid-base >= 1<<lmc {
			base = blocks[guid].base(lmc)
		}
		return id, int(lid - base), nil
	}
}

// cabledPort is the endpoint at a port of the subnet list.
func (p *parser) cabledPort(port subnetlst.Port) (fabric.EndpointID, error) {
	node := p.f.NodeByGUID(port.Node)
	if node == fabric.None {
		return 0, fmt.Errorf("the fabric has no node with GUID %s, to which the subnet list gives this LID", port.Node)
	}
	id := endpointAt(p.f, node, port.Number)
	if id == fabric.None {
		return 0, fmt.Errorf("port %d of %s, to which the subnet list gives this LID, has no cable in the fabric", port.Number, p.f.Label(node))
	}
	return id, nil
}

// endpointAt is the endpoint at a port, or None. Endpoints are in the order of
// node and port.
func endpointAt(f *fabric.Fabric, node fabric.NodeID, port uint8) fabric.EndpointID {
	i, ok := slices.BinarySearchFunc(f.Endpoints(), port, func(e fabric.Endpoint, port uint8) int {
		return cmp.Or(cmp.Compare(e.Node, node), cmp.Compare(e.Port, port))
	})
	if !ok {
		return fabric.None
	}
	return fabric.EndpointID(i)
}

// block is the range of LIDs of the dump with one port GUID.
type block struct{ first, last fabric.LID }

// base is the base LID of the block, for an endpoint with an LMC. The dump may lack a
// path to the first of several LIDs, but a base LID is a multiple of 2^LMC.
func (b block) base(lmc uint8) fabric.LID {
	if b.first == b.last {
		return b.first
	}
	return b.first &^ (1<<lmc - 1)
}

// blocks is the LIDs of every port GUID in the dump.
func (p *parser) blocks() map[fabric.GUID]block {
	blocks := make(map[fabric.GUID]block, p.guids)
	for lid := range p.dests {
		d := &p.dests[lid]
		if d.row == nil || d.guid == 0 {
			continue
		}
		b, seen := blocks[d.guid]
		if !seen {
			b.first = fabric.LID(lid)
		}
		b.last = fabric.LID(lid)
		blocks[d.guid] = b
	}
	return blocks
}

// ambiguous stands for several endpoints with one GUID.
const ambiguous fabric.EndpointID = -2

// portGUIDs is the endpoints by the port GUIDs of the fabric.
func portGUIDs(f *fabric.Fabric) map[fabric.GUID]fabric.EndpointID {
	return index(f, func(e *fabric.Endpoint) fabric.GUID { return e.PortGUID })
}

// madeGUIDs is the endpoints by node GUID + port number.
func madeGUIDs(f *fabric.Fabric) map[fabric.GUID]fabric.EndpointID {
	return index(f, func(e *fabric.Endpoint) fabric.GUID { return f.Node(e.Node).GUID + fabric.GUID(e.Port) })
}

// index is the endpoints by what guid says of each.
func index(f *fabric.Fabric, guid func(*fabric.Endpoint) fabric.GUID) map[fabric.GUID]fabric.EndpointID {
	m := make(map[fabric.GUID]fabric.EndpointID, len(f.Endpoints()))
	for i := range f.Endpoints() {
		g := guid(f.Endpoint(fabric.EndpointID(i)))
		if _, taken := m[g]; taken {
			m[g] = ambiguous
			continue
		}
		m[g] = fabric.EndpointID(i)
	}
	return m
}

// byGUID finds endpoints by the port GUIDs of the dump in an index.
func byGUID(p *parser, blocks map[fabric.GUID]block, endpoints map[fabric.GUID]fabric.EndpointID) finder {
	return func(lid fabric.LID) (fabric.EndpointID, int, error) {
		guid := p.dests[lid].guid
		if guid == 0 {
			return 0, 0, fmt.Errorf("the dump has no port GUID for it; a subnet list of the same OpenSM is needed")
		}
		id, ok := endpoints[guid]
		switch {
		case !ok:
			return 0, 0, fmt.Errorf("no connected port of the fabric has port GUID %s", guid)
		case id == ambiguous:
			return 0, 0, fmt.Errorf("several ports of the fabric have port GUID %s", guid)
		}
		return id, int(lid - blocks[guid].base(p.f.Endpoint(id).LMC)), nil
	}
}
