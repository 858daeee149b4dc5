package reading

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
)

// Kind is the kind of a text, recognised by its beginning.
type Kind uint8

// The kinds of text that weft reads, and some that it does not. Those from firstUnread on have
// their names in tables of their own.
const (
	Unknown     Kind = iota // text, but none of the kinds below
	Empty                   // nothing but white space
	Binary                  // holds a NUL byte, or is still compressed
	IBNet                   // ibnetdiscover output or ibsim net file: package ibnet
	SubnetList              // opensm-subnet.lst: package subnetlst
	DBCSV                   // ibdiagnet2.db_csv: package ibdiagnet
	GraphML                 // package graphs, as the next three
	NodeLink                // JSON of NetworkX
	DOT                     // Graphviz
	Anynet                  // network_file of BookSim2
	LFT                     // opensm-lfts.dump, dump_fts, ibroute: package lft
	FDBS                    // opensm.fdbs: package lft
	SL2VLDump               // opensm-sl2vl.dump: package slvl
	SLVL                    // SLVL lines of ibdmchk: package slvl
	PSL                     // path service levels of ibdmchk: package psl
	Certificate             // proof of tables: package certificate
	GML                     // package graphs
	UFMLinks                // JSON of UFM: package cablelist
	CableList               // .ndt and other lists of cables, in columns: package cablelist
	Topo                    // .topo of ibutils: package topo
	LinkInfo                // iblinkinfo output: package iblinkinfo
	Workbook                // .xlsx
	tarArchive              // archive of tar
	escapedText             // with escape sequences
	firstUnread
)

func (k Kind) String() string {
	switch {
	case k >= firstPacked:
		return "a file packed by " + unreadPacked[k-firstPacked].by
	case k >= firstUnread:
		return unread[k-firstUnread].name
	}
	return [...]string{"text of an unknown kind", "an empty file", "a binary file", "ibnetdiscover output", "an opensm-subnet.lst", "an ibdiagnet2.db_csv",
		"XML", "JSON", "a graph of Graphviz", "a network_file of BookSim2",
		"a forwarding table dump", "an opensm.fdbs", "an opensm-sl2vl.dump", "an SLVL file", "a PSL file", "a certificate",
		"a graph in GML", "a list of UFM's links", "a list of cables", "a .topo file of ibutils", "iblinkinfo output", "a workbook or another ZIP archive",
		"a tar archive", "text with colors or other escape sequences of a terminal"}[k]
}

// Network reports whether texts of a kind describe a network, which package files reads.
func (k Kind) Network() bool {
	switch k {
	case IBNet, SubnetList, DBCSV, GraphML, NodeLink, DOT, Anynet, GML, UFMLinks, CableList, Topo, LinkInfo:
		return true
	}
	return false
}

// sniffed is how many bytes Peek looks at. There may be other lines before the first
// one that is typical of a kind.
const sniffed = 16 << 10

// Peek sniffs the beginning of r and returns a reader of all of it, in UTF-8.
func Peek(r io.Reader) (Kind, io.Reader, error) {
	t := textOf(r)
	b := bufio.NewReaderSize(t, sniffed)
	head, err := b.Peek(sniffed)
	if err != nil && err != io.EOF && !errors.Is(err, errHalf) { // errHalf comes again when all is read
		return Unknown, b, err
	}
	return Sniff(head), &text{b, t.note}, nil
}

// tarMagic is where a tar archive says that it is one.
const tarMagic = 257

// Sniff recognises the kind of a text by its beginning: the first line that is typical
// of a kind decides.
func Sniff(head []byte) Kind {
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return Workbook
	}
	for i, p := range unreadPacked {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return firstPacked + Kind(i)
		}
	}
	if len(head) > tarMagic && bytes.HasPrefix(head[tarMagic:], []byte("ustar")) {
		return tarArchive
	}
	if bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return Binary
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return Empty
	}
	for text := head; len(text) > 0; {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		if k := sniffPlan(line, text); k != Unknown {
			return k
		}
		if k := sniffLine(line); k != Unknown {
			return k
		}
		if k := sniffUnread(line); k != Unknown {
			return k
		}
		text = rest
	}
	if bytes.Contains(head, []byte("\x1b[")) { // whatever kind it is without them
		return escapedText
	}
	return Unknown
}

// sniffLine recognises a line of a text that weft reads, apart from those of sniffPlan.
func sniffLine(line Cursor) Kind {
	switch c := line; {
	case c.Cut("Unicast lids ["):
		return LFT
	case c.Cut("dump_ucast_routes:"), c.Cut("osm_ucast_mgr_dump_ucast_routes:"):
		return FDBS
	case c.Cut("START_"):
		return DBCSV
	case isLinkInfo(line):
		return LinkInfo
	case c.Cut("#in out"), c.Cut("Switch 0x"):
		return SL2VLDump
	case c.Cut("{"):
		if bytes.Contains(c, []byte("NodeGUID:")) {
			return SubnetList
		}
		if c.Empty() || c.Cut(`"`) {
			return NodeLink
		}
	case c.Cut("#compact"), c.Cut("#weft"):
		return PSL
	case c.Cut("weft certificate"):
		return Certificate
	case c.Cut("0x"):
		return sniffNumbers(line)
	case IsNodeRecord(line), IsPortsRow(line), IsAttribute(line), isProgress(line):
		return IBNet
	case c.Cut("<?xml"), c.Cut("<graphml"):
		return GraphML
	case isAnynet(line):
		return Anynet
	case c.Cut("graph"), c.Cut("digraph"), c.Cut("strict"):
		if c.Empty() || blank(c[0]) || c[0] == '{' {
			return DOT
		}
	}
	return Unknown
}

// sniffPlan recognises what UFM and ibutils know of a network, and GML; head is the line with all
// that follows.
func sniffPlan(line Cursor, head []byte) Kind {
	c := line
	switch lower := bytes.ToLower(line); {
	case c.Cut("["), c.Cut("{"):
		if bytes.Contains(head, []byte(`"source_guid"`)) {
			return UFMLinks
		}
	case c.Cut("graph"):
		if rest := bytes.TrimLeft(head[len(line)-len(c):], " \t\r\n"); len(rest) > 0 && rest[0] == '[' {
			return GML
		}
	case bytes.Contains(lower, []byte("startdevice")) && bytes.Contains(lower, []byte("enddevice")),
		bytes.Contains(lower, []byte("a-node name")) && bytes.Contains(lower, []byte("z-node name")):
		return CableList
	case isConnection(line):
		return Topo
	}
	return Unknown
}

// isConnection reports whether a line is one of a .topo: a port, an arrow such as -> or -4x-25G->, the
// type of a system, its name and its port.
func isConnection(c Cursor) bool {
	port, arrow := c.Word(), c.Word()
	if len(port) == 0 || len(arrow) < 2 || arrow[0] != '-' || arrow[len(arrow)-1] != '>' {
		return false
	}
	words := 0
	for !c.Empty() {
		word := c.Word()
		if words++; word[0] == '[' || bytes.HasSuffix(word, []byte(";")) { // DOT
			return false
		}
	}
	return words == 3
}

// sniffNumbers distinguishes SLVL lines (GUID in out bytes) from PSL lines (GUID LID
// SL).
func sniffNumbers(c Cursor) Kind {
	if _, ok := c.Hex(1<<64 - 1); !ok || len(c) > 0 && !blank(c[0]) || bytes.IndexByte(c, '"') >= 0 {
		return Unknown
	}
	words, hex := 0, 0
	for !c.Empty() {
		if bytes.HasPrefix(c.Word(), []byte("0x")) {
			hex++
		}
		words++
	}
	switch words {
	case 2:
		if hex == 0 { // guid2lid has LIDs so
			return PSL
		}
	case 3, 10:
		return SLVL
	}
	return Unknown
}

// linkInfo is lines of iblinkinfo: the row of a port, and the head of a node, of old versions "Switch GUID NAME:". An
// opensm-sl2vl.dump has no colon at the end of such a line.
var linkInfo = regexp.MustCompile(`\]\s*==\(.*\)==>|^(CA|Switch|Router): .*:$|^Switch 0x[0-9a-f]{16} [^,]*:$`)

// isLinkInfo reports whether a line is one of iblinkinfo. ibqueryerrors has such rows too, behind lines by which it is
// recognised.
func isLinkInfo(c Cursor) bool { return linkInfo.Match(bytes.TrimSuffix(c, []byte("\r"))) }

// isAnynet reports whether a line begins as in "router 0 node 1".
func isAnynet(c Cursor) bool {
	for range 2 {
		if word := string(c.Word()); word != "router" && word != "node" {
			return false
		}
		if _, ok := c.Uint(1 << 31); !ok {
			return false
		}
	}
	return true
}

// isProgress reports whether a line is one of those that ibnetdiscover -s prints before the
// topology: DR path slid 0; dlid 0; 0,1 -> new Switch {0008f10500200b50} portnum …
func isProgress(c Cursor) bool {
	return c.Cut("DR path slid ") && bytes.Contains(c, []byte(" -> new ")) && bytes.IndexByte(c, '{') >= 0
}

// IsAttribute reports whether a line of ibnetdiscover output is one like devid=0x5a06.
func IsAttribute(c Cursor) bool {
	for _, a := range [...]string{"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid="} {
		if c.CutFold(a) {
			return true
		}
	}
	return false
}

// IsPortsRow reports whether a line is one of a ports report, which is what ibnetdiscover -p
// prints: the kind of a node, a LID, the number of a port, a GUID.
func IsPortsRow(c Cursor) bool {
	if !c.Cut("SW") && !c.Cut("CA") && !c.Cut("RT") || len(c) == 0 || !blank(c[0]) {
		return false
	}
	for range 2 {
		if _, ok := c.Uint(1<<64 - 1); !ok {
			return false
		}
	}
	return c.Cut("0x")
}

// IsNodeRecord reports whether a line of ibnetdiscover output or of an ibsim net file
// begins a node: a keyword, a number of ports, a quoted identifier. The blanks between
// them may be missing.
func IsNodeRecord(c Cursor) bool {
	for _, keyword := range [...]string{"switch", "ca", "hca", "rt", "router"} {
		rest := c
		if !rest.CutFold(keyword) {
			continue
		}
		if _, ok := rest.Uint(1<<64 - 1); ok && rest.Cut(`"`) {
			return true
		}
	}
	return false
}
