// Package shortest takes one shortest path for every pair of switches: what
// LASH assumes.
//
// T. Skeie, O. Lysne, I. Theiss: Layered Shortest Path (LASH) Routing in
// Irregular System Area Networks, IPDPS 2002; O. Lysne et al.: Layered Routing
// in Irregular Networks, IEEE TPDS 17(1), 2006, section 5.1: "for an arbitrary
// shortest path between this pair".
//
// All LIDs of a switch share one tree, so that lanes are a matter of switch
// pairs and few are needed; sssp gives every LID a tree of its own, balances
// better and needs more.
//
// Guarantee: connected within each part of the network, every path minimal.
// Deadlock-free only together with a lane assigner.
//
// Complexity: O(S·(S + C + D/S)) for S switches, C trunks, D destination LIDs.
//
// Deviations from the papers: paths to one switch form an in-tree, as forwarding
// by destination demands. Between two switches joined by several cables the
// LIDs of the destination's switch are spread over the cables round robin; the dependencies
// between cables map onto those between neighbours, so that a lane assignment
// free of cycles for one cable stays free of them for all.
package shortest

import (
	"context"
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/routing"
)

// Pick says which of several shortest paths to take.
type Pick uint8

// The ways to pick.
const (
	Spread Pick = iota // the next switch that carries fewest switch pairs so far; of several the first from a port on that differs from switch to switch
	Lowest             // by the lowest port: regular networks get regular, few-laned routes
	Random             // by chance, from Seed
)

// Finder finds shortest paths. The zero Finder spreads them.
type Finder struct {
	Pick Pick
	Seed uint64 // of Random
}

// stream names the random stream of this package.
const stream = 0x73686f7274657374 // "shortest"

// Paths implements routing.PathFinder.
func (o Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	t := routing.NewForwarding(f)
	c := newChooser(f, o)
	err := dag.ByDestination(ctx, f, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
		for i := 1; i < len(d.Order); i++ {
			c.Deal(t, lids, c.link(d.Choices(i), d.Order[i]))
		}
		dag.Deliver(f, t, lids)
		p.Report(int(d.Root)+1, f.Switches())
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// chooser picks next switches: all cables to one of them are a link.
type chooser struct {
	Finder
	*dag.Links
	rng   *rand.Rand
	pairs []uint32 // [link] switch pairs sent by it
}

func newChooser(f *fabric.Fabric, o Finder) *chooser {
	links := dag.NewLinks(f)
	return &chooser{Finder: o, Links: links, rng: rand.New(rand.NewPCG(o.Seed, stream)), pairs: make([]uint32, len(links.To))}
}

// link picks the link by which switch u sends to the destination at hand, among those of the trunks in
// out, and counts the pair.
func (c *chooser) link(out []fabric.ChannelID, u fabric.NodeID) int32 {
	best := c.Of[out[0]]
	switch c.Pick {
	case Random:
		best = c.Of[out[c.rng.IntN(len(out))]]
	case Spread:
		start := int(u) % len(out)
		best = c.lighter(c.lighter(c.Of[out[start]], out[start+1:]), out[:start])
	}
	c.pairs[best]++
	return best
}

// lighter is the link with the fewest pairs for each of its cables: best, or the first
// of out with fewer.
func (c *chooser) lighter(best int32, out []fabric.ChannelID) int32 {
	for _, o := range out {
		// pairs per cable, compared without dividing
		if l := c.Of[o]; int(c.pairs[l])*len(c.Cables(best)) < int(c.pairs[best])*len(c.Cables(l)) {
			best = l
		}
	}
	return best
}
