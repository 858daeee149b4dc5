package ibdiagnet

import (
	"bytes"
	"fmt"
	"io"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
)

// netDump reads the cables of an ibdiagnet2.net_dump, a block for each switch and, in some
// versions, for each adapter:
//
//	"MF0;leaf-1:MQM8700/U1", Mellanox, 0x1070fd03001adeb4, LID 24328
//	  # : IB# : Sta  : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid : N# : NLID  : Neighbor Description
//	  1 : 1   : ACT  : LINK UP : 5   : 4x  : 50  : …        : NO-RTR : 0xc42a10300dbfb92 : 40 : 25697 : "MF0;spine-1:MQM8700/U1"
//	  2 : 2   : DOWN : DISABLED : N/A …
//
// Columns are found by their names; only the number of the port, the neighbor's GUID and
// its port are read.
func (p *parser) netDump(open func() (io.ReadCloser, string, error)) error {
	r, file, err := open()
	if err != nil || r == nil {
		return err
	}
	defer r.Close()
	d := &dump{lines: format.NewTableLines(r, file), p: p}
	p.linkLines = d.lines
	if err := d.lines.Each(d.line); err != nil {
		return err
	}
	if err := d.lines.Truncated(); err != nil {
		return err
	}
	if len(p.links) == 0 {
		return d.lines.Errorf("no cable in the whole file, and %s has no table LINKS", "ibdiagnet2.db_csv")
	}
	return nil
}

// dump is the state of reading a net_dump.
type dump struct {
	lines           *format.Lines
	p               *parser
	node            string // id of the node whose block this is
	port, guid, far int    // columns, from 0
	columns         int    // 0: the block has no header yet
}

func (d *dump) line(c format.Cursor) error {
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
func (d *dump) begin(c format.Cursor) error {
	if _, ok := c.QuotedWide(); !ok {
		return d.lines.Errorf("a quote is not closed; the line may be cut short")
	}
	d.columns = 0
	for _, word := range bytes.Split(c, []byte(",")) {
		word := format.Cursor(bytes.TrimSpace(word))
		if !bytes.HasPrefix(word, []byte("0x")) {
			continue
		}
		id := string(word)
		if v, ok := word.Hex(1<<64 - 1); ok && word.Empty() {
			id = fmt.Sprintf("0x%016x", v)
		}
		d.node = id
		_, err := d.p.findIn(d.lines, mention{id, d.lines.Number()})
		return err
	}
	return d.lines.Errorf("no GUID behind the name of a node")
}

// cells splits a row at its colons; descriptions, the last cell, may have some.
func (d *dump) cells(c format.Cursor) [][]byte {
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

func (d *dump) header(c format.Cursor) error {
	d.columns = 0
	d.port, d.guid, d.far = none, none, none
	all := d.cells(c)
	for i, name := range all {
		switch string(name) {
		case "IB#":
			d.port = i
		case "Neighbor Guid":
			d.guid = i
		case "N#":
			d.far = i
		}
	}
	if d.port == none || d.guid == none || d.far == none {
		return d.lines.Errorf("the header has no column IB#, Neighbor Guid and N#")
	}
	d.columns = len(all)
	return nil
}

// row reads a port, and the cable in it.
func (d *dump) row(c format.Cursor) error {
	cells := d.cells(c)
	if len(cells) <= max(d.port, d.guid, d.far) {
		if bytes.Contains(c, []byte("DOWN")) || bytes.Contains(c, []byte("N/A")) {
			return nil
		}
		return d.lines.Errorf("%d cells, and the header has %d columns; the line may be cut short", len(cells), d.columns)
	}
	neighbor := format.Cursor(cells[d.guid])
	if len(neighbor) == 0 || bytes.Equal(neighbor, []byte("N/A")) {
		return nil
	}
	k := link{ends: [2]string{d.node, string(neighbor)}, line: d.lines.Number()}
	if v, ok := neighbor.Hex(1<<64 - 1); ok && len(neighbor) == 0 {
		k.ends[1] = fmt.Sprintf("0x%016x", v)
	}
	for side, at := range [2]int{d.port, d.far} {
		cell := format.Cursor(cells[at])
		v, ok := cell.Uint(fabric.MaxPorts)
		if !ok || v == 0 || len(cell) > 0 {
			return d.lines.Errorf("%q is no number of a port", cells[at])
		}
		k.ports[side] = uint8(v)
	}
	d.p.links = append(d.p.links, k)
	return nil
}
