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

// LayersOf is how many layers all shortest paths of all pairs need if the source may take any
// of them (of is "mp-lash": TPDS 2006, section 6), or if the switches may, grouped by the first
// link ("a-lash": section 7 there).
func LayersOf(ctx context.Context, f *fabric.Fabric, of string) (int, error) {
	if of == "a-lash" {
		t, err := alash.Engine{OneLayer: true}.RouteAdaptive(ctx, f, routing.Budget{VLs: routing.MaxDataVLs, Scope: routing.HCA, Contract: routing.Directed}, nil)
		if err != nil {
			return 0, err
		}
		return t.Needed, nil
	}
	a, err := mplash.Analyse(ctx, f, mplash.Options{})
	if err != nil {
		return 0, err
	}
	return a.Layers, nil
}
