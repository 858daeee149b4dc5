package export

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weft-fabric/weft/result"
)

// dotUnit is how many points of Graphviz the distance between two switches of the map is:
// room for the names of the hosts round each.
const dotUnit = 288.0

// writeDOT writes a graph of Graphviz. All nodes have the places of the map, which neato -n
// keeps, hosts those round their switches where the page unfolds them.
func writeDOT(w *bufio.Writer, n *result.ReportNetwork) error {
	fmt.Fprintf(w, "graph %s {\n  node [shape=box];\n", dotText(n.Name))
	x, y := places(n)
	for i := range int32(len(n.Nodes.Name)) {
		fmt.Fprintf(w, "  n%d [", i)
		for k, a := range nodeAttributes(n, i) {
			if k > 0 {
				w.WriteString(", ")
			}
			fmt.Fprintf(w, "%s=%s", a.key, dotText(a.text()))
		}
		fmt.Fprintf(w, ", pos=\"%.2f,%.2f\"", dotUnit*x[i], -dotUnit*y[i])
		if int(i) >= len(n.Nodes.X) {
			w.WriteString(", shape=plaintext, fontsize=8, width=0.1, height=0.1, margin=0.02")
		}
		w.WriteString("];\n")
	}
	for i := range n.Cables.A {
		fmt.Fprintf(w, "  n%d -- n%d [", n.Cables.A[i], n.Cables.B[i])
		for k, a := range cableAttributes(n, i) {
			if k > 0 {
				w.WriteString(", ")
			}
			fmt.Fprintf(w, "%s=%s", a.key, dotText(a.text()))
		}
		w.WriteString("];\n")
	}
	_, err := w.WriteString("}\n")
	return err
}

// places is where all nodes stand on the map: adapters on circles round the switch that
// their first port is cabled to, those without one in a row below everything.
func places(n *result.ReportNetwork) (x, y []float64) {
	c := &n.Nodes
	x, y = make([]float64, len(c.Name)), make([]float64, len(c.Name))
	below := 0.0
	for s := range c.X {
		x[s], y[s] = c.X[s], c.Y[s]
		below = max(below, c.Y[s]+1)
	}
	hosts := make([][]int32, len(c.X)) // by switch
	placed := make([]bool, len(c.Name))
	for e, node := range n.Ports.Node {
		if at := n.Ports.Switch[e]; at >= 0 && !placed[node] {
			placed[node] = true
			hosts[at] = append(hosts[at], node)
		}
	}
	const circle = 24 // hosts on the first circle, and on each further one
	for s, list := range hosts {
		for i, node := range list {
			round := float64(i / circle)
			angle := 2*math.Pi*float64(i%circle)/float64(min(len(list), circle)) + 0.13*round + math.Pi/2
			r := 0.3 + 0.11*round
			x[node], y[node] = x[s]+r*math.Cos(angle), y[s]-r*math.Sin(angle)
		}
	}
	alone := 0.0
	for node := len(c.X); node < len(c.Name); node++ {
		if !placed[node] {
			x[node], y[node] = alone, below
			alone++
		}
	}
	return x, y
}

// dotText is a string of DOT. A backslash begins an escape there, and control characters
// would end the line.
func dotText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// xmlText has blanks for what XML has no way to write, control characters, and escapes the rest.
func xmlText(s string) string {
	var b strings.Builder
	clean := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	if err := xml.EscapeText(&b, []byte(clean)); err != nil {
		return "" // a Builder takes everything
	}
	return b.String()
}

// writeGraphML writes the graph with its attributes, every cable an edge of its own.
func writeGraphML(w *bufio.Writer, n *result.ReportNetwork) error {
	w.WriteString(xml.Header + `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">` + "\n")
	declare := func(element string, list []attribute) { // their values say of which type they are
		for _, a := range list {
			kind := "string"
			if _, ok := a.value.(int64); ok {
				kind = "long"
			}
			fmt.Fprintf(w, `  <key id="%s_%s" for="%s" attr.name="%s" attr.type="%s"/>`+"\n", element, a.key, element, a.key, kind)
		}
	}
	declare("node", []attribute{{"label", ""}, {"guid", ""}, {"kind", ""}, {"ports", int64(0)}, {"level", int64(0)}, {"group", int64(0)}})
	declare("edge", []attribute{{"port_a", int64(0)}, {"port_b", int64(0)}, {"rate", ""}, {"routes_a_to_b", int64(0)}, {"routes_b_to_a", int64(0)}})
	if n.Ethernet {
		declare("edge", []attribute{{"interface_a", ""}, {"interface_b", ""}})
	}
	fmt.Fprintf(w, `  <graph id="%s" edgedefault="undirected">`+"\n", xmlText(n.Name))
	data := func(element string, list []attribute) {
		for _, a := range list {
			fmt.Fprintf(w, `<data key="%s_%s">%s</data>`, element, a.key, xmlText(a.text()))
		}
	}
	for i := range int32(len(n.Nodes.Name)) {
		fmt.Fprintf(w, `    <node id="n%d">`, i)
		data("node", nodeAttributes(n, i))
		w.WriteString("</node>\n")
	}
	for i := range n.Cables.A {
		fmt.Fprintf(w, `    <edge id="e%d" source="n%d" target="n%d">`, i, n.Cables.A[i], n.Cables.B[i])
		data("edge", cableAttributes(n, i))
		w.WriteString("</edge>\n")
	}
	_, err := w.WriteString("  </graph>\n</graphml>\n")
	return err
}

// writeNodeLink writes what networkx.node_link_graph reads, in its form with links.
func writeNodeLink(w *bufio.Writer, n *result.ReportNetwork) error {
	object := func(list []attribute) string {
		var b strings.Builder
		for i, a := range list {
			if i > 0 {
				b.WriteString(", ")
			}
			value := a.text()
			if s, ok := a.value.(string); ok {
				value = jsonText(s)
			}
			fmt.Fprintf(&b, "%s: %s", strconv.Quote(a.key), value)
		}
		return b.String()
	}
	fmt.Fprintf(w, "{\"directed\": false, \"multigraph\": true, \"graph\": {\"name\": %s},\n \"nodes\": [", jsonText(n.Name))
	for i := range int32(len(n.Nodes.Name)) {
		if i > 0 {
			w.WriteString(",")
		}
		fmt.Fprintf(w, "\n  {\"id\": %d, %s}", i, object(nodeAttributes(n, i)))
	}
	w.WriteString("],\n \"links\": [")
	for i := range n.Cables.A {
		if i > 0 {
			w.WriteString(",")
		}
		fmt.Fprintf(w, "\n  {\"source\": %d, \"target\": %d, \"key\": %d, %s}", n.Cables.A[i], n.Cables.B[i], i, object(cableAttributes(n, i)))
	}
	_, err := w.WriteString("]}\n")
	return err
}

// jsonText is a string of JSON.
func jsonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // strings have no way to fail
	}
	return string(b)
}
