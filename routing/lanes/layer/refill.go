package layer

import (
	"slices"

	"github.com/weft-fabric/weft/routing/internal/acyclic"
)

// refill puts back into a layer, now free of cycles, the paths that fit after
// all of those just moved to the next. It says whether any are left there.
func (bc *breaker) refill(layer uint8) (left bool) {
	// Finished last means first in order: no trunk is finished before those it
	// leads to.
	slices.Reverse(bc.post)
	only := acyclic.OneLayer(acyclic.From(bc.Fabric, bc.count, bc.post))
	var turns []acyclic.Turn
	for d, s := range bc.all {
		if d.sl[s] != layer+1 {
			continue
		}
		turns = bc.appendTurns(turns[:0], d, s)
		if !only.Into(0, turns) {
			left = true
			continue
		}
		d.sl[s] = layer
		w := bc.weight(d, s)
		for _, t := range turns {
			bc.next[t.ID] -= w
		}
	}
	return left
}
