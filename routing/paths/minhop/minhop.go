// Package minhop is what OpenSM does by default: shortest paths, balanced by
// each switch on its own.
//
// There is no paper; the rule is that of OpenSM's osm_switch_recommend_path: of
// the ports with the fewest hops to a destination, a switch takes the one by
// which it sends the fewest destinations so far.
//
// Guarantee: connected within each part of the network, every path minimal. Not
// deadlock-free: rings, tori and most irregular networks get credit loops.
//
// Complexity: O(S·(S + C) + D·M) as for package sssp, with smaller constants.
//
// Deviations from OpenSM: destinations are taken by switch, then endpoint; where
// several ports are alike, each switch starts at another (see
// dag.RouteLocally).
package minhop

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// Finder is OpenSM's MinHop. The zero Finder is ready to use.
type Finder struct{}

// Paths implements routing.PathFinder.
func (Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	return dag.RouteLocally(ctx, f, dag.Shortest, p)
}
