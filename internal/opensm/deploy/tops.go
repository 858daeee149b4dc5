package deploy

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
)

// Tops is the switches to name as roots to OpenSM's updn and ftree: the spines of a fat
// tree (levels.Tops). In a network that has none it is the one switch that needs
// the fewest hops to the switch farthest from it; of several the one with the lowest GUID.
func Tops(f *fabric.Fabric) []fabric.NodeID {
	if tops := levels.Tops(f); len(tops) > 0 {
		return tops
	}
	best, least := fabric.NodeID(0), int32(-1)
	for s := range fabric.NodeID(f.Switches()) {
		if far := slices.Max(f.Hops(s)); least < 0 || far < least {
			best, least = s, far
		}
	}
	return []fabric.NodeID{best}
}
