package far

import (
	"io"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/blocks"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// ReadPrivate reads which private forwarding table packets go by, from ibdiagnet2.plft, and
// sets it in g. For each switch and in-port it has the tables of all 16 service levels, as
// pairs:
//
//	dump_plft: Switch 0x0000000000000010
//	rq:1 sl-plft:(0,0)(1,1)(2,0) … (15,0)
//
// This form has never been seen: no such file is public, and the grammar here is put
// together from the headers of ibdiagnet2 (a table by port and service level). So the
// reader is strict: what it does not know is an error with its line, and so is a switch
// with private tables in g of which a port with a cable is missing here. gone is as in Read.
func ReadPrivate(r io.Reader, file string, f *fabric.Fabric, g *routing.Groups, gone ...fabric.GUID) error {
	p := &privateParser{lines: reading.NewTableLines(r, file), f: f, g: g, at: fabric.None, begins: make(blocks.Begins, f.Switches()), seen: make([][]bool, f.Switches()), gone: gone}
	if err := p.lines.Each(p.line); err != nil {
		return err
	}
	if err := p.lines.Truncated(); err != nil {
		return err
	}
	return p.complete()
}

// privateParser reads the file line by line into g.
type privateParser struct {
	lines  *reading.Lines
	f      *fabric.Fabric
	g      *routing.Groups
	at     fabric.NodeID // the switch whose block this is; None: no block yet, or it is left out
	begins blocks.Begins
	gone   []fabric.GUID // switches whose blocks are left out
	skip   bool          // the block is
	seen   [][]bool      // [switch][in-port]; nil: the switch has no block
}

func (p *privateParser) line(c reading.Cursor) error {
	switch {
	case c.Empty(), c.Cut("#"):
		return nil
	case c.Cut("dump_plft: Switch"):
		return p.begin(c)
	case p.skip && c.Cut("rq:"):
		return nil
	case p.at != fabric.None && c.Cut("rq:"):
		return p.port(c)
	}
	return p.lines.Errorf(`this line is neither "dump_plft: Switch GUID" nor, below such a line, "rq:PORT sl-plft:…"; weft knows the form of the file from the headers of ibdiagnet2, and has never seen a real one`)
}

func (p *privateParser) begin(c reading.Cursor) error {
	v, ok := c.Hex(1<<64 - 1)
	if !ok || !c.Empty() {
		return p.lines.Errorf("no GUID of a switch, or more than that")
	}
	var err error
	p.at, err = p.begins.Begin(p.f, p.lines, fabric.GUID(v), "block", p.gone...)
	if p.skip = p.at == fabric.None; !p.skip && err == nil {
		p.seen[p.at] = make([]bool, p.f.Node(p.at).Ports+1)
	}
	return err
}

// port reads the tables of an in-port.
func (p *privateParser) port(c reading.Cursor) error {
	port, ok := c.Uint(uint64(p.f.Node(p.at).Ports))
	if !ok || !c.Cut("sl-plft:") {
		return p.lines.Errorf("no port from 0 to %d, which is what %s has, with sl-plft: behind it", p.f.Node(p.at).Ports, p.f.Label(p.at))
	}
	if p.seen[p.at][port] {
		return p.lines.Errorf("port %d of %s a second time", port, p.f.Label(p.at))
	}
	p.seen[p.at][port] = true
	for sl := range uint64(routing.SLs) {
		at, ok := uint64(0), c.Cut("(")
		if ok {
			at, ok = c.Uint(routing.SLs - 1)
		}
		table, okTable := uint64(0), ok && c.Cut(",")
		if okTable {
			table, okTable = c.Uint(maxTables - 1)
		}
		switch {
		case !okTable || !c.Cut(")"):
			return p.lines.Errorf("no pair (%d,table) of a service level and a table; the line may be cut short", sl)
		case at != sl:
			return p.lines.Errorf("service level %d where %d should be", at, sl)
		case int(table) >= p.g.Tables():
			return p.lines.Errorf("table %d for service level %d, and ibdiagnet2.far has %d", table, sl, p.g.Tables())
		}
		p.g.SetTable(p.at, uint8(port), uint8(sl), uint8(table))
	}
	if !c.Empty() {
		return p.lines.Errorf("%q behind the last service level", c)
	}
	return nil
}

// complete refuses a file that lacks a port by which packets come to a switch with private
// tables.
func (p *privateParser) complete() error {
	for s := range fabric.NodeID(p.f.Switches()) {
		for port := 1; port <= p.f.Node(s).Ports && p.g.Tables() > 1; port++ {
			if p.f.Out(s, uint8(port)) != fabric.None && (p.seen[s] == nil || !p.seen[s][port]) {
				return p.lines.Errorf("the file ends without port %d of %s", port, p.f.Label(s))
			}
		}
	}
	return nil
}
