// Package iblinkinfo reads networks from what iblinkinfo prints, node by node or, with -l, a line for each port:
//
//	CA: node-7 mlx5_0:
//	      0x0002c9030045f121     12    1[  ] ==( 4X          53.125 Gbps Active/  LinkUp)==>       3    9[  ] "leaf 1" ( )
//	Switch: 0x0002c90200404a10 leaf 1:
//	           3    1[  ] ==(                Down/ Polling)==>             [  ] "" ( )
//	           3    9[  ] ==( 4X          53.125 Gbps Active/  LinkUp)==>      12    1[  ] "node-7 mlx5_0" ( Could be 4X 106.25 Gbps)
//
//	0x0002c90200404a10 "                        leaf 1"      3    9[  ] ==( 4X … LinkUp)==>  0x0002c9030045f121     12    1[  ] "node-7 mlx5_0" ( )
//
// A row is of a port: its LID, its number, its rate and state, and the port at the other end of its cable. GUIDs are
// those of ports; that of a switch is its own. Without -l a peer has none, and is the port whose row has its LID, its
// number and its name, and names this one as its peer. With -l the kind of a node is not said: a GUID with several ports
// of one LID is a switch's.
//
// iblinkinfo says less than ibnetdiscover: no LMC, no device, and of adapters the GUIDs of ports alone, of which the
// smallest stands for that of the adapter. A node that has no rows of its own, as with --switches-only, is made from
// what the cables say of it. Lines of others, such as a terminal's prompt, are passed over and counted in a warning.
package iblinkinfo

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// Read reads a network; file is the name for errors, which are *format.ParseError unless r itself fails.
func Read(r io.Reader, file string) (*fabric.Fabric, error) {
	p := parser{lines: reading.NewLines(r, file), at: none}
	if err := p.lines.Each(p.line); err != nil {
		return nil, err
	}
	if p.at != none && p.nodes[p.at].rows == 0 {
		return nil, p.lines.ErrorAt(p.nodes[p.at].line, "truncated: this node is followed by no port")
	}
	if len(p.rows) == 0 {
		return nil, p.lines.Errorf("no port in the whole file: this is no output of iblinkinfo")
	}
	return p.build()
}

// none is an index that is not set.
const none = -1

// node is a node as a head or rows describe it.
type node struct {
	kind fabric.Kind
	name string
	guid fabric.GUID // of a switch; of others the smallest of their ports; 0: not known
	lid  fabric.LID  // of a switch
	line int         // of its head or its first row, or of the first that names it as a peer
	rows int         // of its own
	top  uint8       // the highest of its ports
}

// end is a port as a row has it. Maps are keyed by what of it is known.
type end struct {
	guid fabric.GUID // 0: not known
	lid  fabric.LID
	port uint8
	name string
}

// row is a row.
type row struct {
	own    end
	far    end
	cabled bool
	rate   fabric.Rate
	line   int
	node   int32 // the node below whose head it is; none: the row names its node itself
}

type parser struct {
	lines    *reading.Lines
	nodes    []node
	rows     []row
	at       int32         // the node below whose head the rows are, or none
	odd      reading.Tally // lines that are no part of the format
	silent   reading.Tally // ports at whose other end nobody answers
	renamed  reading.Tally // peers that have another name in their own rows
	warnings []string
}

func (p *parser) warn(msg string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(msg, args...))
}

// line reads a line.
func (p *parser) line(c reading.Cursor) error {
	switch {
	case c.Empty():
		return nil
	case bytes.Contains(c, []byte("==(")):
		return p.row(c)
	case p.head(c):
		return nil
	}
	p.odd.Note(p.lines.Number(), string(bytes.TrimSpace(c)))
	return nil
}

// head reads the head of a node: "CA: NAME:", "Router: NAME:" or "Switch: GUID NAME:", of old versions "Switch GUID NAME:".
func (p *parser) head(c reading.Cursor) bool {
	text, ok := bytes.CutSuffix(bytes.TrimRight(c, " \t"), []byte(":"))
	if !ok {
		return false
	}
	n := node{kind: fabric.Adapter, line: p.lines.Number()}
	c = text
	switch {
	case c.Cut("CA: "):
	case c.Cut("Router: "):
		n.kind = fabric.Router
	case c.Cut("Switch: 0x"), c.Cut("Switch 0x"):
		n.kind = fabric.Switch
		guid, ok := c.Hex(1<<64 - 1)
		if !ok {
			return false
		}
		n.guid = fabric.GUID(guid)
	default:
		return false
	}
	n.name = string(bytes.TrimSpace(c))
	p.at = int32(len(p.nodes))
	p.nodes = append(p.nodes, n)
	return true
}

// cutShort is the error for a row that lacks a part.
func (p *parser) cutShort(what string) error {
	return p.lines.Errorf("%s in the row of a port; the line may be cut short", what)
}

// row reads the row of a port.
func (p *parser) row(c reading.Cursor) error {
	left, rest, _ := bytes.Cut(c, []byte("==("))
	link, right, ok := bytes.Cut(rest, []byte(")==>"))
	if !ok {
		return p.cutShort("no arrow")
	}
	r := row{line: p.lines.Number(), node: none}
	own, err := p.ownEnd(left)
	if err != nil {
		return err
	}
	if r.own = own.end; !own.named {
		if r.node = p.at; p.at == none {
			return p.lines.Errorf("a port before any node: the first line of its node is missing, as behind grep (iblinkinfo -l has the node in every line)")
		}
		n := &p.nodes[p.at]
		r.own.name = n.name
		if n.kind == fabric.Switch {
			r.own.guid = n.guid
		}
		n.rows++
	}
	if string(bytes.TrimSpace(right)) == silent {
		p.silent.Note(r.line, r.own.name)
	} else if r.far, r.cabled, err = p.farEnd(right); err != nil {
		return err
	}
	r.rate = p.rate(link)
	p.rows = append(p.rows, r)
	return nil
}

// ownText is the part of a row before the arrow.
type ownText struct {
	end
	named bool // it has the GUID and the name of the node
}

// ownEnd reads the part of a row before the arrow: a LID and the number of a port, before them a GUID and with -l a
// name. They are read from behind, since the name may hold anything.
func (p *parser) ownEnd(c reading.Cursor) (e ownText, err error) {
	text, ok := bytes.CutSuffix(bytes.TrimRight(c, " \t"), []byte("]"))
	open := bytes.LastIndexByte(text, '[')
	if !ok || open < 0 {
		return e, p.cutShort("no number of a port before the arrow")
	}
	text = bytes.TrimRight(text[:open], " \t")
	number := reading.Cursor(text[bytes.LastIndexAny(text, " \t")+1:])
	text = bytes.TrimRight(text[:len(text)-len(number)], " \t")
	lid := reading.Cursor(text[bytes.LastIndexAny(text, " \t\"")+1:])
	text = bytes.TrimSpace(text[:len(text)-len(lid)])
	port, okPort := number.Uint(fabric.MaxPorts)
	v, okLID := lid.Uint(0xFFFF)
	if !okPort || !okLID || port == 0 || len(number)+len(lid) > 0 {
		return e, p.lines.Errorf("no LID up to 65535 and number of a port from 1 to %d before the arrow", fabric.MaxPorts)
	}
	e.port, e.lid = uint8(port), fabric.LID(v)
	if len(text) == 0 {
		return e, nil
	}
	rest := reading.Cursor(text)
	guid, ok := rest.Hex(1<<64 - 1)
	if !ok || !bytes.HasPrefix(text, []byte("0x")) {
		return e, p.lines.Errorf("the row of a port with other text before it: give what iblinkinfo prints, without what diff, grep and time stamps add")
	}
	e.guid = fabric.GUID(guid)
	if rest.Empty() {
		return e, nil
	}
	name, ok := rest.QuotedWide()
	if !ok || !rest.Empty() {
		return e, p.cutShort("no name in quotes behind a GUID")
	}
	e.name, e.named = string(bytes.TrimSpace(name)), true
	return e, nil
}

// silent is what stands in place of the peer of a port whose link is up and at whose other end nobody answers.
const silent = `"Port not available"`

// farEnd reads the part of a row behind the arrow; cabled: the port has a cable.
func (p *parser) farEnd(c reading.Cursor) (e end, cabled bool, err error) {
	text, ok := bytes.CutSuffix(bytes.TrimRight(c, " \t"), []byte(")"))
	name := bytes.LastIndex(text, []byte(`" (`))
	if !ok || name < 0 {
		return e, false, p.cutShort("no peer in quotes with brackets behind it")
	}
	c = text[:name]
	if c.Cut("0x") {
		guid, ok := c.Hex(1<<64 - 1)
		if !ok {
			return e, false, p.lines.Errorf("no GUID of the peer behind the arrow")
		}
		e.guid = fabric.GUID(guid)
	}
	lid, okLID := c.Uint(0xFFFF)
	port, okPort := c.Uint(fabric.MaxPorts)
	if !c.Cut("[") {
		return e, false, p.lines.Errorf("no LID up to 65535 and number of a port up to %d behind the arrow", fabric.MaxPorts)
	}
	_, rest, ok := bytes.Cut(c, []byte("]"))
	if c = rest; !ok || !c.Cut(`"`) {
		return e, false, p.cutShort("no peer in quotes")
	}
	e.name = strings.TrimSpace(string(c))
	switch {
	case !okLID && !okPort && e.name == "" && e.guid == 0:
		return e, false, nil
	case !okLID || !okPort || port == 0:
		return e, false, p.lines.Errorf("no LID up to 65535 and number of a port from 1 to %d behind the arrow", fabric.MaxPorts)
	}
	e.lid, e.port = fabric.LID(lid), uint8(port)
	return e, true, nil
}

// speeds is what a lane carries, as libibmad says it.
var speeds = map[string]string{
	"2.5 Gbps": "SDR", "5.0 Gbps": "DDR", "10.0 Gbps": "QDR", "10.0 Gbps (FDR10)": "FDR10", "14.0625 Gbps": "FDR", "25.78125 Gbps": "EDR",
	"53.125 Gbps": "HDR", "106.25 Gbps": "NDR", "212.5 Gbps": "XDR",
}

// rate reads the rate in the part between the brackets, such as "4X 25.78125 Gbps Active/  LinkUp", perhaps with
// "(HOQ:0 VL_Stall:7)" of -p behind; the zero Rate: it is not known.
func (p *parser) rate(link reading.Cursor) fabric.Rate {
	link, _, _ = bytes.Cut(link, []byte(") ("))
	slash := bytes.IndexByte(link, '/')
	if slash < 0 {
		return fabric.Rate{}
	}
	words := strings.Fields(string(link[:slash]))
	if len(words) < 3 { // a port that is down
		return fabric.Rate{}
	}
	width, isWidth := strings.CutSuffix(words[0], "X")
	speed, known := speeds[strings.Join(words[1:len(words)-1], " ")]
	if !isWidth || !known {
		return fabric.Rate{}
	}
	r, err := fabric.ParseRate(width + "x" + speed)
	if err != nil {
		return fabric.Rate{}
	}
	return r
}
