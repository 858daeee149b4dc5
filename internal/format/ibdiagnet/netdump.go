package ibdiagnet

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// netDump reads the cables of an ibdiagnet2.net_dump into p.links, when db_csv has been read and has no table LINKS. The file has a
// block for each switch and, in some versions, for each adapter:
//
//	"MF0;leaf-1:MQM8700/U1", Mellanox, 0x1070fd03001adeb4, LID 24328
//	  # : IB# : Sta  : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid : N# : NLID  : Neighbor Description
//	  1 : 1   : ACT  : LINK UP : 5   : 4x  : 50  : …        : NO-RTR : 0xc42a10300dbfb92 : 40 : 25697 : "MF0;spine-1:MQM8700/U1"
//	  2 : 2   : DOWN : DISABLED : N/A …
//
// Columns are found by their names. Of a port are read its number (IB#), its label (#), the
// GUID of the neighbor, which may be that of the neighbor's port, the LID of that, and N#. That
// is the neighbor's port by its label, which versions from 2.10 on print in forms like 1/1/1
// and B184D0F0/0/0/1; see farEnd. open gives a nil reader where there is no such file.
func (p *parser) netDump(open func() (io.ReadCloser, string, error)) error {
	r, file, err := open()
	if err != nil || r == nil {
		return err
	}
	defer r.Close()
	d := &dump{lines: reading.NewTableLines(r, file), p: p}
	p.linkLines = d.lines
	if err := d.lines.Each(d.line); err != nil {
		return err
	}
	if err := d.lines.Truncated(); err != nil {
		return err
	}
	if err := d.link(); err != nil {
		return err
	}
	if len(p.links) == 0 {
		return d.lines.Errorf("no cable in the whole file, and %s has no table LINKS", "ibdiagnet2.db_csv")
	}
	return nil
}

// dump is the state of reading a net_dump.
type dump struct {
	lines   *reading.Lines
	p       *parser
	node    string       // id of the node whose block this is
	at      [columns]int // the position of each column in the header, or none
	columns int          // in the header; 0: the block has none yet
	rows    []dumpRow    // of all nodes
}

// The columns that are read, in the order of columnNames.
const (
	colLabel = iota
	colPort
	colGUID
	colFar
	colLID
	columns
)

var columnNames = [columns]string{"#", "IB#", "Neighbor Guid", "N#", "NLID"}

// dumpRow is a port with a cable.
type dumpRow struct {
	node, label string
	port        uint8
	far         string // id of the neighbor
	farLabel    string
	lid         string // of the neighbor's port
	line        int
}

func (d *dump) line(c reading.Cursor) error {
	c.Space()
	switch {
	case len(c) == 0:
		return nil
	case c[0] == '"':
		return d.begin(c)
	case c[0] == '#' && bytes.Contains(c, []byte("IB#")):
		return d.header(c)
	case c[0] == '#' || c[0] == '-':
		return nil
	case d.node == "" || d.columns == 0:
		return d.lines.Errorf("a line before any node and its header, which is no line of an ibdiagnet2.net_dump")
	}
	return d.row(c)
}

// begin starts the block of a node: its name, vendor, GUID and LID.
func (d *dump) begin(c reading.Cursor) error {
	if _, ok := c.QuotedWide(); !ok {
		return d.lines.Errorf("a quote is not closed; the line may be cut short")
	}
	d.columns = 0
	for _, word := range bytes.Split(c, []byte(",")) {
		word := reading.Cursor(bytes.TrimSpace(word))
		if !bytes.HasPrefix(word, []byte("0x")) {
			continue
		}
		d.node = idOf(string(word))
		_, err := d.p.findIn(d.lines, mention{d.node, d.lines.Number()})
		return err
	}
	return d.lines.Errorf("no GUID behind the name of a node")
}

// cells splits a row at its colons; descriptions, the last cell, may have some.
func (d *dump) cells(c reading.Cursor) [][]byte {
	n := -1
	if d.columns > 0 {
		n = d.columns
	}
	all := bytes.SplitN(c, []byte(":"), n)
	for i := range all {
		all[i] = bytes.TrimSpace(all[i])
	}
	return all
}

// header finds the columns that are read.
func (d *dump) header(c reading.Cursor) error {
	d.columns = 0
	all := d.cells(c)
	for i, name := range columnNames {
		d.at[i] = slices.IndexFunc(all, func(cell []byte) bool { return string(cell) == name })
	}
	if d.at[colPort] == none || d.at[colGUID] == none || d.at[colFar] == none {
		return d.lines.Errorf("the header has no column IB#, Neighbor Guid and N#")
	}
	d.columns = len(all)
	return nil
}

// row reads a port; one without a neighbor is left out.
func (d *dump) row(c reading.Cursor) error {
	cells := d.cells(c)
	if len(cells) <= max(d.at[colPort], d.at[colGUID], d.at[colFar]) {
		if bytes.Contains(c, []byte("DOWN")) || bytes.Contains(c, []byte("N/A")) {
			return nil
		}
		return d.lines.Errorf("%s, and the header has %d columns; the line may be cut short", reading.Count(len(cells), "cell", "cells"), d.columns)
	}
	text := func(column int) string {
		if at := d.at[column]; at != none && at < len(cells) && !bytes.Equal(cells[at], []byte("N/A")) {
			return string(cells[at])
		}
		return ""
	}
	neighbor := text(colGUID)
	if neighbor == "" {
		return nil
	}
	r := dumpRow{node: d.node, label: text(colLabel), far: idOf(neighbor), farLabel: text(colFar), lid: text(colLID), line: d.lines.Number()}
	port := portNumber(text(colPort))
	if port == 0 {
		return d.lines.Errorf("%q is no number of a port", text(colPort))
	}
	r.port = port
	d.rows = append(d.rows, r)
	return nil
}

// idOf is alike for two spellings of a GUID; a word is its own.
func idOf(text string) string {
	c := reading.Cursor(text)
	if v, ok := c.Hex(1<<64 - 1); ok && len(c) == 0 {
		return fmt.Sprintf("0x%016x", v)
	}
	return text
}

// portNumber is a number of a port, or 0.
func portNumber(text string) uint8 {
	c := reading.Cursor(text)
	v, ok := c.Uint(fabric.MaxPorts)
	if !ok || len(c) > 0 {
		return 0
	}
	return uint8(v)
}

// link makes cables of the rows, in p.links.
func (d *dump) link() error {
	f := farPorts{d: d, byLabel: map[[2]string]uint8{}, back: map[[3]string]uint8{}, byGUID: map[string]*port{}, byLID: map[[2]string]uint8{}}
	f.index()
	for i := range d.rows {
		r := &d.rows[i]
		far, number, err := f.farEnd(r)
		if err != nil {
			return err
		}
		d.p.links = append(d.p.links, link{ends: [2]string{r.node, far}, ports: [2]uint8{r.port, number}, line: r.line})
	}
	return nil
}

// farPorts finds the ports at the other ends of cables.
type farPorts struct {
	d       *dump
	byLabel map[[2]string]uint8 // [node, label] the port; several: more than one
	back    map[[3]string]uint8 // [node, neighbor, neighbor's label] the port, as byLabel
	byGUID  map[string]*port    // by port GUIDs; that of a switch is one for all ports
	byLID   map[[2]string]uint8 // [node, LID] the port of an adapter
}

// several stands for more than one port.
const several uint8 = 255

// index fills in the maps of all rows, and of the rows of PORTS.
func (f *farPorts) index() {
	for i := range f.d.rows {
		r := &f.d.rows[i]
		if key := [2]string{r.node, r.label}; r.label != "" {
			f.byLabel[key] = onlyOne(f.byLabel[key], r.port)
		}
		key := [3]string{r.node, r.far, r.farLabel}
		f.back[key] = onlyOne(f.back[key], r.port)
	}
	for i := range f.d.p.ports {
		q := &f.d.p.ports[i]
		if q.number == 0 {
			continue
		}
		if q.GUID != 0 {
			f.byGUID[q.GUID.String()] = q
		}
		if q.LID != 0 {
			key := [2]string{q.id, strconv.Itoa(int(q.LID))}
			f.byLID[key] = onlyOne(f.byLID[key], q.number)
		}
	}
}

// onlyOne is a port, or several if another was seen before; 0: none was.
func onlyOne(seen, port uint8) uint8 {
	if seen != 0 && seen != port {
		return several
	}
	return port
}

// farEnd is the node and the port at the other end of a row's cable. The port is, whichever is found first: that of the neighbor's row
// with the label; of an adapter, the port with the LID that the row states, or its only one; the label itself, if it is a number; that
// of the neighbor's row which leads back to the label of this row.
func (f *farPorts) farEnd(r *dumpRow) (node string, port uint8, err error) {
	node = r.far
	q := f.byGUID[node] // the neighbor's port, where the row has its GUID and not the node's
	if _, isNode := f.d.p.byID[node]; !isNode && q != nil {
		node = q.id
	} else {
		q = nil
	}
	at, err := f.d.p.findIn(f.d.lines, mention{node, r.line})
	if err != nil {
		return "", 0, err
	}
	n := &f.d.p.nodes[at]
	lid := uint8(0)
	if n.Kind != fabric.Switch {
		if q != nil {
			return node, q.number, nil
		}
		if lid = f.byLID[[2]string{node, r.lid}]; lid == 0 && n.Ports == 1 {
			lid = 1
		}
	}
	for _, port := range [...]uint8{f.byLabel[[2]string{node, r.farLabel}], lid, portNumber(r.farLabel), f.back[[3]string{node, r.node, r.label}]} {
		if port != 0 && port != several {
			return node, port, nil
		}
	}
	return "", 0, f.d.lines.ErrorAt(r.line, "%q is no number of a port, and no port of %q has that label", r.farLabel, n.Name)
}
