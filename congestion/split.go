package congestion

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Where switches choose (routing.Groups), a flow is split: at every switch into equal parts for the
// ports by which its packets may go on, those of the group and the static port. That is what adaptive
// routing comes to where queues are alike, and, where a hash decides, the mean over hashes. Ports
// without a cable are not chosen. If any part is lost, because some choice leads nowhere or in a
// circle, the whole flow is: it has no route that holds whatever switches choose.
//
// Parts are counted in units, so that sums are exact, and the same in any order.

// splitUnits is how many units a flow has. What does not divide evenly goes to the ports with the
// lowest numbers, a unit each.
const splitUnits = 1 << 20

// fan is how packets go on in tables with groups. Places are where they may be: a switch with
// those of its in-ports of which packets meet the same tables and the same lanes.
type fan struct {
	t     *routing.Tables
	first []int           // [switch, plus one] into place
	place []int32         // [first + in-port]
	at    []fabric.NodeID // [place] its switch
	in    []uint8         // [place] one of its in-ports
	ports [][][]uint8     // [switch][group] ports with a cable
}

// newFan is nil for tables without groups.
func newFan(t *routing.Tables) *fan {
	f, g := t.Fabric, t.Groups
	if g == nil {
		return nil
	}
	n := &fan{t: t, first: make([]int, f.Switches()+1), ports: make([][][]uint8, f.Switches())}
	for s := range fabric.NodeID(f.Switches()) {
		from := len(n.at)
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

// placeFrom is the place of an in-port, whose switch has those from a number on; a new one if
// packets meet others there.
func (n *fan) placeFrom(from int, s fabric.NodeID, in uint8) int32 {
	byLane := n.t.Lanes.SL2VL.AnyByLane()
	for i := from; i < len(n.at); i++ {
		if byLane && lanesAt(n.t.Fabric, s, in) != lanesAt(n.t.Fabric, s, n.in[i]) {
			continue // what enters there is on other lanes
		}
		if n.t.Groups.SameFrom(s, in, n.in[i]) && n.t.Lanes.SL2VL.SameFrom(s, in, n.in[i]) {
			return int32(i)
		}
	}
	n.at, n.in = append(n.at, s), append(n.in, in)
	return int32(len(n.at) - 1)
}

// placeOf is where packets of an endpoint with a switch enter it.
func (n *fan) placeOf(e *fabric.Endpoint) int32 {
	return n.place[n.first[e.Switch]+int(n.t.Fabric.LastPort(e))]
}

// outs appends the ports by which packets to a LID may leave a place, ascending but for the static
// port, which is last where the group does not have it.
func (n *fan) outs(ports []uint8, place int32, lid fabric.LID, sl uint8) []uint8 {
	g, s := n.t.Groups, n.at[place]
	table := g.Table(s, n.in[place], sl)
	static := n.t.Forwarding
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
	if port == 0 || port != routing.NoPort && n.t.Fabric.Out(s, port) != fabric.None {
		ports = append(ports, port)
	}
	return ports
}

// fromSource in place of the lane of a part: it has not crossed a trunk yet.
const fromSource = routing.MaxDataVLs

// statesPerPlace is the lanes by which packets may have come to a place, and fromSource.
const statesPerPlace = routing.MaxDataVLs + 1

// spray sends flows to a LID on a service level through a fan, hop by hop. It is scratch space
// that is used again and again.
type spray struct {
	*fan
	held, next     []uint64 // [place × statesPerPlace + lane by which it came] units
	queue, arrived []int32  // the states in held, and in next: those of parts too small for a unit too
	listed         []bool   // [index into next] whether it is in arrived
	ports          []uint8

	moves     []move // of the last hop
	delivered uint64 // units, by the last hop
	lost      bool   // some choice at the last hop leads nowhere
}

// move is units that cross a trunk.
type move struct {
	trunk    fabric.ChannelID
	came, vl uint8 // lane before, and on it
	units    uint64
}

func newSpray(n *fan) *spray {
	if n == nil {
		return nil
	}
	size := len(n.at) * statesPerPlace
	return &spray{fan: n, held: make([]uint64, size), next: make([]uint64, size), listed: make([]bool, size)}
}

// add puts units that came by a lane to a place.
func (p *spray) add(place int32, came uint8, units uint64) {
	i := place*statesPerPlace + int32(came)
	if !p.listed[i] {
		p.listed[i] = true
		p.arrived = append(p.arrived, i)
	}
	p.next[i] += units
}

// hop takes all parts one hop further, and says whether there were any.
func (p *spray) hop(lid fabric.LID, to *fabric.Endpoint, sl uint8) bool {
	p.held, p.next = p.next, p.held
	p.queue, p.arrived = p.arrived, p.queue[:0]
	p.moves, p.delivered, p.lost = p.moves[:0], 0, false
	for _, i := range p.queue {
		p.listed[i] = false
	}
	f := p.t.Fabric
	for _, i := range p.queue {
		place, came := i/statesPerPlace, uint8(i%statesPerPlace)
		units := p.held[i]
		p.held[i] = 0
		s := p.at[place]
		p.ports = p.outs(p.ports[:0], place, lid, sl)
		if len(p.ports) == 0 {
			p.lost = true
			continue
		}
		each, more := units/uint64(len(p.ports)), units%uint64(len(p.ports))
		for k, port := range p.ports {
			part := each
			if uint64(k) < more {
				part++
			}
			c := f.Trunk(s, port)
			switch {
			case s == to.Switch && port == f.LastPort(to):
				p.delivered += part
			case c == fabric.None:
				p.lost = true
			default:
				lane := came
				if came == fromSource {
					lane = routing.SourceLane(lanesAt(f, s, p.in[place]), sl)
				}
				vl := p.t.Lanes.SL2VL.Next(s, p.in[place], port, sl, lane)
				if int(vl) >= routing.MaxDataVLs {
					p.lost = true
					continue
				}
				if part > 0 {
					p.moves = append(p.moves, move{c, came, vl, part})
				}
				ch := f.Channel(c)
				p.add(p.place[p.first[ch.To]+int(ch.ToPort)], vl, part)
			}
		}
	}
	return len(p.queue) > 0
}

// drop forgets all parts that are on their way.
func (p *spray) drop() {
	for _, i := range p.arrived {
		p.next[i], p.listed[i] = 0, false
	}
	p.arrived = p.arrived[:0]
}

// splitter lays flows on the channels of a fan.
type splitter struct {
	spray
	part    []uint32 // [trunk] units of the flow at hand
	crossed []uint32 // trunks with any
}

func newSplitter(n *fan) *splitter {
	if n == nil {
		return nil
	}
	return &splitter{spray: *newSpray(n), part: make([]uint32, n.t.Fabric.Trunks())}
}

// walk appends the trunks of a flow and the units on each, in the order in which packets come to
// them. It goes to the first address that the source may use and to which all parts get.
func (p *splitter) walk(crossed, share []uint32, src, dst fabric.EndpointID) ([]uint32, []uint32, bool) {
	from, to := p.t.Fabric.Endpoint(src), p.t.Fabric.Endpoint(dst)
	if from.Switch == fabric.None || to.Switch == fabric.None {
		return crossed, share, false
	}
	for lid := range to.LIDs() {
		sl := p.t.Lanes.SL(src, lid)
		if sl == routing.NoSL {
			continue
		}
		arrives := p.follow(from, to, lid, sl)
		if arrives {
			crossed = append(crossed, p.crossed...)
		}
		for _, c := range p.crossed {
			if arrives {
				share = append(share, p.part[c])
			}
			p.part[c] = 0
		}
		if arrives {
			return crossed, share, true
		}
	}
	return crossed, share, false
}

// follow fills part and crossed, and says whether all parts arrive.
func (p *splitter) follow(from, to *fabric.Endpoint, lid fabric.LID, sl uint8) bool {
	p.crossed = p.crossed[:0]
	p.add(p.placeOf(from), fromSource, splitUnits)
	for hops := 0; p.hop(lid, to, sl) && !p.lost; hops++ {
		if hops > p.t.Fabric.Switches() {
			p.lost = true // they circle
			break
		}
		for _, m := range p.moves {
			if p.part[m.trunk] == 0 {
				p.crossed = append(p.crossed, uint32(m.trunk))
			}
			p.part[m.trunk] += uint32(m.units)
		}
	}
	p.drop()
	return !p.lost
}
