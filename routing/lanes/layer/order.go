package layer

import (
	"errors"
	"fmt"
	"math/rand/v2"

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

// Orders is every order but Suited, which is one of them.
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
	return 0, fmt.Errorf("layer: no order of paths is called %q", name)
}

// errStop ends a walk over paths early.
var errStop = errors.New("layer: stop")

// inOrder visits every bundle once, until visit returns an error.
func (p *pathSet) inOrder(o Order, visit func(*destination, fabric.NodeID) error) error {
	if o == Suited && p.both {
		o = ShortestFirst
	}
	switch o {
	case BySource:
		for s := range p.sources {
			for i := range p.dests {
				if err := p.visitOne(&p.dests[i], fabric.NodeID(s), visit); err != nil {
					return err
				}
			}
		}
		return nil
	case LongestFirst, ShortestFirst:
		return p.byLength(o == LongestFirst, visit)
	}
	dests, sources := p.dests, make([]fabric.NodeID, len(p.sources))
	for s := range sources {
		sources[s] = fabric.NodeID(s)
	}
	rng := rand.New(rand.NewPCG(0, stream))
	if o == Shuffled {
		dests = append([]destination(nil), dests...)
		rng.Shuffle(len(dests), func(i, j int) { dests[i], dests[j] = dests[j], dests[i] })
	}
	for i := range dests {
		if o == Shuffled {
			rng.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
		}
		for _, s := range sources {
			if err := p.visitOne(&dests[i], s, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// stream names the random stream of this package.
const stream = 0x6c61796572 // "layer"

func (p *pathSet) visitOne(d *destination, s fabric.NodeID, visit func(*destination, fabric.NodeID) error) error {
	if p.sources[s] == 0 || int(s) >= len(d.sl) {
		return nil
	}
	return visit(d, s)
}

// byLength visits the bundles by the hops of their longest path to a first LID, and not
// those without a path.
func (p *pathSet) byLength(longestFirst bool, visit func(*destination, fabric.NodeID) error) error {
	hops, longest := p.hops()
	for i := range longest + 1 {
		now := i
		if longestFirst {
			now = longest - i
		}
		for i := range p.dests {
			for s, h := range hops[i] {
				if h != now {
					continue
				}
				if err := p.visitOne(&p.dests[i], fabric.NodeID(s), visit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// noPath stands for the hops of a bundle without paths.
const noPath = -1

// hops is the hops of every bundle, [destination][switch], and the most of them.
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
