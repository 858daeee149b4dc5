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
func (x figures) worth(aim Aim) float64 { return aim.Worth(x.bandwidth, x.durations) }

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
	offsets [][]int32 // [order]
	slowest int64     // of the links of hosts
}

// mostFlows is about how many flows are laid for all shifts of an order.
const mostFlows = 300_000

func newShiftSample(n *network, seed uint64) *shiftSample {
	s := &shiftSample{slowest: 1}
	for _, e := range n.hosts {
		s.slowest = max(s.slowest, n.end[e])
	}
	for i := range n.orders {
		all := make([]int32, max(0, len(n.orders[i].Ranks)-1))
		for k := range all {
			all[k] = int32(k + 1)
		}
		random := rand.New(rand.NewPCG(seed, 0x736869667473+uint64(i)))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		s.offsets = append(s.offsets, all[:min(len(all), max(32, mostFlows/max(1, len(all))))])
	}
	return s
}

// durations is the mean durations of the sampled shifts, [order].
func (t *trial) durations(s *shiftSample) []float64 {
	count := make([]int32, t.f.Trunks())
	var touched []fabric.ChannelID
	byEnd := t.firstAddress()
	all := make([]float64, len(t.orders))
	for i := range t.orders {
		ranks := t.orders[i].Ranks
		sum := int64(0)
		for _, offset := range s.offsets[i] {
			worst := s.slowest
			to := int(offset)
			for _, from := range ranks {
				d := byEnd[ranks[to]]
				if to++; to == len(ranks) {
					to = 0
				}
				r, pick := &t.roots[t.dests[d].root], t.picks(d)
				for at := r.at[t.f.Endpoint(from).Switch]; at != 0; {
					w := r.ways[r.first[at]+int32(pick[at])]
					count[w.trunk]++
					touched = append(touched, w.trunk)
					worst = max(worst, int64(count[w.trunk])*t.inverse[w.trunk])
					at = w.head
				}
			}
			sum += worst
			for _, c := range touched {
				count[c] = 0
			}
			touched = touched[:0]
		}
		all[i] = 1
		if n := len(s.offsets[i]); n > 0 {
			all[i] = float64(sum) / float64(s.slowest*int64(n))
		}
	}
	return all
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
