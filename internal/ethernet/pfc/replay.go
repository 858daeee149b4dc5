package pfc

import (
	"context"
	"math/bits"
	"math/rand/v2"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
)

// circle finds lanes that are paused for ever and wait for each other, when Run has found that packets are stuck; nil if it finds none.
func (s *sim) circle() []Held {
	type lane struct {
		link ethernet.LinkID
		lane int
	}
	next := map[lane]lane{}  // by lane whose group waits: a paused lane that one of its packets is queued for
	behind := map[lane]int{} // packets of the group of a lane in queues that are paused
	for l := range s.ports {
		for q, packets := range s.ports[l].queues {
			if !s.ports[l].paused[q] {
				continue
			}
			for _, p := range packets {
				if p.hop == 0 {
					continue
				}
				in := lane{s.flows[p.flow].Path[p.hop-1], s.lane(p, p.hop-1)}
				next[in] = lane{ethernet.LinkID(l), q}
				behind[in]++
			}
		}
	}
	for l := range s.ports {
		for q := range s.ports[l].queues {
			seen := map[lane]int{}
			var way []lane
			at := lane{ethernet.LinkID(l), q}
			for {
				if i, again := seen[at]; again {
					var cycle []Held
					for _, held := range way[i:] {
						cycle = append(cycle, Held{Link: held.link, Lane: held.lane, Packets: behind[held]})
					}
					return cycle
				}
				to, waits := next[at]
				if !waits {
					break
				}
				seen[at] = len(way)
				way = append(way, at)
				at = to
			}
		}
	}
	return nil
}

// hash picks one of several next hops, as a switch does by the header of a packet and the port it came
// by; in is None for hosts.
func hash(key uint64, d ethernet.DeviceID, in ethernet.LinkID, ways int) int {
	h := (key ^ uint64(d)*0x9E3779B97F4A7C15 ^ uint64(in+1)*0xD6E8FEB86659FD93) * 0xBF58476D1CE4E5B9
	h ^= h >> 29
	h *= 0x94D049BB133111EB
	return int((h ^ h>>32) % uint64(ways))
}

// route is the way of a flow from a device to where it leaves, with the tunnel that it takes; false if it
// does not get there. Where a device may wrap packets, it does so for some flows.
func route(n *ethernet.Network, class int, key uint64, at ethernet.DeviceID, mark uint8) (Flow, bool) {
	f := Flow{Class: class, Key: key, mark: mark, tunnel: ethernet.None}
	c := &n.Classes[class]
	in := ethernet.LinkID(ethernet.None)
	for range 4 * len(n.Names) { // a way that is longer circles
		var ways []ethernet.LinkID
		n.Each(n.Words(c.Next, at), at, func(l ethernet.LinkID) { ways = append(ways, l) })
		tunnels := f.tunnels(c, at)
		choices := len(ways) + len(tunnels)
		if c.Leaves(at) && (len(ways) == 0 || f.tunnel != ethernet.None) {
			choices++ // to hosts
		}
		if choices == 0 {
			return f, false
		}
		choice := hash(key^uint64(mark)<<56, at, in, choices)
		if choice >= len(ways)+len(tunnels) {
			return f, len(f.Path) > 0
		}
		if choice >= len(ways) {
			f.tunnel, f.wrapped = tunnels[choice-len(ways)], len(f.Path)
			c = &n.Classes[n.Classes[class].Tunnels[f.tunnel].Into]
			key = bits.RotateLeft64(key, 29) // switches hash another header now
			continue
		}
		f.Path = append(f.Path, ways[choice])
		mark = f.next(n, len(f.Path)-1, in, mark)
		in = ways[choice]
		at = n.Links[in].To
	}
	return f, true // it circles: what is sent so far fills the circle
}

// next is the mark of a flow's packets on a hop of its path, by the link (None: from hosts) and the mark before.
func (f *Flow) next(n *ethernet.Network, hop int, in ethernet.LinkID, mark uint8) uint8 {
	if f.tunnel != ethernet.None && hop == f.wrapped {
		mark = outer(n.TunnelMaps[n.Classes[f.Class].Tunnels[f.tunnel].Map][mark], f.Key)
	}
	return n.Priorities.Rules.Becomes(in, f.Path[hop], mark)
}

// outer is the mark of the outer header of a flow's packets: of a set of those that it can be, one by the flow's key.
func outer(set uint64, key uint64) uint8 {
	for skip := hash(key, 0, ethernet.None, bits.OnesCount64(set)); skip > 0; skip-- {
		set &= set - 1
	}
	return uint8(bits.TrailingZeros64(set))
}

// tunnels is those that a device may send a flow into, by their place in the class. What came out of
// a tunnel goes into none.
func (f *Flow) tunnels(c *ethernet.Class, at ethernet.DeviceID) (list []int) {
	if f.tunnel != ethernet.None {
		return nil
	}
	for i, t := range c.Tunnels {
		if t.Device == at {
			list = append(list, i)
		}
	}
	return list
}

// Replay is traffic made of the flows of a credit loop.
type Replay struct {
	Flows   []Flow
	Attempt int // from 1: how many were made until one stopped
	Result  *Result
}

// attempts is how often a replay is tried, each time with other flows and starts.
const attempts = 20

// tries is how many flows are tried to find one that the hash sends the way it should.
const tries = 4096

// ReplayCycle sends flows that cause a loop, on a network with it, until packets are stuck; the last attempt if they never are. weft
// packets shows by it that a loop of the judge is one.
func ReplayCycle(ctx context.Context, n *ethernet.Network, c Config, cycle []judge.Step, seed uint64) (*Replay, error) {
	var r *Replay
	for attempt := range attempts {
		rng := rand.New(rand.NewPCG(seed, uint64(attempt)))
		flows := flowsOf(n, c, cycle, rng, 2+attempt%6)
		result, err := Run(ctx, n, c, flows)
		if err != nil {
			return nil, err
		}
		r = &Replay{flows, attempt + 1, result}
		if result.Deadlocked() {
			return r, nil
		}
	}
	return r, nil
}

// flowsOf is up to so many flows for each step of a loop, with keys for which hashes lead them over the step, which enter where the
// judge's witness does.
func flowsOf(n *ethernet.Network, c Config, cycle []judge.Step, rng *rand.Rand, each int) []Flow {
	var flows []Flow
	var start []uint8
	for mark := range uint8(len(n.Priorities.Marks)) {
		if n.Priorities.Start>>mark&1 == 1 {
			start = append(start, mark)
		}
	}
	for i, s := range cycle {
		next := cycle[(i+1)%len(cycle)]
		from := n.Links[s.Path[0]].From
		found := 0
		for t := 0; t < tries && found < each; t++ {
			f, ok := route(n, s.Sent, rng.Uint64(), from, start[rng.IntN(len(start))])
			if !ok || !f.waits(n, s, next) {
				continue
			}
			f.Start, f.Count = Time(rng.Int64N(8*int64(c.serial()))), 2000
			found++
			flows = append(flows, f)
		}
	}
	return flows
}

// waits reports whether packets of a flow hold the lane of a step and wait for that of the next.
func (f *Flow) waits(n *ethernet.Network, s, next judge.Step) bool {
	marks := marksOf(n, *f)
	for i := 1; i < len(f.Path); i++ {
		if f.Path[i-1] == s.Link && f.Path[i] == next.Link &&
			int(n.Priorities.Of(marks[i-1], s.Link)) == s.Lane && int(n.Priorities.Of(marks[i], next.Link)) == next.Lane {
			return true
		}
	}
	return false
}

// On sends the flows of a replay on a network with other priorities, such as those of a cure; start is the mark there of packets that
// had a mark here.
func (r *Replay) On(ctx context.Context, n *ethernet.Network, c Config, start func(mark uint8) uint8) (*Result, error) {
	flows := make([]Flow, len(r.Flows))
	for i, f := range r.Flows {
		f.mark = start(f.mark)
		flows[i] = f
	}
	return Run(ctx, n, c, flows)
}
