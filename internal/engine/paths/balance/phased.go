package balance

import (
	"context"
	"math"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// phased is the part of a trial that routes for shifts: what a route costs is what it
// meets at equal offsets, and the loads.
type phased struct {
	flows
	power    int
	usual    float64   // routes that one meets at its offset on the fullest trunk, see prices
	inverses []int64   // [class of trunks by rate]
	price    [][]int64 // [class] prices, or pairPrices
	even     int64     // what a unit of trial.cost counts, where what is usual is evenBits digits long
	lessEven uint      // digits of even that go beyond those of prices
	class    []uint8   // [trunk]
	used     []int64   // [trunk] when a tree used it last
	now      int64     // trees charged

	// Scratch space.
	child, next []int32 // [position] first switch behind it in the old tree, and the next one behind the same
	behind      []int32 // positions
	spans       []span
}

// newPhased prepares counting in cells of a size, with nothing counted.
func newPhased(n *network, p plan, perLog uint) *phased {
	s := n.f.Switches()
	usual := n.usual(p.from)
	if p.quick != nil {
		usual = min(usual, unusual*n.usual(p.quick))
	}
	x := &phased{
		flows: n.newFlows(perLog),
		class: make([]uint8, n.f.Trunks()), used: make([]int64, n.f.Trunks()),
		child: make([]int32, s), next: make([]int32, s),
		even:  int64(p.even * (1 << evenBits) / (2 * unit * float64(n.ordinary*n.ordinary) * usual)),
		usual: usual,
	}
	classes := map[int64]uint8{}
	for c, inverse := range n.inverse {
		k, ok := classes[inverse]
		if !ok {
			k = uint8(len(x.inverses))
			classes[inverse] = k
			x.inverses = append(x.inverses, inverse)
		}
		x.class[c] = k
	}
	x.price = make([][]int64, len(x.inverses))
	x.reprice(n, p.power)
	return x
}

// usual is how many routes meet on the fullest trunk of a shift in the mean, where the paths are those of a beginning.
// Its durations are multiples of what a packet takes on the slowest link of a host. Hosts with fast links, and jobs on
// these alone, wait for every route on a fast trunk: where links differ, usual is the geometric mean of both. Of the
// sixty networks of test/bench/patchwork nine have other paths for it, worth .3 hundredths more in the mean, by
// Aim.Worth, with links taken for alike.
func (n *network) usual(from *start) float64 {
	return math.Sqrt(float64(n.slowest())/unit) / from.worth(Shifts)
}

// reprice sets the power with which costs grow.
func (x *phased) reprice(n *network, power int) {
	x.power, x.lessEven = power, evenBits-n.digits(power)
	for k, inverse := range x.inverses {
		price := n.prices(power, inverse, x.usual)
		if x.perLog != small {
			x.price[k] = price
			continue
		}
		if x.price[k] == nil {
			x.price[k] = make([]int64, smallCells*smallCells)
		}
		pairPrices((*[smallCells * smallCells]int64)(x.price[k]), price, len(n.dests))
	}
}

// adopt begins with the paths of a Forwarding. Where one of them is not among the
// shortest, its switch takes one of those, which depends on the destination.
func (t *trial) adopt(ctx context.Context, fw *routing.Forwarding) {
	// Whoever called looks whether the context has ended.
	_ = par.For(ctx, len(t.dests), func(_, i int) {
		d := &t.dests[i]
		r, pick, row := &t.roots[d.root], t.picks(int32(i)), fw.Row(d.lid)
		for j := 1; j < len(r.order); j++ {
			ways := r.ways[r.first[j]:r.first[j+1]]
			c := t.f.Out(r.order[j], row[r.order[j]])
			// Where no port between them leads elsewhere, ways are numbered like their trunks.
			k := int(c - ways[0].trunk)
			if uint(k) >= uint(len(ways)) || ways[k].trunk != c {
				k = slices.IndexFunc(ways, func(w way) bool { return w.trunk == c })
			}
			if k < 0 {
				k = int(d.shift) % len(ways)
			}
			pick[j] = uint8(k)
		}
	})
}

// countFirst prepares counting and counts the routes of all trees, in small cells if these can hold them.
func (t *trial) countFirst(ctx context.Context, all func(context.Context)) {
	t.phased = newPhased(t.network, t.plan, t.size())
	if all(ctx); t.phased.over && t.phased.perLog == small {
		t.unload()
		t.phased = newPhased(t.network, t.plan, large)
		all(ctx)
	}
}

// countAll counts the routes of all trees.
func (t *trial) countAll(ctx context.Context) {
	for i := range t.dests {
		if ctx.Err() != nil {
			return
		}
		d := &t.dests[i]
		r, pick := &t.roots[d.root], t.picks(int32(i))
		t.charge(r, pick, d.weight)
		t.use(r, pick)
	}
	t.countSome(ctx, &t.phased.flows, 0, 1)
}

// together is how many switches' routes to all destinations are counted before those of others:
// few enough that the counts of the trunks near them stay in a cache.
const together = 64

// countSome counts, of every so many roots, the routes to one.
func (t *trial) countSome(ctx context.Context, x *flows, first, step int) {
	var sources []fabric.NodeID
	for s, w := range t.src {
		if w > 0 {
			sources = append(sources, fabric.NodeID(s))
		}
	}
	var spans []span
	for some := range slices.Chunk(sources, together) {
		for i := first; i < len(t.roots) && ctx.Err() == nil; i += step {
			r := &t.roots[i]
			for _, d := range r.dests {
				for _, s := range some {
					spans = t.countFrom(r.at[s], x, spans, &t.dests[d], r, t.picks(d), 1)
				}
			}
		}
	}
}

// count counts the routes of a tree by offset, or takes them off. Right before, charge
// must have done the same.
func (t *trial) count(d *dest, r *root, pick []uint8, sign int32) {
	x := t.phased
	for j, u := range r.order {
		if t.src[u] > 0 {
			x.spans = t.countFrom(int32(j), &x.flows, x.spans, d, r, pick, sign)
		}
	}
	t.use(r, pick)
}

// use notes that a tree uses its trunks.
func (t *trial) use(r *root, pick []uint8) {
	x := t.phased
	x.now++
	for j := 1; j < len(r.order); j++ {
		if t.tree[j].routes != 0 {
			x.used[r.ways[r.first[j]+int32(pick[j])].trunk] = x.now
		}
	}
}

// countFrom counts the routes of a tree from one position, if it is not the root.
func (n *network) countFrom(j int32, x *flows, spans []span, d *dest, r *root, pick []uint8, sign int32) []span {
	if j == 0 {
		return spans
	}
	if spans = n.spans(x, spans[:0], d, r.order[j]); len(spans) == 0 {
		return spans
	}
	for i := j; i != 0; {
		w := r.ways[r.first[i]+int32(pick[i])]
		x.add(w.trunk, spans, sign)
		i = w.head
	}
	return spans
}

// passPhased routes every destination again.
func (t *trial) passPhased(ctx context.Context) {
	if t.phased == nil {
		t.countFirst(ctx, t.countAll)
	} else if t.stale > 0 {
		power := t.phased.power + 1
		if power > highest {
			power = lowest
		}
		t.phased.reprice(t.network, power)
	}
	if t.phased.over {
		return // the pass has moved nothing, and is the last
	}
	for i := range t.shuffled() {
		if ctx.Err() != nil {
			return
		}
		d := &t.dests[i]
		r, pick := &t.roots[d.root], t.picks(i)
		t.charge(r, pick, -d.weight)
		t.count(d, r, pick, -1)
		if t.placePhased(d, r, pick) {
			t.moved++
		}
		t.chargePlaced(r, pick, d.weight)
		t.count(d, r, pick, 1)
	}
}

// placePhased finds the tree of a destination of which no route is charged, from the
// root outwards, and says whether it is another than before. A switch takes the way on
// which the routes behind it meet least. Which switches are behind it the tree before
// says; of ways that cost the same it takes that whose trunk was used longest ago.
func (t *trial) placePhased(d *dest, r *root, pick []uint8) bool {
	x := t.phased
	x.old(r, pick)
	t.tree[0] = step{}
	changed := false
	for j := 1; j < len(r.order); j++ {
		ways := r.ways[r.first[j]:r.first[j+1]]
		best := 0
		if len(ways) > 1 {
			best = t.cheapest(r, pick, int32(j), t.behind(d, r, int32(j)))
		}
		w := ways[best]
		t.take(j, w)
		if uint8(best) != pick[j] {
			pick[j] = uint8(best)
			changed = true
		}
	}
	return changed
}

// evenBits is the binary digits of phased.even: more than those of prices, so that it is not rounded to nothing.
const evenBits = 30

// behind lists the routes of a switch and of all behind it, by weight of sources.
func (t *trial) behind(d *dest, r *root, j int32) (sources int64) {
	x := t.phased
	x.behind, x.spans = x.behind[:0], x.spans[:0]
	x.gather(j)
	for _, i := range x.behind {
		if u := r.order[i]; t.src[u] > 0 {
			sources += t.src[u]
			x.spans = t.network.spans(&x.flows, x.spans, d, u)
		}
	}
	return sources
}

// cheapest is the best way of a switch for the routes at hand.
func (t *trial) cheapest(r *root, pick []uint8, j int32, sources int64) int {
	x := t.phased
	routes := max(1, (sources+t.ordinary/2)/t.ordinary)
	own := t.square[r.order[j]] << 10 / max(1, sources)
	ways := r.ways[r.first[j]:r.first[j+1]]
	best, least, oldest := int(pick[j]), int64(math.MaxInt64), int64(0)
	// What it had is likely to cost little: the others need not be looked at to their ends.
	at := best
	for range ways {
		w := ways[at]
		c := &t.trunks[w.trunk]
		cost := routes * ((t.cost(w) - c.first*own>>10*int64(c.inverse)) * x.even >> x.lessEven)
		for e := w; cost <= least; e = r.ways[r.first[e.head]+int32(pick[e.head])] {
			cost += x.meet(e.trunk, x.spans, x.price[x.class[e.trunk]], least-cost)
			if e.head == 0 {
				break
			}
		}
		if cost < least || cost == least && x.used[w.trunk] < oldest {
			best, least, oldest = at, cost, x.used[w.trunk]
		}
		if at++; at == len(ways) {
			at = 0
		}
	}
	return best
}

// old lists who is behind whom in the tree as it was.
func (x *phased) old(r *root, pick []uint8) {
	for j := range r.order {
		x.child[j], x.next[j] = fabric.None, fabric.None
	}
	for j := len(r.order) - 1; j > 0; j-- {
		h := r.ways[r.first[j]+int32(pick[j])].head
		x.next[j], x.child[h] = x.child[h], int32(j)
	}
}

// gather appends a position and all behind it.
func (x *phased) gather(j int32) {
	x.behind = append(x.behind, j)
	for at := len(x.behind) - 1; at < len(x.behind); at++ {
		for c := x.child[x.behind[at]]; c != fabric.None; c = x.next[c] {
			x.behind = append(x.behind, c)
		}
	}
}

// countedTo is about how much a pass for shifts looks at for the destinations of a root:
// what each switch's routes are counted in on their way, taken off and put back, and on
// the first trunks of its ways.
func (n *network) countedTo(r *root) int64 {
	if len(n.orders) == 0 {
		return 0
	}
	depth, perLog := make([]int64, len(r.order)), n.size()
	sum := int64(0)
	for j := 1; j < len(r.order); j++ {
		depth[j] = 1 + depth[r.ways[r.first[j]].head]
		words := n.src[r.order[j]]/n.ordinary>>n.shift>>perLog + 2
		sum += (2*depth[j] + int64(r.first[j+1]-r.first[j])) * words * int64(len(n.orders))
	}
	return sum * int64(len(r.dests))
}
