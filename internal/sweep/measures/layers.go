package measures

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/adaptive/alash"
	"github.com/weft-fabric/weft/internal/engine/mplash"
	"github.com/weft-fabric/weft/routing"
)

func layers(ctx context.Context, in *Input, m *Measure) (Value, error) {
	n, err := LayersOf(ctx, in.Fabric, m.Setting("of"))
	return Value{Mean: float64(n)}, err
}

// The routings by layers of TPDS 2006 that LayersOf counts.
const (
	mpLASH              = "mp-lash"                // section 6: all shortest paths of a pair, of which the source takes any
	mpLASHByDestination = "mp-lash-by-destination" // the same, the pairs as they come and not those farthest apart first
	aLASH               = "a-lash"                 // section 7: all shortest paths, of which switches take any, grouped by the first link
	lashSource          = "lash-source"            // section 5: one shortest path of every pair, drawn
)

// LayersOf is how many layers a routing needs.
func LayersOf(ctx context.Context, f *fabric.Fabric, of string) (int, error) {
	if of == aLASH {
		t, err := alash.Engine{OneLayer: true}.RouteAdaptive(ctx, f, routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.HCA, Contract: routing.Directed}, nil)
		if err != nil {
			return 0, err
		}
		return t.Needed, nil
	}
	a, err := mplash.Analyse(ctx, f, mplash.Options{One: of == lashSource, ByDestination: of == mpLASHByDestination})
	if err != nil {
		return 0, err
	}
	return a.Layers, nil
}
