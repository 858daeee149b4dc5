package acyclic

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
)

// Lanes is a dependency graph over the lanes of trunks that stays free of cycles,
// for packets that may change lanes in any way from trunk to trunk. A vertex is trunk
// × lanes + lane. Dependencies are not counted: whoever takes one out knows that
// nobody else needs it.
type Lanes struct{ AnyGraph }

// NewLanes is the graph of some dependencies, pairs of vertices whose trunks meet at
// a switch. It is nil if they have a cycle. add is called once and yields them, in any
// order and as often as it likes.
func NewLanes(f *fabric.Fabric, lanes int, add func(yield func(in, out fabric.ChannelID))) *Lanes {
	order := fabric.All[fabric.ChannelID](f.Trunks() * lanes)
	g := &Lanes{AnyGraph{newOrdered(f, lanes, order)}}
	add(func(in, out fabric.ChannelID) {
		if !g.ahead.has(in, out) {
			g.link(in, out)
		}
	})
	if !g.sortAll() {
		return nil
	}
	return g
}

// sortAll puts all vertices into an order that agrees with the dependencies (A. B.
// Kahn: Topological Sorting of Large Networks, CACM 5(11), 1962). It returns false if there is
// a cycle.
func (g *Lanes) sortAll() bool {
	n := len(g.label)
	waiting := make([]int32, n)
	for v := range fabric.ChannelID(n) {
		g.successors(v, func(u fabric.ChannelID) { waiting[u]++ })
	}
	list := make([]fabric.ChannelID, 0, n)
	for v := range fabric.ChannelID(n) {
		if waiting[v] == 0 {
			list = append(list, v)
		}
	}
	for i := 0; i < len(list); i++ {
		g.successors(list[i], func(u fabric.ChannelID) {
			if waiting[u]--; waiting[u] == 0 {
				list = append(list, u)
			}
		})
	}
	if len(list) < n {
		return false
	}
	g.order = newOrder(list)
	return true
}

// successors visits the vertices that dependencies lead to from a vertex.
func (g *Lanes) successors(v fabric.ChannelID, visit func(fabric.ChannelID)) {
	base := g.ahead.base[v]
	for _, w := range g.ahead.words[g.ahead.first[v]:g.ahead.first[v+1]] {
		for ; w != 0; w &= w - 1 {
			visit(base + fabric.ChannelID(bits.TrailingZeros64(w)))
		}
		base += 64
	}
}
