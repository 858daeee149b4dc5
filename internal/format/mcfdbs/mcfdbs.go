// Package mcfdbs reads and writes multicast forwarding tables as OpenSM (opensm.mcfdbs) and
// ibdiagnet2 (ibdiagnet2.mcfdbs) dump them, and reads what dump_fts -M, dump_mfts.sh and ibroute -M
// print (see marks):
//
//	Switch 0x0002c90100000000
//	LID    : Out Port(s)
//	0xC000 : 0x001  0x005
//	0xC001 : 0x005
//
// A switch without a group has no block. What does not fit the fabric is a
// *format.ParseError; ports without a cable are left out, since nothing leaves by them.
package mcfdbs

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/blocks"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// Read reads the trees of a fabric; file is the name for errors. sls is the service levels
// of the groups, as bits, which the file does not say. gone is the switches that the fabric
// lacks and whose blocks are left out, since the forwarding tables beside the file have them too.
func Read(r io.Reader, file string, f *fabric.Fabric, sls uint16, gone ...fabric.GUID) (*routing.Multicast, error) {
	p := &parser{lines: reading.NewTableLines(r, file), f: f, at: fabric.None, begins: make(blocks.Begins, f.Switches()), gone: gone, trees: map[fabric.LID]*routing.MulticastTree{}}
	if err := p.lines.Each(p.line); err != nil {
		return nil, err
	}
	if err := p.lines.Truncated(); err != nil {
		return nil, err
	}
	if err := p.ended(); err != nil {
		return nil, err
	}
	m := &routing.Multicast{SLs: sls}
	for _, t := range p.trees {
		slices.SortFunc(t.Nodes, func(a, b routing.TreeNode) int { return cmp.Compare(a.Switch, b.Switch) })
		m.Trees = append(m.Trees, *t)
	}
	slices.SortFunc(m.Trees, func(a, b routing.MulticastTree) int { return cmp.Compare(a.MLID, b.MLID) })
	return m, nil
}

// parser reads any of the forms line by line.
type parser struct {
	lines  *reading.Lines
	f      *fabric.Fabric
	at     fabric.NodeID // the switch whose block this is; None: no block yet, or it is left out
	begins blocks.Begins
	gone   []fabric.GUID // switches whose blocks are left out
	skip   bool          // the block is
	last   fabric.LID    // the MLID of the last entry of the block; 0: none
	trees  map[fabric.LID]*routing.MulticastTree

	form    form // of the block
	entries int  // of the block
}

// form is how the ports of a group are written.
type form uint8

const (
	listed form = iota // 0xC000 : 0x001  0x005; also that no block of dump_fts is open
	marked             // of dump_fts: a mark below the number of each port
	masks              // of dump_fts -n: 16 ports a number
)

func (p *parser) line(c reading.Cursor) error {
	switch {
	case c.Empty(), c.Cut("#"), c.CutFold("lid "), p.form != listed && p.besides(c):
		return nil
	case c.Cut("Multicast mlids ["):
		_, rest, _ := bytes.Cut(c, []byte(" guid "))
		if err := p.begin(rest); err != nil {
			return err
		}
		p.form = marked
		return nil
	case p.form != listed && bytes.Contains(c, []byte("lids dumped")):
		return p.trailer(c)
	case c.Cut("dump_mcast_routes: Switch"), c.Cut("osm_mcast_mgr_dump_mcast_routes: Switch"), c.Cut("Switch"):
		return p.begin(c)
	case p.skip:
		return nil
	case p.at == fabric.None:
		return p.lines.Errorf("a line before any switch, which is no line of multicast forwarding tables")
	}
	return p.entry(c)
}

// besides reports whether a line of dump_fts is one that says nothing of a group. The head of the table tells the form.
func (p *parser) besides(c reading.Cursor) bool {
	if c.Cut("MLid") {
		if c.Cut("Port Mask") {
			p.form = masks
		}
		return true
	}
	if c.Cut("Ports:") || c.Cut("Switch multicast mlid capability") || c.Cut("ibwarn: [") {
		return true
	}
	return len(bytes.Trim(c, " 0123456789")) == 0 // of the numbers of ports, what is before their last digit
}

// trailer ends a block of dump_fts, which says how many groups it has.
func (p *parser) trailer(c reading.Cursor) error {
	n, ok := c.Uint(1 << 16)
	if (!ok || int(n) != p.entries) && !p.skip {
		return p.lines.Errorf("the block of %s has %s, and says %s", p.f.Label(p.at), reading.Count(p.entries, "group", "groups"), reading.Printable(string(bytes.TrimSpace(p.lines.Text()))))
	}
	p.form = listed
	return nil
}

// ended refuses a block of dump_fts that is still open, where another begins or the file ends.
func (p *parser) ended() error {
	if p.form != listed {
		if p.skip {
			return p.lines.Errorf("truncated: the last block has no \"mlids dumped\" at its end")
		}
		return p.lines.Errorf("truncated: the block of %s, from line %d on, has no \"mlids dumped\" at its end", p.f.Label(p.at), p.begins[p.at])
	}
	return nil
}

// begin starts the block of a switch.
func (p *parser) begin(c reading.Cursor) error {
	if err := p.ended(); err != nil {
		return err
	}
	v, ok := c.Hex(1<<64 - 1)
	if !ok {
		return p.lines.Errorf("no GUID of a switch")
	}
	p.last, p.entries = 0, 0
	var err error
	p.at, err = p.begins.Begin(p.f, p.lines, fabric.GUID(v), "block", p.gone...)
	p.skip = p.at == fabric.None
	return err
}

// entry reads the ports of a group at the switch.
func (p *parser) entry(c reading.Cursor) error {
	v, ok := c.Hex(1<<16 - 1)
	lid := fabric.LID(v)
	if !ok || lid < routing.FirstMLID || lid == 0xFFFF {
		return p.lines.Errorf("no MLID from 0xC000 to 0xFFFE")
	}
	if lid <= p.last {
		return p.lines.Errorf("MLID %#x comes after MLID %#x", uint16(lid), uint16(p.last))
	}
	p.last = lid
	p.entries++
	n := routing.TreeNode{Switch: p.at}
	var err error
	switch p.form {
	case listed:
		err = p.list(c, &n.Ports)
	case marked:
		err = p.marks(c, &n.Ports)
	case masks:
		err = p.masks(c, &n.Ports)
	}
	if err != nil {
		return err
	}
	t := p.trees[lid]
	if t == nil {
		t = &routing.MulticastTree{MLID: lid}
		p.trees[lid] = t
	}
	t.Nodes = append(t.Nodes, n)
	return nil
}

// add adds a port that a group leaves by, if there is a cable or it is port 0.
func (p *parser) add(ports *routing.PortSet, port int) {
	if port == 0 || p.f.Out(p.at, uint8(port)) != fabric.None {
		ports.Add(uint8(port))
	}
}

// list reads the ports of the form listed.
func (p *parser) list(c reading.Cursor, ports *routing.PortSet) error {
	if !c.Cut(":") {
		return p.lines.Errorf("no colon behind MLID %#x; the line may be cut short", uint16(p.last))
	}
	for c.Space(); len(c) > 0; c.Space() {
		port, ok := c.Hex(uint64(p.f.Node(p.at).Ports))
		if !ok {
			return p.lines.Errorf("%q in place of a port from 0 to %d in hexadecimal, which is what %s has", c, p.f.Node(p.at).Ports, p.f.Label(p.at))
		}
		p.add(ports, int(port))
	}
	return nil
}

// before is the blanks between an MLID and the marks or masks.
const before = "      "

// marks reads what dump_fts prints below the numbers of the ports, two columns a port:
//
//	     Ports: 0 1 2 3
//	 MLid
//	0xc000        x x
func (p *parser) marks(c reading.Cursor, ports *routing.PortSet) error {
	row, ok := bytes.CutPrefix(c, []byte(before))
	row = bytes.TrimRight(row, " ")
	if !ok || len(row) > 2*(p.f.Node(p.at).Ports+1) {
		return p.lines.Errorf("the marks of MLID %#x are not below the numbers of the %s of %s", uint16(p.last), reading.Count(p.f.Node(p.at).Ports, "port", "ports"), p.f.Label(p.at))
	}
	for i, mark := range row {
		switch {
		case mark == 'x' && i%2 == 0:
			p.add(ports, i/2)
		case mark != ' ':
			return p.lines.Errorf("%q in place of marks below the numbers of ports", row)
		}
	}
	return nil
}

// masks reads what dump_fts -n prints: 16 ports a number of four digits, the lowest bit for the first.
func (p *parser) masks(c reading.Cursor, ports *routing.PortSet) error {
	row := bytes.TrimSpace(c)
	most := p.f.Node(p.at).Ports
	for first := 0; first <= most; first += 16 {
		mask := reading.Cursor(row[:min(4, len(row))])
		v, ok := mask.Hex(1<<16 - 1)
		if !ok || len(mask) > 0 || len(row) < 4 {
			return p.lines.Errorf("no mask of four digits for ports %d to %d of MLID %#x; the line may be cut short", first, first+15, uint16(p.last))
		}
		for row = row[4:]; v != 0; v &= v - 1 {
			port := first + bits.TrailingZeros64(v)
			if port > most {
				return p.lines.Errorf("a mask with port %d of %s, which has %d", port, p.f.Label(p.at), most)
			}
			p.add(ports, port)
		}
	}
	if len(row) > 0 {
		return p.lines.Errorf("%q behind the masks of %s", row, reading.Count(most, "port", "ports"))
	}
	return nil
}

// Write writes trees in the form of opensm.mcfdbs.
func Write(w io.Writer, f *fabric.Fabric, m *routing.Multicast) error {
	b := bufio.NewWriter(w)
	for s := range fabric.NodeID(f.Switches()) {
		head := false
		for i := range m.Trees {
			ports := m.Trees[i].At(s)
			if ports.Len() == 0 {
				continue
			}
			if !head {
				fmt.Fprintf(b, "\nSwitch %s\nLID    : Out Port(s)\n", f.Node(s).GUID)
				head = true
			}
			fmt.Fprintf(b, "0x%04X :", uint16(m.Trees[i].MLID))
			for port := range ports.All() {
				fmt.Fprintf(b, " 0x%03X ", port)
			}
			b.WriteByte('\n')
		}
	}
	return b.Flush()
}
