// Package single puts everything on one lane: for paths that are free of deadlock on one lane
// (Up*/Down*), and for path finders that do not care (MinHop, SSSP).
//
// Guarantee: whatever the paths guarantee on one lane, under every contract,
// because packets of each service level stay on one lane, and each lane sees at most all paths. Needs
// one lane; refuses nothing. O(1).
package single

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Assigner gives every pair SL 0. SL2VL stays what it is by default, one lane
// for each SL, so that an administrator can still part traffic by SL.
type Assigner struct{}

// Lanes implements routing.LaneAssigner.
func (Assigner) Lanes(_ context.Context, f *fabric.Fabric, _ *routing.Forwarding, b routing.Budget, p routing.Progress) (*routing.Lanes, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	l := routing.OneSL(f, routing.LanePerSL(b.VLs))
	l.Needed = 1
	p.Report(1, 1)
	return l, nil
}
