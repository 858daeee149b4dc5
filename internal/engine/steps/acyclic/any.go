package acyclic

import "github.com/weft-fabric/weft/fabric"

// AnyGraph is a graph of dependencies between any vertices that stays free of cycles.
// Dependencies are not counted: whoever takes one out knows that nobody else needs it.
type AnyGraph struct{ ordered }

// NewAnyGraph is the graph without dependencies over the vertices 0 … n-1, each of which
// may lead to any other. Memory: n²/4 bytes.
func NewAnyGraph(n int) *AnyGraph {
	vertices := fabric.All[fabric.ChannelID](n) // in their order, and each its own reverse
	all := func() side {
		s := side{first: make([]int32, n+1), base: make([]fabric.ChannelID, n), seen: newSeen(n)}
		words := (n + 63) / 64
		for v := range n {
			s.first[v+1] = int32((v + 1) * words)
		}
		s.words = make([]uint64, n*words)
		return s
	}
	return &AnyGraph{ordered{order: newOrder(vertices), ahead: all(), behind: all(), reverse: vertices}}
}

// Has reports whether the graph holds a dependency.
func (g *AnyGraph) Has(in, out fabric.ChannelID) bool { return g.ahead.has(in, out) }

// Add adds a dependency that the graph does not hold, unless it would close a cycle.
func (g *AnyGraph) Add(in, out fabric.ChannelID) bool {
	if in == out || !g.fits(in, out) {
		return false
	}
	g.link(in, out)
	return true
}

// Remove takes a dependency out.
func (g *AnyGraph) Remove(in, out fabric.ChannelID) { g.unlink(in, out) }
