package main

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
)

// endpointName names an endpoint, with its port where the node has several.
func endpointName(f *fabric.Fabric, e fabric.EndpointID) string {
	ep := f.Endpoint(e)
	if n := f.Node(ep.Node); n.Kind != fabric.Switch && n.Ports > 1 {
		return fmt.Sprintf("%s, port %d", f.Label(ep.Node), ep.Port)
	}
	return f.Label(ep.Node)
}

// channelName names both ends of a channel.
func channelName(f *fabric.Fabric, c fabric.ChannelID) string {
	ch := f.Channel(c)
	return fmt.Sprintf("%s, port %d → %s, port %d", f.Label(ch.From), ch.FromPort, f.Label(ch.To), ch.ToPort)
}

// labels is what nodes are called.
func labels(f *fabric.Fabric, nodes []fabric.NodeID) []string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = f.Label(n)
	}
	return names
}

// describeEndpoints counts the endpoints of a fabric.
func describeEndpoints(f *fabric.Fabric) string {
	n := f.Count()
	s := plural(n.HCA, "host adapter port")
	if n.Aggregation > 0 {
		s += ", " + plural(n.Aggregation, "aggregation node")
	}
	if n.Router > 0 {
		s += ", " + plural(n.Router, "router port")
	}
	return s
}

// describeParts says which parts a network falls into, a line each.
func describeParts(f *fabric.Fabric, parts [][]fabric.NodeID) string {
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
		fmt.Fprintf(&b, "\n  %s with %s: %s", plural(len(part), "switch"), plural(adapters, "endpoint"), firstOf(labels(f, part)))
	}
	return b.String()
}
