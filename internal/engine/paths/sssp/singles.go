package sssp

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
)

// singles is the switches of a graph that choose for themselves, or have no choice but
// may be passed by paths of switches that have. Those with the same hops to the root, as many trunks to
// choose from, and all passed or none, are a run: so the processor foresees what a choice does.
type singles struct {
	place  []int32         // [single] in the order of the graph
	member []fabric.NodeID // [single] the switch
	took   []int32         // [single that is passed] the way it takes
	start  []int32         // scratch of copyIn: [single] its first trunk in the graph

	// The ways of one single after the other, from the trunk on that is first in a tie.
	ways []way

	found []single // scratch: those of one level
	next  []int32  // scratch: [sort] zero, except within takeSingles
}

// way is a trunk that a single may take. What it chooses by is side by side for all while
// the graph is at hand.
type way struct {
	on    uint64 // load of the trunk; in the low bits the place among the ways, and the port
	head  fabric.NodeID
	trunk fabric.ChannelID
}

// The low bits of a way's load: a byte for the place, above one for the port.
const (
	onePlace = 1 << 8
	low      = oneRoute - 1
)

// single is a switch on its way into a run.
type single struct {
	place int32
	sort  int32 // twice the trunks to choose from, and one more if it is passed
}

func (s *singles) empty() {
	s.place, s.member, s.took, s.start, s.ways = s.place[:0], s.member[:0], s.took[:0], s.start[:0], s.ways[:0]
}

// grow makes room for further singles and ways.
func (s *singles) grow(singles, ways int) {
	n, m := len(s.place)+singles, len(s.ways)+ways
	s.place, s.member, s.took = slices.Grow(s.place, singles)[:n], slices.Grow(s.member, singles)[:n], slices.Grow(s.took, singles)[:n]
	s.start, s.ways = slices.Grow(s.start, singles)[:n], slices.Grow(s.ways, ways)[:m]
}

// takeSingles makes runs of the singles in w.found, which are of one level.
func (w *weights) takeSingles(d *dag.DAG) {
	next, most := w.next, int32(0) // [sort] singles; then the place of the next
	for _, s := range w.found {
		next[s.sort]++
		most = max(most, s.sort)
	}
	known := len(w.runs)
	for sort := int32(2); sort <= most; sort++ {
		if many := next[sort]; many > 0 {
			at, n := int32(len(w.place)), sort/2
			w.runs = append(w.runs, run{kind: singly, n: n, passed: sort%2 == 1, from: at, to: at + many, first: int32(len(w.ways))})
			w.grow(int(many), int(many*n))
			next[sort] = at
		}
	}
	for _, s := range w.found {
		w.place[next[s.sort]] = s.place
		next[s.sort]++
	}
	clear(next[:most+1])
	for k := range w.runs[known:] {
		w.copyIn(d, &w.runs[known+k])
	}
}

// copyIn copies what the singles of a run choose from into members and ways: until putBack, the loads
// of their trunks are kept there and not in On.
func (w *weights) copyIn(d *dag.DAG, r *run) {
	n, first := int(r.n), int(r.first)
	member, took, start := w.member[r.from:r.to], w.took[r.from:r.to], w.start[r.from:r.to]
	for i, at := range w.place[r.from:r.to] {
		member[i], took[i], start[i] = d.Order[at], int32(first+i*n), d.First[at]
	}
	ways := w.ways[first:][:len(member)*n]
	from := int(d.Root) % n
	for j := range n {
		copyWays(ways[j:], start, d.Out[from:], d.Head[from:], n, uint64(j)*onePlace)
		if from++; from == n {
			from = 0
		}
	}
	copyLoads(ways, w.On, w.f.TailPorts())
}

// copyWays copies one of n ways of each single, which is the same number of trunks after
// the start of each. These loops are functions, and not nested, so that all they work on
// stays in registers.
//
//go:noinline
func copyWays(ways []way, start []int32, out []fabric.ChannelID, head []fabric.NodeID, n int, place uint64) {
	k := 0
	for _, at := range start {
		ways[k] = way{on: place, head: head[at], trunk: out[at]}
		k += n
	}
}

// copyLoads adds the loads and ports to ways.
//
//go:noinline
func copyLoads(ways []way, on []uint64, ports []uint8) {
	for i := range ways {
		x := &ways[i]
		x.on |= on[x.trunk] | uint64(ports[x.trunk])
	}
}

// putBack puts the loads that the ways of a run have by now back into On.
func (w *weights) putBack(r *run) {
	on := w.On
	for _, x := range w.ways[r.first:][:(r.to-r.from)*r.n] {
		on[x.trunk] = x.on &^ low
	}
}

// chooseFirst chooses for singles that are passed, and writes into a row; chargeFirst charges them.
func (w *weights) chooseFirst(r *run, row []uint8) {
	sum, n := w.sum, int(r.n)
	member, took := w.member[r.from:r.to], w.took[r.from:r.to]
	ways := w.ways[r.first:][:len(member)*n]
	if n == 1 { // in the row already
		for i, u := range member {
			sum[u] = sum[ways[i].head] + ways[i].on&^low
		}
		return
	}
	least := w.least[:len(member)]
	lightestWay(least, ways, sum)
	for i, best := range least {
		u := member[i]
		sum[u], row[u] = best&^low, uint8(best)
		took[i] = r.first + int32(i*n) + int32(best%oneRoute/onePlace)
	}
}

// chooseLast chooses for singles that no path passes, writes into a row, and charges if asked
// to: what they take concerns no switch that chooses after them.
func (w *weights) chooseLast(r *run, row []uint8, charge bool) {
	counted := uint64(0) // a mask: no routes, or all
	if charge {
		counted--
	}
	n, member, through, base := int(r.n), w.member[r.from:r.to], w.through, w.base
	least, ways := w.least[:len(member)], w.ways[r.first:][:len(member)*n]
	lightestWay(least, ways, w.sum)
	for i, best := range least {
		u := member[i]
		took, routes := &ways[i*n+int(best%oneRoute/onePlace)], base[u]&counted
		took.on += routes
		through[took.head] += routes
		row[u] = uint8(best)
	}
}

// lightestWay sets least, [single of a run], to the least load of its paths, like lightest.
//
//go:noinline
func lightestWay(least []uint64, ways []way, sum []uint64) {
	n := len(ways) / len(least)
	for i := range least {
		best := ^uint64(0)
		for _, x := range ways[:n] {
			best = min(best, sum[x.head]+x.on)
		}
		least[i], ways = best, ways[n:]
	}
}

// chargeFirst charges singles that are passed, by what chooseFirst took.
func (w *weights) chargeFirst(r *run) {
	through, base, ways, took := w.through, w.base, w.ways, w.took[r.from:r.to]
	for i, u := range w.member[r.from:r.to] {
		n := through[u]
		through[u] = base[u]
		x := &ways[took[i]]
		x.on += n
		through[x.head] += n
	}
}
