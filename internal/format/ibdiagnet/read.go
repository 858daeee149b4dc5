// Package ibdiagnet reads the network of an output folder of ibdiagnet2, from its
// ibdiagnet2.db_csv. That file is a sequence of tables:
//
//	START_NODES
//	NodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID,…
//	"leaf-1",65,2,1,1,0x00000000009a4280,0x00000000009a4280,0x00000000009a4280,…
//	END_NODES
//
// Four of them are read by Read, by the names of their columns, whose number and order depend on
// the version of ibdiagnet:
//
//	NODES     kind, GUIDs, number of ports, description
//	PORTS     LID, LMC and port GUID, the width and speed that is active, and the data lanes
//	          that the port runs
//	LINKS     the cables; the rate is that of the ports, the slower one if they differ;
//	          where it is absent, the cables are those of ibdiagnet2.net_dump
//	SWITCHES  nothing is taken from it, but what it names must be a switch
//
// The other tables are skipped, and a warning of the fabric lists their names; so are
// lines outside of tables, such as the pointer to an index of the tables that newer
// versions write. NODES and LINKS must be there. Without PORTS, nothing is known of LIDs
// and rates. N/A and empty cells are not known, which is an error where there is no
// network without them: identities, port numbers, the kind of a node.
//
// A GUID that somebody made anonymous (0xhost1) still identifies its node: the fabric
// then has a GUID of its own making for it. Forwarding tables, which name switches by
// GUID, cannot be read on such a fabric.
//
// Tables that contradict each other are a *format.ParseError that names both lines.
//
// ReadAdaptive reads a fifth, AR_INFO: which switches may choose among ports, and on which
// service levels.
//
// The other files. ibdiagnet2.fdbs, .slvl with .vl2vl, .far with .plft, and .mcfdbs are in
// the forms of packages lft, slvl, far and mcfdbs, and read by those.
package ibdiagnet

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// Read reads a fabric; file is the name for errors, which are *format.ParseError unless r
// itself fails. Where the folder has an ibdiagnet2.net_dump too, open opens it, and says what it
// is called: it is read where the table LINKS is absent.
func Read(r io.Reader, file string, open func() (io.ReadCloser, string, error)) (*fabric.Fabric, error) {
	p := newParser(r, file, tables)
	if err := p.read(); err != nil {
		return nil, err
	}
	if p.began["LINKS"] == 0 && open != nil {
		if err := p.netDump(open); err != nil {
			return nil, err
		}
	}
	return p.build()
}

// newParser is a parser that takes the rows of some tables.
func newParser(r io.Reader, file string, tables map[string]*table) *parser {
	p := &parser{lines: reading.NewTableLines(r, file), tables: tables, began: map[string]int{}, byID: map[string]int32{}}
	p.linkLines = p.lines
	return p
}

// read reads the file, and gives the rows of p.tables to their functions.
func (p *parser) read() error {
	if err := p.lines.Each(p.line); err != nil {
		return err
	}
	if p.section != "" {
		return p.lines.Errorf("truncated: the table %s, from line %d on, has no END_%[1]s", p.section, p.began[p.section])
	}
	return nil
}

// parser reads db_csv line by line, and has the rows of its tables; build then joins them.
type parser struct {
	lines   *reading.Lines
	tables  map[string]*table // by name, those that are read
	section string            // the table that this is in, or ""
	began   map[string]int    // [table] the line of its START_
	table   *table            // of the section; nil: it is skipped
	header  bool              // the header of the table was read
	columns int               // in that header
	at      []int             // [wanted column] its position in the header, or none
	cells   [][]byte          // of the current row
	skipped []string          // names of tables

	nodes     []node
	byID      map[string]int32 // place in nodes
	ports     []port
	links     []link
	linkLines *reading.Lines // of the file that has the links
	switches  []mention
}

// none is the place of what is not there.
const none = -1

// table is how one is read.
type table struct {
	wanted []string // columns, which row asks for by their place here
	need   int      // so many of them, from the first on, must be there
	row    func(*parser) error
}

// tables is those of Read. The functions of their rows are in rows.go.
var tables = map[string]*table{
	"NODES":    {wanted: []string{"NodeGUID", "NodeType", "NumPorts", "NodeDesc", "SystemImageGUID", "PortGUID", "VendorID", "DeviceID"}, need: 3, row: (*parser).node},
	"PORTS":    {wanted: []string{"NodeGuid", "PortNum", "PortGuid", "LID", "LMC", "LinkWidthActv", "LinkSpeedActv", "OpVLs", "VLCap"}, need: 2, row: (*parser).port},
	"LINKS":    {wanted: []string{"NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2"}, need: 4, row: (*parser).link},
	"SWITCHES": {wanted: []string{"NodeGUID"}, need: 1, row: (*parser).switchRow},
}

// line takes a line: the begin or end of a table, its header or a row.
func (p *parser) line(c reading.Cursor) error {
	c = bytes.TrimSpace(c)
	start, isStart := bytes.CutPrefix(c, []byte("START_"))
	end, isEnd := bytes.CutPrefix(c, []byte("END_"))
	switch {
	case isStart:
		return p.start(string(start))
	case isEnd && p.section == "":
		return p.lines.Errorf("END_%s, but no table has begun", end)
	case isEnd && string(end) != p.section:
		return p.lines.Errorf("END_%s in the table %s, which begins in line %d", end, p.section, p.began[p.section])
	case isEnd && p.table != nil && !p.header:
		return p.lines.Errorf("the table %s has no header", p.section)
	case isEnd:
		p.section, p.table = "", nil
		return nil
	case len(c) == 0 || p.table == nil:
		return nil
	}
	if err := p.split(c); err != nil {
		return err
	}
	if !p.header {
		return p.readHeader()
	}
	if len(p.cells) != p.columns {
		return p.lines.Errorf("%s, but the header of %s has %d columns; the line may be cut short", reading.Count(len(p.cells), "cell", "cells"), p.section, p.columns)
	}
	return p.table.row(p)
}

// start begins a table.
func (p *parser) start(name string) error {
	if p.section != "" {
		return p.lines.Errorf("truncated: the table %s, from line %d on, has no END_%[1]s before the table %[3]s", p.section, p.began[p.section], name)
	}
	if name == "" {
		return p.lines.Errorf("START_ without the name of a table")
	}
	if line := p.began[name]; line != 0 && p.tables[name] != nil {
		return p.lines.Errorf("a second table %s; the first begins in line %d", name, line)
	}
	if p.began[name] == 0 && p.tables[name] == nil && name != adaptiveTable {
		p.skipped = append(p.skipped, name)
	}
	p.began[name] = p.lines.Number()
	p.section, p.table, p.header = name, p.tables[name], false
	return nil
}

// readHeader finds the wanted columns; the case of letters differs between versions.
func (p *parser) readHeader() error {
	p.header, p.columns, p.at = true, len(p.cells), p.at[:0]
	for i, want := range p.table.wanted {
		at := slices.IndexFunc(p.cells, func(cell []byte) bool { return strings.EqualFold(string(cell), want) })
		if at == none && i < p.table.need {
			return p.lines.Errorf("the table %s has no column %s", p.section, want)
		}
		p.at = append(p.at, at)
	}
	return nil
}

// split cuts a line at its commas into p.cells. A cell in quotes ends with a quote before a comma or
// at the end of the line, so that descriptions may contain both.
func (p *parser) split(c []byte) error {
	p.cells = p.cells[:0]
	for {
		c = bytes.TrimLeft(c, " ")
		if len(c) == 0 || c[0] != '"' {
			cell, rest, more := bytes.Cut(c, []byte(","))
			p.cells = append(p.cells, bytes.TrimSpace(cell))
			if !more {
				return nil
			}
			c = rest
			continue
		}
		c = c[1:]
		if i := bytes.Index(c, []byte(`",`)); i >= 0 {
			p.cells, c = append(p.cells, c[:i]), c[i+2:]
			continue
		}
		cell, closed := bytes.CutSuffix(c, []byte(`"`))
		if !closed {
			return p.lines.Errorf("a quote is not closed")
		}
		p.cells = append(p.cells, cell)
		return nil
	}
}

// cell is a wanted column of the current row; nil: there is none, or N/A.
func (p *parser) cell(i int) []byte {
	if p.at[i] == none {
		return nil
	}
	cell := p.cells[p.at[i]]
	if len(cell) == 0 || string(cell) == "N/A" {
		return nil
	}
	return cell
}

// number is a wanted column as a number up to top; known tells 0 from N/A.
func (p *parser) number(i int, top uint64) (v uint64, known bool, err error) {
	cell := reading.Cursor(p.cell(i))
	if cell == nil {
		return 0, false, nil
	}
	read := cell.Uint
	if bytes.HasPrefix(cell, []byte("0x")) { // not ibdiagnet's, but of subnet managers
		read = cell.Hex
	}
	v, ok := read(top)
	if !ok || len(cell) > 0 {
		return 0, false, p.lines.Errorf("%s is %q, which is no number from 0 to %d", p.table.wanted[i], p.cell(i), top)
	}
	return v, true, nil
}

// needed is number for a column that must be known.
func (p *parser) needed(i int, top uint64) (uint64, error) {
	v, known, err := p.number(i, top)
	if err == nil && !known {
		err = p.lines.Errorf("%s is not known", p.table.wanted[i])
	}
	return v, err
}

// identity is a wanted column that says which node a row is about: a GUID, or 0 if it is a word. id stands for either, and is alike
// for two spellings of a GUID.
func (p *parser) identity(i int) (id string, guid fabric.GUID, err error) {
	cell := reading.Cursor(p.cell(i))
	if cell == nil {
		return "", 0, p.lines.Errorf("%s is not known", p.table.wanted[i])
	}
	id = string(cell)
	if v, ok := cell.Hex(1<<64 - 1); ok && len(cell) == 0 {
		if v == 0 {
			return "", 0, p.lines.Errorf("%s is zero", p.table.wanted[i])
		}
		return fmt.Sprintf("0x%016x", v), fabric.GUID(v), nil
	}
	return id, 0, nil
}

// optionalGUID is a wanted column as a GUID, or 0 if it is not known or a word.
func (p *parser) optionalGUID(i int) fabric.GUID {
	cell := reading.Cursor(p.cell(i))
	v, ok := cell.Hex(1<<64 - 1)
	if !ok || len(cell) > 0 {
		return 0
	}
	return fabric.GUID(v)
}
