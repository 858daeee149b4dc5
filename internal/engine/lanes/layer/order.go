package layer

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Order is the order in which first-fit takes the bundles. The fewest layers are
// found sometimes by one, sometimes by another.
type Order uint8

// The orders.
const (
	Suited        Order = iota // by destination or, both ways, the shortest first
	ByDestination              // by destination, then source: trees stay together
	BySource                   // by source, then destination
	LongestFirst               // by hops, the longest first; then by destination
	ShortestFirst              // by hops, the shortest first; then by destination
	Shuffled                   // destinations, and the sources of each, in a fixed random order
)

// Orders is every order except Suited, which stands for one of them.
var Orders = [...]Order{ByDestination, BySource, LongestFirst, ShortestFirst, Shuffled}

func (o Order) String() string {
	return [...]string{"suited", "by-destination", "by-source", "longest-first", "shortest-first", "shuffled"}[o]
}

// ParseOrder finds an order by its name.
func ParseOrder(name string) (Order, error) {
	for _, o := range append(Orders[:], Suited) {
		if o.String() == name {
			return o, nil
		}
	}
	return 0, fmt.Errorf("no order of paths is called %q", name)
}

// inOrder is every bundle, once, in an order; those without a path may be left out.
func (p *pathSet) inOrder(o Order) iter.Seq2[*destination, fabric.NodeID] {
	switch {
	case o == BySource:
		return p.bySource
	case o == Shuffled:
		return p.shuffled
	case o == LongestFirst || o == ShortestFirst || o == Suited && p.both:
		return p.byLength(o == LongestFirst)
	}
	return p.all
}

// all yields every bundle, by destination, then source.
func (p *pathSet) all(yield func(*destination, fabric.NodeID) bool) {
	for i := range p.dests {
		d := &p.dests[i]
		for s := range d.sl {
			if p.sources[s] > 0 && !yield(d, fabric.NodeID(s)) {
				return
			}
		}
	}
}

func (p *pathSet) bySource(yield func(*destination, fabric.NodeID) bool) {
	for s, n := range p.sources {
		for i := range p.dests {
			if d := &p.dests[i]; n > 0 && s < len(d.sl) && !yield(d, fabric.NodeID(s)) {
				return
			}
		}
	}
}

func (p *pathSet) shuffled(yield func(*destination, fabric.NodeID) bool) {
	rng := rand.New(rand.NewPCG(0, stream))
	dests := slices.Clone(p.dests)
	rng.Shuffle(len(dests), func(i, j int) { dests[i], dests[j] = dests[j], dests[i] })
	sources := fabric.All[fabric.NodeID](len(p.sources))
	for i := range dests {
		d := &dests[i]
		rng.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
		for _, s := range sources {
			if p.sources[s] > 0 && int(s) < len(d.sl) && !yield(d, s) {
				return
			}
		}
	}
}

// stream names the random stream of this package.
const stream = 0x6c61796572 // "layer"

// byLength yields the bundles by the hops of their longest path to a first LID, and not
// those without a path.
func (p *pathSet) byLength(longestFirst bool) iter.Seq2[*destination, fabric.NodeID] {
	return func(yield func(*destination, fabric.NodeID) bool) {
		hops, longest := p.hops()
		for i := range longest + 1 {
			now := i
			if longestFirst {
				now = longest - i
			}
			for d := range p.dests {
				for s, h := range hops[d] {
					if h == now && p.sources[s] > 0 && !yield(&p.dests[d], fabric.NodeID(s)) {
						return
					}
				}
			}
		}
	}
}

// noPath stands for the hops of a bundle without paths.
const noPath = -1

// hops is the hops of every bundle, [place in dests][switch], of its longest path to a first LID, or
// noPath, and the most of them.
func (p *pathSet) hops() (hops [][]int16, longest int16) {
	hops = make([][]int16, len(p.dests))
	for i := range hops {
		hops[i] = make([]int16, len(p.dests[i].sl))
		for s := range hops[i] {
			hops[i][s] = noPath
		}
	}
	var t routing.Tree
	for i := range p.dests {
		d := &p.dests[i]
		t.Build(p.Fabric, p.Forwarding.Row(d.lids[0]), d.root)
		for _, s := range t.Order {
			at := i
			from := s
			if p.both && s >= d.root {
				if s == d.root || p.at[s] < 0 {
					continue
				}
				at, from = int(p.at[s]), d.root
			}
			h := &hops[at][from]
			*h = max(*h, int16(t.Depth(s)))
			longest = max(longest, *h)
		}
	}
	return hops, longest
}
