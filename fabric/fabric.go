// Package fabric is the network as cabled: a directed multigraph of switches
// and adapters in flat arrays.
//
// Words. A cable joins two ports; it is two channels, one in each direction. A trunk is
// a channel from one switch to another. An endpoint is anything that sends and
// receives: a connected adapter port, a router port, or the management port 0 of a
// switch. Adapters never forward. A turn is a pair of trunks (in, out) that meet at a
// switch; dependencies arise at turns.
//
// Index spaces. NodeID, ChannelID and EndpointID are dense from zero and depend on the
// fabric only, not on the order in which a file or a program listed its parts:
//
//   - nodes: switches first, [0, Switches()), then adapters, then routers, each
//     by GUID;
//   - channels: trunks first, [0, Trunks()), by (from, port); then the channels
//     at adapters; last the cables that cannot carry traffic from switch to
//     switch or adapter (self-loops, adapter to adapter);
//   - endpoints: by (node, port), so that the port 0 of switch s is endpoint s.
//
// A Fabric is immutable. Builder makes one; Without makes a smaller one.
package fabric

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// GUID is the 64-bit EUI-64 identifier of a node or port; zero means not known.
type GUID uint64

// String is the form that InfiniBand tools print: 0x and sixteen digits.
func (g GUID) String() string { return fmt.Sprintf("0x%016x", uint64(g)) }

// LID is a local identifier, the address that forwarding tables are indexed by.
type LID uint16

// MaxLID is the largest unicast LID; the smallest is 1. Zero means none, 0xFFFF is the
// permissive LID.
const MaxLID LID = 0xBFFF

// MaxPorts is the largest number of external ports of a node: port numbers are
// one byte and 255 is reserved.
const MaxPorts = 254

type (
	// NodeID indexes the nodes of one Fabric.
	NodeID int32
	// ChannelID indexes its channels.
	ChannelID int32
	// EndpointID indexes its endpoints.
	EndpointID int32
)

// None is the absent NodeID, ChannelID or EndpointID.
const None = -1

// Kind says what a node is.
type Kind uint8

// The kinds of node.
const (
	Switch Kind = iota
	Adapter
	Router
)

func (k Kind) String() string {
	return [...]string{"switch", "channel adapter", "router"}[k]
}

// Class says what an endpoint is, and so which scope it belongs to.
type Class uint8

// The classes of endpoint.
const (
	HostAdapter Class = iota // a port of a host channel adapter
	Aggregation              // a SHARP aggregation node in a switch
	RouterPort               // a port of a router to another subnet
	SwitchPort               // the management port 0 of a switch
)

func (c Class) String() string {
	return [...]string{"hca", "aggregation", "router", "switch"}[c]
}

// Node is a switch, a channel adapter or a router.
type Node struct {
	GUID       GUID
	SystemGUID GUID   // zero: not known
	Kind       Kind   //
	Ports      int    // external ports, numbered 1 … Ports
	Name       string // node description, all of it printable; may be empty or shared with other nodes
	VendorID   uint32 // zero: not known
	DeviceID   uint32 // zero: not known
}

// Channel is one direction of a cable.
type Channel struct {
	From, To         NodeID
	FromPort, ToPort uint8
	Reverse          ChannelID // the other direction of the cable
	Rate             Rate
	DataVLs          uint8 // data lanes that the cable runs (PortInfo:OperationalVLs); 0: not known
}

// Endpoint is a port that sends and receives.
type Endpoint struct {
	Node     NodeID
	Port     uint8     // 0 for the management port of a switch
	PortGUID GUID      //
	LID      LID       // base LID; the endpoint answers to LID … LID+2^LMC-1
	LMC      uint8     // 0 … 7
	Class    Class     //
	Switch   NodeID    // the switch it is attached to (itself for port 0); None: cabled to an adapter
	Inject   ChannelID // endpoint → switch; None for port 0, and if Switch is None
	Deliver  ChannelID // switch → endpoint; None likewise
}

// Fabric is an immutable network. All slices it hands out are shared and must
// not be written to.
type Fabric struct {
	nodes     []Node
	channels  []Channel
	endpoints []Endpoint
	oneSided  []ChannelID // see OneSided
	warnings  []string

	switches int
	trunks   int

	// Adjacency of switches over trunks, compressed by switch.
	firstTrunk []ChannelID // [switch, plus one] into trunks
	heads      []NodeID    // [trunk] the switch it leads to
	tailPorts  []uint8     // [trunk] the port it leaves by
	reverse    []ChannelID // [trunk] the other direction, itself a trunk
	firstTurn  []int32     // [trunk, plus one] see Turn

	portFirst []int32     // [node, plus one] offset of its port 0 in portChan
	portChan  []ChannelID // the channel that leaves by a port, or None

	attached      []EndpointID // endpoints, switch by switch
	attachedFirst []int32      // [switch, plus one] into attached

	lidOwner []EndpointID // [LID] its endpoint, or None
	given    []bool       // [endpoint] see LIDGiven
	byGUID   map[GUID]NodeID
	sameName map[string]int    // number of nodes with a name, for Label
	short    map[NodeID]string // names of switches without what firmware adds, where no other node has that name
}

// Switches counts the switches; they are the nodes [0, Switches()).
func (f *Fabric) Switches() int { return f.switches }

// Nodes is every node, [NodeID].
func (f *Fabric) Nodes() []Node { return f.nodes }

// Node is the node n.
func (f *Fabric) Node(n NodeID) *Node { return &f.nodes[n] }

// NodeByGUID finds a node, or returns None.
func (f *Fabric) NodeByGUID(g GUID) NodeID {
	if n, ok := f.byGUID[g]; ok {
		return n
	}
	return None
}

// Label names a node for people: its description, of a switch without what its firmware adds
// (sw-a of MF0;sw-a:MQM8700/U1) where that names no other, with the GUID added if several nodes
// share the description or it is empty.
func (f *Fabric) Label(n NodeID) string {
	node := &f.nodes[n]
	short := f.short[n]
	switch {
	case short != "":
		return short
	case node.Name == "":
		return node.GUID.String()
	case f.sameName[node.Name] > 1:
		return node.Name + " (" + node.GUID.String() + ")"
	}
	return node.Name
}

// PortLabel is a node's label and a port.
func (f *Fabric) PortLabel(n NodeID, port uint8) string {
	return fmt.Sprintf("%s, port %d", f.Label(n), port)
}

// EndpointLabel is the label of an endpoint's node, with the port if the node has several.
func (f *Fabric) EndpointLabel(e EndpointID) string {
	ep := f.Endpoint(e)
	if n := f.Node(ep.Node); n.Kind != Switch && n.Ports > 1 {
		return f.PortLabel(ep.Node, ep.Port)
	}
	return f.Label(ep.Node)
}

// ChannelLabel is the ports that a channel joins.
func (f *Fabric) ChannelLabel(c ChannelID) string {
	ch := f.Channel(c)
	return f.PortLabel(ch.From, ch.FromPort) + " → " + f.PortLabel(ch.To, ch.ToPort)
}

// Channels is every channel, [ChannelID].
func (f *Fabric) Channels() []Channel { return f.channels }

// Channel is the channel c.
func (f *Fabric) Channel(c ChannelID) *Channel { return &f.channels[c] }

// Trunks counts the channels between different switches; they are the channels
// [0, Trunks()).
func (f *Fabric) Trunks() int { return f.trunks }

// TrunksFrom is the range [first, end) of the trunks that leave switch s, by port.
func (f *Fabric) TrunksFrom(s NodeID) (first, end ChannelID) {
	return f.firstTrunk[s], f.firstTrunk[s+1]
}

// Neighbours is the switch that each trunk from switch s leads to, by port.
func (f *Fabric) Neighbours(s NodeID) []NodeID {
	first, end := f.TrunksFrom(s)
	return f.heads[first:end]
}

// Heads is the switch each trunk leads to, [trunk].
func (f *Fabric) Heads() []NodeID { return f.heads }

// TailPorts is the port by which each trunk leaves its switch, [trunk].
func (f *Fabric) TailPorts() []uint8 { return f.tailPorts }

// Reverses is the other direction of each trunk, [trunk].
func (f *Fabric) Reverses() []ChannelID { return f.reverse }

// Turns counts the turns: pairs (in, out) of trunks that meet at a switch, including
// those that return over the same cable.
func (f *Fabric) Turns() int { return int(f.firstTurn[f.trunks]) }

// Turn is the dense number of the turn from trunk in to trunk out, which must leave the
// switch where in ends. The turns of one in are consecutive, in the order of
// TrunksFrom.
func (f *Fabric) Turn(in, out ChannelID) int {
	return int(f.firstTurn[in]) + int(out-f.firstTrunk[f.heads[in]])
}

// FirstTurn is the turn from trunk in to the first trunk of the switch where in ends.
func (f *Fabric) FirstTurn(in ChannelID) int { return int(f.firstTurn[in]) }

// Out is the channel that leaves node n by a port, or None where the port does
// not exist or has no cable.
func (f *Fabric) Out(n NodeID, port uint8) ChannelID {
	first := f.portFirst[n]
	if int32(port) >= f.portFirst[n+1]-first {
		return None
	}
	return f.portChan[first+int32(port)]
}

// Trunk is the trunk that leaves switch s by a port, or None where Out is None or leads to
// no other switch: so for the ports of adapters and routers, port 0, and a port that does
// not exist, as in an entry without a path.
func (f *Fabric) Trunk(s NodeID, port uint8) ChannelID {
	if c := f.Out(s, port); int(c) < f.trunks {
		return c
	}
	return None
}

// Endpoints is every endpoint, [EndpointID].
func (f *Fabric) Endpoints() []Endpoint { return f.endpoints }

// Endpoint is the endpoint e.
func (f *Fabric) Endpoint(e EndpointID) *Endpoint { return &f.endpoints[e] }

// LIDs is every LID that an endpoint answers to, ascending.
func (e *Endpoint) LIDs() iter.Seq[LID] {
	return func(yield func(LID) bool) {
		for i := range LID(1) << e.LMC {
			if !yield(e.LID + i) {
				return
			}
		}
	}
}

// LastPort is the port by which an endpoint's switch delivers to it, and by which its
// packets come in; 0 for the switch itself, and for an endpoint without a switch.
func (f *Fabric) LastPort(e *Endpoint) uint8 {
	if e.Deliver == None {
		return 0
	}
	return f.channels[e.Deliver].FromPort
}

// ByPort is endpoints in the order of switches and of the ports there: those side by side
// share a switch.
func (f *Fabric) ByPort(list []EndpointID) []EndpointID {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b EndpointID) int {
		x, y := f.Endpoint(a), f.Endpoint(b)
		return cmp.Or(cmp.Compare(x.Switch, y.Switch), cmp.Compare(f.LastPort(x), f.LastPort(y)), cmp.Compare(a, b))
	})
	return list
}

// Attached is the endpoints of switch s: its own port 0 first, then the
// adapter and router ports cabled to it.
func (f *Fabric) Attached(s NodeID) []EndpointID {
	return f.attached[f.attachedFirst[s]:f.attachedFirst[s+1]]
}

// TopLID is the largest LID in use.
func (f *Fabric) TopLID() LID { return LID(len(f.lidOwner) - 1) }

// Owner is the endpoint that answers to a LID, or None.
func (f *Fabric) Owner(lid LID) EndpointID {
	if int(lid) >= len(f.lidOwner) {
		return None
	}
	return f.lidOwner[lid]
}

// LIDGiven reports whether Build gave an endpoint its LIDs, for want of any in the source that could be
// kept: then they say nothing of what switches forward by.
func (f *Fabric) LIDGiven(e EndpointID) bool { return f.given[e] }

// LIDs is every LID in use with the endpoint that answers to it, ascending.
func (f *Fabric) LIDs() iter.Seq2[LID, EndpointID] {
	return func(yield func(LID, EndpointID) bool) {
		for lid, e := range f.lidOwner {
			if e != None && !yield(LID(lid), e) {
				return
			}
		}
	}
}

// Addresses is the largest number of LIDs of an endpoint, 2^LMC.
func (f *Fabric) Addresses() int {
	most := 1
	for i := range f.endpoints {
		most = max(most, f.endpoints[i].width())
	}
	return most
}

// Address is the position of a LID in use among those of its endpoint, from 0.
func (f *Fabric) Address(lid LID) int { return int(lid - f.Endpoint(f.lidOwner[lid]).LID) }

// OneSided lists the cables that the source has in the record of one end only, each by the
// channel that leaves that end, if it has most cables in the records of both ends. A copy
// of a fabric has no source, and lists none.
func (f *Fabric) OneSided() []ChannelID { return f.oneSided }

// Warnings lists oddities of the source that were resolved, one sentence each.
func (f *Fabric) Warnings() []string { return f.warnings }

// Count is the numbers of parts of a fabric. Cables are counted, not channels.
type Count struct {
	Switches, Adapters, Routers int
	HCA, Aggregation, Router    int // endpoints by class
	SwitchCables                int // between two switches
	AdapterCables               int // with an adapter or router at at least one end
	SelfCables                  int // both ends in one node
}

// Count counts the parts.
func (f *Fabric) Count() Count {
	c := Count{Switches: f.switches}
	for i := range f.nodes {
		switch f.nodes[i].Kind {
		case Adapter:
			c.Adapters++
		case Router:
			c.Routers++
		}
	}
	for i := range f.endpoints {
		switch f.endpoints[i].Class {
		case HostAdapter:
			c.HCA++
		case Aggregation:
			c.Aggregation++
		case RouterPort:
			c.Router++
		}
	}
	for i := range f.channels {
		ch := &f.channels[i]
		if ch.Reverse < ChannelID(i) {
			continue
		}
		switch {
		case ch.From == ch.To:
			c.SelfCables++
		case f.nodes[ch.From].Kind == Switch && f.nodes[ch.To].Kind == Switch:
			c.SwitchCables++
		default:
			c.AdapterCables++
		}
	}
	return c
}
