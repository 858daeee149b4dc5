package engines

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/paths/updown"
	"github.com/weft-fabric/weft/routing"
)

// withEscape is LASH (or MP-LASH) if the layers do not suffice: O. Lysne et al., IEEE
// TPDS 17(1), 2006, section 5.1: "by assigning all of these paths to a separate layer
// that is routed according to an UpDown structure". The last address of every endpoint
// is routed by Up*/Down*, the last lane is its layer, and sources use it for endpoints
// of which they may use no other address.
//
// It needs at least two addresses (LMC 1) and two lanes. Deadlock-free under contract
// honored, because each layer is acyclic by itself.
func withEscape(ctx context.Context, f *fabric.Fabric, finder routing.PathFinder, b routing.Budget, p routing.Progress) (*routing.Tables, error) {
	last := f.Addresses() - 1
	paths, err := finder.Paths(ctx, f, p)
	if err != nil {
		return nil, err
	}
	if err := updown.Escape(ctx, f, paths, last, p); err != nil {
		return nil, err
	}
	lanes, err := layer.FirstFit{Escape: last}.Lanes(ctx, f, paths, b, p)
	if err != nil {
		return nil, err
	}
	return &routing.Tables{Fabric: f, Forwarding: paths, Lanes: lanes}, nil
}
