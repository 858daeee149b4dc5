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
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Graph is a set of turns without a cycle. Turns are counted, so that they can
// be taken out again.
type Graph struct {
	f     *fabric.Fabric
	count []uint32        // [turn] how often it was added
	outOf []fabric.NodeID // [trunk] the switch it leaves
	order

	// Scratch of one insertion.
	mark   []uint32 // [trunk] stamp when seen from the head of the new turn, stamp+1 from its tail
	stamp  uint32   // even
	ahead  []fabric.ChannelID
	behind []fabric.ChannelID
}

// New is the graph of f without any turn.
func New(f *fabric.Fabric) *Graph {
	order := make([]fabric.ChannelID, f.Trunks())
	for c := range order {
		order[c] = fabric.ChannelID(c)
	}
	return From(f, make([]uint32, f.Turns()), order)
}

// From is the graph of turns known to be free of cycles, counted by turn, with a
// topological order of all trunks. It takes over count.
func From(f *fabric.Fabric, count []uint32, order []fabric.ChannelID) *Graph {
	g := &Graph{
		f:     f,
		count: count,
		outOf: make([]fabric.NodeID, f.Trunks()),
		order: newOrder(order),
		mark:  make([]uint32, f.Trunks()),
	}
	for c := range g.outOf {
		g.outOf[c] = f.Channel(fabric.ChannelID(c)).From
	}
	return g
}

// Has says whether the graph holds a turn.
func (g *Graph) Has(turn int) bool { return g.count[turn] > 0 }

// Again adds a turn that the graph holds already once more.
func (g *Graph) Again(turn int) { g.count[turn]++ }

// Remove takes a turn out as often as it was added, one at a time.
func (g *Graph) Remove(turn int) { g.count[turn]-- }

// Add adds the turn from trunk in to trunk out, unless it would close a cycle.
func (g *Graph) Add(in, out fabric.ChannelID) bool {
	turn := g.f.Turn(in, out)
	if g.count[turn] == 0 && g.label[in] > g.label[out] && !g.makeRoom(in, out) {
		return false
	}
	g.count[turn]++
	return true
}

// makeRoom reorders for a turn whose in comes behind its out. It fails, changing
// nothing, when in can be reached from out.
func (g *Graph) makeRoom(in, out fabric.ChannelID) bool {
	g.begin()
	g.ahead, g.behind = append(g.ahead[:0], out), append(g.behind[:0], in)
	g.mark[out], g.mark[in] = g.stamp, g.stamp+1
	for i := 0; ; i++ {
		if i == len(g.ahead) {
			g.sort(g.ahead)
			g.moveAfter(in, g.ahead)
			return true
		}
		if i == len(g.behind) {
			g.sort(g.behind)
			g.moveBefore(out, g.behind)
			return true
		}
		if !g.lookAhead(g.ahead[i], g.label[in]) || !g.lookBehind(g.behind[i], g.label[out]) {
			return false
		}
	}
}

// begin makes all marks old.
func (g *Graph) begin() {
	g.stamp += 2
	if g.stamp == 0 { // wrapped: old marks could look new
		clear(g.mark)
		g.stamp = 2
	}
}

// lookAhead adds what a trunk leads to, up to a label, to the search from the
// head of the new turn. It fails where the other search was.
func (g *Graph) lookAhead(c fabric.ChannelID, limit int64) bool {
	first, end := g.f.TrunksFrom(g.f.Heads()[c])
	turns := g.count[g.f.FirstTurn(c):][:end-first]
	for i, n := range turns {
		next := first + fabric.ChannelID(i)
		if n == 0 || g.mark[next] == g.stamp || g.label[next] > limit {
			continue
		}
		if g.mark[next] == g.stamp+1 {
			return false
		}
		g.mark[next] = g.stamp
		g.ahead = append(g.ahead, next)
	}
	return true
}

// lookBehind adds what leads to a trunk, down to a label, to the search from the
// tail of the new turn. It fails where the other search was.
func (g *Graph) lookBehind(c fabric.ChannelID, limit int64) bool {
	reverse := g.f.Reverses()
	first, end := g.f.TrunksFrom(g.outOf[c])
	for _, prev := range reverse[first:end] {
		if g.mark[prev] == g.stamp+1 || g.label[prev] < limit || g.count[g.f.Turn(prev, c)] == 0 {
			continue
		}
		if g.mark[prev] == g.stamp {
			return false
		}
		g.mark[prev] = g.stamp + 1
		g.behind = append(g.behind, prev)
	}
	return true
}

// order is a list of all trunks with labels that rise along it.
type order struct {
	label      []int64            // [trunk]
	next, prev []fabric.ChannelID // [trunk, then the one sentinel before the first and after the last]
}

// spacing of labels after relabelling: room for many moves to one place.
const spacing = 1 << 32

func newOrder(trunks []fabric.ChannelID) order {
	n := len(trunks)
	o := order{
		label: make([]int64, n),
		next:  make([]fabric.ChannelID, n+1),
		prev:  make([]fabric.ChannelID, n+1),
	}
	last := fabric.ChannelID(n)
	for _, c := range trunks {
		o.next[last], o.prev[c] = c, last
		last = c
	}
	o.next[last], o.prev[n] = fabric.ChannelID(n), last
	o.relabel()
	return o
}

// relabel spaces the labels evenly.
func (o *order) relabel() {
	end := fabric.ChannelID(len(o.label))
	label := int64(0)
	for c := o.next[end]; c != end; c = o.next[c] {
		o.label[c] = label
		label += spacing
	}
}

// sort puts trunks into their order.
func (o *order) sort(trunks []fabric.ChannelID) {
	slices.SortFunc(trunks, func(a, b fabric.ChannelID) int {
		if o.label[a] < o.label[b] {
			return -1
		}
		return 1
	})
}

// moveAfter moves trunks, in the order given, to right behind another.
func (o *order) moveAfter(place fabric.ChannelID, trunks []fabric.ChannelID) {
	for _, c := range trunks {
		o.unlink(c)
	}
	o.insert(place, o.next[place], trunks)
}

// moveBefore moves trunks, in the order given, to right before another.
func (o *order) moveBefore(place fabric.ChannelID, trunks []fabric.ChannelID) {
	for _, c := range trunks {
		o.unlink(c)
	}
	o.insert(o.prev[place], place, trunks)
}

func (o *order) unlink(c fabric.ChannelID) {
	o.next[o.prev[c]], o.prev[o.next[c]] = o.next[c], o.prev[c]
}

// insert links trunks in between two neighbours and labels them.
func (o *order) insert(left, right fabric.ChannelID, trunks []fabric.ChannelID) {
	at := left
	for _, c := range trunks {
		o.next[at], o.prev[c] = c, at
		at = c
	}
	o.next[at], o.prev[right] = right, at

	end := fabric.ChannelID(len(o.label))
	n := int64(len(trunks) + 1)
	var low, high int64
	switch {
	case left != end && right != end:
		low, high = o.label[left], o.label[right]
	case left != end:
		low = o.label[left]
		high = low + n*spacing
	default:
		high = o.label[right]
		low = high - n*spacing
	}
	step := (high - low) / n
	if step == 0 || low < -maxLabel || high > maxLabel {
		o.relabel()
		return
	}
	for _, c := range trunks {
		low += step
		o.label[c] = low
	}
}

// maxLabel keeps labels far from overflow.
const maxLabel = 1 << 61
