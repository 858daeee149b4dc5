package result

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
)

// LaneCounts is the lanes of a result. The words are the same everywhere, and so are
// those for programs; 0 is not known.
type LaneCounts struct {
	Needed    int `json:"lanes_needed,omitempty"`    // by the proof
	Used      int `json:"lanes_used,omitempty"`      // carry traffic between switches under the contract
	Available int `json:"lanes_available,omitempty"` // to the tables

	Limit *LaneLimit `json:"lanes_limit,omitempty"` // where cables between switches are stated to run no more than those available

	Absent bool `json:"-"` // packets are sent to lanes that some cable does not run, so that service levels do not share those there are
}

// LaneLimit is a cable between switches that runs no more lanes than are available.
type LaneLimit struct {
	NamedChannel
	DataVLs int `json:"data_vls"` // lanes that the cable runs
	Cables  int `json:"cables"`   // between switches that run no more

	Text string `json:"-"`
}

// Node is a node, or one of its ports, for programs. Beside it outputs have
// the same as text for people, which need not be unique.
type Node struct {
	Name string `json:"name"` // the description; may be empty and need not be unique
	GUID string `json:"guid"` // of the node
	Port uint8  `json:"port,omitempty"`
}

// String is the name, or the GUID of a node without one, and the port.
func (n Node) String() string {
	name := cmp.Or(n.Name, n.GUID)
	if n.Port > 0 {
		name += fmt.Sprintf(", port %d", n.Port)
	}
	return name
}

// ChannelNodes is the ports that a channel joins.
type ChannelNodes struct {
	FromNode Node `json:"from_node"`
	ToNode   Node `json:"to_node"`
}

// NamedChannel is a channel for people and for programs.
type NamedChannel struct {
	Channel string `json:"channel"`
	ChannelNodes
}

// Pair is who sends to whom, for people and for programs.
type Pair struct {
	Src string `json:"src"`
	Dst string `json:"dst"`
	PairNodes
}

// PairNodes is who sends to whom.
type PairNodes struct {
	SrcNode Node `json:"src_node"`
	DstNode Node `json:"dst_node"`
}

// RemovedLink is a cable that is gone while its ends are still there.
type RemovedLink struct {
	From     string `json:"from"`
	FromPort uint8  `json:"from_port"`
	To       string `json:"to"`
	ToPort   uint8  `json:"to_port"`
	ChannelNodes
}

// LimitOf is the lane limit of a fabric, where it is as low as the lanes available or lower; nil: it is not.
func LimitOf(f *fabric.Fabric, available int) *LaneLimit {
	l := routing.LimitOf(f)
	if l.Lanes == 0 || l.Lanes > available {
		return nil
	}
	return &LaneLimit{ChannelOf(f, l.Trunk), l.Lanes, l.Cables, l.Text(f)}
}

// String is the counts that are known.
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

// ChannelOf is a channel with its name.
func ChannelOf(f *fabric.Fabric, c fabric.ChannelID) NamedChannel {
	return NamedChannel{f.ChannelLabel(c), EndsOf(f, c)}
}

// PairOf is a source and a destination with their names.
func PairOf(f *fabric.Fabric, src, dst fabric.EndpointID) Pair {
	return Pair{f.EndpointLabel(src), f.EndpointLabel(dst), PairNodes{EndpointNode(f, src), EndpointNode(f, dst)}}
}

// NodeOf is a node, or its port if that is not 0.
func NodeOf(f *fabric.Fabric, n fabric.NodeID, port uint8) Node {
	return Node{f.Node(n).Name, f.Node(n).GUID.String(), port}
}

// EndpointNode is the port of an endpoint.
func EndpointNode(f *fabric.Fabric, e fabric.EndpointID) Node {
	return NodeOf(f, f.Endpoint(e).Node, f.Endpoint(e).Port)
}

// EndpointNodes is EndpointNode for several.
func EndpointNodes(f *fabric.Fabric, list []fabric.EndpointID) []Node {
	nodes := make([]Node, len(list))
	for i, e := range list {
		nodes[i] = EndpointNode(f, e)
	}
	return nodes
}

// NodesOf is NodeOf for several, without ports.
func NodesOf(f *fabric.Fabric, nodes []fabric.NodeID) []Node {
	return list.Of(nodes, func(n fabric.NodeID) Node { return NodeOf(f, n, 0) })
}

// EndsOf is the ports that a channel joins.
func EndsOf(f *fabric.Fabric, c fabric.ChannelID) ChannelNodes {
	ch := f.Channel(c)
	return ChannelNodes{NodeOf(f, ch.From, ch.FromPort), NodeOf(f, ch.To, ch.ToPort)}
}

// RemovedLinks is the cables of channels.
func RemovedLinks(f *fabric.Fabric, channels []fabric.ChannelID) []RemovedLink {
	return list.Of(channels, func(c fabric.ChannelID) RemovedLink {
		ch := f.Channel(c)
		return RemovedLink{f.Label(ch.From), ch.FromPort, f.Label(ch.To), ch.ToPort, EndsOf(f, c)}
	})
}

// Name is what people call the cable.
func (l RemovedLink) Name() string {
	return fmt.Sprintf("%s port %d to %s port %d", l.From, l.FromPort, l.To, l.ToPort)
}

// FabricOf names a fabric and counts it.
func FabricOf(name string, f *fabric.Fabric) Fabric {
	n := f.Count()
	return Fabric{name, n.Switches, n.HCA + n.Aggregation + n.Router, n.SwitchCables + n.AdapterCables + n.SelfCables}
}

// LimitText says which cable limits the lanes available, and on how many cables to endpoints service
// levels share lanes; empty: nothing is stated that matters.
func (l LaneCounts) LimitText(f *fabric.Fabric) string {
	text := ""
	if l.Limit != nil && l.Limit.DataVLs < routing.DefaultVLs {
		text = fmt.Sprintf("\nno more than %d, as %s", l.Limit.DataVLs, l.Limit.Text)
	}
	if n := routing.SharesLanes(f, l.Used); n > 0 && !l.Absent {
		text += fmt.Sprintf("\n%s fewer than %d lanes: there service levels share those there are, which closes no loop", words.Counted(n, "cable to an endpoint runs", "cables to endpoints run"), l.Used)
	}
	return text
}

// LinkNames is what people call cables.
func LinkNames(links []RemovedLink) []string { return list.Of(links, RemovedLink.Name) }
