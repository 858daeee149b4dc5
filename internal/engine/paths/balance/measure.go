package balance

import (
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
)

// figures is what a routing is judged by where the aim is about phases.
type figures struct {
	bandwidth float64   // what flows of random bisections get of what they would alone
	durations []float64 // [order] of a shift in the mean, 1 if no flow meets another
}

// worth is one number for an aim, the more the better.
func (x figures) worth(aim Aim) float64 { return aim.Worth(x.bandwidth, 0, x.durations) }

// perfect says that no flow of a shift meets another.
func (x figures) perfect() bool {
	for _, d := range x.durations {
		if d > 1 {
			return false
		}
	}
	return true
}

// shiftSample is the shifts by which trials are judged, the same for all: every one of
// small networks.
type shiftSample struct {
	flows   []*routes // [order] of one shift after the other, by rank
	ranks   []int     // [order]
	slowest int64     // of the links of hosts
}

// mostFlows is about how many flows are laid for all shifts of an order.
const mostFlows = 300_000

func newShiftSample(n *network, seed uint64) *shiftSample {
	s := &shiftSample{slowest: n.slowest()}
	byEnd := n.firstAddress()
	for i := range n.orders {
		ranks := n.orders[i].Ranks
		all := make([]int32, max(0, len(ranks)-1))
		for k := range all {
			all[k] = int32(k + 1)
		}
		random := rand.New(rand.NewPCG(seed, 0x736869667473+uint64(i)))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var flows []ends
		for _, offset := range all[:min(len(all), max(32, mostFlows/max(1, len(all))))] {
			for rank, from := range ranks {
				to := ranks[(rank+int(offset))%len(ranks)]
				flows = append(flows, ends{n.f.Endpoint(from).Switch, byEnd[to]})
			}
		}
		s.flows, s.ranks = append(s.flows, newRoutes(n, flows)), append(s.ranks, len(ranks))
	}
	return s
}

// durations is the mean durations of the sampled shifts, [order].
func (t *trial) durations(s *shiftSample) []float64 {
	durations := make([]float64, len(s.flows))
	count := make([]int32, t.f.Trunks())
	for i, x := range s.flows {
		durations[i] = 1
		if len(x.way) == 0 {
			continue
		}
		all, sum := t.walk(x), int64(0)
		for from := 0; from < len(x.way); from += s.ranks[i] {
			worst := s.slowest
			for flow := from; flow < from+s.ranks[i]; flow++ {
				for _, c := range all.of(flow) {
					if c == fabric.None {
						break
					}
					count[c]++
					worst = max(worst, int64(count[c])*t.inverse[c])
				}
			}
			clear(count)
			sum += worst
		}
		durations[i] = float64(sum) / float64(s.slowest*int64(len(x.way)/s.ranks[i]))
	}
	return durations
}

// firstAddress is the destination of each host's first address, [EndpointID].
func (n *network) firstAddress() []int32 {
	all := make([]int32, len(n.f.Endpoints()))
	for i := range n.dests {
		if e := n.f.Owner(n.dests[i].lid); n.f.Endpoint(e).LID == n.dests[i].lid {
			all[e] = int32(i)
		}
	}
	return all
}
