// Package ibnet reads and writes the text that ibnetdiscover prints, which is
// also what ibsim takes as a net file, and reads its ports report (ibnetdiscover -p).
//
// What a file holds. Attribute lines (vendid=, devid=, sysimgguid=,
// switchguid=, caguid=, rtguid=) precede a node record, `Switch 36 "id" # "name"
// base port 0 lid 6 lmc 0`, and port records follow it: `[1](portguid)
// "peer id"[2](peer portguid) # … 4xNDR`, on a switch with the peer's name and
// LID, on an adapter with the LID and LMC of the port itself in front. Net files
// of ibsim may stop before the `#`. Behind the rate ibnetdiscover -f says which data lanes
// the port has (VLCap), as a code: v=4. Blanks between the parts may be other blanks
// or missing; keywords are Switch, Ca, Hca, Rt and Router in any case; GUIDs
// have 0x or not; `[ext 5]` behind a port number is skipped. A GUID comes from
// the attribute, else from an id like "S-0008f10400410015"; a node that has
// neither is numbered by fabric.Builder. A node without a name goes by its id.
//
// How contradictions are resolved. A cable is normally recorded at both ends. If it is
// recorded at one end, it still is a cable; if recorded with two different peers, the
// file is refused. If the rates at both ends differ, the slower is used, with a
// warning: a real file has 1xSDR at one end and 4xSDR at the other. The LID of a port
// comes from its own record, else from its peer's. A node that is named as a peer but
// has no record is made from what the cables say of it, with a warning, if its id
// contains a GUID; otherwise the file is refused. Lines that are not part of the format
// (a terminal's prompt, "Chassis 1", messages of the tool) are skipped; those that are
// neither comments nor section titles are counted in a warning.
//
// ibdiagnet's own dialect (ibdiagnet2.ibnetdiscover, from 2.10 on) has the label of a socket
// behind a port number, `[1](1/1/1) "S-…"[63]` and `[1](1)(portguid) "S-…"[65]`, and the
// GUID of a whole director where that of the node belongs, `switchguid=0xSYSTEM(NODE)`.
// Labels are passed over, and the node's GUID is that of its identifier.
//
// A ports report has a row for each port and says less: no LMC, no device, and of adapters
// the GUIDs of ports alone. Ports of one name whose GUIDs are as far apart as their numbers
// are one adapter; the smallest GUID of its ports stands for its own.
//
// Copies. A text that was copied from a terminal, or went through a mail program, may have
// lines that are broken in two, and may begin within the record of a node. Two lines are
// made one where the first is no whole record and both together are; ports before the first
// node belong to the node that the other ends of their cables name. UTF-16, into which
// PowerShell redirects, is read as such. Warnings tell each.
//
// Two dumps in one file are read as one network, with a warning: a rail or plane each may be meant so, two subnets not.
//
// Files that people edit, or that programs make, have no LID behind "lid", or -1, and GUIDs whose digits were overwritten
// to hide them (0xb8cef60300xxxxxx). Both count as not known, with a warning, as long as identifiers tell
// nodes apart; 0xffff is a LID in hexadecimal digits.
//
// A truncated file is refused where it can be recognised: an adapter's record that ends
// the text without a port and without the blank line after it, attributes without a
// node, and a last line without line end and rate.
package ibnet

import (
	"bytes"
	"io"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// Read reads a fabric; file is the name for errors, which are *format.ParseError unless
// r itself fails. Contradictions that were resolved are in the fabric's Warnings.
func Read(r io.Reader, file string) (*fabric.Fabric, error) {
	p := parser{lines: reading.NewLines(r, file), byID: map[string]int32{}, at: none}
	if err := p.lines.Each(p.line); err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p.build()
}

// none is an index that is not set.
const none = -1

// node is a node as the file describes it.
type node struct {
	fabric.Node
	id   string
	line int // of its record; 0: only named as a peer so far
	seen int // the first line that names the node
	lid  fabric.LID
	lmc  uint8
	guid fabric.GUID // of port 0 of a switch
	ends []int32     // port records, in the order of the file

	taken [4]uint64 // ports that have a record, as bits
	top   uint8     // the highest port that its peers name
}

// end is a port record: one end of a cable.
type end struct {
	node, peer         int32
	port, peerPort     uint8
	lmc                uint8
	lanes              uint8 // data lanes that the port has; 0: not known
	rate               fabric.Rate
	lid, peerLID       fabric.LID
	guid, peerPortGUID fabric.GUID
	line               int
}

// parser reads the text line by line; finish and build then make the fabric of what they said.
type parser struct {
	lines *reading.Lines
	nodes []node
	ends  []end
	rows  []row            // of a ports report, in place of the records of nodes and ports
	byID  map[string]int32 // place in nodes
	at    int32            // the node whose port records these are, or none

	number      int     // of the line that is taken, or the first of several that are taken as one
	held        []piece // a line that may go on in the next; empty: none
	broken      int     // lines that were made of several
	firstBroken int
	headless    []headless // port records before the first node

	attr     attributes             // those before the next node record
	rates    map[string]fabric.Rate // by text
	odd      reading.Tally          // lines that are no part of the format
	rated    bool                   // some port record had a rate
	hasLIDs  bool                   // some line says "lid"
	labelled bool                   // ports have labels, as ibdiagnet writes them
	lastEnd  bool                   // the last line was a port record
	unrated  bool                   // it was, and had no rate behind the name of the peer
	bare     bool                   // the last line was a node record
	headed   bool                   // a "# Topology file:" was read
	header   int                    // the last of several, no record of a node behind it; 0: none
	dumps    int                    // those with nodes before and behind
	dumpLine int                    // the first of them
	warnings []string

	noLIDs, noGUIDs reading.Tally // records with something else in place of these
}

// errorf is an error in the line that is taken.
func (p *parser) errorf(msg string, args ...any) error {
	return p.lines.ErrorAt(max(p.number, 1), msg, args...)
}

// attributes is the contents of the attribute lines before a node record.
type attributes struct {
	line           int // of the first; 0: none
	vendor, device uint32
	system, node   fabric.GUID
	oddLine        int         // of the last line behind them that is no part of the format; 0: none
	oddText        string      // its beginning
	port           fabric.GUID // of port 0, in brackets behind that of a switch
}

// line takes a line, or holds it back where it may go on in the next.
func (p *parser) line(text reading.Cursor) error {
	if len(p.held) > 0 {
		if joined, err := p.join(text); joined || err != nil {
			return err
		}
	}
	p.number = p.lines.Number()
	if p.goesOn(text) {
		p.hold(text)
		return nil
	}
	return p.take(text)
}

// take reads a line that is whole.
func (p *parser) take(text reading.Cursor) error {
	p.lastEnd, p.bare, p.unrated = false, false, false
	c := text
	c.Space()
	switch {
	case len(c) == 0:
		return nil
	case c[0] == '#':
		if bytes.HasPrefix(c, []byte("# Topology file:")) {
			if p.headed {
				p.header = p.number
			}
			p.headed = true
		}
		return nil
	case p.at == none && p.attr.line == 0 && reading.IsPortsRow(c):
		return p.portsRow(c)
	case isPort(c):
		if p.attr.line != 0 {
			if p.attr.oddLine != 0 {
				return p.errorf("a port behind the attributes of line %d, and no record of a node between; line %d is none: %s", p.attr.line, p.attr.oddLine, p.attr.oddText)
			}
			return p.errorf("a port behind the attributes of line %d, and no record of a node between", p.attr.line)
		}
		return p.portRecord(c)
	case reading.IsNodeRecord(c):
		return p.nodeRecord(c)
	}
	known, err := p.attribute(c)
	if err != nil || known {
		return err
	}
	if identifierIn(c) {
		return p.errorf("the record of a node or port with other text before or in it: %s; give what ibnetdiscover prints, without what diff, grep, mail programs or time stamps add (of ibnetdiscover --diff, the whole dump)", shorten(text))
	}
	if !sectionTitle(c) {
		p.odd.Note(p.number, shorten(text))
		if p.attr.line != 0 {
			p.attr.oddLine, p.attr.oddText = p.number, shorten(text)
		}
	}
	return nil
}

// isPort reports whether a line begins as the record of a port does.
func isPort(c reading.Cursor) bool { return len(c) > 1 && c[0] == '[' && c[1] >= '0' && c[1] <= '9' }

// identifierIn finds an identifier such as "S-0008f10400410015", in its quotes. Other programs write
// none, so a line with one is a record behind or amid other text: passed over, it would be a
// cable or a node that nobody misses.
func identifierIn(c reading.Cursor) bool {
	for {
		_, rest, found := bytes.Cut(c, []byte(`"`))
		if !found {
			return false
		}
		if len(rest) > 18 && rest[18] == '"' {
			if _, _, is := guidOf(string(rest[:18])); is {
				return true
			}
		}
		c = rest
	}
}

// sectionTitle recognises the lines with which ibnetdiscover groups nodes.
func sectionTitle(c reading.Cursor) bool {
	return c.CutFold("chassis") || c.CutFold("non-chassis")
}

// shorten is the beginning of a line, for messages.
func shorten(text []byte) string {
	const most = 60
	s := string(bytes.TrimSpace(text))
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// attribute reads a line like devid=0x5a06.
func (p *parser) attribute(c reading.Cursor) (known bool, err error) {
	top := uint64(1<<64 - 1)
	var store func(uint64)
	a := &p.attr
	switch {
	case c.CutFold("vendid="):
		store, top = func(v uint64) { a.vendor = uint32(v) }, 1<<32-1
	case c.CutFold("devid="):
		store, top = func(v uint64) { a.device = uint32(v) }, 1<<32-1
	case c.CutFold("sysimgguid="):
		store = func(v uint64) { a.system = fabric.GUID(v) }
	case c.CutFold("switchguid="), c.CutFold("caguid="), c.CutFold("rtguid="):
		store = func(v uint64) { a.node = fabric.GUID(v) }
	default:
		return false, nil
	}
	c.Space()
	text := c
	v, ok := c.Hex(top)
	if !ok || len(c) > 0 && !bytes.ContainsRune(attributeEnds, rune(c[0])) {
		word := text[:len(text)-len(bytes.TrimLeftFunc(text, func(r rune) bool { return !bytes.ContainsRune(attributeEnds, r) }))]
		if top < 1<<64-1 || !isOverwritten(word) || isHex(word) {
			return true, p.errorf("no hexadecimal number behind the =, or one that is too large: %s", shorten(text))
		}
		p.noGUIDs.Note(p.number, shorten(word))
		v, c = 0, text[len(word):]
	}
	store(v)
	if guid, ok := bracketed(&c); ok {
		a.port = guid
	} else if c.Cut("(") {
		word, rest, closed := bytes.Cut(c, []byte(")"))
		if !closed || !isOverwritten(word) || isHex(word) {
			return true, p.errorf("no hexadecimal number in the round brackets: they hold a GUID")
		}
		p.noGUIDs.Note(p.number, shorten(word))
		c = rest
	}
	if a.line == 0 {
		a.line = p.number
	}
	return true, nil
}

// attributeEnds is what may stand behind the number of an attribute.
var attributeEnds = []byte(" \t(#")

// nodeGUID is the GUID of the node that follows. In the files of ibdiagnet the attribute of
// a part of a director, or of an adapter with several nodes, is the GUID of the whole
// system, which they share: then the identifier says which node it is, and so do the
// brackets of a switch.
func (a *attributes) nodeGUID(id string) fabric.GUID {
	own, _, ok := guidOf(id)
	if ok && (a.node == 0 || a.port == own || a.node == a.system) {
		return own
	}
	return a.node
}

// bracketed cuts a GUID in round brackets.
func bracketed(c *reading.Cursor) (fabric.GUID, bool) {
	rest := *c
	if !rest.Cut("(") {
		return 0, false
	}
	v, ok := rest.Hex(1<<64 - 1)
	if !ok || !rest.Cut(")") {
		return 0, false
	}
	*c = rest
	return fabric.GUID(v), true
}

// nodeText is the record of a node as its line has it.
type nodeText struct {
	kind  fabric.Kind
	ports int
	id    []byte
	name  []byte // nil: none
	lid   fabric.LID
	lmc   uint8
	end   bool // nothing is missing behind it

	odd overwritten
}

// scanNode reads a line like: Switch 24 "S-005442ba00003080" # "ISR9024 Voltaire" base
// port 0 lid 6 lmc 0, and changes nothing.
func (p *parser) scanNode(c reading.Cursor) (n nodeText, err error) {
	n.kind = fabric.Adapter
	switch {
	case c.CutFold("switch"):
		n.kind = fabric.Switch
	case c.CutFold("router"), c.CutFold("rt"):
		n.kind = fabric.Router
	case c.CutFold("ca"), c.CutFold("hca"):
	}
	ports, ok := c.Uint(fabric.MaxPorts)
	if !ok {
		return n, p.errorf("a node with more than %d ports", fabric.MaxPorts)
	}
	n.ports = int(ports)
	if n.id, ok = c.Quoted(); !ok {
		return n, p.errorf("the identifier of the node has no closing quote")
	}
	if !c.Cut("#") {
		return n, nil
	}
	if n.name, ok = c.QuotedWide(); !ok {
		if c.Space(); len(c) == 0 || c[0] != '"' {
			return n, nil // somebody's own comment
		}
		return n, p.errorf("the name of the node has no closing quote")
	}
	if !c.Cut("base") {
		c.Cut("enhanced")
	}
	if !c.Cut("port 0") {
		n.end = n.kind != fabric.Switch && c.Empty()
		return n, nil
	}
	lmc := bytes.Contains(c, []byte("lmc "))
	n.lid, n.lmc, n.odd, err = p.lidAndLMC(&c)
	n.end = lmc && c.Empty()
	return n, err
}

// nodeRecord takes the record of a node.
func (p *parser) nodeRecord(c reading.Cursor) error {
	if len(p.rows) > 0 {
		return p.errorf("the record of a node behind a ports report, whose last row is line %d: these are two dumps; give one", p.rows[len(p.rows)-1].line)
	}
	r, err := p.scanNode(c)
	if err != nil {
		return err
	}
	at := p.named(r.id, nil)
	if len(p.nodes) > int(fabric.MaxLID) {
		return p.errorf("more than %d nodes: InfiniBand has no LIDs for them", fabric.MaxLID)
	}
	n := &p.nodes[at]
	if n.line != 0 {
		return p.errorf("%q has a second record; its first is in line %d: if these are two dumps, give one%s", n.id, n.line, apart(n.id))
	}
	if p.header != 0 && p.at != none {
		if p.dumps++; p.dumps == 1 {
			p.dumpLine = p.header
		}
	}
	p.header = 0
	p.noteOverwritten(r.odd)
	n.line, n.Kind, n.Ports, n.lid, n.lmc = p.number, r.kind, r.ports, r.lid, r.lmc
	if n.Name = n.id; r.name != nil {
		n.Name = string(r.name)
	}
	n.VendorID, n.DeviceID, n.SystemGUID, n.guid = p.attr.vendor, p.attr.device, p.attr.system, p.attr.port
	if n.GUID = p.attr.nodeGUID(n.id); n.SystemGUID == 0 && n.GUID != p.attr.node {
		n.SystemGUID = p.attr.node
	}
	p.attr = attributes{}
	p.at, p.bare = at, true
	return nil
}

// lidAndLMC cuts "lid N lmc M", each part if it is there.
func (p *parser) lidAndLMC(c *reading.Cursor) (lid fabric.LID, lmc uint8, odd overwritten, err error) {
	if c.Cut("lid ") {
		p.hasLIDs = true
		var ok bool
		if lid, odd.lid, ok = lidText(c); !ok {
			return 0, 0, odd, p.errorf("no LID from 0 to 65535 behind \"lid\"")
		}
	}
	if c.Cut("lmc ") {
		v, ok := c.Uint(7)
		if !ok {
			return 0, 0, odd, p.errorf("no number from 0 to 7 behind \"lmc\"")
		}
		lmc = uint8(v)
	}
	return lid, lmc, odd, nil
}

// named is the place of the node with an id, which it adds if it is new; name is what a peer calls it, used only if the node has
// no record.
func (p *parser) named(id, name []byte) int32 {
	if at, ok := p.byID[string(id)]; ok {
		return at
	}
	n := node{id: string(id), seen: p.number}
	n.Name = string(name)
	at := int32(len(p.nodes))
	p.nodes = append(p.nodes, n)
	p.byID[n.id] = at
	return at
}

// guidOf reads ids like "S-0008f10400410015".
func guidOf(id string) (guid fabric.GUID, kind fabric.Kind, ok bool) {
	kind, ok = kindOf(id)
	if !ok || len(id) != 18 {
		return 0, 0, false
	}
	c := reading.Cursor(id[2:])
	v, ok := c.Hex(1<<64 - 1)
	return fabric.GUID(v), kind, ok && len(c) == 0 && v != 0
}
