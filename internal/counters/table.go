package counters

import (
	"bytes"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// The columns of PM_INFO that are read; the first two of them must be there.
const (
	nodeColumn = "nodeguid"
	portColumn = "portnumber"
	dataColumn = "portxmitdata"
	wideColumn = "portxmitdataextended"
)

// waitColumns is what versions of ibdiagnet call the wait, the widest first.
var waitColumns = []string{"portxmitwaitextended", "portxmitwaitext", "portxmitwait"}

// row reads a line of PM_INFO: its name, its header, a port, or its end.
func (p *parser) row(c reading.Cursor) error {
	switch text := bytes.TrimSpace(p.lines.Text()); {
	case !p.table:
		p.table, p.columns, p.errors = true, nil, nil
		return nil
	case len(text) == 0:
		return nil
	case string(text) == "END_PM_INFO":
		p.table = false
		return nil
	case bytes.HasPrefix(text, []byte("START_")), bytes.HasPrefix(text, []byte("END_")):
		return p.lines.Errorf("truncated: the table PM_INFO has no END_PM_INFO before %s", text)
	}
	cells := bytes.Split(c, []byte(","))
	if p.columns == nil {
		p.columns, p.cells = map[string]int{}, len(cells)
		for i, name := range cells {
			p.columns[strings.ToLower(string(bytes.TrimSpace(name)))] = i
			if counter, lane, ok := errorNamed(name); ok {
				p.errors = append(p.errors, errorColumn{at: i, counter: counter, lane: lane})
			}
		}
		for _, name := range [...]string{nodeColumn, portColumn} {
			if _, ok := p.columns[name]; !ok {
				return p.lines.Errorf("the table PM_INFO has no column %s", map[string]string{nodeColumn: "NodeGUID", portColumn: "PortNumber"}[name])
			}
		}
		return nil
	}
	if len(cells) != p.cells {
		return p.lines.Errorf("%s, but the header of PM_INFO has %d columns; the line may be cut short", reading.Count(len(cells), "cell", "cells"), p.cells)
	}
	return p.port(cells)
}

// port reads a line of PM_INFO: the counters of a port.
func (p *parser) port(cells [][]byte) error {
	guid, port, ok := portIn(cells[p.columns[nodeColumn]], cells[p.columns[portColumn]])
	if !ok {
		return p.lines.Errorf("no GUID and number of a port")
	}
	if p.byGUID(guid, port); p.at == fabric.None {
		return nil
	}
	if v, ok := p.cell(cells, dataColumn); ok {
		p.data(p.at, v*4, false)
	}
	if v, ok := p.cell(cells, wideColumn); ok {
		p.data(p.at, v*4, true)
	}
	for _, name := range waitColumns {
		if v, ok := p.cell(cells, name); ok {
			p.c.Wait[p.at] = v
			break
		}
	}
	for _, e := range p.errors {
		if v, ok := numberOf(cells[e.at]); ok {
			p.countError(e.counter, e.lane, v)
		}
	}
	return nil
}

// portIn is the port that two cells of a table name, by the GUID of its node and its number.
func portIn(node, number []byte) (fabric.GUID, uint8, bool) {
	guid, rest := reading.Cursor(bytes.TrimSpace(node)), reading.Cursor(bytes.TrimSpace(number))
	v, okGUID := guid.Hex(1<<64 - 1)
	port, okPort := rest.Uint(fabric.MaxPorts)
	return fabric.GUID(v), uint8(port), okGUID && okPort && len(guid)+len(rest) == 0
}

// cell is a number in a column of PM_INFO; false where it is not there or not known (numberOf).
func (p *parser) cell(cells [][]byte, column string) (float64, bool) {
	at, ok := p.columns[column]
	if !ok {
		return 0, false
	}
	return numberOf(cells[at])
}

// errorColumn is a column of PM_INFO that counts errors.
type errorColumn struct {
	at      int // position
	counter Counter
	lane    int // as of errorNamed
}

// mostKnown is the largest number that counts as one: versions of ibdiagnet write the -1 and -2 of what is not known as
// 0xffffffffffffffff and 0xfffffffffffffffe.
const mostKnown = 1<<63 - 1

// numberOf is the number in a cell, decimal or hexadecimal with 0x; false where it is not known (N/A, -1).
func numberOf(text []byte) (float64, bool) {
	cell := reading.Cursor(bytes.TrimSpace(text))
	read := cell.Uint
	if bytes.HasPrefix(cell, []byte("0x")) {
		read = cell.Hex
	}
	v, ok := read(1<<64 - 1)
	return float64(v), ok && len(cell) == 0 && v <= mostKnown
}
