// Package graphs reads networks that other programs describe as graphs: GraphML and GML (yEd,
// Gephi, igraph, NetworkX), node-link JSON (NetworkX), DOT (Graphviz) and the
// network_file of BookSim2's anynet. What weft export writes in these forms is read back
// as the same fabric, except for LIDs, which are given anew.
//
// Nodes may have the attributes
//
//	kind   switch, adapter (or host) or router; of all nodes or of none
//	label  the description; without it the identifier of the graph
//	guid   in hexadecimal; without it one is made up, in the order of the file
//	ports  how many; without it the largest that a cable uses
//
// and edges, which are cables,
//
//	port_a, port_b  the ports at the first and at the second end; without them the next free
//	                port, in the order of the file
//	rate            such as 4xHDR
//
// All others are left alone. Where no node has a kind, all are switches with a host each,
// and a warning of the fabric says so. In a directed graph an edge and one back between the
// same two nodes are one cable.
package graphs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
)

// graph is what a reader collects, before anything is checked.
type graph struct {
	file     string
	directed bool
	nodes    []node
	edges    []edge
	byID     map[string]int // place in nodes
}

type node struct {
	id    string
	line  int
	attrs attributes
}

type edge struct {
	from, to string
	line     int
	attrs    attributes
}

// attributes is texts by name, in lower case.
type attributes map[string]string

// add adds a node, or what else is said of one. Node statements of DOT may be repeated.
func (g *graph) add(id string, line int, attrs attributes) {
	if g.byID == nil {
		g.byID = map[string]int{}
	}
	at, ok := g.byID[id]
	if !ok {
		at = len(g.nodes)
		g.byID[id] = at
		g.nodes = append(g.nodes, node{id, line, attributes{}})
	}
	for key, value := range attrs {
		g.nodes[at].attrs[key] = value
	}
}

func (g *graph) join(from, to string, line int, attrs attributes) {
	g.edges = append(g.edges, edge{from, to, line, attrs})
}

func (g *graph) errorf(line int, msg string, args ...any) error {
	return format.Errorf(g.file, max(line, 1), msg, args...)
}

// fabric checks the graph and builds its fabric.
func (g *graph) fabric() (*fabric.Fabric, error) {
	if len(g.nodes) == 0 {
		return nil, g.errorf(1, "no node in it")
	}
	bare, err := g.bare()
	if err != nil {
		return nil, err
	}
	cables, err := g.cables()
	if err != nil {
		return nil, err
	}
	ports, used, err := g.plug(cables)
	if err != nil {
		return nil, err
	}
	var b fabric.Builder
	refs := make([]fabric.Ref, len(g.nodes))
	for i := range g.nodes {
		n, err := g.node(i, used[i], bare)
		if err != nil {
			return nil, err
		}
		refs[i] = b.Node(n, fmt.Sprintf("%010d", i))
	}
	for i, c := range cables {
		b.Cable(refs[c.a], ports[i][0], refs[c.b], ports[i][1], c.rate)
	}
	if bare {
		for i := range g.nodes {
			host := b.Node(fabric.Node{Kind: fabric.Adapter, Ports: 1, Name: "host of " + g.nodes[i].name()}, fmt.Sprintf("%010d", i))
			b.Cable(host, 1, refs[i], uint8(used[i]+1), fabric.Rate{})
		}
		b.Warn("no node says of what kind it is (attribute kind: switch or adapter), so that all are switches with a host each")
	}
	f, err := b.Build()
	if err != nil {
		return nil, g.errorf(1, "%v", err)
	}
	return f, nil
}

// bare reports whether no node has a kind.
func (g *graph) bare() (bool, error) {
	with, without := -1, -1
	for i := range g.nodes {
		if g.nodes[i].attrs["kind"] != "" {
			with = i
		} else if without < 0 {
			without = i
		}
	}
	if with >= 0 && without >= 0 {
		n := &g.nodes[without]
		return false, g.errorf(n.line, "node %s has no kind, and others have one: add it (switch or adapter)", n.id)
	}
	return with < 0, nil
}

func (n *node) name() string {
	if label := n.attrs["label"]; label != "" {
		return label
	}
	return n.id
}

// node makes the node at a place; used is the largest port with a cable.
func (g *graph) node(i, used int, bare bool) (fabric.Node, error) {
	n := &g.nodes[i]
	result := fabric.Node{Name: n.name(), Ports: used}
	switch kind := n.attrs["kind"]; strings.ToLower(kind) {
	case "switch", "":
		result.Kind = fabric.Switch
	case "adapter", "host":
		result.Kind = fabric.Adapter
	case "router":
		result.Kind = fabric.Router
	default:
		return result, g.errorf(n.line, "node %s is of kind %q; there are switch, adapter, host and router", n.id, kind)
	}
	if text := n.attrs["guid"]; text != "" {
		c := reading.Cursor(text)
		guid, ok := c.Hex(1<<64 - 1)
		if !ok || !c.Empty() || guid == 0 {
			return result, g.errorf(n.line, "the guid of node %s is %q, which is no hexadecimal number of up to 16 digits", n.id, text)
		}
		result.GUID = fabric.GUID(guid)
	}
	if bare {
		result.Ports++
	}
	if text := n.attrs["ports"]; text != "" {
		count, err := strconv.ParseUint(text, 10, 8)
		if err != nil || int(count) < result.Ports {
			return result, g.errorf(n.line, "node %s has %q ports, and uses port %d", n.id, text, result.Ports)
		}
		result.Ports = int(count)
	}
	return result, nil
}

// cable is an edge whose ends are known, by place in nodes.
type cable struct {
	a, b         int
	aPort, bPort int // 0: not said
	rate         fabric.Rate
	line         int
}

// cables reads the edges, and leaves out those back of a directed graph.
func (g *graph) cables() (all []cable, err error) {
	back := map[[2]int][]int{} // cables by their ends that no edge back has been seen of
	for _, e := range g.edges {
		c := cable{line: e.line}
		for _, end := range []struct {
			id    string
			place *int
		}{{e.from, &c.a}, {e.to, &c.b}} {
			at, ok := g.byID[end.id]
			if !ok {
				return nil, g.errorf(e.line, "an edge ends at %s, and no node is called that", end.id)
			}
			*end.place = at
		}
		if c.aPort, err = g.port(&e, "port_a"); err == nil {
			c.bPort, err = g.port(&e, "port_b")
		}
		if err != nil {
			return nil, err
		}
		if text := e.attrs["rate"]; text != "" && text != "unknown" {
			if c.rate, err = fabric.ParseRate(text); err != nil {
				return nil, g.errorf(e.line, "the cable of %s and %s: rate %q is none like 4xHDR", e.from, e.to, text)
			}
		}
		if g.directed {
			if open := back[[2]int{c.b, c.a}]; len(open) > 0 && c.a != c.b {
				back[[2]int{c.b, c.a}] = open[1:]
				if err := g.merge(&all[open[0]], &c); err != nil {
					return nil, err
				}
				continue
			}
			back[[2]int{c.a, c.b}] = append(back[[2]int{c.a, c.b}], len(all))
		}
		all = append(all, c)
	}
	return all, nil
}

// merge adds what the edge back says of a cable.
func (g *graph) merge(c, back *cable) error {
	for _, port := range []struct{ there, here *int }{{&c.aPort, &back.bPort}, {&c.bPort, &back.aPort}} {
		if *port.there != 0 && *port.here != 0 && *port.there != *port.here {
			return g.errorf(back.line, "the edge back, of line %d, has other ports", c.line)
		}
		*port.there = max(*port.there, *port.here)
	}
	if c.rate == (fabric.Rate{}) {
		c.rate = back.rate
	}
	return nil
}

// port reads a port number of an edge; 0: none is given.
func (g *graph) port(e *edge, key string) (int, error) {
	text := e.attrs[key]
	if text == "" {
		return 0, nil
	}
	port, err := strconv.ParseUint(text, 10, 8)
	if err != nil || port == 0 || port > fabric.MaxPorts {
		return 0, g.errorf(e.line, "the cable of %s and %s: %s is %q, and ports have numbers from 1 to %d", e.from, e.to, key, text, fabric.MaxPorts)
	}
	return int(port), nil
}

// plug gives ports to the ends of cables that have none, and returns those of all cables
// and the largest that each node uses.
func (g *graph) plug(cables []cable) (ports [][2]uint8, used []int, err error) {
	taken := make([][fabric.MaxPorts + 2]bool, len(g.nodes))
	used = make([]int, len(g.nodes))
	take := func(c *cable, at, port int) error {
		if port > fabric.MaxPorts {
			return g.errorf(c.line, "node %s has more cables than InfiniBand numbers ports, %d", g.nodes[at].id, fabric.MaxPorts)
		}
		if taken[at][port] {
			return g.errorf(c.line, "port %d of node %s has two cables", port, g.nodes[at].id)
		}
		taken[at][port] = true
		used[at] = max(used[at], port)
		return nil
	}
	for i := range cables {
		c := &cables[i]
		for _, end := range [][2]int{{c.a, c.aPort}, {c.b, c.bPort}} {
			if end[1] != 0 && err == nil {
				err = take(c, end[0], end[1])
			}
		}
	}
	next := slices.Repeat([]int{1}, len(g.nodes))
	ports = make([][2]uint8, len(cables))
	for i := range cables {
		c := &cables[i]
		for side, end := range [][2]int{{c.a, c.aPort}, {c.b, c.bPort}} {
			at, port := end[0], end[1]
			if port == 0 && err == nil {
				for taken[at][next[at]] {
					next[at]++
				}
				port = next[at]
				err = take(c, at, port)
			}
			ports[i][side] = uint8(port)
		}
	}
	return ports, used, err
}
