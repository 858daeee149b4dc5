// Package nue is Nue: it routes inside the channel dependency graph, so that
// every routing it makes is free of deadlock on as many lanes as there are, even
// on one.
//
// J. Domke, T. Hoefler, S. Matsuoka: Routing on the Dependency Graph: A New
// Approach to Deadlock-Free High-Performance Routing, HPDC 2016.
//
// The destinations are divided among the lanes. In the dependency graph of a
// lane, a spanning tree is laid first: with its turns alone every switch reaches
// every destination of the lane (the escape paths). Then the in-tree of one
// destination after the other is grown from its switch, by the balanced shortest
// paths of sssp, except that a turn that would close a cycle in the graph is
// blocked for good. Where no turn is left, a switch that is settled already may
// move to another trunk (local backtracking); where that does not help, the
// escape paths are taken, which are always there.
//
// Unlike every path finder with a lane assigner behind it, this never runs out of
// lanes: with fewer of them paths get longer.
//
// That is the paper, and contract directed. Where packets may ride the service level of
// the way back (contract honored), a lane for each destination is no good: both ways
// between two switches need one. With one lane nothing changes. With several, lanes are
// given to pairs of switches: see pairing.
//
// Guarantee: connected within each part of the network, and deadlock-free. With one lane
// that holds whatever service levels clients use, in every scope; under contract
// directed for the service levels of destinations, in every scope; under honored for
// those of pairs, for the endpoints in the budget's scope. Precondition: none; no fabric
// is refused. Paths need not be minimal.
//
// Lanes needed: one is enough. Under contract directed all of the budget are used, as
// far as there are switches to divide; under honored no more than the paths want.
//
// Complexity: O(S·(S + C)) for the shortest paths to each of S switches over C
// trunks, O(D·M) to grow D in-trees, M the trunks on shortest paths to one
// switch, twice: once to count the turns they want, once for good. O(R·T) turns
// are admitted to choose among R roots, T the turns wanted: 3 to 64 roots, more
// than 3 only up to a million turns in all. A turn that upsets the order of the
// graph costs a search in it (package acyclic). Memory beyond the tables:
// O(S + C + T) with T all turns, whatever the number of lanes.
//
// Deviations from the paper:
//   - Dijkstra's order, hops first and load second, is had without a heap, by
//     going through the graph of shortest paths in breadth-first order. Switches
//     left over take detours, the shortest first.
//   - Turns enter the graph when a switch settles, not when Dijkstra looks at
//     them: only what a path uses is kept.
//   - The paper lets the first destinations block turns that later ones need more.
//     Here the routes that sssp would take are counted first, and turns are
//     admitted in the order of how many routes want them, before any destination
//     is routed: a greedy heaviest acyclic graph. On the tori and dragonflies
//     tried it halves the largest load on one lane, or better.
//   - The root of the tree is not the most central switch. Several are tried, and
//     the one whose graph blocks the fewest wanted routes is taken.
//   - At an impasse the paper sends the whole destination over escape paths. Here
//     only the switches in the impasse and those on their escape paths are sent
//     there; the rest is grown around them. It ends because that is more of them
//     each time, and all switches on escape paths are a whole tree.
//   - Destinations are divided by growing connected regions of equal size, which
//     is how multilevel partitioners begin, without the refinement.
//   - Load is counted for adapters only. LIDs of switches come last, and take new
//     turns only for want of others.
package nue

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/routing"
)

// Engine is Nue. The zero Engine is ready to use.
type Engine struct {
	// Wanted finds the paths to begin with where lanes are given to pairs of switches,
	// the better first; empty: shortest paths, balanced by each switch on its own.
	Wanted []routing.PathFinder
}

// Route implements routing.Engine. It refuses no fabric; the only errors are a budget that is no
// number of lanes, and ctx.Err().
func (o Engine) Route(ctx context.Context, f *fabric.Fabric, b routing.Budget, p routing.Progress) (*routing.Tables, error) {
	b, err := b.WithDefaults()
	if err != nil {
		return nil, err
	}
	if b.VLs > 1 && b.Contract.EitherWay() {
		return o.routePairs(ctx, f, b, p)
	}
	t, _, err := routeOn(ctx, f, b.VLs, p)
	return t, err
}

// routeOn routes with a lane for each destination, and returns the loads too, [trunk].
func routeOn(ctx context.Context, f *fabric.Fabric, vls int, p routing.Progress) (*routing.Tables, []uint64, error) {
	layers := divide(f, vls)
	used := max(1, len(layers))
	r := &run{
		f:      f,
		paths:  routing.NewForwarding(f),
		lanes:  routing.OneSL(f, routing.LanePerSL(used)),
		search: newSearch(f),
		report: p,
	}
	if used > 1 {
		r.lanes = routing.NewLanes(f, routing.LanePerSL(used))
	}
	r.lanes.Needed = used
	for i, dests := range layers {
		if err := r.route(ctx, uint8(i), dests); err != nil {
			return nil, nil, err
		}
	}
	r.paths.Notes = append(r.paths.Notes, r.count.String())
	return &routing.Tables{Fabric: f, Forwarding: r.paths, Lanes: r.lanes}, r.search.loads.On, nil
}

// run is a call of routeOn.
type run struct {
	f      *fabric.Fabric
	paths  *routing.Forwarding
	lanes  *routing.Lanes
	search *search
	report routing.Progress
	done   int // switches whose LIDs are routed
	count  count
}

// count is what a note says of the in-trees.
type count struct {
	trees   int // grown
	detours int // of them, those with a switch whose path is not of the fewest hops
	escapes int // of them, those with escape paths
}

func (n *count) add(detours, escapes bool) {
	n.trees++
	if detours {
		n.detours++
	}
	if escapes {
		n.escapes++
	}
}

// String says how far one had to go from shortest paths.
func (n *count) String() string {
	text := fmt.Sprintf("%d in-trees, %d of them with detours", n.trees, n.detours)
	if n.escapes > 0 {
		text += fmt.Sprintf(", %d with escape paths", n.escapes)
	}
	return text
}

// route routes the LIDs on some switches, all in one layer.
func (r *run) route(ctx context.Context, layer uint8, dests []fabric.NodeID) error {
	wanted, err := r.search.wanted(ctx, dests)
	if err != nil {
		return err
	}
	if err := r.search.enter(ctx, dests, wanted); err != nil {
		return err
	}
	for _, adapters := range [...]bool{true, false} { // switches' own LIDs come last
		err := dag.InOrder(ctx, r.f, dests, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
			for _, lid := range lids {
				if own := r.f.Endpoint(r.f.Owner(lid)).Class == fabric.SwitchPort; own != adapters {
					r.grow(d, lid, own, layer)
				}
			}
			if !adapters {
				r.done++
				r.report.Report(r.done, r.f.Switches())
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// grow grows the in-tree of a LID, a switch's own or an adapter's, and writes it down.
func (r *run) grow(d *dag.DAG, lid fabric.LID, own bool, layer uint8) {
	r.count.add(r.search.grow(d, own))
	intree.Write(r.f, r.paths.Row(lid), lid, r.search.tree.Order, r.search.tree.Out)
	if !own {
		r.search.charge()
	}
	for i, sl := 0, r.lanes.SLRow(lid); i < len(sl); i++ {
		sl[i] = layer
	}
}
