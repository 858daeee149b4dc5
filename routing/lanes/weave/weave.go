// Package weave is in the making.
package weave

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/loom"
	"github.com/weft-fabric/weft/routing"
)

// Assigner assigns.
type Assigner struct{}

// Lanes implements routing.LaneAssigner.
func (Assigner) Lanes(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	paths, err := loom.Gather(ctx, f, fw, b.Scope, p)
	if err != nil {
		return nil, err
	}
	l, err := paths.Fewest(ctx, b.VLs)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, &routing.TooFewLanes{Need: b.VLs + 1, AtLeast: true, Have: b.VLs}
	}
	return l.Tables(fw, paths.LIDs()), nil
}
