// Package updown is Up*/Down* routing: every channel is up or down, and no path
// goes up after it went down.
//
// M. D. Schroeder et al.: Autonet: a High-Speed, Self-Configuring Local Area
// Network Using Point-to-Point Links, IEEE JSAC 9(8), 1991; as used in O. Lysne
// et al.: Layered Routing in Irregular Networks, IEEE TPDS 17(1), 2006, section
// 4.1. The switches are put in an order, and up is towards the earlier one. The
// order is one of three:
//
//   - FromRoots, as in Autonet: by breadth-first distance from the roots, then
//     GUID (engine updn);
//   - DepthFirst: the order in which a depth-first search finds them (J. C.
//     Sancho, A. Robles: Improving the Up*/Down* Routing Scheme for Networks of
//     Workstations, Euro-Par 2000), which the TPDS paper simulates against
//     (updn-dfs);
//   - FromLeaves: the farther from host adapters the earlier, as OpenSM's dnup
//     ranks, so that a tree needs no roots to be named (dnup).
//
// Guarantee: deadlock-free on one lane, whatever service level a client uses,
// and connected for all host adapters; for all switches and endpoints with one root,
// and with several where turns are left (orient.Join). Paths need not be minimal.
//
// Complexity: O(S·(S + C) + D·M) as for minhop.
//
// Deviations from the papers:
//   - Forwarding knows the destination, not the way behind it. A switch that can
//     go down all the way to a destination does so, the others go up: so nobody
//     who arrives from above is sent up again. After a depth-first search that
//     makes detours, and switches that had better go up are looked for
//     (orient.Shorter). SourceRoutes has the shortest legal paths, to simulate.
//   - Several roots, as a fat tree wants them, leave the roots themselves (and
//     what hangs on them) apart, since none can reach another without going
//     down first. Such pairs are joined by single turns from down to up, each
//     admitted only if all turns of all paths together stay free of cycles.
//     OpenSM's connect_roots does the same without the proof.
//   - Without roots given, orders from the tops of a tree-like network, from its highest tops, from
//     one central switch, by the levels of a tree and by the distance from hosts are weighed by the
//     fullest trunk that each leaves (candidates).
//   - Sancho's heuristic is told in words only: the search starts at the switch
//     farthest from all others on average and goes on to the neighbour with most
//     cables to switches already found. Ties go to the farther switch, then to
//     the lower GUID.
package updown

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
	"github.com/weft-fabric/weft/routing"
)

// joined is the rule behind the one refusal of this package.
const joined = "every switch has a path to every other that goes up, then down, or by turns that keep all paths free of cycles"

// Rank says how switches are put in order.
type Rank uint8

// The orders of the package comment.
const (
	FromRoots Rank = iota
	DepthFirst
	FromLeaves
)

// Finder is Up*/Down* routing. The zero Finder ranks from roots that it chooses.
type Finder struct {
	Rank  Rank
	Roots []fabric.GUID // of FromRoots: switches of rank 0; empty: chosen, and named in Forwarding.Notes
}

// Paths implements routing.PathFinder. It refuses roots that are no switches,
// and an order that leaves a pair of switches without a path.
func (o Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	given, err := orient.Roots(f, o.Roots...)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Rank == DepthFirst:
		order, roots := depthFirst(f, fabric.None)
		o := orient.New(f, order)
		return route(ctx, f, o, o.Shorter(routing.Adapters.Ends(f)), "depth-first from "+name(f, roots), p)
	case o.Rank == FromLeaves:
		return byOrder(ctx, f, byHeight(f), byHeightNote, p)
	case len(given) > 0:
		return byOrder(ctx, f, orient.ByRank(f, given), "roots: "+name(f, given), p)
	}
	return choose(ctx, f, p)
}

// worthAll is how many times as much on the fullest trunk it is worth that aggregation nodes and routers reach all others. Of forty
// networks as patchwork:N,sharp=100,pods=4,leaves=6 draws them four leave some apart by that, 16 without it;
// at 2 twelve do, with a sixth less on the fullest trunk in the mean.
const worthAll = 4

// choose takes the first of the candidates by which all adapters reach each other, aggregation nodes and routers too, unless
// it has more than worthAll times as much on its fullest trunk as the first that leaves some of these apart, but no hosts.
func choose(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	var first *routing.Forwarding
	var most float64
	for _, c := range candidates(f) {
		if first != nil && c.most > worthAll*most {
			break
		}
		t, err := route(ctx, f, c.Orientation, c.Legal, c.note, p)
		switch {
		case routing.Refused(err):
		case err != nil || !adaptersApart(f, t):
			return t, err
		case first == nil:
			first, most = t, c.most
		}
	}
	if first == nil {
		panic("a single root in every part joins all")
	}
	return first, nil
}

// adaptersApart reports whether a switch with adapters has no path to another adapter of its part.
func adaptersApart(f *fabric.Fabric, t *routing.Forwarding) bool {
	if !t.Apart {
		return false
	}
	ends, part := routing.Adapters.Ends(f), f.PartOf(f.Parts())
	for lid, e := range f.LIDs() {
		to := f.Endpoint(e)
		if to.Class == fabric.SwitchPort || to.Switch == fabric.None {
			continue
		}
		for s, port := range t.Row(lid) {
			if port == routing.NoPort && ends[s] && part[s] == part[to.Switch] {
				return true
			}
		}
	}
	return false
}

// byOrder routes with the switches in this order, and notes what it was.
func byOrder(ctx context.Context, f *fabric.Fabric, order []fabric.NodeID, note string, p routing.Progress) (*routing.Forwarding, error) {
	o := orient.New(f, order)
	return route(ctx, f, o, o.Legal, note, p)
}

// route routes by the graphs that legal builds, joins by turns what they leave apart, or refuses, and
// adds a note.
func route(ctx context.Context, f *fabric.Fabric, o *orient.Orientation, legal dag.Builder, note string, p routing.Progress) (*routing.Forwarding, error) {
	t, err := dag.RouteLocally(ctx, f, legal, dag.Arriving, p)
	if err != nil {
		return nil, err
	}
	if o.Apart(f) {
		turns, err := orient.Join(ctx, f, o, t)
		if lost := (*orient.NotJoined)(nil); errors.As(err, &lost) {
			err = routing.Refuse(f, joined, lost.From, 0, "no path to %s; give fewer roots, or take updn and let it choose", f.Label(lost.To))
		}
		if err != nil {
			return nil, err
		}
		note += "; " + turns
	}
	t.Notes = append(t.Notes, note)
	return t, nil
}

// name lists a few switches for people.
func name(f *fabric.Fabric, switches []fabric.NodeID) string {
	const most = 3
	names := make([]string, 0, most+1)
	for i, s := range switches {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(switches)-most))
			break
		}
		names = append(names, f.Label(s))
	}
	return strings.Join(names, ", ")
}
