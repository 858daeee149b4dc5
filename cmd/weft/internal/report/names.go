// Package report describes networks, verdicts and pairs that are cut off, as text and
// as JSON, for several commands. What only one command prints is beside that command.
package report

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/cmd/weft/internal/words"
	"github.com/weft-fabric/weft/fabric"
)

// Endpoint names an endpoint, with its port if the node has several.
func Endpoint(f *fabric.Fabric, e fabric.EndpointID) string {
	ep := f.Endpoint(e)
	if n := f.Node(ep.Node); n.Kind != fabric.Switch && n.Ports > 1 {
		return fmt.Sprintf("%s, port %d", f.Label(ep.Node), ep.Port)
	}
	return f.Label(ep.Node)
}

// Channel names both ends of a channel.
func Channel(f *fabric.Fabric, c fabric.ChannelID) string {
	ch := f.Channel(c)
	return fmt.Sprintf("%s, port %d → %s, port %d", f.Label(ch.From), ch.FromPort, f.Label(ch.To), ch.ToPort)
}

// Labels is the labels of nodes.
func Labels(f *fabric.Fabric, nodes []fabric.NodeID) []string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = f.Label(n)
	}
	return names
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

// LaneCounts is the lanes of a result. The words are the same everywhere, and so are
// those for programs; 0 is not known.
type LaneCounts struct {
	Needed    int `json:"lanes_needed,omitempty"`    // by the proof
	Used      int `json:"lanes_used,omitempty"`      // carry traffic between switches under the contract
	Available int `json:"lanes_available,omitempty"` // to the tables
}

func (l LaneCounts) String() string {
	var parts []string
	for _, n := range []struct {
		lanes int
		what  string
	}{{l.Needed, "needed"}, {l.Used, "used"}, {l.Available, "available"}} {
		if n.lanes > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.lanes, n.what))
		}
	}
	return strings.Join(parts, ", ")
}
