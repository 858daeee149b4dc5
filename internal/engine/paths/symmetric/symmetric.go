// Package symmetric takes one shortest path for every pair of switches, the same
// both ways: the way back is over the same switches in reverse.
//
// Where a path may be taken on the service level of the way back (contract honored),
// both ways share a lane. If they also share their cables, half as many different
// paths have to fit into the layers, and few layers do: fewer than independent
// shortest paths need even where each direction has a lane of its own.
//
// How. Forwarding by destination wants every end of a path to be a path too; if the
// way back is the same, so must be every beginning. Such a set of paths is
// called consistent (D. Cizma, N. Linial: Geodesic Geometry on Graphs, Discrete and
// Computational Geometry 68, 2022). Pairs of switches are taken by distance. The path
// from a to b may begin with neighbour c and end with neighbour y of b if the path
// from c to b, chosen before, ends with y and the path from a to y begins with c. Of
// these the one with the least load is taken, the sum over its cables of what all
// switches send by paths chosen so far. Now and then there is none, on tori for one
// pair in fifty; then either way goes by the least load on its own. In further passes
// the loads of the passes before are known beforehand, so that short paths make room
// for long ones; the pass with the least squares of loads is kept.
//
// Shortest paths by weights of the cables are consistent too, where no two have the
// same sum, but weights that balance loads are hard to find: on tori, where all cables
// are alike, a few would carry most.
//
// Guarantee: connected within each part of the network, every path minimal.
// Deadlock-free only together with a lane assigner.
//
// Complexity: O(S²·(c + h·k)) for S switches of c neighbours, paths of h hops and k
// neighbours on the way; 12 bytes for each pair of switches.
//
// As in package shortest, LIDs of a switch share the tree, and are spread over
// parallel cables round robin.
package symmetric

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Finder finds symmetric shortest paths. The zero Finder balances them.
type Finder struct {
	// Regular takes pairs of one switch after those of another, in one pass, so that
	// ties are broken alike everywhere: on tori that needs fewer lanes, for more on the
	// fullest cable.
	Regular bool
}

// passes is how often all pairs are routed. More passes change little.
const passes = 4

// Paths implements routing.PathFinder.
func (o Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	n := newNetwork(f)
	byHops, err := n.pairs(ctx, o.Regular)
	if err != nil {
		return nil, err
	}
	rounds := passes
	if o.Regular {
		rounds = 1
	}
	s := newSystem(n)
	s.keeping = rounds > 1
	var best []uint8
	least, apart := 0.0, 0
	for round := range rounds {
		if err := s.route(ctx, byHops); err != nil {
			return nil, err
		}
		if squares := s.squares(); best == nil || squares < least {
			best, least, apart = append(best[:0], s.next...), squares, s.apart
		}
		p.Report(round+1, rounds)
		s.expect()
	}
	t := n.write(best)
	if t.Notes = []string{"the way back is the same for all pairs of switches"}; apart > 0 {
		t.Notes = []string{fmt.Sprintf("the way back is the same for all but %d of %d pairs of switches", apart, len(byHops))}
	}
	return t, nil
}
