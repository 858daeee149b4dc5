// Package fan is how packets go on in tables with groups of ports: by which ports they may
// leave a switch, by where they came in. Package congestion counts flows by it, and
// internal/counters/explain explains counters.
package fan

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Fan is how packets go on in tables with groups. Places are where they may be: a switch with
// those of its in-ports of which packets meet the same tables and the same lanes.
type Fan struct {
	Tables *routing.Tables
	first  []int           // [switch, plus one] into place
	place  []int32         // [first + in-port] the place of the in-port
	At     []fabric.NodeID // [place] its switch
	In     []uint8         // [place] one of its in-ports
	ports  [][][]uint8     // [switch][group] ports with a cable
}

// New is nil for tables without groups.
func New(t *routing.Tables) *Fan {
	f, g := t.Fabric, t.Groups
	if g == nil {
		return nil
	}
	n := &Fan{Tables: t, first: make([]int, f.Switches()+1), ports: make([][][]uint8, f.Switches())}
	for s := range fabric.NodeID(f.Switches()) {
		from := len(n.At)
		for in := range uint8(f.Node(s).Ports + 1) {
			n.place = append(n.place, n.placeFrom(from, s, in))
		}
		n.first[s+1] = len(n.place)
		for _, set := range g.Sets(s) {
			var ports []uint8
			for port := range set.All() {
				if f.Out(s, port) != fabric.None {
					ports = append(ports, port)
				}
			}
			n.ports[s] = append(n.ports[s], ports)
		}
	}
	return n
}

// placeFrom is the place of in-port in of switch s, whose places have numbers from from on: one of
// those, or a new one that it adds if packets meet other tables or lanes there.
func (n *Fan) placeFrom(from int, s fabric.NodeID, in uint8) int32 {
	byLane := n.Tables.Lanes.SL2VL.AnyByLane()
	for i := from; i < len(n.At); i++ {
		if byLane && LanesAt(n.Tables.Fabric, s, in) != LanesAt(n.Tables.Fabric, s, n.In[i]) {
			continue // what enters there is on other lanes
		}
		if n.Tables.Groups.SameFrom(s, in, n.In[i]) && n.Tables.Lanes.SL2VL.SameFrom(s, in, n.In[i]) {
			return int32(i)
		}
	}
	n.At, n.In = append(n.At, s), append(n.In, in)
	return int32(len(n.At) - 1)
}

// Enter is the place of packets that come to a switch by a port.
func (n *Fan) Enter(s fabric.NodeID, in uint8) int32 { return n.place[n.first[s]+int(in)] }

// Source is where packets of an endpoint with a switch enter it.
func (n *Fan) Source(e *fabric.Endpoint) int32 {
	return n.Enter(e.Switch, n.Tables.Fabric.LastPort(e))
}

// Outs appends the ports by which packets to a LID on a service level may leave a place: those of the
// group, ascending, then the static port if the group does not have it.
func (n *Fan) Outs(ports []uint8, place int32, lid fabric.LID, sl uint8) []uint8 {
	g, s := n.Tables.Groups, n.At[place]
	table := g.Table(s, n.In[place], sl)
	static := n.Tables.Forwarding
	if table > 0 {
		static = g.Static(table)
	}
	port := static.Port(s, lid)
	if choice := g.Row(table, lid)[s]; choice != routing.NoChoice && g.Levels(s)>>sl&1 == 1 {
		ports = append(ports, n.ports[s][choice.Group()]...)
		if set := &g.Sets(s)[choice.Group()]; set.Has(port) {
			return ports
		}
	}
	if port == 0 || port != routing.NoPort && n.Tables.Fabric.Out(s, port) != fabric.None {
		ports = append(ports, port)
	}
	return ports
}

// LanesAt is how many data lanes the cable at a port of a switch runs; 0: not known, or no cable.
func LanesAt(f *fabric.Fabric, s fabric.NodeID, port uint8) uint8 {
	if c := f.Out(s, port); port != 0 && c != fabric.None {
		return f.Channel(c).DataVLs
	}
	return 0
}
