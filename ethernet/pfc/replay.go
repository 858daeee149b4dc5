package pfc

import (
	"context"
	"math/rand/v2"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/ethernet/judge"
)

// circle finds lanes that are paused for ever and wait for each other.
func (s *sim) circle() []Held {
	type lane struct {
		link ethernet.LinkID
		lane int
	}
	next := map[lane]lane{} // a lane whose group waits, and a paused lane that one of its packets is queued for
	behind := map[lane]int{}
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
						cycle = append(cycle, Held{held.link, held.lane, behind[held]})
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

// hash picks one of several next hops, as a switch does by the header of a packet.
func hash(key uint64, d ethernet.DeviceID, ways int) int {
	h := (key ^ uint64(d)*0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9
	h ^= h >> 29
	h *= 0x94D049BB133111EB
	return int((h ^ h>>32) % uint64(ways))
}

// route is the way of a flow from a device to where it leaves; nil if it does not.
func route(n *ethernet.Network, class int, key uint64, at ethernet.DeviceID) []ethernet.LinkID {
	c := &n.Classes[class]
	var path []ethernet.LinkID
	for range 4 * len(n.Names) {
		var ways []ethernet.LinkID
		n.Each(n.Words(c.Next, at), at, func(l ethernet.LinkID) { ways = append(ways, l) })
		if len(ways) == 0 {
			if !c.Leaves(at) {
				return nil
			}
			return path
		}
		path = append(path, ways[hash(key, at, len(ways))])
		at = n.Links[path[len(path)-1]].To
	}
	return path // it circles: what is sent so far fills the circle
}

// Replay is traffic made of the flows of a credit loop.
type Replay struct {
	Flows   []Flow
	Attempt int
	Result  *Result
}

// attempts is how often a replay is tried, each time with other flows and starts.
const attempts = 20

// tries is how many flows are tried to find one that the hash sends the way it should.
const tries = 4096

// ReplayCycle sends the flows that cause a loop, on a network with it, until it stops. Flows
// through tunnels are not simulated: those steps have none.
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

// flowsOf is so many flows for each step of a loop, which enter where the judge's witness does.
func flowsOf(n *ethernet.Network, c Config, cycle []judge.Step, rng *rand.Rand, each int) []Flow {
	var flows []Flow
	for i, s := range cycle {
		next := cycle[(i+1)%len(cycle)].Link
		from := n.Links[s.Path[0]].From
		found := 0
		for t := 0; t < tries && found < each; t++ {
			key := rng.Uint64()
			path := route(n, s.Class, key, from)
			if !takes(path, s.Link, next) || s.Tunnel != ethernet.None {
				continue
			}
			f := Flow{Class: s.Class, Key: key, Path: path, Start: Time(rng.Int64N(8 * int64(c.serial()))), Count: 2000}
			if !arrives(n, &f, s) {
				continue
			}
			found++
			flows = append(flows, f)
		}
	}
	return flows
}

// takes says whether a path has two links one after the other.
func takes(path []ethernet.LinkID, a, b ethernet.LinkID) bool {
	for i := 1; i < len(path); i++ {
		if path[i-1] == a && path[i] == b {
			return true
		}
	}
	return false
}

// arrives finds the mark with which a flow has to enter to be in the lane of a step there.
func arrives(n *ethernet.Network, f *Flow, s judge.Step) bool {
	for mark := range uint8(len(n.Priorities.Marks)) {
		if n.Priorities.Start>>mark&1 == 0 {
			continue
		}
		f.mark = mark
		for i, m := range marksOf(n, *f) {
			if f.Path[i] == s.Link && int(n.Priorities.Of(m, s.Link)) == s.Lane {
				return true
			}
		}
	}
	return false
}

// On sends the same flows on a network with other priorities; start is the mark of each flow's
// packets there, by that which they had.
func (r *Replay) On(ctx context.Context, n *ethernet.Network, c Config, start func(mark uint8) uint8) (*Result, error) {
	flows := make([]Flow, len(r.Flows))
	for i, f := range r.Flows {
		f.mark = start(f.mark)
		flows[i] = f
	}
	return Run(ctx, n, c, flows)
}
