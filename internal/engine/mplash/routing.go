package mplash

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
)

// Routing is the full form as a routing to simulate: every path is an address of
// its destination, which its source alone may use, on the layers of the path. With
// one, a path keeps to one of its layers, those with fewest paths before others, as
// the paper's second version does (section 8.2); else the source has the choice
// (its first version; it takes an Analysis with step 4). The routing is not valid
// beyond routing.MaxDataVLs layers.
func (a *Analysis) Routing(one bool) *adaptive.Tables {
	t := adaptive.SourceRoutes(a.f, a.Layers, func(yield func([]fabric.ChannelID, uint16) bool) {
		used := make([]int, a.Layers)
		a.Each(func(path []fabric.ChannelID, layers uint64) {
			if one {
				layers = 1 << takeLeastUsed(layers, used)
			}
			yield(path, uint16(layers)) // it never has enough
		})
	})
	t.Needed = a.Layers
	return t
}

// takeLeastUsed is the layer of a set of bits that is used least, the first of equals. It counts the
// use in used, [layer].
func takeLeastUsed(set uint64, used []int) int {
	best := bits.TrailingZeros64(set)
	for ; set != 0; set &= set - 1 {
		if l := bits.TrailingZeros64(set); used[l] < used[best] {
			best = l
		}
	}
	used[best]++
	return best
}
