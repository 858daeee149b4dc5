package balance

import (
	"context"
	"math"
	"slices"

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
	from    [][]int32 // [dest] positions of switches with hosts whose routes to it were in trouble then
	bad     []bool    // [position] routes that come through it were; scratch space
	seen    []bool    // [position] one of the ways of such routes leads through it; scratch space
}

// Trouble is how full a cell must be, as part of the fullest of its offsets: on the
// largest networks there is time for the worst only, but for mostMends passes.
const (
	trouble      = 0.6
	worstTrouble = 0.8
	mostMends    = 3
)

func newMending(n *network) *mending {
	part := trouble
	if n.largest() {
		part = worstTrouble
	}
	return &mending{
		part: part, slowest: n.slowest(), limit: make([]int64, n.width/n.copies), full: make([]bool, n.f.Trunks()), from: make([][]int32, len(n.dests)),
		bad: make([]bool, n.f.Switches()), seen: make([]bool, n.f.Switches()),
	}
}

// survey settles what trouble is: cells that take nearly as long as the fullest of their
// offsets, and longer than the links of hosts.
func (t *trial) survey() {
	m, x := t.mending, t.phased
	clear(m.limit)
	for c, inverse := range t.inverse {
		for i, n := range x.row(fabric.ChannelID(c)) {
			m.limit[i] = max(m.limit[i], int64(n)*inverse)
		}
	}
	for i, most := range m.limit {
		m.limit[i] = max(int64(m.part*float64(most)), m.slowest<<x.shift+1)
	}
	for c, inverse := range t.inverse {
		m.full[c] = false
		for i, n := range x.row(fabric.ChannelID(c)) {
			if int64(n)*inverse >= m.limit[i] {
				m.full[c] = true
				break
			}
		}
	}
}

// together is how many switches' routes to all destinations are counted before those of others:
// few enough that the counts of the trunks near them stay in a cache.
const together = 128

// countApart is countAll on two cores: each counts some of the trees by offset.
func (t *trial) countApart(ctx context.Context) {
	x := t.phased
	other := flows{shift: x.shift, width: x.width, count: make([]uint16, len(x.count))}
	halves := [...]*flows{&x.flows, &other}
	var sources []fabric.NodeID
	for s, w := range t.src {
		if w > 0 {
			sources = append(sources, fabric.NodeID(s))
		}
	}
	_ = par.For(ctx, len(halves), func(_, k int) {
		var spans []span
		for some := range slices.Chunk(sources, together) {
			for i := k; i < len(t.roots) && ctx.Err() == nil; i += len(halves) {
				r := &t.roots[i]
				for _, d := range r.dests {
					for _, s := range some {
						spans = t.countFrom(r.at[s], halves[k], spans, &t.dests[d], r, t.picks(d), 1)
					}
				}
			}
		}
	})
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
	for i, n := range other.count {
		sum := uint32(x.count[i]) + uint32(n)
		x.over = x.over || sum > math.MaxUint16
		x.count[i] = uint16(sum)
	}
	x.over = x.over || other.over
}

// passMending routes again what is in trouble.
func (t *trial) passMending(ctx context.Context) {
	if t.phased == nil {
		t.phased, t.mending = newPhased(t.network, t.plan), newMending(t.network)
		t.countApart(ctx)
	}
	if t.phased.over {
		return // the pass has moved nothing, and is the last
	}
	t.survey()
	t.search(ctx)
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
			d, pick := &t.dests[k], t.picks(k)
			t.charge(r, pick, -d.weight)
			if t.mend(t.mending.from[k], d, r, pick) {
				t.moved++
			}
			t.charge(r, pick, d.weight)
		}
	}
}

// search finds whose routes are in trouble, as the counts are when a pass begins.
func (t *trial) search(ctx context.Context) {
	m := t.mending
	space := make([][]span, par.Workers(len(t.roots)))
	_ = par.For(ctx, len(t.roots), func(worker, i int) {
		r := &t.roots[i]
		for _, k := range r.dests {
			d, pick := &t.dests[k], t.picks(k)
			m.from[k] = m.from[k][:0]
			for j := 1; j < len(r.order); j++ {
				if t.src[r.order[j]] > 0 && t.troubled(&space[worker], d, r, pick, int32(j)) {
					m.from[k] = append(m.from[k], int32(j))
				}
			}
		}
	})
}

// troubled reports whether routes to a destination are in trouble on their way from a switch.
// spans is scratch space.
func (t *trial) troubled(spans *[]span, d *dest, r *root, pick []uint8, j int32) bool {
	m, from := t.mending, j
	*spans = (*spans)[:0]
	for j != 0 {
		w := r.ways[r.first[j]+int32(pick[j])]
		if m.full[w.trunk] {
			if len(*spans) == 0 {
				*spans = t.network.spans(*spans, d, r.order[from])
			}
			if t.phased.above(w.trunk, *spans, m.limit, t.inverse[w.trunk]) {
				return true
			}
		}
		j = w.head
	}
	return false
}

// mend routes what is in trouble on the way to a destination again, from the root
// outwards: the routes from some positions, if they still are. It says whether anything changed. The
// destination must not be charged, but be counted.
func (t *trial) mend(from []int32, d *dest, r *root, pick []uint8) bool {
	m, x := t.mending, t.phased
	x.old(r, pick)
	clear(m.bad)
	for _, j := range from {
		m.bad[j] = t.troubled(&x.spans, d, r, pick, j)
	}
	m.look(r, pick)
	t.tree[0] = step{}
	changed := false
	for j := 1; j < len(r.order); j++ {
		if !m.bad[j] && !m.seen[j] {
			continue
		}
		best := int(pick[j])
		ways := r.ways[r.first[j]:r.first[j+1]]
		if m.bad[j] && len(ways) > 1 {
			x.now++
			sources := t.behind(d, r, int32(j))
			x.along(r, pick, int32(j), -1)
			best = t.cheapest(r, pick, int32(j), sources)
			changed = changed || best != int(pick[j])
			pick[j] = uint8(best)
			x.along(r, pick, int32(j), 1)
		}
		t.take(j, ways[best])
	}
	return changed
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

// along counts the routes at hand on the way from a switch to the root, or takes them off.
func (x *phased) along(r *root, pick []uint8, j int32, sign int32) {
	for i := j; i != 0; {
		w := r.ways[r.first[i]+int32(pick[i])]
		x.add(w.trunk, x.spans, sign)
		x.used[w.trunk] = x.now
		i = w.head
	}
}

// above reports whether a trunk takes as long as a limit in a cell of some routes.
func (x *flows) above(c fabric.ChannelID, spans []span, limit []int64, inverse int64) bool {
	row := x.row(c)
	for _, s := range spans {
		n := s.n
		if x.shift > 0 {
			n = 1
		}
		for i := s.at; i < s.at+n; i++ {
			if int64(row[i])*inverse >= limit[i] {
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
