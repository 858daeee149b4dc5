package slvl

import (
	"io"
	"math"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/blocks"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// ReadByLane reads an ibdiagnet2.vl2vl: the service levels, as bits ([switch]), on which a switch
// looks the next lane of a packet up by the lane it came in on, in place of its service level; 0 for
// a switch that never does. Their maps are still those of ibdiagnet2.slvl. Switches
// of Dragonfly+ networks work so. The command reads it beside the maps (internal/cli/internal/input): of
// a file with an error the verdict says, unless --strict, that this is not known. gone is the switches that
// the fabric lacks and whose blocks are left out.
//
//	dump_vl2vl: Switch 0x0000000000000010
//	sl: 1 2
//
// That a switch has such service levels is known from ibdiagnet's public headers (class IBNode,
// replaceSLsByInVL); the form of the file is a guess, and nobody has tried this on a real one.
// So the reader is strict: all but such blocks, comments and empty lines is an error with its line.
func ReadByLane(r io.Reader, file string, f *fabric.Fabric, gone ...fabric.GUID) ([]uint16, error) {
	p := &byLane{
		lines: reading.NewTableLines(r, file), f: f, at: fabric.None, gone: gone,
		levels: make([]uint16, f.Switches()), begins: make(blocks.Begins, f.Switches()),
	}
	if err := p.lines.Each(p.line); err != nil {
		return nil, err
	}
	if err := p.lines.Truncated(); err != nil { // the last line has no end
		return nil, err
	}
	if p.open {
		return nil, p.lines.Errorf("truncated: the file ends without the service levels of its last switch")
	}
	return p.levels, nil
}

// byLane reads an ibdiagnet2.vl2vl line by line.
type byLane struct {
	lines  *reading.Lines
	f      *fabric.Fabric
	at     fabric.NodeID // the switch whose block began last; None: none did, or it is left out
	open   bool          // the line with its service levels is still to come
	levels []uint16      // [switch] the result
	begins blocks.Begins // finds switches, and refuses a second block of one
	gone   []fabric.GUID // switches whose blocks are left out
}

// line reads a line: the first of a block, or its service levels.
func (p *byLane) line(c reading.Cursor) error {
	switch {
	case c.Empty(), c.Cut("#"):
		return nil
	case !p.open && c.Cut("dump_vl2vl: Switch"):
		return p.begin(c)
	case p.open && c.Cut("sl:"):
		return p.readLevels(c)
	}
	return p.lines.Errorf("this is no line of an ibdiagnet2.vl2vl as weft expects it; no real one was at hand to go by")
}

// begin reads the GUID of the switch whose block begins.
func (p *byLane) begin(c reading.Cursor) error {
	v, ok := c.Hex(math.MaxUint64)
	if !ok || !c.Empty() {
		return p.lines.Errorf("no GUID of a switch, or more than that")
	}
	s, err := p.begins.Begin(p.f, p.lines, fabric.GUID(v), "block", p.gone...)
	p.at, p.open = s, true
	return err
}

// readLevels reads the service levels of the switch at hand, the last line of its block; there may be none.
func (p *byLane) readLevels(c reading.Cursor) error {
	p.open = false
	for !c.Empty() {
		sl, ok := c.Uint(routing.SLs - 1)
		if !ok {
			return p.lines.Errorf("%q in place of a service level from 0 to %d", c, routing.SLs-1)
		}
		if p.at != fabric.None {
			p.levels[p.at] |= 1 << sl
		}
	}
	return nil
}
