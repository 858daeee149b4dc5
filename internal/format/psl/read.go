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
// that is not listed, and so does Read. A pair that must not be used
// (routing.NoSL) is a comment too, of the node or of one of its ports:
//
//	#none 0002c90300000010 17
//	#none 0002c90300000010:2 17
//
// Files that weft writes end with the number of lines about pairs, "#end 12": one that is lost would otherwise
// leave its pair to a default. They begin with "#weft" or "#compact" and name destinations
// by the LIDs of the fabric file; files from elsewhere, by those of the OpenSM
// whose tables they belong to.
package psl

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/routing"
)

// The marks of the package comment: the first line of the compact form, the first line
// of the full form by weft, and the beginnings of a line for a single port and of a
// line for a pair that must not be used.
const (
	compactMark = "#compact"
	ownMark     = "#weft"
	portMark    = "#port "
	noneMark    = "#none "
)

// unset marks pairs that the file does not list.
const unset = 0xFE

// Read reads the service levels of a fabric; file is the name for errors. m becomes the
// SL2VL of the result. lids translates the LIDs of a file from elsewhere, as in an
// lft.Dump; nil: they are the fabric's own.
//
// The result has a row for every switch; endpoints of one switch with other service
// levels get further rows. In the full form a pair that is not listed, such as one from
// the port 0 of a switch, has the service level of the endpoints with which it shares a
// row. Lines that give a pair two service levels are refused, and so is a full file
// that lacks a pair of host adapters.
func Read(r io.Reader, file string, f *fabric.Fabric, m *routing.SL2VL, lids []fabric.LID) (*routing.Lanes, error) {
	l, _, err := read(r, file, f, m, lids, false)
	return l, err
}

// ReadLenient is Read for a file that is older or newer than the fabric: lines about
// nodes and LIDs that the fabric does not have are left out, and a pair of host
// adapters that a full file lacks gets the service level of the endpoints with which it
// shares a row, or 0.
func ReadLenient(r io.Reader, file string, f *fabric.Fabric, m *routing.SL2VL, lids []fabric.LID) (*routing.Lanes, format.Mismatches, error) {
	return read(r, file, f, m, lids, true)
}

func read(r io.Reader, file string, f *fabric.Fabric, m *routing.SL2VL, lids []fabric.LID, lenient bool) (*routing.Lanes, format.Mismatches, error) {
	p := &parser{
		pairs: reading.Counted{Kind: "lines about pairs"},
		lines: reading.NewTableLines(r, file), f: f, lids: lids, misfits: format.Mismatches{Lenient: lenient},
		byNode: make([][]uint8, len(f.Nodes())), byPort: map[fabric.EndpointID][]uint8{},
	}
	if err := p.lines.Each(p.line); err != nil {
		return nil, p.misfits, err
	}
	if p.misfits.Skipped > 0 && !p.fits {
		return nil, p.misfits, fmt.Errorf("%w, nor does any other line fit: these are the service levels of another fabric", p.misfits.FirstSkipped)
	}
	if !p.compact {
		if err := p.complete(); err != nil {
			return nil, p.misfits, err
		}
	}
	return p.build(m), p.misfits, nil
}

// unknown refuses a line about something that is not in the fabric; lenient, it counts the line and is reading.ErrSkip.
func (p *parser) unknown(msg string, args ...any) error {
	return reading.Skip(&p.misfits, func() error { return p.lines.Errorf(msg, args...) })
}

// parser reads either form line by line; build then makes rows of what the lines say.
type parser struct {
	lines   *reading.Lines
	misfits format.Mismatches
	fits    bool // some line is about a pair of the fabric
	f       *fabric.Fabric
	lids    []fabric.LID // [LID of the file]; nil: the same
	compact bool
	pairs   reading.Counted

	byNode [][]uint8                     // [node][LID of the fabric] service levels, or unset; nil: none
	byPort map[fabric.EndpointID][]uint8 // [LID of the fabric] likewise, of lines about single ports
	guid   fabric.GUID                   // the last source, and
	node   fabric.NodeID                 // its node
}

func (p *parser) line(c reading.Cursor) error {
	pair := len(c) > 0 && c[0] == '0' || bytes.HasPrefix(c, []byte(portMark)) || bytes.HasPrefix(c, []byte(noneMark))
	if pair {
		if err := p.pairs.Add(p.lines); err != nil {
			return err
		}
	}
	switch {
	case bytes.HasPrefix(c, []byte("0x")):
		node, err := p.source(&c)
		if err != nil {
			return err
		}
		return p.pair(c, &p.byNode[node])
	case c.Cut(portMark):
		row, e, err := p.portRow(&c)
		if err != nil {
			return err
		}
		err = p.pair(c, &row)
		p.byPort[e] = row
		return err
	case c.Cut(noneMark):
		return p.noneLine(c)
	case c.Cut(reading.EndMark):
		return p.pairs.End(p.lines, c)
	case p.lines.Number() == 1 && c.Cut(compactMark):
		p.compact, p.lids = true, nil
		return nil
	case p.lines.Number() == 1 && c.Cut(ownMark):
		p.lids = nil
		return nil
	case c.Empty(), c.Cut("#"):
		return nil
	}
	return p.lines.Errorf("no line like 0x0002c90300000010 17 2: node GUID of the source, LID, service level")
}

// source cuts the GUID of a node off a line.
func (p *parser) source(c *reading.Cursor) (fabric.NodeID, error) {
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
		return fabric.None, p.unknown("the fabric has no node with GUID %s", guid)
	}
	p.guid, p.node = guid, node
	return node, nil
}

// portRow reads GUID, colon and port, and finds the row of that port; nil if it has none yet.
func (p *parser) portRow(c *reading.Cursor) (row []uint8, e fabric.EndpointID, err error) {
	node, err := p.source(c)
	if err != nil {
		return nil, fabric.None, err
	}
	if !c.Cut(":") {
		return nil, fabric.None, p.lines.Errorf("no colon and port behind the GUID")
	}
	port, ok := c.Uint(fabric.MaxPorts)
	if !ok {
		return nil, fabric.None, p.lines.Errorf("no port number behind the GUID")
	}
	i, ok := slices.BinarySearchFunc(p.f.Endpoints(), uint8(port), func(e fabric.Endpoint, port uint8) int {
		return cmp.Or(cmp.Compare(e.Node, node), cmp.Compare(e.Port, port))
	})
	if !ok {
		return nil, fabric.None, p.unknown("%s has no connected port %d", p.f.Label(node), port)
	}
	return p.byPort[fabric.EndpointID(i)], fabric.EndpointID(i), nil
}

// noneLine reads the rest of a line after #none.
func (p *parser) noneLine(c reading.Cursor) error {
	port := c
	if port.Hex(math.MaxUint64); port.Cut(":") {
		row, e, err := p.portRow(&c)
		if err == nil {
			err = p.level(c, &row, routing.NoSL)
			p.byPort[e] = row
		}
		return err
	}
	node, err := p.source(&c)
	if err != nil {
		return err
	}
	return p.level(c, &p.byNode[node], routing.NoSL)
}

// pair reads LID and service level into a row, which it makes if it is nil.
func (p *parser) pair(c reading.Cursor, row *[]uint8) error {
	rest := c
	if _, ok := rest.Uint(0xFFFF); !ok {
		return p.lines.Errorf("no LID up to 65535 behind the source; the line may be cut short")
	}
	sl, ok := rest.Uint(routing.SLs - 1)
	if !ok || !rest.Empty() {
		return p.lines.Errorf("no service level from 0 to %d at the end; the line may be cut short", routing.SLs-1)
	}
	return p.level(c, row, uint8(sl))
}

// level reads a LID and sets its service level in a row, which it makes if it is nil.
func (p *parser) level(c reading.Cursor, row *[]uint8, sl uint8) error {
	v, ok := c.Uint(0xFFFF)
	if !ok {
		return p.lines.Errorf("no LID up to 65535 behind the source; the line may be cut short")
	}
	lid := fabric.LID(v)
	if p.lids != nil {
		lid = 0
		if int(v) < len(p.lids) {
			lid = p.lids[v]
		}
	}
	if p.f.Owner(lid) == fabric.None {
		return p.unknown("nothing in the fabric answers to LID %d", v)
	}
	if *row == nil {
		*row = bytes.Repeat([]byte{unset}, int(p.f.TopLID())+1)
	}
	if old := (*row)[lid]; old != unset && old != sl {
		return p.lines.Errorf("a second service level for a pair, %s after %s", slName(sl), slName(old))
	}
	(*row)[lid] = sl
	p.fits = true
	return nil
}

// slName names a service level for people.
func slName(sl uint8) string {
	if sl == routing.NoSL {
		return "none"
	}
	return "SL " + strconv.Itoa(int(sl))
}

// complete refuses a full file that lacks a pair of host adapters; lenient, it counts them.
func (p *parser) complete() error {
	for _, e := range routing.HCA.Endpoints(p.f) {
		from := p.f.Endpoint(e)
		node, port := p.byNode[from.Node], p.byPort[e]
		for lid, to := range routing.HCA.LIDs(p.f) {
			if p.f.Endpoint(to).Node == from.Node {
				continue
			}
			if (node == nil || node[lid] == unset) && (port == nil || port[lid] == unset) {
				err := reading.Miss(&p.misfits, func() error {
					return p.lines.Errorf("the file ends without a service level from %s to LID %d (only a file that begins with %q may leave pairs out)",
						p.f.Label(from.Node), lid, compactMark)
				})
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}
