// Package psl reads and writes path service levels: which service level packets
// from a source to a destination LID use. OpenSM has no dump of them; the form
// is that of ibdmchk (option -c), a line per pair with the source's NODE GUID,
// the LID in decimal and the service level:
//
//	0x0002c90300000010 17 2
//
// Two extensions, both in lines that ibdmchk ignores or in files it is not meant
// for. ibdmchk knows one service level per node and LID; where two ports of an
// adapter differ, the line is that of the lower port, and the others follow as
// a comment with the GUID, the port, the LID and the service level:
//
//	#port 0002c90300000010:2 17 3
//
// And a line for every pair makes a file of gigabytes for a large network. In
// the compact form, which begins with the line "#compact", the source may be a
// switch, which then stands for everything that hangs on it, a more specific
// line (node, #port) overrides that, and pairs that are not listed have SL 0.
//
// In the full form nothing has a default: ibdmchk refuses a pair of adapters
// that is not listed, and so does Read.
package psl

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/routing"
)

// compactMark is the first line of the compact form, portMark the start of a
// line for a single port.
const (
	compactMark = "#compact"
	portMark    = "#port "
)

// unset marks pairs that the file does not list.
const unset = 0xFF

// Read reads the service levels of a fabric; file is the name for errors. m
// becomes the SL2VL of the result. lids translates the LIDs of the file, as a
// lft.Dump does; nil: they are the fabric's own.
//
// The result has a row for every switch; endpoints of one switch that the file
// treats differently get further rows. In the full form a pair that is not
// listed, such as one from the port 0 of a switch, has the service level of the
// endpoints it shares a row with. Lines that give a pair two service levels are
// refused, and so is a full file that lacks a pair of host adapters.
func Read(r io.Reader, file string, f *fabric.Fabric, m *routing.SL2VL, lids []fabric.LID) (*routing.Lanes, error) {
	p := &parser{lines: format.NewTableLines(r, file), f: f, lids: lids, byNode: make([][]uint8, len(f.Nodes())), byPort: map[fabric.EndpointID][]uint8{}}
	for p.lines.Next() {
		if err := p.line(p.lines.Text()); err != nil {
			return nil, err
		}
	}
	if err := p.lines.Err(); err != nil {
		return nil, err
	}
	if !p.compact {
		if err := p.complete(); err != nil {
			return nil, err
		}
	}
	return p.build(m), nil
}

type parser struct {
	lines   *format.Lines
	f       *fabric.Fabric
	lids    []fabric.LID // [LID of the file]; nil: the same
	compact bool

	byNode [][]uint8                     // [node][LID] or nil
	byPort map[fabric.EndpointID][]uint8 // [LID], of #port lines
	guid   fabric.GUID                   // the last source, and
	node   fabric.NodeID                 // its node
}

func (p *parser) line(c format.Cursor) error {
	switch {
	case bytes.HasPrefix(c, []byte("0x")):
		node, err := p.source(&c)
		if err != nil {
			return err
		}
		return p.pair(c, &p.byNode[node])
	case c.Cut(portMark):
		return p.portLine(c)
	case p.lines.Number() == 1 && c.Cut(compactMark):
		p.compact = true
		return nil
	case c.Empty(), c.Cut("#"):
		return nil
	}
	return p.lines.Errorf("no line like 0x0002c90300000010 17 2: node GUID of the source, LID, service level")
}

// source cuts the GUID of a node.
func (p *parser) source(c *format.Cursor) (fabric.NodeID, error) {
	v, ok := c.Hex(1<<64 - 1)
	if !ok {
		return fabric.None, p.lines.Errorf("no GUID of a node at the start of the line")
	}
	guid := fabric.GUID(v)
	if guid == p.guid && guid != 0 {
		return p.node, nil
	}
	node := p.f.NodeByGUID(guid)
	if node == fabric.None {
		return fabric.None, p.lines.Errorf("the fabric has no node with GUID %s", guid)
	}
	p.guid, p.node = guid, node
	return node, nil
}

// portLine reads what stands behind #port.
func (p *parser) portLine(c format.Cursor) error {
	node, err := p.source(&c)
	if err != nil {
		return err
	}
	if !c.Cut(":") {
		return p.lines.Errorf("no colon and port behind the GUID")
	}
	port, ok := c.Uint(fabric.MaxPorts)
	if !ok {
		return p.lines.Errorf("no port number behind the GUID")
	}
	i, ok := slices.BinarySearchFunc(p.f.Endpoints(), uint8(port), func(e fabric.Endpoint, port uint8) int {
		return cmp.Or(cmp.Compare(e.Node, node), cmp.Compare(e.Port, port))
	})
	if !ok {
		return p.lines.Errorf("%s has no connected port %d", p.f.Label(node), port)
	}
	row := p.byPort[fabric.EndpointID(i)]
	err = p.pair(c, &row)
	p.byPort[fabric.EndpointID(i)] = row
	return err
}

// pair reads LID and service level into a row.
func (p *parser) pair(c format.Cursor, row *[]uint8) error {
	v, ok := c.Uint(0xFFFF)
	if !ok {
		return p.lines.Errorf("no LID up to 65535 behind the source; the line may be cut short")
	}
	sl, ok := c.Uint(routing.SLs - 1)
	if !ok || !c.Empty() {
		return p.lines.Errorf("no service level from 0 to %d at the end; the line may be cut short", routing.SLs-1)
	}
	lid := fabric.LID(v)
	if p.lids != nil {
		lid = 0
		if int(v) < len(p.lids) {
			lid = p.lids[v]
		}
	}
	if p.f.Owner(lid) == fabric.None {
		return p.lines.Errorf("nothing in the fabric answers to LID %d", v)
	}
	if *row == nil {
		*row = bytes.Repeat([]byte{unset}, int(p.f.TopLID())+1)
	}
	if old := (*row)[lid]; old != unset && old != uint8(sl) {
		return p.lines.Errorf("SL %d for a pair to which a line before gives SL %d", sl, old)
	}
	(*row)[lid] = uint8(sl)
	return nil
}

// complete refuses a full file that lacks a pair of host adapters.
func (p *parser) complete() error {
	for i := range p.f.Endpoints() {
		from := p.f.Endpoint(fabric.EndpointID(i))
		if from.Class != fabric.HostAdapter || from.Switch == fabric.None {
			continue
		}
		node, port := p.byNode[from.Node], p.byPort[fabric.EndpointID(i)]
		for lid, owner := range p.f.LIDs() {
			to := p.f.Endpoint(owner)
			if to.Class != fabric.HostAdapter || to.Switch == fabric.None || to.Node == from.Node {
				continue
			}
			if (node == nil || node[lid] == unset) && (port == nil || port[lid] == unset) {
				return p.lines.Errorf("the file ends without a service level from %s to LID %d (only a file that begins with %q may leave pairs out)",
					p.f.Label(from.Node), lid, compactMark)
			}
		}
	}
	return nil
}
