// Package acyclic keeps a dependency graph over the trunks of a fabric free of
// cycles while dependencies are added one by one.
//
// The graph is a set of turns (fabric.Turn). A topological order of the trunks
// is kept with it. A dependency that agrees with the order costs nothing. For
// one that does not, the graph is searched from both its ends at once, and only
// between their places in the order: where the searches meet there is a cycle;
// where one of them ends first, what it found is moved to the other side.
//
// The two-way search is that of M. A. Bender, J. T. Fineman, S. Gilbert, R. E.
// Tarjan: A New Approach to Incremental Cycle Detection and Related Problems,
// ACM Trans. Algorithms 12(2), 2015, with the order of D. J. Pearce, P. H. J.
// Kelly: A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs, ACM
// JEA 11, 2006. The order is a linked list with labels, so that moving some
// trunks does not touch the others. What a search has seen is bits like those of a
// vertex's neighbours, so that all neighbours seen before are left out at once.
package acyclic

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
)

// Graph is a set of turns without a cycle. Turns are counted, so that they can
// be taken out again.
type Graph struct {
	f     *fabric.Fabric
	count []uint32 // [turn] how often it was added
	ordered
}

// ordered is the neighbours of vertices and an order that agrees with them. The
// vertices are trunks, or lanes of trunks.
type ordered struct {
	order
	ahead, behind side
	reverse       []fabric.ChannelID // [vertex] that of the other direction of its cable
}

// side is the neighbours of every vertex to one side, ahead or behind, as bits. Behind, the bit is that
// of the neighbour's reverse, so that on either side a vertex's bits are those of the vertices that
// leave one switch.
type side struct {
	first []int32            // [vertex, plus one] into words
	words []uint64           // bit i is for vertex base + i
	base  []fabric.ChannelID // [vertex] the first vertex that leaves the switch where it meets its neighbours

	// Scratch of one search to this side.
	found  []fabric.ChannelID // what it has found
	beyond []fabric.ChannelID // neighbours of these that it left alone, because they are too far along the order
	seen   []uint64           // both, as bits like those of neighbours, but of all vertices; and a word more, for fresh
}

// New is the graph of f without any turn.
func New(f *fabric.Fabric) *Graph {
	const lanes = 1 // a vertex is a trunk
	return &Graph{f: f, count: make([]uint32, f.Turns()), ordered: newOrdered(f, lanes, fabric.All[fabric.ChannelID](f.Trunks()))}
}

// another is a graph of the same fabric without any turn, made quicker than by New.
func (g *Graph) another() *Graph {
	return &Graph{f: g.f, count: make([]uint32, len(g.count)), ordered: ordered{
		order: newOrder(fabric.All[fabric.ChannelID](g.f.Trunks())),
		ahead: g.ahead.another(), behind: g.behind.another(), reverse: g.reverse,
	}}
}

// another is a side of the same vertices without neighbours.
func (d *side) another() side {
	return side{first: d.first, base: d.base, words: make([]uint64, len(d.words)), seen: make([]uint64, len(d.seen))}
}

// From is the graph of turns known to be free of cycles, counted by turn, with a
// topological order of all trunks. It takes over count.
func From(f *fabric.Fabric, count []uint32, order []fabric.ChannelID) *Graph {
	const lanes = 1 // a vertex is a trunk
	g := &Graph{f: f, count: count, ordered: newOrdered(f, lanes, order)}
	for in := range fabric.ChannelID(f.Trunks()) {
		first, end := f.TrunksFrom(f.Heads()[in])
		for out := first; out < end; out++ {
			if count[f.Turn(in, out)] > 0 {
				g.link(in, out)
			}
		}
	}
	return g
}

// newOrdered is vertices without neighbours: the lanes of all trunks, numbered trunk
// × lanes + lane, in an order.
func newOrdered(f *fabric.Fabric, lanes int, order []fabric.ChannelID) ordered {
	n := f.Trunks() * lanes
	o := ordered{
		order:   newOrder(order),
		ahead:   newSide(f, lanes, func(c *fabric.Channel) fabric.NodeID { return c.To }),
		behind:  newSide(f, lanes, func(c *fabric.Channel) fabric.NodeID { return c.From }),
		reverse: f.Reverses(),
	}
	if lanes > 1 {
		o.reverse = make([]fabric.ChannelID, n)
		for v := range o.reverse {
			o.reverse[v] = f.Reverses()[v/lanes]*fabric.ChannelID(lanes) + fabric.ChannelID(v%lanes)
		}
	}
	return o
}

// newSide is a side without neighbours; meets is the switch where a trunk meets those.
func newSide(f *fabric.Fabric, lanes int, meets func(*fabric.Channel) fabric.NodeID) side {
	n := f.Trunks() * lanes
	d := side{first: make([]int32, n+1), base: make([]fabric.ChannelID, n)}
	for v := range n {
		first, end := f.TrunksFrom(meets(f.Channel(fabric.ChannelID(v / lanes))))
		d.base[v] = first * fabric.ChannelID(lanes)
		d.first[v+1] = d.first[v] + (int32(end-first)*int32(lanes)+63)/64
	}
	d.words = make([]uint64, d.first[n])
	d.seen = newSeen(n)
	return d
}

// newSeen is the room for a search over so many vertices to mark what it has seen.
func newSeen(vertices int) []uint64 { return make([]uint64, vertices/64+2) }

// link and unlink keep the neighbours on both sides in step.
func (g *ordered) link(in, out fabric.ChannelID) {
	g.ahead.set(in, out)
	g.behind.set(out, g.reverse[in])
}

func (g *ordered) unlink(in, out fabric.ChannelID) {
	g.ahead.clear(in, out)
	g.behind.clear(out, g.reverse[in])
}

func (d *side) set(c, neighbour fabric.ChannelID) {
	i := neighbour - d.base[c]
	d.words[d.first[c]+int32(i/64)] |= 1 << (i % 64)
}

func (d *side) clear(c, neighbour fabric.ChannelID) {
	i := neighbour - d.base[c]
	d.words[d.first[c]+int32(i/64)] &^= 1 << (i % 64)
}

func (d *side) has(c, neighbour fabric.ChannelID) bool {
	i := neighbour - d.base[c]
	return d.words[d.first[c]+int32(i/64)]>>(i%64)&1 == 1
}

// Has reports whether the graph holds a turn.
func (g *Graph) Has(turn int) bool { return g.count[turn] > 0 }

// Again adds a turn that the graph holds already once more.
func (g *Graph) Again(turn int) { g.count[turn]++ }

// Remove takes a turn out once: the graph holds it until it was taken out as often as it was added.
func (g *Graph) Remove(in, out fabric.ChannelID) {
	turn := g.f.Turn(in, out)
	if g.count[turn]--; g.count[turn] == 0 {
		g.unlink(in, out)
	}
}

// Add adds the turn from trunk in to trunk out, unless it would close a cycle.
func (g *Graph) Add(in, out fabric.ChannelID) bool {
	turn := g.f.Turn(in, out)
	if g.count[turn] == 0 {
		if !g.fits(in, out) {
			return false
		}
		g.link(in, out)
	}
	g.count[turn]++
	return true
}

// Turn is a dependency between two trunks, with its number in the fabric.
type Turn struct {
	ID      int32
	In, Out fabric.ChannelID
}

// AddAll adds turns, all or none. If it cannot (not ok), culprit is the place in turns of the one
// that would close a cycle, and alone says that it would do so without those
// before it too: then the graph will not take it while it only grows.
func (g *Graph) AddAll(turns []Turn) (culprit int, alone, ok bool) {
	for i, t := range turns {
		if g.Add(t.In, t.Out) {
			continue
		}
		for _, u := range turns[:i] {
			g.Remove(u.In, u.Out)
		}
		if i > 0 && g.Add(t.In, t.Out) {
			g.Remove(t.In, t.Out)
			return i, false, false
		}
		return i, true, false
	}
	return 0, false, true
}

// linkAll links turns that are not linked, all or none. If it cannot (not ok), alone is the place in turns of one that
// would close a cycle by itself, -1 where they do so only together.
func (g *ordered) linkAll(turns []Turn) (alone int, ok bool) {
	// One that would close a cycle by itself is enough: none has to be linked, and taken out again.
	for i, t := range turns {
		if !g.fits(t.In, t.Out) {
			return i, false
		}
	}
	for i, t := range turns {
		if !g.fits(t.In, t.Out) {
			for _, u := range turns[:i] {
				g.unlink(u.In, u.Out)
			}
			return -1, false
		}
		g.link(t.In, t.Out)
	}
	return -1, true
}

// fits reports whether a dependency would close no cycle, and has the order agree with it then.
func (g *ordered) fits(in, out fabric.ChannelID) bool {
	return g.label[in] <= g.label[out] || g.makeRoom(in, out)
}

// makeRoom reorders the vertices for a dependency whose in comes behind its out. It returns false, and
// changes nothing, when in can be reached from out.
func (g *ordered) makeRoom(in, out fabric.ChannelID) bool {
	g.forget()
	g.ahead.see(out)
	g.ahead.found = append(g.ahead.found, out)
	g.behind.see(g.reverse[in])
	g.behind.found = append(g.behind.found, in)
	for i := 0; ; i++ {
		if i == len(g.ahead.found) {
			g.sort(g.ahead.found)
			g.moveAfter(in, g.ahead.found)
			return true
		}
		if i == len(g.behind.found) {
			g.sort(g.behind.found)
			g.moveBefore(out, g.behind.found)
			return true
		}
		if !g.lookAhead(g.ahead.found[i], g.label[in]) || !g.lookBehind(g.behind.found[i], g.label[out]) {
			return false
		}
	}
}

// forget makes what the last search has seen unseen.
func (g *ordered) forget() {
	for _, v := range g.ahead.found {
		g.ahead.seen[v/64] = 0
	}
	for _, v := range g.ahead.beyond {
		g.ahead.seen[v/64] = 0
	}
	for _, v := range g.behind.found {
		g.behind.seen[g.reverse[v]/64] = 0
	}
	for _, v := range g.behind.beyond {
		g.behind.seen[g.reverse[v]/64] = 0
	}
	g.ahead.found, g.ahead.beyond = g.ahead.found[:0], g.ahead.beyond[:0]
	g.behind.found, g.behind.beyond = g.behind.found[:0], g.behind.beyond[:0]
}

// see marks the vertex of a bit as seen.
func (d *side) see(bit fabric.ChannelID) { d.seen[bit/64] |= 1 << (bit % 64) }

// saw reports whether the vertex of a bit was seen.
func (d *side) saw(bit fabric.ChannelID) bool { return d.seen[bit/64]>>(bit%64)&1 == 1 }

// fresh is those of a word of neighbours that were not seen yet, and marks them; base is the vertex of its first bit.
func (d *side) fresh(word uint64, base fabric.ChannelID) uint64 {
	at, shift := base/64, base%64
	word &^= d.seen[at]>>shift | d.seen[at+1]<<(64-shift)
	d.seen[at] |= word << shift
	d.seen[at+1] |= word >> (64 - shift)
	return word
}

// lookAhead finds what a vertex leads to, up to a label. It returns false where it meets the search from
// the other side.
func (g *ordered) lookAhead(c fabric.ChannelID, limit int64) (apart bool) {
	apart = true
	base := g.ahead.base[c]
	for _, w := range g.ahead.words[g.ahead.first[c]:g.ahead.first[c+1]] {
		for w = g.ahead.fresh(w, base); w != 0; w &= w - 1 {
			next := base + fabric.ChannelID(bits.TrailingZeros64(w))
			if g.label[next] > limit {
				g.ahead.beyond = append(g.ahead.beyond, next)
				continue
			}
			g.ahead.found = append(g.ahead.found, next)
			apart = apart && !g.behind.saw(g.reverse[next])
		}
		base += 64
	}
	return apart
}

// lookBehind finds what leads to a vertex, down to a label. It returns false where it meets the search
// from the other side.
func (g *ordered) lookBehind(c fabric.ChannelID, limit int64) (apart bool) {
	apart = true
	base := g.behind.base[c]
	for _, w := range g.behind.words[g.behind.first[c]:g.behind.first[c+1]] {
		for w = g.behind.fresh(w, base); w != 0; w &= w - 1 {
			prev := g.reverse[base+fabric.ChannelID(bits.TrailingZeros64(w))]
			if g.label[prev] < limit {
				g.behind.beyond = append(g.behind.beyond, prev)
				continue
			}
			g.behind.found = append(g.behind.found, prev)
			apart = apart && !g.ahead.saw(prev)
		}
		base += 64
	}
	return apart
}
