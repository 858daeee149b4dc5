package congestion

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/fan"
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

// fromSource in place of the lane of a part: it has not crossed a trunk yet.
const fromSource = routing.MaxDataVLs

// statesPerPlace is the lanes by which packets may have come to a place, and fromSource.
const statesPerPlace = routing.MaxDataVLs + 1

// spray sends flows to a LID on a service level through a fan, hop by hop: add puts units at their
// sources, and hop takes them on until it returns false. It is scratch space that is used again and
// again.
type spray struct {
	*fan.Fan
	held, next     []uint64 // [place × statesPerPlace + lane by which it came] units
	queue, arrived []int32  // the indices in use of held, and of next, also where a part is too small for a unit
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

func newSpray(n *fan.Fan) *spray {
	if n == nil {
		return nil
	}
	size := len(n.At) * statesPerPlace
	return &spray{Fan: n, held: make([]uint64, size), next: make([]uint64, size), listed: make([]bool, size)}
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

// hop takes all parts one hop further, sets moves, delivered and lost, and reports whether there were
// any parts.
func (p *spray) hop(lid fabric.LID, to *fabric.Endpoint, sl uint8) bool {
	p.held, p.next = p.next, p.held
	p.queue, p.arrived = p.arrived, p.queue[:0]
	p.moves, p.delivered, p.lost = p.moves[:0], 0, false
	for _, i := range p.queue {
		p.listed[i] = false
	}
	f := p.Tables.Fabric
	for _, i := range p.queue {
		place, came := i/statesPerPlace, uint8(i%statesPerPlace)
		units := p.held[i]
		p.held[i] = 0
		s := p.At[place]
		p.ports = p.Outs(p.ports[:0], place, lid, sl)
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
					lane = routing.SourceLane(fan.LanesAt(f, s, p.In[place]), sl)
				}
				vl := p.Tables.Lanes.SL2VL.Next(s, p.In[place], port, sl, lane)
				if int(vl) >= routing.MaxDataVLs {
					p.lost = true
					continue
				}
				if part > 0 {
					p.moves = append(p.moves, move{trunk: c, came: came, vl: vl, units: part})
				}
				ch := f.Channel(c)
				p.add(p.Enter(ch.To, ch.ToPort), vl, part)
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

func newSplitter(n *fan.Fan) *splitter {
	if n == nil {
		return nil
	}
	return &splitter{spray: *newSpray(n), part: make([]uint32, n.Tables.Fabric.Trunks())}
}

// walk appends the trunks of a flow to crossed and the units on each to share, in the order in which
// packets come to them. It goes to the first address that the source may use and to which all parts
// get; false: there is none.
func (p *splitter) walk(crossed, share []uint32, src, dst fabric.EndpointID) ([]uint32, []uint32, bool) {
	from, to := p.Tables.Fabric.Endpoint(src), p.Tables.Fabric.Endpoint(dst)
	if from.Switch == fabric.None || to.Switch == fabric.None {
		return crossed, share, false
	}
	for lid := range to.LIDs() {
		sl := p.Tables.Lanes.SL(src, lid)
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

// follow sets part and crossed, and reports whether all parts arrive. The caller clears part again.
func (p *splitter) follow(from, to *fabric.Endpoint, lid fabric.LID, sl uint8) bool {
	p.crossed = p.crossed[:0]
	p.add(p.Source(from), fromSource, splitUnits)
	for hops := 0; p.hop(lid, to, sl) && !p.lost; hops++ {
		if hops > p.Tables.Fabric.Switches() {
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
