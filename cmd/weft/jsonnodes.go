package main

import "github.com/weft-fabric/weft/fabric"

// nodeSummary is a node, or one of its ports, for programs. Beside it outputs have
// the same as text for people, which need not be unique.
type nodeSummary struct {
	Name string `json:"name"` // the description; may be empty and need not be unique
	GUID string `json:"guid"` // of the node
	Port uint8  `json:"port,omitempty"`
}

// channelNodes is the ports that a channel joins.
type channelNodes struct {
	FromNode nodeSummary `json:"from_node"`
	ToNode   nodeSummary `json:"to_node"`
}

// pairNodes is who sends to whom.
type pairNodes struct {
	SrcNode nodeSummary `json:"src_node"`
	DstNode nodeSummary `json:"dst_node"`
}

func nodeOf(f *fabric.Fabric, n fabric.NodeID, port uint8) nodeSummary {
	return nodeSummary{f.Node(n).Name, f.Node(n).GUID.String(), port}
}

// endpointNode is the port of an endpoint.
func endpointNode(f *fabric.Fabric, e fabric.EndpointID) nodeSummary {
	return nodeOf(f, f.Endpoint(e).Node, f.Endpoint(e).Port)
}

func nodesOf(f *fabric.Fabric, list []fabric.NodeID) []nodeSummary {
	nodes := make([]nodeSummary, len(list))
	for i, n := range list {
		nodes[i] = nodeOf(f, n, 0)
	}
	return nodes
}

func endsOf(f *fabric.Fabric, c fabric.ChannelID) channelNodes {
	ch := f.Channel(c)
	return channelNodes{nodeOf(f, ch.From, ch.FromPort), nodeOf(f, ch.To, ch.ToPort)}
}

func pairOf(f *fabric.Fabric, src, dst fabric.EndpointID) pairNodes {
	return pairNodes{endpointNode(f, src), endpointNode(f, dst)}
}

// removedLink is a cable that is gone while its ends are still there.
type removedLink struct {
	From     string `json:"from"`
	FromPort uint8  `json:"from_port"`
	To       string `json:"to"`
	ToPort   uint8  `json:"to_port"`
	channelNodes
}
