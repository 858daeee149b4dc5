// Package acyclic keeps a dependency graph over the trunks of a fabric free of
// cycles while dependencies are added one by one.
//
// The graph is a set of turns (fabric.Turn). A topological order of the trunks
// is kept with it; a dependency that agrees with the order costs nothing, one
// that does not reorders only the trunks between its two ends: D. J. Pearce, P.
// H. J. Kelly: A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs,
// ACM JEA 11, 2006.
package acyclic

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Graph is a set of turns without a cycle. Turns are counted, so that they can
// be taken out again.
type Graph struct {
	f     *fabric.Fabric
	count []uint32 // [turn] how often it was added
	rank  []int32  // [trunk] its place in the topological order

	// Scratch of one insertion.
	mark   []uint32 // [trunk] equals stamp when visited
	stamp  uint32
	stack  []fabric.ChannelID
	ahead  []fabric.ChannelID // found forwards from the head of the new turn
	behind []fabric.ChannelID // found backwards from its tail
	places []int32
	outOf  []fabric.NodeID // [trunk] the switch it leaves
}

// New is the graph of f without any turn, ordered by trunk.
func New(f *fabric.Fabric) *Graph {
	n := f.Trunks()
	g := &Graph{
		f:     f,
		count: make([]uint32, f.Turns()),
		rank:  make([]int32, n),
		mark:  make([]uint32, n),
		outOf: make([]fabric.NodeID, n),
	}
	for c := range n {
		g.rank[c] = int32(c)
		g.outOf[c] = f.Channel(fabric.ChannelID(c)).From
	}
	return g
}

// From is the graph of turns known to be free of cycles, counted by turn, with a
// topological order of all trunks. It takes over count.
func From(f *fabric.Fabric, count []uint32, order []fabric.ChannelID) *Graph {
	g := New(f)
	g.count = count
	for i, c := range order {
		g.rank[c] = int32(i)
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
	if g.count[turn] == 0 && g.rank[in] >= g.rank[out] && !g.reorder(in, out) {
		return false
	}
	g.count[turn]++
	return true
}

// reorder makes room for a turn whose in ranks behind its out: what can be
// reached from out must come after what reaches in. It fails, changing nothing,
// when in can be reached from out.
func (g *Graph) reorder(in, out fabric.ChannelID) bool {
	if in == out || !g.searchAhead(out, in) {
		return false
	}
	g.searchBehind(in, g.rank[out])
	byRank := func(a, b fabric.ChannelID) int { return int(g.rank[a] - g.rank[b]) }
	slices.SortFunc(g.ahead, byRank)
	slices.SortFunc(g.behind, byRank)
	g.places = g.places[:0]
	for _, c := range g.behind {
		g.places = append(g.places, g.rank[c])
	}
	for _, c := range g.ahead {
		g.places = append(g.places, g.rank[c])
	}
	slices.Sort(g.places)
	for i, c := range g.behind {
		g.rank[c] = g.places[i]
	}
	for i, c := range g.ahead {
		g.rank[c] = g.places[len(g.behind)+i]
	}
	return true
}

// searchAhead finds what can be reached from a trunk within the ranks up to that
// of goal; it fails when goal is among it.
func (g *Graph) searchAhead(from, goal fabric.ChannelID) bool {
	limit := g.rank[goal]
	heads := g.f.Heads()
	g.begin(from)
	g.ahead = g.ahead[:0]
	for len(g.stack) > 0 {
		c := g.pop()
		g.ahead = append(g.ahead, c)
		first, end := g.f.TrunksFrom(heads[c])
		turns := g.count[g.f.FirstTurn(c):]
		for next := first; next < end; next++ {
			if turns[next-first] == 0 || g.rank[next] > limit {
				continue
			}
			if next == goal {
				return false
			}
			g.push(next)
		}
	}
	return true
}

// searchBehind finds what reaches a trunk within the ranks from limit on.
func (g *Graph) searchBehind(to fabric.ChannelID, limit int32) {
	reverse := g.f.Reverses()
	g.begin(to)
	g.behind = g.behind[:0]
	for len(g.stack) > 0 {
		c := g.pop()
		g.behind = append(g.behind, c)
		first, end := g.f.TrunksFrom(g.outOf[c])
		for back := first; back < end; back++ {
			prev := reverse[back]
			if g.rank[prev] >= limit && g.count[g.f.Turn(prev, c)] > 0 {
				g.push(prev)
			}
		}
	}
}

func (g *Graph) begin(c fabric.ChannelID) {
	g.stamp++
	if g.stamp == 0 { // wrapped: old marks could look new
		clear(g.mark)
		g.stamp = 1
	}
	g.stack = g.stack[:0]
	g.push(c)
}

func (g *Graph) push(c fabric.ChannelID) {
	if g.mark[c] != g.stamp {
		g.mark[c] = g.stamp
		g.stack = append(g.stack, c)
	}
}

func (g *Graph) pop() fabric.ChannelID {
	c := g.stack[len(g.stack)-1]
	g.stack = g.stack[:len(g.stack)-1]
	return c
}
