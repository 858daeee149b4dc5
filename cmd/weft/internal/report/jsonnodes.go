package report

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
)

// Node is a node, or one of its ports, for programs. Beside it outputs have
// the same as text for people, which need not be unique.
type Node struct {
	Name string `json:"name"` // the description; may be empty and need not be unique
	GUID string `json:"guid"` // of the node
	Port uint8  `json:"port,omitempty"`
}

// ChannelNodes is the ports that a channel joins.
type ChannelNodes struct {
	FromNode Node `json:"from_node"`
	ToNode   Node `json:"to_node"`
}

// PairNodes is who sends to whom.
type PairNodes struct {
	SrcNode Node `json:"src_node"`
	DstNode Node `json:"dst_node"`
}

// NodeOf is a node, or its port if that is not 0.
func NodeOf(f *fabric.Fabric, n fabric.NodeID, port uint8) Node {
	return Node{f.Node(n).Name, f.Node(n).GUID.String(), port}
}

// EndpointNode is the port of an endpoint.
func EndpointNode(f *fabric.Fabric, e fabric.EndpointID) Node {
	return NodeOf(f, f.Endpoint(e).Node, f.Endpoint(e).Port)
}

// NodesOf is nodeOf for several, without ports.
func NodesOf(f *fabric.Fabric, list []fabric.NodeID) []Node {
	nodes := make([]Node, len(list))
	for i, n := range list {
		nodes[i] = NodeOf(f, n, 0)
	}
	return nodes
}

// EndsOf is the ports that a channel joins.
func EndsOf(f *fabric.Fabric, c fabric.ChannelID) ChannelNodes {
	ch := f.Channel(c)
	return ChannelNodes{NodeOf(f, ch.From, ch.FromPort), NodeOf(f, ch.To, ch.ToPort)}
}

// PairOf is the ports of a source and a destination.
func PairOf(f *fabric.Fabric, src, dst fabric.EndpointID) PairNodes {
	return PairNodes{EndpointNode(f, src), EndpointNode(f, dst)}
}

// RemovedLink is a cable that is gone while its ends are still there.
type RemovedLink struct {
	From     string `json:"from"`
	FromPort uint8  `json:"from_port"`
	To       string `json:"to"`
	ToPort   uint8  `json:"to_port"`
	ChannelNodes
}

// RemovedLinks is the cables of channels.
func RemovedLinks(f *fabric.Fabric, channels []fabric.ChannelID) []RemovedLink {
	links := []RemovedLink{}
	for _, c := range channels {
		ch := f.Channel(c)
		links = append(links, RemovedLink{f.Label(ch.From), ch.FromPort, f.Label(ch.To), ch.ToPort, EndsOf(f, c)})
	}
	return links
}

// LinkNames is what cables are called.
func LinkNames(links []RemovedLink) []string {
	names := make([]string, len(links))
	for i, l := range links {
		names[i] = fmt.Sprintf("%s port %d to %s port %d", l.From, l.FromPort, l.To, l.ToPort)
	}
	return names
}
