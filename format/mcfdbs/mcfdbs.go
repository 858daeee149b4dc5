// Package mcfdbs reads and writes multicast forwarding tables as OpenSM (opensm.mcfdbs) and
// ibdiagnet2 (ibdiagnet2.mcfdbs) dump them:
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
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/internal/blocks"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// Read reads the trees of a fabric; file is the name for errors. sls is the service levels
// of the groups, as bits, which the file does not say.
func Read(r io.Reader, file string, f *fabric.Fabric, sls uint16) (*routing.Multicast, error) {
	p := &parser{lines: reading.NewTableLines(r, file), f: f, at: fabric.None, begins: make(blocks.Begins, f.Switches()), trees: map[fabric.LID]*routing.MulticastTree{}}
	if err := p.lines.Each(p.line); err != nil {
		return nil, err
	}
	if err := p.lines.Truncated(); err != nil {
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

type parser struct {
	lines  *reading.Lines
	f      *fabric.Fabric
	at     fabric.NodeID
	begins blocks.Begins
	last   fabric.LID
	trees  map[fabric.LID]*routing.MulticastTree
}

func (p *parser) line(c reading.Cursor) error {
	switch {
	case c.Empty(), c.Cut("#"), c.CutFold("lid "):
		return nil
	case c.Cut("dump_mcast_routes: Switch"), c.Cut("osm_mcast_mgr_dump_mcast_routes: Switch"), c.Cut("Switch"):
		return p.begin(c)
	case p.at == fabric.None:
		return p.lines.Errorf("a line before any switch, which is no line of multicast forwarding tables")
	}
	return p.entry(c)
}

// begin starts the block of a switch.
func (p *parser) begin(c reading.Cursor) error {
	v, ok := c.Hex(1<<64 - 1)
	if !ok {
		return p.lines.Errorf("no GUID of a switch")
	}
	s, err := p.begins.Begin(p.f, p.lines, fabric.GUID(v), "block")
	if err != nil {
		return err
	}
	p.at, p.last = s, 0
	return nil
}

// entry reads the ports of a group.
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
	if !c.Cut(":") {
		return p.lines.Errorf("no colon behind MLID %#x; the line may be cut short", uint16(lid))
	}
	n := routing.TreeNode{Switch: p.at}
	for c.Space(); len(c) > 0; c.Space() {
		port, ok := c.Hex(uint64(p.f.Node(p.at).Ports))
		if !ok {
			return p.lines.Errorf("%q in place of a port from 0 to %d in hexadecimal, which is what %s has", c, p.f.Node(p.at).Ports, p.f.Label(p.at))
		}
		if port == 0 || p.f.Out(p.at, uint8(port)) != fabric.None {
			n.Ports.Add(uint8(port))
		}
	}
	t := p.trees[lid]
	if t == nil {
		t = &routing.MulticastTree{MLID: lid}
		p.trees[lid] = t
	}
	t.Nodes = append(t.Nodes, n)
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
