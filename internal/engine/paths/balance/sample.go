package balance

import (
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
)

// sample is random bisections, the same for all trials: pairs of a source and a
// destination in which every host occurs at most once.
type sample struct {
	first []int32 // [bisection, plus one at the end] into pairs
	pairs *routes // of all bisections
	alone []int64 // [pair] time that a packet takes at the slower of its ends
	full  float64 // bandwidth of all pairs if each were alone
}

// newSample draws bisections. A host takes part with a probability by its weight.
// Where hosts have several addresses, all use the first of theirs, or all the
// second, and so on.
func newSample(n *network, seed uint64) *sample {
	const flows, least, most = 60_000, 16, 800
	runs := min(max(flows/max(1, len(n.hosts)/2), least), most)
	random := rand.New(rand.NewPCG(seed, 0x6d61746368))
	top := int64(1)
	for _, e := range n.hosts {
		top = max(top, n.weight[e])
	}
	byLID := make([]int32, int(n.f.TopLID())+1)
	for i := range n.dests {
		byLID[n.dests[i].lid] = int32(i)
	}
	s := &sample{first: []int32{0}}
	var present []fabric.EndpointID
	var pairs []ends
	for run := range runs {
		present = present[:0]
		for _, e := range n.hosts {
			if w := n.weight[e]; w == top || random.Int64N(top) < w {
				present = append(present, e)
			}
		}
		random.Shuffle(len(present), func(i, j int) { present[i], present[j] = present[j], present[i] })
		half := len(present) / 2
		for i := range half {
			to := n.f.Endpoint(present[half+i])
			lid := to.LID + fabric.LID(run&(1<<to.LMC-1))
			alone := max(n.end[present[i]], n.end[present[half+i]])
			pairs = append(pairs, ends{n.f.Endpoint(present[i]).Switch, byLID[lid]})
			s.alone = append(s.alone, alone)
			s.full += 1 / float64(alone)
		}
		s.first = append(s.first, int32(len(pairs)))
	}
	s.pairs = newRoutes(n, pairs)
	return s
}

// bandwidth is what flows get of what they would get if each were alone: the
// effective bisection bandwidth of Hoefler et al. in the sample.
func (t *trial) bandwidth(s *sample) float64 {
	count := make([]int32, t.f.Trunks())
	all := t.walk(s.pairs)
	total := 0.0
	for run := range len(s.first) - 1 {
		from, to := int(s.first[run]), int(s.first[run+1])
		for i := from; i < to; i++ {
			for _, c := range all.of(i) {
				if c == fabric.None {
					break
				}
				count[c]++
			}
		}
		for i := from; i < to; i++ {
			worst := s.alone[i]
			for _, c := range all.of(i) {
				if c == fabric.None {
					break
				}
				worst = max(worst, int64(count[c])*t.inverse[c])
			}
			total += 1 / float64(worst)
		}
		clear(count)
	}
	if s.full == 0 {
		return 1
	}
	return total / s.full
}
