package result

import (
	"cmp"
	"fmt"
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

// String is what people call the cable.
func (l RemovedLink) String() string {
	return fmt.Sprintf("%s port %d to %s port %d", l.From, l.FromPort, l.To, l.ToPort)
}
