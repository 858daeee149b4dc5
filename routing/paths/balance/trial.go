package balance

import (
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
)

// plan is how a trial begins and what it minimises.
type plan struct {
	rounds  bool  // begin with a destination of each switch in turn, not switch by switch
	regular bool  // begin with the lowest dimension
	keep    bool  // and keep to it
	own     bool  // routes of one source do not meet on its first trunk
	share   int64 // halves of what routes share with the trunk before that are not counted again
}

// trial is one routing of all destinations, that is improved pass by pass.
type trial struct {
	*network
	plan
	random *rand.Rand
	order  []int32 // roots, as a pass takes them

	pick []uint8 // [dest × switches + position] which of the trunks it may take

	load  []int64 // [trunk] routes on it, by weight
	price []int64 // [trunk] twice the load, by capacity
	first []int64 // [trunk] trees whose own sources begin with it, by weight
	turn  []int64 // [turn] routes on it, by weight; nil where share is 0

	// Of the tree at hand, [position].
	sum    []int64
	routes []int64
	out    []fabric.ChannelID

	moved int     // trees that the last pass changed
	score float64 // of the routing as it is
	best  float64 // the best so far
	kept  []uint8 // pick, when it was
	stale int     // passes since
}

func newTrial(n *network, p plan, seed uint64) *trial {
	s := n.f.Switches()
	t := &trial{
		network: n, plan: p, random: rand.New(rand.NewPCG(seed, 0x62616c616e6365)),
		pick: make([]uint8, len(n.dests)*s), load: make([]int64, n.f.Trunks()), price: make([]int64, n.f.Trunks()), first: make([]int64, n.f.Trunks()),
		sum: make([]int64, s), routes: make([]int64, s), out: make([]fabric.ChannelID, s),
	}
	if p.share > 0 {
		t.turn = make([]int64, n.f.Turns())
	}
	for i := range n.roots {
		t.order = append(t.order, int32(i))
	}
	return t
}

// begin routes all destinations for the first time.
func (t *trial) begin() {
	first := func(i int32) {
		r, pick, w := &t.roots[t.dests[i].root], t.picks(i), t.dests[i].weight
		t.place(r, pick, true)
		t.charge(r, pick, w)
	}
	if !t.plan.rounds {
		for i := range t.dests {
			first(int32(i))
		}
	}
	for k := range t.network.rounds {
		for i := range t.roots {
			if d := t.roots[i].dests; t.plan.rounds && k < len(d) {
				first(d[k])
			}
		}
	}
	if !t.keep {
		t.regular = false
	}
}

// pass routes every destination again.
func (t *trial) pass() {
	t.moved = 0
	t.random.Shuffle(len(t.order), func(i, j int) { t.order[i], t.order[j] = t.order[j], t.order[i] })
	for _, i := range t.order {
		r := &t.roots[i]
		for _, d := range r.dests {
			pick, w := t.picks(d), t.dests[d].weight
			t.charge(r, pick, -w)
			if t.place(r, pick, false) {
				t.moved++
			}
			t.charge(r, pick, w)
		}
	}
}

// picks is the tree of a destination.
func (t *trial) picks(d int32) []uint8 {
	i := int(d) * t.f.Switches()
	return t.pick[i : i+len(t.roots[t.dests[d].root].order)]
}

// charge adds the routes of a tree to the loads.
func (t *trial) charge(r *root, pick []uint8, weight int64) {
	routes := t.routes[:len(r.order)]
	for i, u := range r.order {
		routes[i] = t.src[u]
	}
	for i := len(r.order) - 1; i > 0; i-- {
		n := routes[i]
		if n == 0 {
			continue
		}
		e := r.first[i] + int32(pick[i])
		c, h := r.out[e], r.head[e]
		t.load[c] += n * weight
		t.price[c] = 2 * t.load[c] * t.inverse[c]
		t.first[c] += weight
		routes[h] += n
		if t.turn != nil && h != 0 {
			t.turn[t.turnBase[c]+int32(r.out[r.first[h]+int32(pick[h])])] += n * weight
		}
	}
}

// place finds the tree to a root of which no load is charged, and says whether it
// is another than before. Where it is routed anew nobody knows yet how many
// routes a switch will pass on; then those of its own count.
func (t *trial) place(r *root, pick []uint8, anew bool) bool {
	t.sum[0] = 0
	changed := false
	for i := 1; i < len(r.order); i++ {
		lo, hi := r.first[i], r.first[i+1]
		e := lo
		if hi-lo > 1 {
			if anew {
				e = t.choose(r, i, lo+int32(r.order[0])%(hi-lo), t.src[r.order[i]])
			} else {
				e = t.choose(r, i, lo+int32(pick[i]), t.routes[i])
			}
		}
		t.out[i] = r.out[e]
		t.sum[i] = t.cost(r, e)
		if p := uint8(e - lo); p != pick[i] {
			pick[i] = p
			changed = true
		}
	}
	return changed
}

// cost is that of the way to the root by a trunk.
func (t *trial) cost(r *root, e int32) int64 {
	c, h := r.out[e], r.head[e]
	sum := t.sum[h] + t.price[c]
	if t.turn != nil && h != 0 {
		next := t.out[h]
		sum -= t.share * t.turn[t.turnBase[c]+int32(next)] * min(t.inverse[c], t.inverse[next])
	}
	return sum
}

// choose is the trunk with the least cost for a switch; of several it takes the
// first from start on. Through is the routes that will use it, as far as is known.
func (t *trial) choose(r *root, i int, start int32, through int64) int32 {
	lo, hi := r.first[i], r.first[i+1]
	scale := int64(0) // of what own sources need not fear, in 1/1024
	if t.own && through > 0 {
		scale = t.square[r.order[i]] << 10 / through
	}
	best, least, lowest := int32(-1), int64(0), uint8(255)
	e := start
	for range hi - lo {
		c := r.out[e]
		cost := t.cost(r, e) - (t.first[c]*scale>>10)*2*t.inverse[c]
		switch {
		case t.regular && t.tier[c] > lowest:
		case best < 0, cost < least, t.regular && t.tier[c] < lowest:
			best, least = e, cost
			if t.regular {
				lowest = t.tier[c]
			}
		}
		if e++; e == hi {
			e = lo
		}
	}
	return best
}

// keepBest notes the routing if it is the best so far.
func (t *trial) keepBest() {
	t.stale++
	if t.kept == nil || t.score > t.best {
		t.best, t.stale = t.score, 0
		t.kept = append(t.kept[:0], t.pick...)
	}
}
