package ethernet

import (
	"net/netip"
	"slices"
)

// Network is a cabling with the routes of all prefixes and the priorities of packets.
type Network struct {
	*Cabling
	Classes    []Class
	Priorities *Priorities
	TunnelMaps [][]uint64   // [Tunnel.Map][mark] the marks that the outer header can have, as bits
	Addresses  []netip.Addr // [LinkID] the first address of the interface that it leaves; zero or nil: not known
	Speeds     []uint32     // [LinkID] Mb/s of the interface that it leaves, of a port channel all together; 0 or nil: not known
	Members    [][]string   // [LinkID] the ports of the port channel that it leaves; none: it leaves a port, or nobody says
	HostSpeeds []uint32     // [DeviceID] Mb/s of most of its interfaces to hosts; 0 or nil: not known
	AS         []uint32     // [DeviceID] AS number of BGP, 0 where it is not known; nil: of none

	Notes []string // what was assumed or left out when it was read, a sentence each
	Gaps  []string // what was missing or contradictory, and so is not covered by any verdict, a sentence each
}

// Class is prefixes that every device routes alike.
type Class struct {
	Prefixes []netip.Prefix
	Next     Row        // the next hops of every device
	At       []DeviceID // where packets leave the network, ascending
	Hosts    bool       // hosts or the world outside are behind it, not only devices and cables
	Tunnels  []Tunnel
	Weights  map[LinkID]uint16 // shares of the flows of next hops, where dumps state some that differ; nil: all alike
}

// Tunnel says that a device may wrap packets of a class and send them to another device, as
// one of two top-of-rack switches does for a host whose other cable is active.
type Tunnel struct {
	Device DeviceID // that wraps
	Into   int      // the class of the outer header; the packet is unwrapped and leaves where that ends
	Map    int      // into Network.TunnelMaps
}

// Leaves reports whether packets of the class leave the network at a device.
func (c *Class) Leaves(d DeviceID) bool { return slices.Contains(c.At, d) }

// Wraps reports whether a device may wrap packets of the class.
func (c *Class) Wraps(d DeviceID) bool {
	return slices.ContainsFunc(c.Tunnels, func(t Tunnel) bool { return t.Device == d })
}

// Prefix is the first prefix of the class, which stands for all in messages.
func (c *Class) Prefix() netip.Prefix { return c.Prefixes[0] }

// Scope says whose traffic counts.
type Scope uint8

// The scopes.
const (
	HostScope Scope = iota // from subnets with hosts to subnets with hosts
	AllScope               // from every device to every prefix
)

func (s Scope) String() string { return [...]string{"hosts", "all"}[s] }

// Sender is where packets come from: the hosts of a class, or a device itself.
type Sender struct {
	Class int        // whose hosts send; None: the device
	At    []DeviceID // where the packets enter the network
	Count int        // prefixes of the class, 1 for a device
}

// Senders is who sends in a scope.
func (n *Network) Senders(s Scope) []Sender {
	var list []Sender
	if s == AllScope {
		for d := range DeviceID(len(n.Names)) {
			list = append(list, Sender{Class: None, At: []DeviceID{d}, Count: 1})
		}
		return list
	}
	for i := range n.Classes {
		if c := &n.Classes[i]; c.Hosts && len(c.At) > 0 {
			list = append(list, Sender{Class: i, At: c.At, Count: len(c.Prefixes)})
		}
	}
	return list
}

// Wanted reports whether a class is a destination in a scope.
func (n *Network) Wanted(class int, s Scope) bool { return s == AllScope || n.Classes[class].Hosts }

// HostPrefixes counts the prefixes with hosts.
func (n *Network) HostPrefixes() int {
	count := 0
	for i := range n.Classes {
		if n.Classes[i].Hosts {
			count += len(n.Classes[i].Prefixes)
		}
	}
	return count
}

// Prefixes counts all prefixes.
func (n *Network) Prefixes() int {
	count := 0
	for i := range n.Classes {
		count += len(n.Classes[i].Prefixes)
	}
	return count
}
