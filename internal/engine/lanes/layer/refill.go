package layer

import (
	"bytes"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// next goes on from a layer, now free of cycles, to the one after it, to which bundles were moved: it
// makes count and held those of that layer. With refill, bundles that fit into the layer after all are
// put back first. It reports whether any are left in the one after it.
func (bc *breaker) next(layer uint8, refill bool) (left bool) {
	var graph *acyclic.Grown // the turns of the layer
	if refill {
		// Finished last means first in order: no trunk is finished before those it
		// leads to.
		slices.Reverse(bc.post)
		graph = acyclic.Grow(bc.Fabric, bc.count, bc.post)
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
			if refill && graph.AddAll(bc.turns) {
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
