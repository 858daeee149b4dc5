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
// trunks does not touch the others.
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

	// Scratch of one insertion.
	mark  []uint32 // [vertex] stamp when seen from the head of the new turn, stamp+1 from its tail
	stamp uint32   // even
}

// side is the neighbours of every vertex to one side, ahead or behind, as bits. Behind, the bit is that
// of the neighbour's reverse, so that on either side a vertex's bits are those of the vertices that
// leave one switch.
type side struct {
	first []int32            // [vertex, plus one] into words
	words []uint64           // bit i is for vertex base + i
	base  []fabric.ChannelID // [vertex] the first vertex that leaves the switch where it meets its neighbours
	found []fabric.ChannelID // scratch: what a search to this side has found
}

// New is the graph of f without any turn.
func New(f *fabric.Fabric) *Graph {
	order := fabric.All[fabric.ChannelID](f.Trunks())
	return From(f, make([]uint32, f.Turns()), order)
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
		mark:    make([]uint32, n),
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
	return d
}

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
		if g.label[in] > g.label[out] && !g.makeRoom(in, out) {
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

// makeRoom reorders the vertices for a dependency whose in comes behind its out. It returns false, and
// changes nothing, when in can be reached from out.
func (g *ordered) makeRoom(in, out fabric.ChannelID) bool {
	g.begin()
	ahead := append(g.ahead.found[:0], out)  //nolint:gocritic // scratch space, put back at the end
	behind := append(g.behind.found[:0], in) //nolint:gocritic // the same
	g.mark[out], g.mark[in] = g.stamp, g.stamp+1
	apart := true
	for i := 0; apart; i++ {
		if i == len(ahead) {
			g.sort(ahead)
			g.moveAfter(in, ahead)
			break
		}
		if i == len(behind) {
			g.sort(behind)
			g.moveBefore(out, behind)
			break
		}
		if ahead, apart = g.lookAhead(ahead[i], g.label[in], ahead); apart {
			behind, apart = g.lookBehind(behind[i], g.label[out], behind)
		}
	}
	g.ahead.found, g.behind.found = ahead, behind
	return apart
}

// begin makes all marks old.
func (g *ordered) begin() {
	g.stamp += 2
	if g.stamp == 0 { // wrapped: old marks could look new
		clear(g.mark)
		g.stamp = 2
	}
}

// lookAhead appends to found what a vertex leads to, up to a label, and marks it. It returns false
// where it meets the search from the other side.
func (g *ordered) lookAhead(c fabric.ChannelID, limit int64, found []fabric.ChannelID) ([]fabric.ChannelID, bool) {
	base := g.ahead.base[c]
	for _, w := range g.ahead.words[g.ahead.first[c]:g.ahead.first[c+1]] {
		for ; w != 0; w &= w - 1 {
			next := base + fabric.ChannelID(bits.TrailingZeros64(w))
			if g.mark[next] == g.stamp || g.label[next] > limit {
				continue
			}
			if g.mark[next] == g.stamp+1 {
				return found, false
			}
			g.mark[next] = g.stamp
			found = append(found, next)
		}
		base += 64
	}
	return found, true
}

// lookBehind appends to found what leads to a vertex, down to a label, and marks it. It returns false
// where it meets the search from the other side.
func (g *ordered) lookBehind(c fabric.ChannelID, limit int64, found []fabric.ChannelID) ([]fabric.ChannelID, bool) {
	base := g.behind.base[c]
	for _, w := range g.behind.words[g.behind.first[c]:g.behind.first[c+1]] {
		for ; w != 0; w &= w - 1 {
			prev := g.reverse[base+fabric.ChannelID(bits.TrailingZeros64(w))]
			if g.mark[prev] == g.stamp+1 || g.label[prev] < limit {
				continue
			}
			if g.mark[prev] == g.stamp {
				return found, false
			}
			g.mark[prev] = g.stamp + 1
			found = append(found, prev)
		}
		base += 64
	}
	return found, true
}
