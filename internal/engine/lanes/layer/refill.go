package layer

import (
	"bytes"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// next goes on to the next layer, to which bundles were moved: it counts their paths. With
// refill, the bundles that fit after all into the layer, now free of cycles, are put
// back into it first. It says whether any are left in the next.
func (bc *breaker) next(layer uint8, refill bool) (left bool) {
	var only *acyclic.Grown
	if refill {
		// Finished last means first in order: no trunk is finished before those it
		// leads to.
		slices.Reverse(bc.post)
		only = acyclic.Grow(bc.Fabric, bc.count, bc.post)
	}
	clear(bc.count)
	clear(bc.held)
	for i := range bc.dests {
		d := &bc.dests[i]
		for s := 0; ; s++ {
			ahead := bytes.IndexByte(d.sl[s:], layer+1)
			if ahead < 0 {
				break
			}
			s += ahead
			bc.turns = bc.appendTurns(bc.turns[:0], d, fabric.NodeID(s))
			if refill && only.AddAll(bc.turns) {
				d.sl[s] = layer
				continue
			}
			left = true
			bc.add(bc.turns, bc.weight(d, fabric.NodeID(s)))
			if !bc.both {
				bc.held[s*bc.width+i/eight] |= 1 << (i % eight)
			}
		}
	}
	return left
}
