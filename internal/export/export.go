// Package export writes fabrics, their loads and what was found of them in the forms of
// other tools: Graphviz, GraphML, NetworkX, spreadsheets, Slurm and Prometheus.
//
// All forms are made of a network as package page describes it. Those about cables have
// the loads of its first tables, if it has any.
package export

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/result"
)

// Format is a row of Formats, what --to may name.
type Format struct {
	Name   string
	What   string
	Judged bool // it is about tables, and so needs some
	Hosts  bool // it is about hosts by name
	write  func(w *bufio.Writer, n *result.ReportNetwork) error
}

// Formats is in the order in which help lists them.
var Formats = []Format{
	{Name: "dot", What: "Graphviz: switches, hosts and cables", write: writeDOT},
	{Name: "graphml", What: "GraphML, for yEd, Gephi or igraph", write: writeGraphML},
	{Name: "json", What: "node-link JSON, for networkx.node_link_graph", write: writeNodeLink},
	{Name: "anynet", What: "BookSim2's network_file for anynet: routers are switches, nodes the ports of adapters", write: writeAnynet},
	{Name: "csv", What: "a line for each cable between switches, with its loads", Judged: true, write: writeCSV},
	{Name: "slurm", What: "Slurm's topology.conf, of the levels of the switches", Hosts: true, write: writeSlurm},
	{Name: "slurm-yaml", What: "the same as topology.yaml", Hosts: true, write: writeSlurmYAML},
	{Name: "prometheus", What: "the findings as Prometheus text, for a textfile collector", Judged: true, write: writePrometheus},
}

// Names is the names of Formats.
func Names() []string { return list.Of(Formats, func(f Format) string { return f.Name }) }

// Named is the row with a name; the error says which there are.
func Named(name string) (*Format, error) {
	at := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("there is no such form%s (there are %s)", spell.Hint(name, Names()), strings.Join(Names(), ", "))
	}
	return &Formats[at], nil
}

// Write writes a network.
func (f *Format) Write(w io.Writer, n *result.ReportNetwork) error {
	if f.Judged && len(n.Tables) == 0 {
		return fmt.Errorf("%s is about tables, and there are none", f.Name)
	}
	b := bufio.NewWriter(w)
	if err := f.write(b, n); err != nil {
		return err
	}
	return b.Flush()
}

// label is the description of a node, or its GUID where that is empty.
func label(n *result.ReportNetwork, node int32) string {
	if name := n.Nodes.Name[node]; name != "" {
		return name
	}
	return n.Nodes.GUID[node]
}

// kinds is what nodes are, by the numbers of result.ReportNodes.
var kinds = [...]string{"switch", "adapter", "router"}

// attribute is something said of a node or a cable.
type attribute struct {
	key   string
	value any // a string or an int64
}

// nodeAttributes is what is said of a node, of a switch with its level and group if the network has such.
func nodeAttributes(n *result.ReportNetwork, node int32) []attribute {
	c := &n.Nodes
	all := []attribute{{"label", label(n, node)}, {"guid", c.GUID[node]}, {"kind", kinds[c.Kind[node]]}, {"ports", int64(c.Ports[node])}}
	if int(node) < len(c.Level) {
		all = append(all, attribute{"level", int64(c.Level[node])})
		if c.Group[node] >= 0 {
			all = append(all, attribute{"group", int64(c.Group[node])})
		}
	}
	return all
}

// cableAttributes is what is said of a cable, with the loads of the first tables.
func cableAttributes(n *result.ReportNetwork, i int) []attribute {
	c := &n.Cables
	all := []attribute{{"port_a", int64(c.APort[i])}, {"port_b", int64(c.BPort[i])}, {"rate", n.Rates[c.Rate[i]]}}
	if n.Ethernet && i < c.Trunks {
		all = append(all, attribute{"interface_a", c.AName[i]}, attribute{"interface_b", c.BName[i]})
	}
	if len(n.Tables) > 0 && i < c.Trunks {
		load := &n.Tables[0].Load
		all = append(all, attribute{"routes_a_to_b", int64(load.There[i])}, attribute{"routes_b_to_a", int64(load.Back[i])})
	}
	return all
}

// text is the value as text.
func (a attribute) text() string {
	switch v := a.value.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case string:
		return v
	}
	return fmt.Sprint(a.value)
}
