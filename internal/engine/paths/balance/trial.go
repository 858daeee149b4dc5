package balance

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

// plan is how a trial begins and what it minimises.
type plan struct {
	turns bool  // begin with one destination of each switch in turn, not switch by switch
	tiers bool  // begin with the lowest direction of a grid
	keep  bool  // and keep to it
	share int64 // halves of what routes have met before that do not count again; 0: loads alone

	// For shifts:
	from  *start  // begin with these paths, and count offsets; nil: none of this
	quick *start  // the beginning with the shortest durations, if it bounds what is usual; nil: nothing does
	power int     // of the routes that one meets at its offset, which is what they cost it
	even  float64 // what loads cost beside that
	mend  bool    // route again only what is in trouble
	seed  uint64  // of the order of destinations, beside the finder's
}

// trial is one routing of all destinations, improved pass by pass.
type trial struct {
	*network
	plan
	first  bool // of the plans
	lowest bool // take the lowest direction
	random *rand.Rand
	order  []int32 // roots, as a pass takes them

	pick   []uint8 // [dest × switches + position] which of the trunks it may take
	trunks []trunk
	tree   []step // [position] of the tree at hand

	// both is the routes on two trunks one after the other, by weight, by the turn of the
	// way back: turnBase of the second plus the reverse of the first. So all ways that go
	// on by the same trunk are side by side, as a tree looks at them. Nil where share is 0.
	both []int64

	queue   []int32  // the first of some destinations in a row, as a pass for shifts takes these
	phased  *phased  // counts for shifts; nil before the first pass for them
	mending *mending // of a trial that mends; nil before the first pass

	passes   int     // so far
	moved    int     // trees that the last pass changed
	best     float64 // what the judge said of the best routing so far
	found    figures // of it, for shifts
	bestPass int     // after which it was found
	kept     []uint8 // pick, when it was
	begun    bool    // pick is that of the beginning still
	lent     bool    // kept is that of the beginning, which others begin with too
	stale    int     // passes since
	annealed bool    // and improved thereafter
	said     string  // how it was found, if not by its own passes
}

type trunk struct {
	load    int64 // routes on it, by weight
	first   int64 // trees in which its switch uses it, by weight
	inverse int32 // as in network, twice
	back    int32 // the other direction of its cable
}

// step is a switch of the tree at hand.
type step struct {
	sum     int64 // cost of its way
	routes  int64 // through it, by weight of sources
	turns   int32 // turnBase of its trunk
	inverse int32 // of its trunk; 0 at the root
}

func newTrial(n *network, p plan, seed uint64) *trial {
	s := n.f.Switches()
	t := &trial{
		network: n, plan: p, lowest: p.tiers, random: rand.New(rand.NewPCG(seed, 0x62616c616e6365)),
		pick: make([]uint8, len(n.dests)*s), trunks: make([]trunk, n.f.Trunks()), tree: make([]step, s),
	}
	if p.share > 0 {
		t.both = make([]int64, n.f.Turns())
	}
	t.unload()
	for d := 0; d < len(n.dests); d += n.inRow() {
		t.queue = append(t.queue, int32(d))
	}
	for i := range n.roots {
		t.order = append(t.order, int32(i))
	}
	return t
}

// unload takes all routes off.
func (t *trial) unload() {
	for c := range t.trunks {
		t.trunks[c] = trunk{inverse: int32(2 * t.inverse[c]), back: int32(t.f.Reverses()[c])}
	}
	clear(t.both)
}

// begin routes all destinations for the first time.
func (t *trial) begin(ctx context.Context) {
	if t.from != nil {
		copy(t.pick, t.from.pick)
		t.begun, t.moved = true, len(t.dests)
		return
	}
	rounds, each := 1, t.rounds
	if t.plan.turns {
		rounds, each = t.rounds, 1
	}
	for k := range rounds {
		for i := range t.roots {
			r := &t.roots[i]
			if ctx.Err() != nil {
				return
			}
			for _, d := range r.dests[min(k*each, len(r.dests)):min((k+1)*each, len(r.dests))] {
				pick := t.picks(d)
				t.placeAnew(r, pick, t.dests[d].shift)
				t.chargePlaced(r, pick, t.dests[d].weight)
			}
		}
	}
	t.lowest, t.moved = t.keep, len(t.dests)
}

// pass routes every destination again.
func (t *trial) pass(ctx context.Context) {
	t.passes++
	t.begun, t.moved = false, 0
	if t.from != nil {
		if t.plan.mend {
			t.passMending(ctx)
		} else {
			t.passPhased(ctx)
		}
		return
	}
	t.random.Shuffle(len(t.order), func(i, j int) { t.order[i], t.order[j] = t.order[j], t.order[i] })
	for _, i := range t.order {
		if ctx.Err() != nil {
			return
		}
		r := &t.roots[i]
		for _, d := range r.dests {
			pick, w := t.picks(d), t.dests[d].weight
			t.charge(r, pick, -w)
			if t.place(r, pick) {
				t.moved++
			}
			t.chargePlaced(r, pick, w)
		}
	}
}

// shuffled is all destinations, some in a row and these in a new random order.
func (t *trial) shuffled() iter.Seq[int32] {
	t.random.Shuffle(len(t.queue), func(i, j int) { t.queue[i], t.queue[j] = t.queue[j], t.queue[i] })
	row, all := int32(t.inRow()), int32(len(t.dests))
	return func(yield func(int32) bool) {
		for _, first := range t.queue {
			for d := first; d < min(first+row, all); d++ {
				if !yield(d) {
					return
				}
			}
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
	if t.both != nil {
		for i := 1; i < len(r.order); i++ {
			t.tree[i].turns = t.turnBase[r.ways[r.first[i]+int32(pick[i])].trunk]
		}
	}
	t.chargePlaced(r, pick, weight)
}

// chargePlaced is charge for the tree at hand, all of which was just placed.
func (t *trial) chargePlaced(r *root, pick []uint8, weight int64) {
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
		h := &tree[w.head]
		h.routes += n
		if t.both != nil && w.head != 0 {
			t.both[h.turns+c.back] += n * weight
		}
	}
}

// placeAnew finds the first tree to a root. Nobody knows yet how many routes a
// switch will pass on, so that its own count. Of ways that cost the same a switch
// takes the first from shift on.
func (t *trial) placeAnew(r *root, pick []uint8, shift int32) {
	for i, u := range r.order {
		t.tree[i].routes = t.src[u]
		if n := r.first[i+1] - r.first[i]; n > 0 {
			pick[i] = uint8(shift % n)
		}
	}
	t.place(r, pick)
}

// place finds the tree to a root of which no load is charged, and says whether it
// is another than before. Of ways that cost the same a switch keeps what it had.
func (t *trial) place(r *root, pick []uint8) bool {
	t.tree[0] = step{}
	changed := false
	for i := 1; i < len(r.order); i++ {
		ways := r.ways[r.first[i]:r.first[i+1]]
		best := 0
		if len(ways) > 1 {
			best = t.among(ways, int(pick[i]), t.tree[i].routes, t.square[r.order[i]])
		}
		t.take(i, ways[best])
		if uint8(best) != pick[i] {
			pick[i] = uint8(best)
			changed = true
		}
	}
	return changed
}

// among is the best way of a switch, for so many routes through it; of several the first from
// start on.
func (t *trial) among(ways []way, start int, routes, square int64) int {
	if t.both == nil && !t.lowest {
		return t.lightest(ways, start)
	}
	own := int64(0)
	if t.both != nil && routes != 0 {
		own = square << 10 / routes
	}
	if t.lowest {
		return t.lowestTier(ways, start, own)
	}
	return t.choose(ways, start, own)
}

// take notes the way of a switch in the tree at hand.
func (t *trial) take(i int, w way) {
	s := &t.tree[i]
	s.sum, s.turns, s.inverse = t.cost(w), t.turnBase[w.trunk], t.trunks[w.trunk].inverse
}

// cost is what a route meets on the way to the root by a trunk.
func (t *trial) cost(w way) int64 {
	c, h := &t.trunks[w.trunk], &t.tree[w.head]
	sum := h.sum + c.load*int64(c.inverse)
	if t.both != nil {
		sum -= t.share * t.both[h.turns+c.back] * int64(min(c.inverse, h.inverse)/2)
	}
	return sum
}

// choose is the cheapest way of a switch; of several it takes the first from start
// on. Own is the part of its routes, in 1/1024, that begin at the switch, which do
// not meet those from the same source.
func (t *trial) choose(ways []way, start int, own int64) int {
	// In variables of their own the slices stay in registers.
	trunks, tree, both, share := t.trunks, t.tree, t.both, t.share
	best, least := start, int64(math.MaxInt64)
	j := start
	for range ways {
		w := ways[j]
		c, h := &trunks[w.trunk], &tree[w.head]
		cost := h.sum + (c.load-c.first*own>>10)*int64(c.inverse) - share*both[h.turns+c.back]*int64(min(c.inverse, h.inverse)/2)
		if cost < least {
			best, least = j, cost
		}
		if j++; j == len(ways) {
			j = 0
		}
	}
	return best
}

// lowestTier is choose among the ways in the first direction that a grid is to be passed in.
func (t *trial) lowestTier(ways []way, start int, own int64) int {
	best, least, lowest := start, int64(math.MaxInt64), uint8(math.MaxUint8)
	j := start
	for range ways {
		w := ways[j]
		c := &t.trunks[w.trunk]
		cost := t.cost(w) - c.first*own>>10*int64(c.inverse)
		if tier := t.tier[w.trunk]; tier > lowest {
			cost = math.MaxInt64
		} else if tier < lowest {
			least, lowest = math.MaxInt64, tier
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

// judge measures the routing as it is, and keeps the best. A pass that changed
// nothing is the last.
func (t *trial) judge(by func(*trial) float64) {
	t.stale++
	if b := by(t); b > t.best || t.kept == nil {
		t.best, t.bestPass, t.stale = b, t.passes, 0
		t.hold()
	}
	if t.moved == 0 {
		t.stale = t.patience()
	}
}

// hold keeps the routing as it is.
func (t *trial) hold() {
	switch {
	case t.begun:
		t.kept, t.lent = t.from.pick, true
	case t.lent:
		t.kept, t.lent = slices.Clone(t.pick), false
	default:
		t.kept = append(t.kept[:0], t.pick...)
	}
}

// fullest is the load of the fullest trunk by its rate, negative.
func (t *trial) fullest() float64 {
	most := int64(0)
	for c := range t.trunks {
		most = max(most, t.trunks[c].load*t.inverse[c])
	}
	return -float64(most)
}
