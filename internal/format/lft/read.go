// Package lft reads and writes linear forwarding tables as OpenSM and the
// diagnostic tools dump them.
//
// Read recognises three dialects by their lines:
//
//	Unicast lids [0-15] of switch Lid 2 guid 0x0002c90200000001 ('t0'):        opensm-lfts.dump
//	0x0001 003 # Channel Adapter portguid 0x0002c90300000011: 'node0 HCA-1'
//	15 lids dumped
//
//	Unicast lids [0x0-0x16] of switch DR path slid 0; … guid 0x… (name):       dump_fts, ibroute
//	0x0003 024 : (Switch portguid 0x…: 'name')
//	0x0005 002 : (path #2 out of 2: portguid 0x…)
//	22 valid lids dumped
//
//	dump_ucast_routes: Switch 0x0002c90200000001                               opensm.fdbs, ibdiagnet2.fdbs
//	LID    : Port : Hops : Optimal
//	0x0001 : 003  : 01   : yes
//	0x0006 : UNREACHABLE
//
// Joining. A dump contains the LIDs and port GUIDs that one OpenSM assigned; the fabric
// may come from another day, another OpenSM or a simulator. Switches are therefore
// joined by node GUID, and destinations in this order:
//
//   - with a subnet list of the same OpenSM, by the node GUID and port that it
//     gives for the LID;
//   - by the port GUIDs in the dump, taken either for those of the fabric or for
//     node GUID + port number, which is what ibsim makes of them. One of the two
//     must fit every destination, and the two are never mixed: the node GUID of a
//     new adapter is the GUID of its port too, so a single destination can fit
//     both and mean different ports;
//   - without either, by the LIDs of the fabric itself.
//
// Switches forward by LIDs, and these stay where a host moves or its LID is given to another. So a port
// GUID tells whose entries these were, and the LID whose they are now: where the fabric states a LID
// that the dump has for another port, the entries are for its owner in the fabric, and Dump.Mismatches
// tells (Moved). Only where most LIDs of the dump are those of other ports, or the fabric states none, are
// they of another OpenSM: then the same routes are read under the LIDs of the fabric, and Dump.Renumbered
// says of how many destinations.
//
// A port with several LIDs (LMC) has them in one block, in the dump and in the fabric.
// The result is indexed by the LIDs of the fabric.
//
// What does not fit is a *format.ParseError: a switch that the fabric does not have, a
// switch twice, a port that a switch does not have or that has no cable, a LID that no
// endpoint has. So is a truncated dump. What the dump lacks is not an error: it is listed
// in Dump.NoTable and Dump.Unreached, and the judge reports pairs without a path. dump_fts and
// ibroute have no entries for the largest LID where it is a multiple of 64: Dump.LeftOut tells.
// Lines of others, such as a terminal's prompt, are passed over where no table is. A table at whose end the program that
// dumped it says that it failed (iberror) is an error or, with Join.Lenient, used up to there: Dump.Cut tells.
//
// A dump and a fabric taken minutes apart may differ by a host or a cable. With
// Join.Lenient, what the dump has and the fabric does not is listed in Dump.Mismatches,
// and the rest is read; of the two meanings of port GUIDs the one that finds more
// destinations is used. Tables that have nothing in common with the fabric are still an
// error, and so are tables whose destinations are mostly delivered to the wrong ports by
// their own switches: they are of another fabric or for other LIDs.
package lft

import (
	"bytes"
	"fmt"
	"io"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/format/blocks"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/tablefiles"
	"github.com/weft-fabric/weft/routing"
)

// Join says how to find the destinations of a dump in a fabric.
type Join struct {
	List *subnetlst.Map // subnet list of the OpenSM that wrote the dump; nil: none
	// SkipPrivate passes over private tables, those behind a PLFT_NUM other than 0, for who
	// reads them from elsewhere; without, they are an error.
	SkipPrivate bool

	Lenient bool // list in Dump.Mismatches what does not fit the fabric, instead of an error
}

// Dump is a dump joined with the fabric.
type Dump struct {
	Forwarding *routing.Forwarding    // by LIDs of the fabric
	LIDs       []fabric.LID           // [LID of the dump, up to the largest with a path] the fabric's LID; 0: no path to it, or in Mismatches.Gone
	Rule       Rule                   // how destinations were found
	Renumbered int                    // destinations that have other LIDs in the fabric, which states others throughout: rows are under the LIDs of the fabric, not under those that switches forward by
	NoTable    []fabric.NodeID        // switches of the fabric that the dump has no table of
	Unreached  []fabric.EndpointID    // endpoints to whose base LID no switch has a path in the dump
	Unowned    map[fabric.LID][]uint8 // [switch of the fabric] rows of LIDs that nobody has in the fabric: switches hold them for whoever gets these; nil where Renumbered
	Mismatches Mismatches             // what the dump has and the fabric does not; empty unless Join.Lenient
	LeftOut    fabric.LID             // the largest LID, if the program that made the dump leaves it out whoever has it; 0: it does not
	Cut        []CutTable             // tables that end in an error of the program that dumped them; empty unless Join.Lenient
	Groups     string                 // the file of groups of ports that the dump says belongs to it, as weft's do; empty: none
}

// CutTable is a table that ends in an error of the program that dumped it. The LIDs behind have no path there.
type CutTable struct {
	Switch  string // its name in the fabric, or else its GUID
	Message string // of the program, behind its file and line
}

// Rule is a way to find the destinations of a dump.
type Rule uint8

// The rules, in the order of the package comment.
const (
	ByList Rule = iota
	ByPortGUID
	ByNodeGUID
	ByLID
)

func (r Rule) String() string {
	return [...]string{"the subnet list", "port GUID", "node GUID + port number", "LID"}[r]
}

// Read reads the tables of a fabric; file is the name for errors.
func Read(r io.Reader, file string, f *fabric.Fabric, j Join) (*Dump, error) {
	kind, r, err := reading.Peek(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if kind != reading.Unknown && kind != reading.LFT && kind != reading.FDBS { // of an unknown one, the error below names the line
		return nil, format.Errorf(file, 1, "this is %s; forwarding tables are an opensm-lfts.dump, an opensm.fdbs, or what dump_fts or ibroute print", kind)
	}
	return read(reading.NewTableLines(r, file), f, j)
}

// ReadFiles reads the tables of a fabric from several files, such as one of ibroute for each switch.
func ReadFiles(parts []reading.Part, f *fabric.Fabric, j Join) (*Dump, error) {
	lines := reading.NewJoined(parts)
	defer lines.Close()
	return read(lines, f, j)
}

// read reads all lines of one file or of several.
func read(lines *reading.Lines, f *fabric.Fabric, j Join) (*Dump, error) {
	p := &parser{lines: lines, f: f, lenient: j.Lenient, skipPrivate: j.SkipPrivate, at: fabric.None, begins: make(blocks.Begins, f.Switches())}
	if err := p.lines.Each(p.line); err != nil {
		return nil, err
	}
	if p.at == fabric.None && p.unknownSwitches == nil {
		return nil, p.lines.ErrorAt(max(p.other, 1), "no forwarding table in the whole file; an opensm-lfts.dump, an opensm.fdbs, or what dump_fts or ibroute print has some")
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if !p.trailed && p.top > p.topHere {
		return nil, p.lines.Errorf("truncated: the table of the last switch ends at LID %d, others at LID %d", p.topHere, p.top)
	}
	return p.join(j)
}

// parser collects the tables by the LIDs of the dump.
type parser struct {
	lines   *reading.Lines
	f       *fabric.Fabric
	lenient bool

	skipPrivate bool
	private     bool // the lines that come are of a private table, and passed over

	dests  []dest // [LID of the dump]
	begins blocks.Begins
	guids  int // how many of dests have a port GUID

	other           int // the first line that is of no table; 0: none yet
	leftOut         leftOut
	groups          string // Dump.Groups
	unknownSwitches []UnknownSwitch
	cut             []CutTable
	dead            map[DeadPort]int // entries by port without a cable

	// The table being read.
	at      fabric.NodeID // its switch; None: no table yet, or that of the last of unknownSwitches
	trailed bool          // its dialect ends tables with "N lids dumped"
	open    bool          // that line is still to come
	entries int           // read so far, those without a path too
	topHere fabric.LID    // the largest LID it lists, with a path or without
	top     fabric.LID    // the largest LID of the tables before
}

// dest is a destination: a LID of the dump.
type dest struct {
	row  []uint8     // [switch] out-port or routing.NoPort; nil: no path to it from anywhere
	guid fabric.GUID // port GUID that the dump prints; 0: none
	name string      // its node's name in the dump; only if lenient
	line int         // the first line of the dump that has a path to it
}

// line reads a line of any dialect, whole.
func (p *parser) line(c reading.Cursor) error {
	switch {
	case len(c) > 2 && c[0] == '0' && c[1] == 'x':
		if p.private {
			return nil
		}
		return p.entry(c)
	case c.Cut(tablefiles.GroupsMark):
		p.groups = string(c)
		return nil
	case c.Empty(), c.Cut("#"), c.CutFold("lid "), c.Cut("Port "), c.Cut("PLFT_NUM: 0"):
		return nil
	case p.skipPrivate && c.Cut("PLFT_NUM:"):
		p.private = true
		return nil
	case c.Cut("PLFT_NUM:"):
		return p.lines.Errorf("a private forwarding table other than 0, by which packets travel that .far and .plft have to be there for")
	case c.Cut("Unicast lids ["):
		return p.unicastHeader(c)
	case c.Cut("dump_ucast_routes: Switch"), c.Cut("osm_ucast_mgr_dump_ucast_routes: Switch"):
		return p.begin(c, false)
	}
	if n, ok := c.Uint(1 << 32); ok {
		valid := c.Cut("valid")
		if c.Cut("lids dumped") {
			return p.trailer(int(n), valid)
		}
	}
	return p.ofOthers(c)
}

// ofOthers passes over a line that is of no table: any before, between and after tables whose dialect says where they end, and a warning
// of libibmad anywhere. It refuses others, and the message that a switch did not answer, since entries are missing then.
func (p *parser) ofOthers(c reading.Cursor) error {
	begun := p.at != fabric.None || p.unknownSwitches != nil
	switch {
	case bytes.Contains(c, []byte("SubnGet(")) && bytes.Contains(c, []byte("failed")):
		return p.lines.Errorf("a switch did not answer, and its table may have entries of other LIDs in place of those that it did not say: dump it again; the line: %s", reading.Printable(string(bytes.TrimSpace(c))))
	case p.open && bytes.Contains(c, []byte("iberror: ")):
		return p.cutHere()
	case p.trailed && !p.open, !begun, c.Cut("ibwarn: ["):
		if p.other == 0 {
			p.other = p.lines.Number()
		}
		return nil
	}
	return p.lines.Errorf("this is not a line of a forwarding table dump")
}

// cutHere ends the table being read at a line in which the program that dumped it says that it failed.
func (p *parser) cutHere() error {
	name, _ := p.here()
	said := reading.Printable(string(bytes.TrimSpace(p.lines.Text())))
	if !p.lenient {
		return p.lines.Errorf("the table of %s ends in an error of the program that dumped it: dump it again; the line: %s", name, said)
	}
	p.cut = append(p.cut, CutTable{Switch: name, Message: p.lines.Errorf("%s", said).Error()})
	p.open = false
	p.leftOut.here, p.leftOut.marked = 0, false
	return nil
}

// unicastHeader finds the GUID in the header of opensm-lfts.dump and dump_fts.
func (p *parser) unicastHeader(c reading.Cursor) error {
	_, rest, ok := bytes.Cut(c, []byte(" guid "))
	if !ok {
		return p.lines.Errorf("no guid of a switch in the header of its table")
	}
	if err := p.begin(rest, true); err != nil {
		return err
	}
	if _, ok := c.Hex(0xFFFF); ok && c.Cut("-") {
		top, _ := c.Hex(0xFFFF)
		p.leftOut.here = fabric.LID(top)
	}
	return nil
}

// begin starts the table of a switch; c begins with its node GUID. trailed says that its dialect ends tables with a line.
func (p *parser) begin(c reading.Cursor, trailed bool) error {
	if err := p.end(); err != nil {
		return err
	}
	p.top = max(p.top, p.topHere)
	v, ok := c.Hex(1<<64 - 1)
	if !ok {
		return p.lines.Errorf("no GUID of a switch in the header of its table")
	}
	if p.lenient && p.f.NodeByGUID(fabric.GUID(v)) == fabric.None {
		if err := p.unknownSwitch(fabric.GUID(v), c); err != nil {
			return err
		}
		p.at, p.trailed, p.open, p.entries, p.topHere = fabric.None, trailed, trailed, 0, 0
		return nil
	}
	s, err := p.begins.Begin(p.f, p.lines, fabric.GUID(v), "table")
	if err != nil {
		return err
	}
	p.private = false
	p.at, p.trailed, p.open, p.entries, p.topHere = s, trailed, trailed, 0, 0
	return nil
}

// end refuses the table being read if it lacks its last line.
func (p *parser) end() error {
	if p.open {
		name, line := p.here()
		at := p.lines.Number()
		if p.lines.Begins() {
			at-- // the last of the file before
		}
		return p.lines.ErrorAt(at, "truncated: the table of %s, from %s on, has no \"lids dumped\" at its end", name, p.lines.Line(line))
	}
	return nil
}

// here is the switch whose table is being read, and the line that it begins in.
func (p *parser) here() (name string, line int) {
	if p.at == fabric.None {
		last := p.unknownSwitches[len(p.unknownSwitches)-1]
		return last.GUID.String(), last.Line
	}
	return p.f.Label(p.at), p.begins[p.at]
}

// trailer ends a table. In "n valid lids dumped", as Write has it too, n is the number of its entries; in
// "n lids dumped" it is the largest LID, which tables may leave out for want of a path.
func (p *parser) trailer(n int, valid bool) error {
	if !p.open {
		return p.lines.Errorf("the end of a table that has not begun")
	}
	if valid && n != p.entries {
		name, _ := p.here()
		return p.lines.Errorf("the table of %s has %s, not %d", name, reading.Count(p.entries, "entry", "entries"), n)
	}
	p.open = false
	p.leftOut.end(valid, p.topHere)
	return nil
}

// leftOut finds out whether a dump leaves out the largest LID (Dump.LeftOut), as dump_fts and ibroute do: both end before the last
// block of 64 LIDs if that would have one alone.
type leftOut struct {
	here, top fabric.LID // the largest LID by the header of this table, and of those before
	marked    bool       // this table has marks that those two programs do not write
	has       bool       // some table is of another program, or lists the largest LID
}

// end takes note of a table that has ended; valid says that its last line is that of the two programs, last is the largest LID that it lists.
func (o *leftOut) end(valid bool, last fabric.LID) {
	if !valid || o.marked || o.here == 0 || o.here%64 != 0 || last >= o.here || o.top != 0 && o.top != o.here {
		o.has = true
	}
	o.top, o.here, o.marked = o.here, 0, false
}

// lid is the LID that is left out, or 0.
func (o *leftOut) lid() fabric.LID {
	if o.has {
		return 0
	}
	return o.top
}

// entry reads a line that begins with a LID.
func (p *parser) entry(c reading.Cursor) error {
	if p.at == fabric.None && p.unknownSwitches == nil || p.trailed && !p.open {
		return p.lines.Errorf("an entry outside of any table")
	}
	v, ok := c.Hex(0xFFFF)
	if !ok {
		return p.lines.Errorf("no hexadecimal LID up to 0xffff at the start of an entry")
	}
	lid := fabric.LID(v)
	p.entries++
	p.topHere = max(p.topHere, lid)
	colon := c.Cut(":") // opensm.fdbs
	if colon && c.Cut("UNREACHABLE") {
		return nil
	}
	port, ok := c.Uint(255)
	if !ok || len(c) > 0 && c[0] != ' ' && c[0] != '\t' && c[0] != '\r' && c[0] != ':' {
		return p.lines.Errorf("no out-port from 0 to 255 behind LID %d; the line may be cut short", lid)
	}
	if port == uint64(routing.NoPort) || p.at == fabric.None { // no path, or no switch of the fabric
		return nil
	}
	if n := p.f.Node(p.at); int(port) > n.Ports {
		return p.lines.Errorf("%s has %s, not a port %d", p.f.Label(p.at), reading.Count(n.Ports, "port", "ports"), port)
	}
	if port != 0 && p.f.Out(p.at, uint8(port)) == fabric.None {
		if !p.lenient {
			return p.lines.Errorf("port %d of %s has no cable in the fabric", port, p.f.Label(p.at))
		}
		p.deadEntry(uint8(port)) // and keep it: the switch drops what takes it
	}
	if lid == 0 || lid > fabric.MaxLID {
		return p.lines.Errorf("LID %d is no unicast LID", lid)
	}
	d := p.dest(lid)
	if d.row[p.at] != routing.NoPort {
		return p.lines.Errorf("a second entry of %s for LID %d", p.f.Label(p.at), lid)
	}
	d.row[p.at] = uint8(port)
	if colon && !c.Cut(":") { // the hops come next
		return p.lines.Errorf("the line is cut short")
	}
	return p.portGUID(c, d)
}

// dest is the destination with a LID, for an entry with a path to it. The first such entry
// makes its row.
func (p *parser) dest(lid fabric.LID) *dest {
	for int(lid) >= len(p.dests) {
		p.dests = append(p.dests, dest{})
	}
	d := &p.dests[lid]
	if d.row == nil {
		d.line = p.lines.Number()
		d.row = bytes.Repeat([]byte{routing.NoPort}, p.f.Switches())
	}
	return d
}

// portGUID reads the rest of an entry, behind the out-port: the port GUID of the
// destination, if it is there, which must be the same in all tables. The name after the
// GUID may contain anything.
func (p *parser) portGUID(c reading.Cursor, d *dest) error {
	if c.Cut("#") {
		p.leftOut.marked = true
	} else if !c.Cut(":") || !c.Cut("(") {
		return nil
	}
	end := ":"
	switch {
	case c.Cut("Channel Adapter"), c.Cut("Switch"), c.Cut("Router"):
	case c.Cut("path #"): // a further LID of the port before, by its LMC
		_, rest, _ := bytes.Cut(c, []byte(":"))
		c, end = rest, ")"
	}
	if !c.Cut("portguid") {
		return nil
	}
	v, ok := c.Hex(1<<64 - 1)
	if !ok || !c.Cut(end) {
		return p.lines.Errorf("no GUID behind portguid; the line may be cut short")
	}
	if d.guid == 0 {
		d.guid = fabric.GUID(v)
		p.guids++
		if p.lenient {
			d.name = quoted(c)
		}
	}
	if d.guid != fabric.GUID(v) {
		return p.lines.Errorf("the port GUID of this LID is %s here, but %s in a table before (from %s on)", fabric.GUID(v), d.guid, p.lines.Line(d.line))
	}
	return nil
}
