// Package report describes networks, verdicts and pairs that are cut off, as text and
// as JSON, for several commands. What only one command prints is beside that command.
package report

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
)

// Labels is the labels of nodes.
func Labels(f *fabric.Fabric, nodes []fabric.NodeID) []string {
	return list.Of(nodes, f.Label)
}

// Endpoints counts the endpoints of a fabric.
func Endpoints(f *fabric.Fabric) string {
	n := f.Count()
	s := words.Plural(n.HCA, "host adapter port")
	if n.Aggregation > 0 {
		s += ", " + words.Plural(n.Aggregation, "aggregation node")
	}
	if n.Router > 0 {
		s += ", " + words.Plural(n.Router, "router port")
	}
	return s
}

// Counts says how much of everything a fabric has.
func Counts(f *fabric.Fabric) string {
	return fmt.Sprintf("%s, %s, %s between switches", words.Plural(f.Switches(), "switch"), words.Plural(f.Count().HCA, "host adapter port"), words.Plural(f.Count().SwitchCables, "cable"))
}

// Network names a fabric and counts its nodes.
func Network(name string, f *fabric.Fabric) string {
	return fmt.Sprintf("%s: %s, %s", name, words.Plural(f.Switches(), "switch"), Endpoints(f))
}

// NetworkAndCables is Network with the cables between switches.
func NetworkAndCables(name string, f *fabric.Fabric) string {
	return fmt.Sprintf("%s, %s between switches", Network(name, f), words.Plural(f.Count().SwitchCables, "cable"))
}

// Parts lists the connected parts of a network, one per line.
func Parts(f *fabric.Fabric, parts [][]fabric.NodeID) string {
	const most = 4
	var b strings.Builder
	for i, part := range parts {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d smaller parts", len(parts)-most)
			break
		}
		adapters := 0
		for _, s := range part {
			adapters += len(f.Attached(s)) - 1
		}
		fmt.Fprintf(&b, "\n  %s with %s: %s", words.Plural(len(part), "switch"), words.Plural(adapters, "endpoint"), words.FirstOf(Labels(f, part)))
	}
	return b.String()
}
