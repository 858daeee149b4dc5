package balance

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
)

// mending is the part of a trial that routes again only what is in trouble: routes in the
// fullest cells, which decide how long phases take. The others stay where they are, and
// so most of what a pass looks at. Two routes to the same destination never have the same
// offset, so that the rest of a tree need not be taken off while a part of it moves.
type mending struct {
	part    float64   // what counts as trouble, see there
	slowest int64     // of the links of hosts, as in network.end
	limit   []int64   // [cell] time from which on its routes are in trouble
	full    []bool    // [trunk] some of its cells were above their limits when the pass began
	above   []uint8   // [as flows.words] which of their cells, as bits: many times smaller than the counts
	from    [][]int32 // [dest] positions of switches with hosts whose routes to it were in trouble then
	bad     []bool    // [position] routes that come through it were; scratch space
	seen    []bool    // [position] one of the ways of such routes leads through it; scratch space
}

// Trouble is how full a cell must be, as part of the fullest of its offsets: on the
// largest networks there is time for the worst only, but for mostMends passes. Of twenty of the sixty
// networks of test/bench/patchwork one has other paths at .8 as well, and better ones: .2 hundredths more
// bandwidth for shifts .7 longer.
const (
	trouble      = 0.6
	worstTrouble = 0.8
	mostMends    = 3
)

func newMending(n *network, x *flows) *mending {
	blocks := len(x.words) / max(1, x.trunks) >> blockLog
	part := trouble
	if n.tooLargeForAPass() {
		part = worstTrouble
	}
	return &mending{
		part: part, slowest: n.slowest(), limit: make([]int64, blocks<<blockLog<<x.perLog), full: make([]bool, n.f.Trunks()), from: make([][]int32, len(n.dests)),
		above: make([]uint8, len(x.words)),
		bad:   make([]bool, n.f.Switches()), seen: make([]bool, n.f.Switches()),
	}
}

// survey settles what trouble is: cells that take nearly as long as the fullest of their
// offsets, and longer than the links of hosts.
func (t *trial) survey() {
	m, x := t.mending, t.phased
	clear(m.limit)
	x.eachWord(func(at int, c fabric.ChannelID, cell int32) {
		for w := x.words[at]; w != 0; cell, w = cell+1, w>>x.bits() {
			m.limit[cell] = max(m.limit[cell], int64(w&x.most())*t.inverse[c])
		}
	})
	for i, most := range m.limit {
		m.limit[i] = max(int64(m.part*float64(most)), m.slowest<<x.shift+1)
	}
	clear(m.full)
	x.eachWord(func(at int, c fabric.ChannelID, cell int32) {
		m.above[at] = 0
		for w, bit := x.words[at], uint8(1); w != 0; cell, bit, w = cell+1, bit<<1, w>>x.bits() {
			if int64(w&x.most())*t.inverse[c] >= m.limit[cell] {
				m.full[c] = true
				m.above[at] |= bit
			}
		}
	})
}

// countApart is countAll on two cores: each counts some of the trees by offset.
func (t *trial) countApart(ctx context.Context) {
	x := t.phased
	other := x.flows
	other.words = make([]uint64, len(x.words))
	halves := [...]*flows{&x.flows, &other}
	_ = par.For(ctx, len(halves), func(_, k int) { t.countSome(ctx, halves[k], k, len(halves)) })
	then := [...]func(){
		func() { x.join(&other) },
		func() {
			for i := range t.dests {
				t.charge(&t.roots[t.dests[i].root], t.picks(int32(i)), t.dests[i].weight)
			}
		},
	}
	_ = par.For(ctx, len(then), func(_, k int) { then[k]() })
}

// join adds the counts of others.
func (x *flows) join(other *flows) {
	all := uint64(0)
	for i, w := range other.words {
		x.words[i] += w
		all |= x.words[i]
	}
	x.over = x.over || other.over || all&x.tops() != 0
}

// passMending routes again what is in trouble.
func (t *trial) passMending(ctx context.Context) {
	if t.phased == nil {
		t.countFirst(ctx, t.countApart)
		t.mending = newMending(t.network, &t.phased.flows)
	}
	if t.phased.over {
		return // the pass has moved nothing, and is the last
	}
	t.survey()
	t.findTroubled(ctx)
	t.random.Shuffle(len(t.order), func(i, j int) { t.order[i], t.order[j] = t.order[j], t.order[i] })
	for _, i := range t.order {
		if ctx.Err() != nil {
			return
		}
		r := &t.roots[i]
		for _, k := range r.dests {
			if len(t.mending.from[k]) == 0 {
				continue
			}
			if t.mend(t.mending.from[k], &t.dests[k], r, t.picks(k)) {
				t.moved++
			}
		}
	}
}

// findTroubled finds whose routes are in trouble, as the counts are when a pass begins.
func (t *trial) findTroubled(ctx context.Context) {
	m := t.mending
	space := make([][]span, par.Workers(len(t.roots)))
	passing := make([][]bool, len(space)) // [worker][position] a trunk on its way to the destination at hand is full
	for i := range passing {
		passing[i] = make([]bool, t.f.Switches())
	}
	_ = par.For(ctx, len(t.roots), func(worker, i int) {
		r := &t.roots[i]
		for _, k := range r.dests {
			d, pick := &t.dests[k], t.picks(k)
			m.from[k] = m.from[k][:0]
			by := passing[worker][:len(r.order)]
			by[0] = false
			for j := 1; j < len(r.order); j++ {
				w := r.ways[r.first[j]+int32(pick[j])]
				if by[j] = by[w.head] || m.full[w.trunk]; by[j] && t.src[r.order[j]] > 0 && t.troubled(false, &space[worker], d, r, pick, int32(j)) {
					m.from[k] = append(m.from[k], int32(j))
				}
			}
		}
	})
}

// troubled reports whether routes to a destination are in trouble on their way from a switch, now
// or when the pass began. spans is scratch space.
func (t *trial) troubled(now bool, spans *[]span, d *dest, r *root, pick []uint8, j int32) bool {
	m, from := t.mending, j
	*spans = (*spans)[:0]
	for j != 0 {
		w := r.ways[r.first[j]+int32(pick[j])]
		if m.full[w.trunk] {
			if len(*spans) == 0 {
				*spans = t.network.spans(&t.phased.flows, *spans, d, r.order[from])
			}
			if now && t.phased.above(w.trunk, *spans, m.limit, t.inverse[w.trunk]) || !now && t.phased.wasAbove(w.trunk, *spans, m.above) {
				return true
			}
		}
		j = w.head
	}
	return false
}

// mend routes what is in trouble on the way to a destination again, from the root
// outwards: the routes from some positions, if they still are. It says whether anything changed.
// What the destination's own routes put on trunks costs them nothing, as when a whole tree is taken
// off; but only what moves is taken off.
func (t *trial) mend(from []int32, d *dest, r *root, pick []uint8) bool {
	m, x := t.mending, t.phased
	x.old(r, pick)
	t.through(r, pick)
	clear(m.bad)
	for _, j := range from {
		m.bad[j] = t.troubled(true, &x.spans, d, r, pick, j)
	}
	m.look(r, pick)
	t.tree[0] = step{}
	changed := false
	for j := 1; j < len(r.order); j++ {
		if !m.bad[j] && !m.seen[j] {
			continue
		}
		ways := r.ways[r.first[j]:r.first[j+1]]
		if m.bad[j] && len(ways) > 1 {
			x.now++
			sources := t.behind(d, r, int32(j))
			t.along(r, pick, int32(j), -sources, d.weight)
			best := t.cheapest(r, pick, int32(j), sources)
			changed = changed || best != int(pick[j])
			pick[j] = uint8(best)
			t.along(r, pick, int32(j), sources, d.weight)
		}
		t.takeOwn(r, pick, int32(j), d.weight)
	}
	return changed
}

// through adds up the routes through each switch of a tree.
func (t *trial) through(r *root, pick []uint8) {
	tree := t.tree[:len(r.order)]
	for i, u := range r.order {
		tree[i].routes = t.src[u]
	}
	for i := len(tree) - 1; i > 0; i-- {
		tree[r.ways[r.first[i]+int32(pick[i])].head].routes += tree[i].routes
	}
}

// takeOwn is take of the way that a switch has, as if no route of the tree were on it.
func (t *trial) takeOwn(r *root, pick []uint8, j int32, weight int64) {
	w := r.ways[r.first[j]+int32(pick[j])]
	t.take(int(j), w)
	c, s, h := &t.trunks[w.trunk], &t.tree[j], &t.tree[w.head]
	s.sum -= s.routes * weight * int64(c.inverse)
	if t.both != nil && w.head != 0 {
		s.sum += t.share * s.routes * weight * int64(min(c.inverse, h.inverse)/2)
	}
}

// look settles which positions the routes in trouble come through, and which of the
// others are on a way that one of those may take: what these cost has to be known.
func (m *mending) look(r *root, pick []uint8) {
	clear(m.seen)
	for j := len(r.order) - 1; j > 0; j-- {
		if m.bad[j] {
			m.bad[r.ways[r.first[j]+int32(pick[j])].head] = true
			for _, w := range r.ways[r.first[j]:r.first[j+1]] {
				m.seen[w.head] = true
			}
		} else if m.seen[j] {
			m.seen[r.ways[r.first[j]+int32(pick[j])].head] = true
		}
	}
}

// along puts the routes at hand, so many by weight of sources, on the way from a switch to the
// root, or takes them off.
func (t *trial) along(r *root, pick []uint8, j int32, routes, weight int64) {
	x, sign := t.phased, int32(1)
	if routes < 0 {
		sign = -1
	}
	if t.both != nil {
		onto := t.turnBase[r.ways[r.first[j]+int32(pick[j])].trunk]
		for i := x.child[j]; i != fabric.None; i = x.next[i] {
			from := r.ways[r.first[i]+int32(pick[i])].trunk
			t.both[onto+t.trunks[from].back] += int64(sign) * t.tree[i].routes * weight
		}
	}
	for i := j; i != 0; {
		w := r.ways[r.first[i]+int32(pick[i])]
		x.add(w.trunk, x.spans, sign)
		x.used[w.trunk] = x.now
		c, s := &t.trunks[w.trunk], &t.tree[i]
		if c.load += routes * weight; s.routes == 0 || s.routes == -routes {
			c.first += int64(sign) * weight
		}
		s.routes += routes
		if t.both != nil && w.head != 0 {
			next := r.ways[r.first[w.head]+int32(pick[w.head])]
			t.both[t.turnBase[next.trunk]+c.back] += routes * weight
		}
		i = w.head
	}
}

// above reports whether a trunk takes as long as a limit in a cell of some routes.
func (x *flows) above(c fabric.ChannelID, spans []span, limit []int64, inverse int64) bool {
	for _, s := range spans {
		w := x.words[x.at(c, s.word)]
		for i, add := s.word<<x.perLog, s.add; add != 0; i, add, w = i+1, add>>x.bits(), w>>x.bits() {
			if add&x.most() != 0 && int64(w&x.most())*inverse >= limit[i] {
				return true
			}
		}
	}
	return false
}

// wasAbove is above when the pass began.
func (x *flows) wasAbove(c fabric.ChannelID, spans []span, above []uint8) bool {
	for _, s := range spans {
		full := above[x.at(c, s.word)]
		for add := s.add; full != 0 && add != 0; add, full = add>>x.bits(), full>>1 {
			if full&1 != 0 && add&x.most() != 0 {
				return true
			}
		}
	}
	return false
}

// slowest is the slowest link of hosts, as in network.end.
func (n *network) slowest() int64 {
	most := int64(1)
	for _, e := range n.hosts {
		most = max(most, n.end[e])
	}
	return most
}
