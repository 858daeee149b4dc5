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
// LIDs of the destination's switch take turns over the cables; the dependencies
// between cables map onto those between neighbours, so that a lane assignment
// free of cycles for one cable stays free of them for all.
package shortest

import (
	"context"
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/dag"
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
	channels := f.Channels()
	err := dag.ByDestination(ctx, f, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
		for i := 1; i < len(d.Order); i++ {
			u := d.Order[i]
			cables := c.cables(d.Choices(i), u)
			for turn, lid := range lids {
				t.Row(lid)[u] = channels[cables[turn%len(cables)]].FromPort
			}
		}
		for _, lid := range lids {
			t.Row(lid)[d.Root] = f.LastPort(f.Endpoint(f.Owner(lid)))
		}
		p.Report(int(d.Root)+1, f.Switches())
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// chooser picks next switches. Parallel cables form a group, known by its lowest
// trunk.
type chooser struct {
	Finder
	rng    *rand.Rand
	group  []fabric.ChannelID // [trunk] the lowest trunk between the same switches
	size   []uint32           // [trunk] cables in its group
	pairs  []uint32           // [trunk] switch pairs sent by the group; counted at its lowest trunk
	joined []fabric.ChannelID // scratch: the cables picked
}

func newChooser(f *fabric.Fabric, o Finder) *chooser {
	n := f.Trunks()
	c := &chooser{
		Finder: o,
		rng:    rand.New(rand.NewPCG(o.Seed, stream)),
		group:  make([]fabric.ChannelID, n),
		size:   make([]uint32, n),
		pairs:  make([]uint32, n),
	}
	lowest := make([]fabric.ChannelID, f.Switches()) // [switch] lowest trunk to it from the switch at hand
	heads := f.Heads()
	for s := range f.Switches() {
		first, end := f.TrunksFrom(fabric.NodeID(s))
		for t := end - 1; t >= first; t-- {
			lowest[heads[t]] = t
		}
		for t := first; t < end; t++ {
			c.group[t] = lowest[heads[t]]
			c.size[c.group[t]]++
		}
	}
	for t := range c.size {
		c.size[t] = c.size[c.group[t]]
	}
	return c
}

// cables picks the next switch among out for switch u and returns the cables
// that lead there.
func (c *chooser) cables(out []fabric.ChannelID, u fabric.NodeID) []fabric.ChannelID {
	best := c.group[out[0]]
	switch c.Pick {
	case Random:
		best = c.group[out[c.rng.IntN(len(out))]]
	case Spread:
		start := int(u) % len(out)
		best = c.lighter(c.lighter(c.group[out[start]], out[start+1:]), out[:start])
	}
	c.pairs[best]++
	c.joined = c.joined[:0]
	for _, o := range out {
		if c.group[o] == best {
			c.joined = append(c.joined, o)
		}
	}
	return c.joined
}

// lighter is the group with the fewest pairs for each of its cables: best, or
// the first of out with fewer.
func (c *chooser) lighter(best fabric.ChannelID, out []fabric.ChannelID) fabric.ChannelID {
	for _, o := range out {
		// pairs per cable, compared without dividing
		if g := c.group[o]; c.pairs[g]*c.size[best] < c.pairs[best]*c.size[g] {
			best = g
		}
	}
	return best
}
