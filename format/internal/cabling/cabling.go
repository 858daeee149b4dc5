// Package cabling makes fabrics of files that list cables: devices are known by name, a cable
// may be stated from one end or from both, ports may be numbers or the labels on the box, and
// seldom does a file say which devices are switches. What has to be guessed is guessed in one
// place and told in a warning; what contradicts is refused with both lines.
package cabling

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
)

// Kind is what a file says a device is.
type Kind uint8

// The kinds of device.
const (
	Unknown Kind = iota
	Switch
	Adapter
	Router
)

func (k Kind) String() string {
	return [...]string{"not known", "a switch", "an adapter", "a router"}[k]
}

// Node is what a file says of a switch or an adapter.
type Node struct {
	Key   string      // by which the file knows it, in all of its lines
	Name  string      // description; empty: Key
	Kind  Kind        // Unknown: guessed when all cables are known
	GUID  fabric.GUID // zero: one is made up, in the natural order of the keys
	Ports int         // how many there are; 0, or less than are used: up to the largest that is used
	Model string      // what it is a piece of; those of one model are of one kind. Empty: not known

	PortGUID bool // of an adapter: with a single port in use, it has the GUID of the node
}

// Port is a port by its number, or by a label that has none.
type Port struct {
	Number int // 0: not known
	Label  string
}

func (p Port) String() string {
	if p.Number > 0 {
		return fmt.Sprint(p.Number)
	}
	return p.Label
}

// End is an end of a cable. Node is what List.Node returned.
type End struct {
	Node int
	Port Port
}

// List collects nodes and cables. The zero List is empty.
type List struct {
	File string

	nodes    []node
	byKey    map[string]int
	cables   []cable
	plugged  map[End]int // place in cables
	warnings []string
	differ   int    // cables whose ends state different rates
	first    string // the two rates of the first of them, with their lines
}

// node is a Node with the line that names it first.
type node struct {
	Node
	line int
}

// cable is a cable with the line that states it first.
type cable struct {
	ends [2]End
	rate fabric.Rate // the zero Rate: not stated
	line int
}

// Node adds a node, or what a further line says of one that is there, and returns its place in the list.
func (l *List) Node(n Node, line int) (int, error) {
	at, ok := l.byKey[n.Key]
	if !ok {
		if l.byKey == nil {
			l.byKey = map[string]int{}
		}
		at = len(l.nodes)
		l.byKey[n.Key] = at
		l.nodes = append(l.nodes, node{Node: n, line: line})
		return at, nil
	}
	known := &l.nodes[at]
	switch {
	case known.Kind == Unknown:
		known.Kind = n.Kind
	case n.Kind != Unknown && n.Kind != known.Kind:
		return 0, format.Errorf(l.File, line, "%s is %s here, and %s by line %d", n.Key, n.Kind, known.Kind, known.line)
	}
	switch {
	case known.GUID == 0:
		known.GUID = n.GUID
	case n.GUID != 0 && n.GUID != known.GUID:
		return 0, format.Errorf(l.File, line, "%s has GUID %s here, and %s by line %d", n.Key, n.GUID, known.GUID, known.line)
	}
	if known.Name == "" {
		known.Name = n.Name
	}
	known.Ports = max(known.Ports, n.Ports)
	known.PortGUID = known.PortGUID || n.PortGUID
	return at, nil
}

// Cable adds a cable, or the same one as its other end or another line states it. The slower
// rate counts.
func (l *List) Cable(a, b End, rate fabric.Rate, line int) error {
	for _, end := range [...]End{a, b} {
		if end.Port.Number > fabric.MaxPorts {
			return format.Errorf(l.File, line, "port %d of %s: InfiniBand numbers ports from 1 to %d", end.Port.Number, l.nodes[end.Node].Key, fabric.MaxPorts)
		}
	}
	if a == b {
		return format.Errorf(l.File, line, "a cable from port %s of %s to itself", a.Port, l.nodes[a.Node].Key)
	}
	for _, pair := range [...][2]End{{a, b}, {b, a}} {
		at, taken := l.plugged[pair[0]]
		if !taken {
			continue
		}
		c := &l.cables[at]
		if c.ends != [2]End{a, b} && c.ends != [2]End{b, a} {
			other := c.ends[0]
			if other == pair[0] {
				other = c.ends[1]
			}
			return format.Errorf(l.File, line, "two cables in port %s of %s: to port %s of %s here, and to port %s of %s by line %d", pair[0].Port, l.nodes[pair[0].Node].Key,
				pair[1].Port, l.nodes[pair[1].Node].Key, other.Port, l.nodes[other.Node].Key, c.line)
		}
		l.restated(c, rate, line)
		return nil
	}
	if l.plugged == nil {
		l.plugged = map[End]int{}
	}
	l.plugged[a], l.plugged[b] = len(l.cables), len(l.cables)
	l.cables = append(l.cables, cable{ends: [2]End{a, b}, rate: rate, line: line})
	return nil
}

// restated notes the rate that another line gives a cable, which becomes the cable's if it is slower.
func (l *List) restated(c *cable, rate fabric.Rate, line int) {
	if c.rate == (fabric.Rate{}) {
		c.rate = rate
	}
	if rate == c.rate || rate == (fabric.Rate{}) {
		return
	}
	if l.differ++; l.differ == 1 {
		l.first = fmt.Sprintf("%s by line %d and %s by line %d", c.rate, c.line, rate, line)
	}
	if rate.Known() && (!c.rate.Known() || rate.Mbps() < c.rate.Mbps()) {
		c.rate = rate
	}
}

// Rate gives the cable at an end a rate if no line has given it one.
func (l *List) Rate(at End, rate fabric.Rate) {
	if i, ok := l.plugged[at]; ok && l.cables[i].rate == (fabric.Rate{}) {
		l.cables[i].rate = rate
	}
}

// Warn records an oddity that was resolved, for Fabric.Warnings.
func (l *List) Warn(text string, args ...any) {
	l.warnings = append(l.warnings, fmt.Sprintf(text, args...))
}

// Empty reports whether there is no cable.
func (l *List) Empty() bool { return len(l.cables) == 0 }

// Build makes the fabric, when all lines are read: it guesses which devices are switches, and numbers ports that have labels only.
func (l *List) Build() (*fabric.Fabric, error) {
	if l.Empty() {
		return nil, format.Errorf(l.File, 1, "no cable in it")
	}
	l.guessKinds()
	numbers, err := l.number()
	if err != nil {
		return nil, err
	}
	var b fabric.Builder
	refs := make([]fabric.Ref, len(l.nodes))
	for i := range l.nodes {
		n := &l.nodes[i]
		ports := n.Ports
		for _, number := range numbers[i] {
			ports = max(ports, number)
		}
		name := n.Name
		if name == "" {
			name = n.Key
		}
		refs[i] = b.Node(fabric.Node{GUID: n.GUID, Kind: fabric.Kind(n.Kind - Switch), Ports: ports, Name: name}, natural(n.Key)+"\x00"+n.Key)
		if n.PortGUID && len(numbers[i]) == 1 {
			for _, number := range numbers[i] {
				b.Port(refs[i], uint8(number), fabric.Port{GUID: n.GUID})
			}
		}
	}
	unknown := 0
	for _, c := range l.cables {
		var port [2]uint8
		for side, end := range c.ends {
			port[side] = uint8(numbers[end.Node][end.Port])
		}
		if c.rate == (fabric.Rate{}) {
			unknown++
		}
		b.Cable(refs[c.ends[0].Node], port[0], refs[c.ends[1].Node], port[1], c.rate)
	}
	for _, w := range l.warnings {
		b.Warn("%s", w)
	}
	if l.differ > 0 {
		b.Warn("%s at their ends, the first at %s; the slower counts", reading.Count(l.differ, "cable has different rates", "cables have different rates"), l.first)
	}
	switch {
	case unknown == len(l.cables):
		b.Warn("no cable has a rate: none is known to be faster than another")
	case unknown > 0:
		b.Warn("%d of %s no rate", unknown, reading.Count(len(l.cables), "cable has", "cables have"))
	}
	f, err := b.Build()
	if err != nil {
		return nil, format.Errorf(l.File, 1, "%s", err.Error())
	}
	return f, nil
}
