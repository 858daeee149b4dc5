package layer

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Order is the order in which first-fit takes the paths. The fewest layers are
// found sometimes by one, sometimes by another.
type Order uint8

// The orders.
const (
	ByDestination Order = iota // by destination, then source: trees stay together
	BySource                   // by source, then destination
	LongestFirst               // by hops, the longest first; then by destination
	ShortestFirst              // by hops, the shortest first; then by destination
	Shuffled                   // destinations, and the sources of each, in a fixed random order
)

// Orders is every order.
var Orders = [...]Order{ByDestination, BySource, LongestFirst, ShortestFirst, Shuffled}

func (o Order) String() string {
	return [...]string{"by-destination", "by-source", "longest-first", "shortest-first", "shuffled"}[o]
}

// ParseOrder finds an order by its name.
func ParseOrder(name string) (Order, error) {
	for _, o := range Orders {
		if o.String() == name {
			return o, nil
		}
	}
	return 0, fmt.Errorf("layer: no order of paths is called %q", name)
}

// errStop ends a walk over paths early.
var errStop = errors.New("layer: stop")

// inOrder visits every path once, until visit returns an error.
func (p *pathSet) inOrder(o Order, visit func(destination, fabric.NodeID) error) error {
	switch o {
	case BySource:
		for s := range p.sources {
			for _, d := range p.dests {
				if err := p.visitOne(d, fabric.NodeID(s), visit); err != nil {
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
	for _, d := range dests {
		if o == Shuffled {
			rng.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
		}
		for _, s := range sources {
			if err := p.visitOne(d, s, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// stream names the random stream of this package.
const stream = 0x6c61796572 // "layer"

func (p *pathSet) visitOne(d destination, s fabric.NodeID, visit func(destination, fabric.NodeID) error) error {
	if p.sources[s] == 0 {
		return nil
	}
	return visit(d, s)
}

// byLength visits the paths by their hops.
func (p *pathSet) byLength(longestFirst bool, visit func(destination, fabric.NodeID) error) error {
	longest := 0
	var t routing.Tree
	for _, d := range p.dests {
		t.Build(p.f, p.fw.Row(d.lid), d.root)
		longest = max(longest, t.Depth(t.Order[len(t.Order)-1]))
	}
	for i := range longest + 1 {
		hops := i
		if longestFirst {
			hops = longest - i
		}
		for _, d := range p.dests {
			t.Build(p.f, p.fw.Row(d.lid), d.root)
			for s := range p.sources {
				if t.Depth(fabric.NodeID(s)) != hops {
					continue
				}
				if err := p.visitOne(d, fabric.NodeID(s), visit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
