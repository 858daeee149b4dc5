// Package slvl reads and writes the maps from service level to virtual lane, by
// switch, in-port and out-port.
//
// Two forms. OpenSM dumps them as opensm-sl2vl.dump:
//
//	Switch 0x0002c90200000001, base LID 2, "t0"
//	#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
//	#--------------------------------------------------------
//	1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7
//
// with blocks for adapters too, which are skipped: the lane on the way into the
// first switch is no part of a routing.SL2VL. The other form is that of ibdmchk
// (option -d), which takes OpenSM's as well: switch GUID, in-port, out-port and
// eight bytes of two lanes each, the lower service level in the upper half;
// Read takes the bytes apart or as one word of sixteen digits:
//
//	0x0002c90200000001 1 2 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x67
//
// Both forms are large: an entry for every pair of ports of every switch.
package slvl

import (
	"io"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// lanes is a map from service level to lane.
type lanes = [routing.SLs]uint8

// Read reads the maps of a fabric; file is the name for errors. Switches are
// joined by node GUID, else by the GUID of port 0.
//
// Every switch with a cable must have an entry for each pair of different ports
// that have cables. Entries for in-port 0 and from a port back into itself may
// be missing; they get the map of the first entry of the file. Entries for
// ports without a cable are checked and dropped.
func Read(r io.Reader, file string, f *fabric.Fabric) (*routing.SL2VL, error) {
	m, _, err := read(r, file, f, false)
	return m, err
}

// ReadLenient is Read for a file that is older or newer than the fabric: the
// maps of switches that the fabric lacks are left out, and pairs of ports that
// the file lacks get the map of its first entry.
func ReadLenient(r io.Reader, file string, f *fabric.Fabric) (*routing.SL2VL, format.Mismatches, error) {
	return read(r, file, f, true)
}

func read(r io.Reader, file string, f *fabric.Fabric, lenient bool) (*routing.SL2VL, format.Mismatches, error) {
	p := &parser{
		lines: reading.NewTableLines(r, file), f: f, misfits: format.Mismatches{Lenient: lenient},
		seen: make([][]bool, f.Switches()), at: fabric.None, byGUID: map[fabric.GUID]fabric.NodeID{},
	}
	for s := range fabric.NodeID(f.Switches()) {
		p.byGUID[f.Endpoint(fabric.EndpointID(s)).PortGUID] = s
	}
	for s := range fabric.NodeID(f.Switches()) {
		p.byGUID[f.Node(s).GUID] = s
	}
	if err := p.lines.Each(p.line); err != nil {
		return nil, p.misfits, err
	}
	if err := p.complete(); err != nil {
		return nil, p.misfits, err
	}
	if p.table != nil {
		return p.table, p.misfits, nil
	}
	return routing.UniformSL2VL(p.first), p.misfits, nil
}

// parser reads either form line by line.
type parser struct {
	lines    *reading.Lines
	f        *fabric.Fabric
	misfits  format.Mismatches
	byGUID   map[fabric.GUID]fabric.NodeID // switches, by node GUID and by that of port 0
	at       fabric.NodeID                 // the switch of an opensm-sl2vl.dump whose block this is, or None
	skip     bool                          // the block is an adapter's, or of a switch that the fabric lacks
	hasEntry bool
	first    lanes          // the first entry
	table    *routing.SL2VL // nil as long as all entries are alike
	seen     [][]bool       // [switch][in × (ports+1) + out] pairs with an entry; nil: none yet
}

func (p *parser) line(c reading.Cursor) error {
	switch {
	case c.Empty(), c.Cut("#"):
		return nil
	case c.Cut("Switch 0x"):
		s, err := p.findSwitch(&c)
		p.at, p.skip = s, err != nil
		return err
	case c.Cut("Channel Adapter 0x"), c.Cut("Router 0x"):
		p.at, p.skip = fabric.None, true
		return nil
	case len(c) > 1 && c[0] == '0' && c[1] == 'x':
		s, err := p.findSwitch(&c)
		if err != nil {
			return err
		}
		return p.entry(s, c, p.bytes)
	case p.skip:
		return nil
	case p.at == fabric.None:
		return p.lines.Errorf("an entry before any switch, or no line of an SL2VL file")
	}
	return p.entry(p.at, c, p.columns)
}

// findSwitch cuts the GUID of a switch off a line. The error is reading.ErrSkip for one that the fabric lacks, if lenient.
func (p *parser) findSwitch(c *reading.Cursor) (fabric.NodeID, error) {
	v, ok := c.Hex(1<<64 - 1)
	if !ok {
		return fabric.None, p.lines.Errorf("no GUID of a switch")
	}
	s, ok := p.byGUID[fabric.GUID(v)]
	if !ok {
		return fabric.None, reading.Skip(&p.misfits, func() error { return p.lines.Errorf("the fabric has no switch %s", fabric.GUID(v)) })
	}
	return s, nil
}

// entry reads in-port and out-port of a switch, and behind them a map, which read does.
func (p *parser) entry(s fabric.NodeID, c reading.Cursor, read func(*reading.Cursor) (lanes, error)) error {
	n := p.f.Node(s)
	in, okIn := c.Uint(uint64(n.Ports))
	out, okOut := c.Uint(uint64(n.Ports))
	if !okIn || !okOut {
		return p.lines.Errorf("no in-port and out-port from 0 to %d, which is what %s has", n.Ports, p.f.Label(s))
	}
	vl, err := read(&c)
	if err != nil {
		return err
	}
	if !c.Empty() {
		return p.lines.Errorf("more than %d lanes", routing.SLs)
	}
	if !p.cabled(s, int(in)) || out == 0 || !p.cabled(s, int(out)) {
		return nil
	}
	if p.seen[s] == nil {
		p.seen[s] = make([]bool, (n.Ports+1)*(n.Ports+1))
	}
	seen := &p.seen[s][int(in)*(n.Ports+1)+int(out)]
	if *seen {
		return p.lines.Errorf("a second entry of %s for in-port %d and out-port %d", p.f.Label(s), in, out)
	}
	*seen = true
	if !p.hasEntry {
		p.hasEntry, p.first = true, vl
	}
	if p.table == nil && vl != p.first {
		p.table = routing.UniformSL2VL(p.first).PerPort(p.f)
	}
	if p.table != nil {
		p.table.SetMap(s, uint8(in), uint8(out), vl)
	}
	return nil
}

// cabled reports whether packets can enter or leave by a port; they can enter by port 0.
func (p *parser) cabled(s fabric.NodeID, port int) bool {
	return port == 0 || p.f.Out(s, uint8(port)) != fabric.None
}

// columns reads ": 0 1 2 …".
func (p *parser) columns(c *reading.Cursor) (vl lanes, err error) {
	if !c.Cut(":") {
		return vl, p.lines.Errorf("no colon behind in-port and out-port")
	}
	for sl := range vl {
		v, ok := c.Uint(15)
		if !ok {
			return vl, p.lines.Errorf("no lane from 0 to 15 for SL %d; the line may be cut short", sl)
		}
		vl[sl] = uint8(v)
	}
	return vl, nil
}

// bytes reads "0x01 0x23 …" or "0x0123…".
func (p *parser) bytes(c *reading.Cursor) (vl lanes, err error) {
	before := len(*c)
	v, ok := c.Hex(1<<64 - 1)
	if ok && before-len(*c) > len(" 0x")+2 {
		for sl := range vl {
			vl[sl] = uint8(v >> (60 - 4*sl) & 15)
		}
		return vl, nil
	}
	for sl := 0; ; sl += 2 {
		if !ok || v > 0xFF {
			return vl, p.lines.Errorf("no byte in hexadecimal for SL %d and %d; the line may be cut short", sl, sl+1)
		}
		vl[sl], vl[sl+1] = uint8(v>>4), uint8(v&15)
		if sl+2 == len(vl) {
			return vl, nil
		}
		v, ok = c.Hex(1<<64 - 1)
	}
}

// complete refuses a file that lacks an entry that packets may need; lenient, it counts them.
func (p *parser) complete() error {
	if !p.hasEntry && p.f.Trunks() > 0 {
		return p.lines.Errorf("no entry for any switch of the fabric")
	}
	for s := range fabric.NodeID(p.f.Switches()) {
		ports := p.f.Node(s).Ports
		for in := 1; in <= ports; in++ {
			for out := 1; out <= ports; out++ {
				if in == out || !p.cabled(s, in) || !p.cabled(s, out) {
					continue
				}
				if p.seen[s] == nil || !p.seen[s][in*(ports+1)+out] {
					err := reading.Miss(&p.misfits, func() error {
						return p.lines.Errorf("the file ends without an entry of %s for in-port %d and out-port %d", p.f.Label(s), in, out)
					})
					if err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}
