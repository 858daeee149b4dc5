package balance

import (
	"math"
	"math/rand/v2"
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

	trunks []trunk
	turn   []int64 // [turn] routes on it, by weight; nil where share is 0
	tree   []step  // [position] of the tree at hand

	moved int     // trees that the last pass changed
	score float64 // of the routing as it is
	best  float64 // the best so far
	kept  []uint8 // pick, when it was
	stale int     // passes since
}

// trunk is the state of a trunk.
type trunk struct {
	load    int64 // routes on it, by weight
	first   int64 // trees whose own sources begin with it, by weight
	inverse int32 // as in network, twice
	turns   int32 // turnBase of network
}

// step is a switch of the tree at hand.
type step struct {
	sum    int64 // cost of its way
	routes int64 // on its trunk, by weight of sources
	out    int32 // its trunk
}

func newTrial(n *network, p plan, seed uint64) *trial {
	s := n.f.Switches()
	t := &trial{
		network: n, plan: p, random: rand.New(rand.NewPCG(seed, 0x62616c616e6365)),
		pick: make([]uint8, len(n.dests)*s), trunks: make([]trunk, n.f.Trunks()), tree: make([]step, s),
	}
	t.unload()
	if p.share > 0 {
		t.turn = make([]int64, n.f.Turns())
	}
	for i := range n.roots {
		t.order = append(t.order, int32(i))
	}
	return t
}

// unload takes all routes off.
func (t *trial) unload() {
	for c := range t.trunks {
		t.trunks[c] = trunk{inverse: int32(2 * t.inverse[c]), turns: t.turnBase[c]}
	}
	clear(t.turn)
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
	tree := t.tree[:len(r.order)]
	for i, u := range r.order {
		tree[i].routes = t.src[u]
	}
	for i := len(tree) - 1; i > 0; i-- {
		n := tree[i].routes
		if n == 0 {
			continue
		}
		w := r.ways[r.first[i]+int32(pick[i])]
		c := &t.trunks[w.trunk]
		c.load += n * weight
		c.first += weight
		tree[w.head].routes += n
		if t.turn != nil && w.head != 0 {
			next := r.ways[r.first[w.head]+int32(pick[w.head])]
			t.turn[c.turns+int32(next.trunk)] += n * weight
		}
	}
}

// place finds the tree to a root of which no load is charged, and says whether it
// is another than before. Where it is routed anew nobody knows yet how many
// routes a switch will pass on; then those of its own count.
func (t *trial) place(r *root, pick []uint8, anew bool) bool {
	t.tree[0] = step{}
	changed := false
	for i := 1; i < len(r.order); i++ {
		s := &t.tree[i]
		ways := r.ways[r.first[i]:r.first[i+1]]
		start, through := int(pick[i]), s.routes
		if anew {
			start, through = int(r.order[0])%len(ways), t.src[r.order[i]]
		}
		best := 0
		if len(ways) > 1 {
			scale := int64(0)
			if t.own && through > 0 {
				scale = t.square[r.order[i]] << 10 / through
			}
			if scale > 0 || t.turn != nil || t.regular {
				best = t.choose(ways, start, scale)
			} else {
				best = t.lightest(ways, start)
			}
		}
		s.sum, s.out = t.cost(ways[best]), int32(ways[best].trunk)
		if uint8(best) != pick[i] {
			pick[i] = uint8(best)
			changed = true
		}
	}
	return changed
}

// cost is that of the way to the root by a trunk.
func (t *trial) cost(w way) int64 {
	c, h := &t.trunks[w.trunk], &t.tree[w.head]
	sum := h.sum + c.load*int64(c.inverse)
	if t.turn != nil && w.head != 0 {
		inverse := c.inverse
		if !t.flat {
			inverse = min(inverse, t.trunks[h.out].inverse)
		}
		sum -= t.share * t.turn[c.turns+h.out] * int64(inverse/2)
	}
	return sum
}

// choose is the cheapest way of a switch; of several it takes the first from start
// on. Scale is the part of its routes, in 1/1024, that is its own.
func (t *trial) choose(ways []way, start int, scale int64) int {
	best, least, lowest := start, int64(math.MaxInt64), uint8(math.MaxUint8)
	j := start
	for range ways {
		w := ways[j]
		cost := t.cost(w)
		if scale > 0 {
			c := &t.trunks[w.trunk]
			cost -= c.first * scale >> 10 * int64(c.inverse)
		}
		if t.regular {
			if tier := t.tier[w.trunk]; tier != lowest {
				if tier > lowest {
					cost = math.MaxInt64
				} else {
					least, lowest = math.MaxInt64, tier
				}
			}
		}
		if cost < least {
			best, least = j, cost
		}
		if j++; j == len(ways) {
			j = 0
		}
	}
	return best
}

// lightest is choose where nothing but loads counts, which is most of the time
// that large networks take.
func (t *trial) lightest(ways []way, start int) int {
	best, least := start, int64(math.MaxInt64)
	for j := start; j < len(ways); j++ {
		c := &t.trunks[ways[j].trunk]
		if cost := t.tree[ways[j].head].sum + c.load*int64(c.inverse); cost < least {
			best, least = j, cost
		}
	}
	for j, w := range ways[:start] {
		c := &t.trunks[w.trunk]
		if cost := t.tree[w.head].sum + c.load*int64(c.inverse); cost < least {
			best, least = j, cost
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
