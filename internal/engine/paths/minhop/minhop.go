// Package minhop is what OpenSM does by default: shortest paths, balanced by
// each switch on its own.
//
// There is no paper; the rule is that of OpenSM's osm_switch_recommend_path: of
// the ports with the fewest hops to a destination, a switch takes the one by
// which it sends the fewest destinations so far, of several the lowest; in OpenSM's
// order of destinations (see dag.RouteLocally). The tables are those of OpenSM 3.3.23,
// entry by entry.
//
// Guarantee: connected within each part of the network, every path minimal. Not
// deadlock-free: rings, tori and most irregular networks get credit loops. Trees of two
// levels are balanced well. In deeper ones a spine gets the n-th host of every leaf and
// sends them all by its n-th port, where ports are cabled in the same order everywhere:
// the fullest channel carries several times what updn leaves on it.
//
// Complexity: O(S·(S + C) + D·M) as for package sssp, with smaller constants.
//
// Deviations from OpenSM: further addresses of a port (LMC) take another neighbour than
// those before; OpenSM looks for another chassis first, by the system GUID, which fabrics
// here do not have. Its options that change weights or order (hop_weights_file,
// guid_routing_order_file, scatter_ports and the like) have no counterpart.
package minhop

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/routing"
)

// Finder is OpenSM's MinHop. The zero Finder is ready to use.
type Finder struct{}

// Paths implements routing.PathFinder.
func (Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	return dag.RouteLocally(ctx, f, dag.Shortest, dag.All, p)
}
