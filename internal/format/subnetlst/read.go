// Package subnetlst reads opensm-subnet.lst, OpenSM's list of the cables it
// found, as a fabric or as a Map that says which port a LID or a port GUID of
// that OpenSM belongs to.
//
// A line is one cable, seen from one end; the same cable seen from the other end
// is mostly, but not always, a line of its own:
//
//	{ SW Ports:24 SystemGUID:… NodeGUID:… PortGUID:… VenID:… DevID:… Rev:… {name} LID:0002 PN:01 } { CA … } PHY=4x LOG=ACT SPD=2.5
//
// Every number is hexadecimal, Ports, LID and PN included. The node is labelled
// SW, CA or Rt, with -SM behind it where the subnet manager runs. SPD is the
// speed of a lane in Gbit/s: 2.5 is SDR, 5 DDR, 10 QDR, 14 FDR, 25 EDR, 50 HDR,
// 100 NDR, 200 XDR; FDR10 is written as such. OpenSM prints the device of the
// second node shifted by 16 bits, which is undone.
//
// Old versions of OpenSM label switches CA. Every port of an adapter has a GUID of its
// own, while a switch has one for all ports. So a node labelled CA is taken for a
// switch when two of its ports show the same PortGUID, or when only one of its ports is
// in use and it has more than four.
//
// Some programs that write such lists leave out SPD=, and even LOG=, throughout. Speeds are
// then not known, with a warning.
//
// Unconnected ports and nodes without a cable are not in the list, nor are LMCs. If the
// two lines of a cable give different speeds, the slower is used, with a warning; any
// other contradiction is refused, naming both lines.
package subnetlst

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
)

// side is a node and port as one half of a line describes it.
type side struct {
	node     int32
	port     uint8
	portGUID fabric.GUID
	lid      fabric.LID
}

// link is a line.
type link struct {
	a, b side
	rate fabric.Rate
	line int
	// lines is 2 if a later line has the cable from its other end, else 1. It is 0 for such a
	// later line.
	lines int
}

// node is a node as all lines describe it.
type node struct {
	fabric.Node
	line int // the first that names it
}

// list is a file that is being read, for Read and ReadMap.
type list struct {
	lines  *reading.Lines
	bare   int  // the first line without SPD=; 0: none
	speeds bool // some line has it
	nodes  []node
	links  []link
	byGUID map[fabric.GUID]int32 // place in nodes
	ports  map[portKey]identity
}

// parse reads all lines, one by one; join then finds those of one cable.
func parse(r io.Reader, file string) (*list, error) {
	l := &list{lines: reading.NewLines(r, file), byGUID: map[fabric.GUID]int32{}, ports: map[portKey]identity{}}
	if err := l.lines.Each(l.line); err != nil {
		return nil, err
	}
	switch {
	case l.bare != 0 && l.speeds:
		return nil, l.lines.ErrorAt(l.bare, "no SPD= at the end, which other lines have; the line may be cut short")
	case l.bare != 0 && !l.lines.Whole():
		return nil, l.lines.Errorf("no SPD= at the end, and no end of the line; it may be cut short")
	}
	if len(l.links) == 0 {
		return nil, l.lines.Errorf("no cable in the whole file: this is no opensm-subnet.lst")
	}
	l.findSwitches()
	return l, nil
}

func (l *list) line(c reading.Cursor) error {
	if c.Empty() || c.Cut("#") {
		return nil
	}
	k := link{line: l.lines.Number()}
	var err error
	if k.a, err = l.side(&c); err != nil {
		return err
	}
	if k.b, err = l.side(&c); err != nil {
		return err
	}
	if k.a.node == k.b.node && k.a.port == k.b.port {
		return l.lines.Errorf("port %d of %q is cabled to itself", k.a.port, l.nodes[k.a.node].Name)
	}
	if !c.Cut("PHY=") {
		return l.lines.Errorf("no PHY= behind the second node; the line may be cut short")
	}
	width, _ := c.Uint(255)
	c.Word()
	if c.Cut("LOG=") {
		c.Word()
	}
	if !c.Cut("SPD=") {
		if !c.Empty() {
			return l.lines.Errorf("no SPD= at the end; the line may be cut short")
		}
		if l.bare == 0 {
			l.bare = k.line
		}
		l.links = append(l.links, k)
		return nil
	}
	speed := c.Word()
	if len(speed) == 0 {
		return l.lines.Errorf("no speed behind SPD=; the line may be cut short")
	}
	l.speeds = true
	if width > 0 {
		if known, ok := speeds[string(speed)]; ok {
			k.rate = fabric.Rate{Width: uint8(width), Speed: known}
		} else if rate, err := fabric.ParseRate(fmt.Sprintf("%dx%s", width, speed)); err == nil {
			k.rate = rate // of a speed by its name; ? and what is no word says nothing
		}
	}
	l.links = append(l.links, k)
	return nil
}

// speeds is what OpenSM prints for each speed, in Gbit/s a lane; it prints FDR10 by name.
var speeds = map[string]fabric.Speed{
	"2.5": fabric.SDR, "5": fabric.DDR, "10": fabric.QDR, "14": fabric.FDR, "25": fabric.EDR, "50": fabric.HDR, "100": fabric.NDR, "200": fabric.XDR,
}

// hexField is a field of a half line: its key and the largest value it may have.
type hexField struct {
	key string
	top uint64
}

// The fields of half a line, in order; the name stands between Rev and LID.
const (
	fieldPorts = iota
	fieldSystem
	fieldNode
	fieldPortGUID
	fieldVendor
	fieldDevice
	fieldRevision
	fieldsBeforeName
)

var hexFields = [fieldsBeforeName]hexField{
	{"Ports:", fabric.MaxPorts}, {"SystemGUID:", 1<<64 - 1}, {"NodeGUID:", 1<<64 - 1}, {"PortGUID:", 1<<64 - 1},
	{"VenID:", 1<<32 - 1}, {"DevID:", 1<<32 - 1}, {"Rev:", 1<<32 - 1},
}

// side reads half a line, from { to }.
func (l *list) side(c *reading.Cursor) (side, error) {
	if !c.Cut("{") {
		return side{}, l.lines.Errorf("a node in curly brackets is missing")
	}
	kind, err := l.kind(c.Word())
	if err != nil {
		return side{}, err
	}
	var v [fieldsBeforeName]uint64
	for i, field := range hexFields {
		if v[i], err = l.hex(c, field); err != nil {
			return side{}, err
		}
	}
	if !c.Cut("{") {
		return side{}, l.lines.Errorf("no name in curly brackets behind Rev:")
	}
	name, rest, ok := bytes.Cut(*c, []byte("} LID:"))
	if !ok {
		return side{}, l.lines.Errorf("no LID: behind the name; the line may be cut short")
	}
	*c = rest
	lid, ok := c.Hex(0xFFFF)
	if !ok {
		return side{}, l.lines.Errorf("no hexadecimal LID up to FFFF behind LID:")
	}
	port, err := l.hex(c, hexField{"PN:", fabric.MaxPorts})
	if err != nil {
		return side{}, err
	}
	if !c.Cut("}") {
		return side{}, l.lines.Errorf("no closing curly bracket behind PN:")
	}
	if port == 0 || port > v[fieldPorts] {
		return side{}, l.lines.Errorf("port %d of a node with %s", port, reading.Count(int(v[fieldPorts]), "port", "ports"))
	}
	device := uint32(v[fieldDevice])
	if device > 0xFFFF && device&0xFFFF == 0 {
		device >>= 16
	}
	vendor := uint32(v[fieldVendor])
	if vendor == 0 && device == fabric.AggregationDevice {
		vendor = fabric.AggregationVendor // some releases of OpenSM leave it out, and no other vendor's device is known by the number
	}
	at, err := l.node(fabric.Node{
		GUID: fabric.GUID(v[fieldNode]), SystemGUID: fabric.GUID(v[fieldSystem]), Kind: kind, Ports: int(v[fieldPorts]),
		VendorID: vendor, DeviceID: device,
	}, name)
	return side{node: at, port: uint8(port), portGUID: fabric.GUID(v[fieldPortGUID]), lid: fabric.LID(lid)}, err
}

// hex cuts a field off a line.
func (l *list) hex(c *reading.Cursor, field hexField) (uint64, error) {
	if !c.Cut(field.key) {
		return 0, l.lines.Errorf("no %s where it belongs; the line may be cut short", field.key)
	}
	v, ok := c.Hex(field.top)
	if !ok {
		return 0, l.lines.Errorf("no hexadecimal number up to %X behind %s", field.top, field.key)
	}
	return v, nil
}

// kind is what a label says of a node. Old lists say CA of switches too: see findSwitches.
func (l *list) kind(label []byte) (fabric.Kind, error) {
	switch strings.TrimSuffix(string(label), "-SM") {
	case "SW":
		return fabric.Switch, nil
	case "CA":
		return fabric.Adapter, nil
	case "Rt", "RT", "RTR":
		return fabric.Router, nil
	}
	return 0, l.lines.Errorf("a node is SW, CA or Rt, not %q", label)
}

// node is the place of the node with a GUID, which it adds if it is new; later lines must describe it as the first does.
func (l *list) node(n fabric.Node, name []byte) (int32, error) {
	if n.GUID == 0 {
		return 0, l.lines.Errorf("a node with GUID 0")
	}
	if at, ok := l.byGUID[n.GUID]; ok {
		if old := &l.nodes[at]; old.Kind != n.Kind || old.Ports != n.Ports {
			return 0, l.lines.Errorf("node %s is a %s with %s here, but a %s with %d in line %d", n.GUID, n.Kind, reading.Count(n.Ports, "port", "ports"), old.Kind, old.Ports, old.line)
		}
		return at, nil
	}
	n.Name = string(name)
	at := int32(len(l.nodes))
	l.nodes = append(l.nodes, node{Node: n, line: l.lines.Number()})
	l.byGUID[n.GUID] = at
	return at, nil
}

// mostPorts is the largest number of ports of a node that is taken for an adapter when
// nothing else distinguishes it from a switch.
const mostPorts = 4

// findSwitches finds the switches among the nodes labelled CA.
func (l *list) findSwitches() {
	type shown struct {
		port   uint8 // the first port seen
		guid   fabric.GUID
		more   bool // other ports are seen too
		shared bool // one of them has the same GUID
	}
	seen := make([]shown, len(l.nodes))
	for i := range l.links {
		for _, s := range [2]*side{&l.links[i].a, &l.links[i].b} {
			switch n := &seen[s.node]; {
			case n.port == 0:
				n.port, n.guid = s.port, s.portGUID
			case n.port != s.port:
				n.more = true
				n.shared = n.shared || n.guid == s.portGUID
			}
		}
	}
	for i := range l.nodes {
		n, s := &l.nodes[i], &seen[i]
		if n.Kind == fabric.Adapter && (s.shared || !s.more && n.Ports > mostPorts) {
			n.Kind = fabric.Switch
		}
	}
}
