package ibnet

import (
	"bytes"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// row is a line of a ports report, which is what ibnetdiscover -p prints: a port, its rate
// and, if it has a cable, the port at the other end:
//
//	SW     2 17 0x0002c903006e1430 4x FDR - CA    44  1 0x0002c9030045f121 ( 'leaf-1' - 'host HCA-1' )
//	SW     2 19 0x0002c903006e1430 4x SDR                                    'leaf-1'
//
// The columns are the kind of the node, the LID, the number of the port and a GUID: that of
// the node for a switch, that of the port for others.
type row struct {
	own, far rowEnd
	cabled   bool
	rate     fabric.Rate
	line     int
}

// rowEnd is a port as a row has it.
type rowEnd struct {
	kind fabric.Kind
	lid  fabric.LID
	port uint8
	guid fabric.GUID
	name string
}

// portsRow takes a row.
func (p *parser) portsRow(c reading.Cursor) error {
	r, rate, err := p.scanRow(c)
	if err != nil {
		return err
	}
	if bytes.IndexByte(rate, '?') < 0 { // which ibnetdiscover does not know
		r.rate = p.rate(rate)
	}
	p.rows = append(p.rows, r)
	return nil
}

// scanRow reads a row, with the text of its rate ("?" where the port has no cable), and changes nothing.
func (p *parser) scanRow(c reading.Cursor) (r row, rate []byte, err error) {
	r.line = p.number
	if r.own, err = p.rowEnd(&c); err != nil {
		return r, nil, err
	}
	width, speed := c.Word(), c.Word()
	if len(speed) == 0 {
		return r, nil, p.cutRow()
	}
	if r.cabled = c.Cut("-"); !r.cabled {
		name, ok := within(c, "'", "'")
		if !ok {
			err = p.cutRow()
		}
		r.own.name = string(name)
		return r, []byte("?"), err // of a port without a cable
	}
	if r.far, err = p.rowEnd(&c); err != nil {
		return r, nil, err
	}
	names, ok := within(c, "( '", "' )")
	own, far, both := bytes.Cut(names, []byte("' - '"))
	if !ok || !both {
		return r, nil, p.cutRow()
	}
	r.own.name, r.far.name = string(own), string(far)
	return r, append(bytes.Clone(width), speed...), nil
}

// cutRow is the error for a row that lacks its end.
func (p *parser) cutRow() error {
	return p.errorf("a row of a ports report without its end; the line may be cut short")
}

// within is what a line has between two marks, and nothing around them.
func within(c reading.Cursor, open, end string) ([]byte, bool) {
	if !c.Cut(open) {
		return nil, false
	}
	return bytes.CutSuffix(bytes.TrimRight(c, " \t\r"), []byte(end))
}

// rowEnd reads the kind, the LID, the port and the GUID.
func (p *parser) rowEnd(c *reading.Cursor) (rowEnd, error) {
	e := rowEnd{kind: fabric.Adapter}
	switch {
	case c.Cut("SW"):
		e.kind = fabric.Switch
	case c.Cut("RT"):
		e.kind = fabric.Router
	case !c.Cut("CA"):
		return e, p.errorf("a node in a ports report is SW, CA or RT, not %q", c.Word())
	}
	lid, ok := c.Uint(0xFFFF)
	if !ok {
		return e, p.errorf("no LID from 0 to 65535 behind the kind of a node")
	}
	port, ok := c.Uint(fabric.MaxPorts)
	if !ok || port == 0 {
		return e, p.errorf("no port number from 1 to %d behind a LID", fabric.MaxPorts)
	}
	text := c.Word()
	number := reading.Cursor(text)
	guid, ok := number.Hex(1<<64 - 1)
	if !ok || len(number) > 0 || guid == 0 {
		return e, p.errorf("%q is no GUID", text)
	}
	e.lid, e.port, e.guid = fabric.LID(lid), uint8(port), fabric.GUID(guid)
	return e, nil
}

// adapterKey is what the ports of one adapter have in common. Their GUIDs are consecutive.
type adapterKey struct {
	kind fabric.Kind
	name string
	base fabric.GUID // the GUID of the port less its number
}

// addRows makes nodes and port records of the rows.
func (p *parser) addRows() error {
	if len(p.rows) == 0 {
		return nil
	}
	m := rowNodes{first: map[fabric.GUID]rowEnd{}, adapters: map[adapterKey]fabric.GUID{}}
	for i := range p.rows {
		for _, e := range [2]rowEnd{p.rows[i].own, p.rows[i].far} {
			if err := m.note(p, e, p.rows[i].line); err != nil {
				return err
			}
		}
	}
	for i := range p.rows {
		if err := p.addRow(&p.rows[i], &m); err != nil {
			return err
		}
	}
	p.warn("a ports report has no LMCs, no devices, and no GUIDs of adapters but of their ports: LMC 0 counts, and an adapter goes by the smallest GUID of its ports")
	return nil
}

// rowNodes says which nodes the ports of rows are on.
type rowNodes struct {
	first    map[fabric.GUID]rowEnd     // [GUID] the first row with it
	adapters map[adapterKey]fabric.GUID // the smallest GUID of their ports
}

// note notes a port of a row; e is the zero rowEnd where the row has none. All rows are noted before nodeGUID is asked.
func (m *rowNodes) note(p *parser, e rowEnd, line int) error {
	if e.guid == 0 {
		return nil
	}
	first, seen := m.first[e.guid]
	switch {
	case seen && (first.kind != e.kind || e.kind != fabric.Switch && first.port != e.port):
		return p.lines.ErrorAt(line, "GUID %s is that of port %d of a %s here, and of port %d of a %s in another row", e.guid, e.port, e.kind, first.port, first.kind)
	case seen:
		return nil
	}
	m.first[e.guid] = e
	if smallest, seen := m.adapters[keyOf(e)]; !seen || e.guid < smallest {
		m.adapters[keyOf(e)] = e.guid
	}
	return nil
}

// nodeGUID is the GUID of the node that a port is on.
func (m *rowNodes) nodeGUID(e rowEnd) fabric.GUID {
	if e.kind == fabric.Switch {
		return e.guid
	}
	return m.adapters[keyOf(m.first[e.guid])] // the first row, so that one name counts
}

func keyOf(e rowEnd) adapterKey {
	return adapterKey{kind: e.kind, name: e.name, base: e.guid - fabric.GUID(e.port)}
}

// addRow adds a row as the port record that it would be.
func (p *parser) addRow(r *row, m *rowNodes) error {
	at := p.rowNode(r.own, r.line, m)
	n := &p.nodes[at]
	if n.line == 0 {
		n.line, n.Name = r.line, r.own.name
	}
	if n.lid == 0 {
		n.lid = r.own.lid
	}
	if n.taken[r.own.port/64]>>(r.own.port%64)&1 == 1 {
		return p.lines.ErrorAt(r.line, "port %d of %q has two rows", r.own.port, n.id)
	}
	n.taken[r.own.port/64] |= 1 << (r.own.port % 64)
	if !r.cabled {
		return nil
	}
	e := end{node: at, port: r.own.port, lid: r.own.lid, rate: r.rate, line: r.line, peerPort: r.far.port, peerLID: r.far.lid}
	e.peer = p.rowNode(r.far, r.line, m)
	if r.own.kind != fabric.Switch {
		e.guid = r.own.guid
	}
	if r.far.kind != fabric.Switch {
		e.peerPortGUID = r.far.guid
	}
	p.nodes[at].ends = append(p.nodes[at].ends, int32(len(p.ends)))
	p.ends = append(p.ends, e)
	return nil
}

// rowNode is the place of the node that a port is on, which it adds if it is new; the node has as many ports as rows name.
func (p *parser) rowNode(e rowEnd, line int, m *rowNodes) int32 {
	guid := m.nodeGUID(e)
	at := p.named(fmt.Appendf(nil, "%c-%016x", "SHR"[e.kind], uint64(guid)), []byte(e.name))
	n := &p.nodes[at]
	if n.GUID == 0 {
		n.GUID, n.Kind, n.seen = guid, e.kind, line
	}
	if e.kind == fabric.Switch {
		n.guid = guid
	}
	n.Ports = max(n.Ports, int(e.port))
	n.top = max(n.top, e.port)
	return at
}
