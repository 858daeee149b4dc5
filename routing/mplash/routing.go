package mplash

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Routing is the full form as a routing to simulate: every path is an address of
// its destination, which its source alone may use, on the layers of the path. With
// one, a path keeps to one of its layers, those with fewest paths before others, as
// the paper's second version does (section 8.2); else the source has the choice
// (its first version; it takes an Analysis with step 4). The routing is not valid
// beyond routing.MaxDataVLs layers.
func (a *Analysis) Routing(one bool) *routing.Adaptive {
	heads := a.f.Heads()
	to := func(path []fabric.ChannelID) fabric.NodeID { return heads[path[len(path)-1]] }
	paths := make([]int, a.f.Switches())
	a.Each(func(path []fabric.ChannelID, _ uint64) { paths[to(path)]++ })
	t := routing.NewAdaptive(a.f, paths)
	t.Needed = a.Layers
	choices := routing.NewChoices(a.f, t.Addresses(), 1, make([]uint8, a.f.Trunks()))
	for l := range a.Layers {
		t.Lanes = append(t.Lanes, routing.AdaptiveLane{Choices: choices, Next: 1 << l, Rely: 1 << l})
	}
	next := routing.Address(0) // paths come by destination, as addresses do
	used := make([]int, a.Layers)
	a.Each(func(path []fabric.ChannelID, layers uint64) {
		if one {
			layers = 1 << fewest(layers, used)
		}
		set := choices.Fresh(next, 0)
		for _, c := range path {
			set.Add(c)
		}
		t.AllowedRow(next)[a.f.Channel(path[0]).From] = uint16(layers)
		next++
	})
	return t
}

// fewest is the layer of a set that is used least, the first of equals; it counts
// one more use.
func fewest(set uint64, used []int) int {
	best := bits.TrailingZeros64(set)
	for ; set != 0; set &= set - 1 {
		if l := bits.TrailingZeros64(set); used[l] < used[best] {
			best = l
		}
	}
	used[best]++
	return best
}
