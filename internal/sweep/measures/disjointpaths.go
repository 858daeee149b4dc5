package measures

import (
	"context"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// DisjointPaths is the mean number of paths without a channel in common between two endpoints in
// scope on different switches: an endpoint with several addresses (LMC) has a path to each,
// and so many of them do not share a channel between switches. A pair without a path has
// none. NaN where no two endpoints are on different switches.
//
// Complexity: O(D·S·h) for D addresses, S switches and paths of h hops, and for each pair of
// a switch and an endpoint what it takes to find the largest set of paths that share nothing,
// exponential in the number of different paths, of which there are few.
func DisjointPaths(ctx context.Context, t *routing.Tables, scope routing.Scope) (float64, error) {
	f := t.Fabric
	sources, ends := scope.PerSwitch(f), scope.Endpoints(f)
	pairs, found := make([]uint64, len(ends)), make([]uint64, len(ends))
	err := par.For(ctx, len(ends), func(_, i int) {
		e := f.Endpoint(ends[i])
		for s, n := range sources {
			if n == 0 || fabric.NodeID(s) == e.Switch {
				continue
			}
			pairs[i] += uint64(n)
			found[i] += uint64(n) * uint64(apart(waysTo(t, fabric.NodeID(s), e)))
		}
	})
	if err != nil {
		return 0, err
	}
	all, sum := 0.0, 0.0
	for i := range ends {
		all += float64(pairs[i])
		sum += float64(found[i])
	}
	return sum / all, nil
}

// waysTo is the different paths from a switch to the addresses of an endpoint, as channels
// between switches, without those that a source on the switch must not use.
func waysTo(t *routing.Tables, s fabric.NodeID, e *fabric.Endpoint) (ways [][]fabric.ChannelID) {
	f := t.Fabric
	for lid := range e.LIDs() {
		if row := t.Lanes.SLRow(lid); row != nil && t.Lanes.Rows == f.Switches() && row[s] == routing.NoSL {
			continue
		}
		var way []fabric.ChannelID
		at := s
		for at != e.Switch && len(way) < f.Switches() {
			c := f.Trunk(at, t.Forwarding.Port(at, lid))
			if c == fabric.None {
				break
			}
			way = append(way, c)
			at = f.Channel(c).To
		}
		if at == e.Switch && !slices.ContainsFunc(ways, func(w []fabric.ChannelID) bool { return slices.Equal(w, way) }) {
			ways = append(ways, way)
		}
	}
	return ways
}

// apart is the most paths of which no two share a channel. No endpoint has more than 128
// addresses; of more than 64 different paths the first 64 are looked at.
func apart(ways [][]fabric.ChannelID) int {
	ways = ways[:min(len(ways), 64)]
	clash := make([]uint64, len(ways)) // [path] those that share a channel with it, itself too
	for i, a := range ways {
		for j, b := range ways {
			if slices.ContainsFunc(a, func(c fabric.ChannelID) bool { return slices.Contains(b, c) }) {
				clash[i] |= 1 << j
			}
		}
	}
	var most func(left uint64) int
	most = func(left uint64) int {
		if left == 0 {
			return 0
		}
		first := bits.TrailingZeros64(left)
		with := 1 + most(left&^clash[first])
		if clash[first]&left == 1<<first {
			return with // it clashes with none of those left
		}
		return max(with, most(left&^(1<<first)))
	}
	return most(1<<len(ways) - 1)
}
