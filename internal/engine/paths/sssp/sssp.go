// Package sssp balances routes over the whole network: P-SSSP.
//
// T. Hoefler, T. Schneider, A. Lumsdaine: Optimized Routing for Large-Scale
// InfiniBand Networks, HOTI 2009, section III.A; the minimal form, which is also
// Algorithm 1 of J. Domke, T. Hoefler, W. Nagel: Deadlock-Free Oblivious Routing
// for Arbitrary Topologies, IPDPS 2011.
//
// Destination by destination, every source takes the path with the smallest sum
// of routes already on its channels; then each channel is charged with the
// routes it gained. Where minhop balances each switch by itself, this balances
// the network.
//
// Guarantee: connected within each part of the network, every path minimal.
// Deadlock-free only together with a lane assigner.
//
// Complexity: O(S·(S + C)) for the shortest paths to each of S switches over C
// trunks, and O(D·M) for D destination LIDs, M the trunks on shortest paths to
// one; M is at most C and usually far below. What many switches share is done once:
// siblings, which have the same neighbours, share a graph, and switches with trunks to the
// same others and loads that differ by a constant share a choice. In a tree without damage
// these are all leaves of a pod and all spines with the same tops; every cable that is
// missing leaves fewer.
//
// Deviations from the paper:
//   - The papers run Dijkstra with an initial weight above every possible sum
//     (P², |V|²), so that no detour is ever cheaper. The same order, hops first
//     and load second, is had here without big numbers by choosing inside the
//     graph of shortest paths, in breadth-first order.
//   - The order of destinations, left open by the paper, is: host adapters, by
//     switch, those with most endpoints first; then the few others. So what
//     carries little comes last and fills the gaps. Of paths with equal sums a
//     switch takes the first from a port on that differs from destination to
//     destination.
//   - LIDs of switches are routed too, but not charged: management only.
package sssp

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/routing"
)

// Finder is P-SSSP with minimal paths forced. The zero Finder is ready to use.
type Finder struct{}

// Paths implements routing.PathFinder.
func (Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	t := routing.NewForwarding(f)
	w := newWeights(f)
	hosts, others := order(f)
	done := 0
	sweep := func(switches []fabric.NodeID, first bool) error {
		firsts, siblings := together(f, switches)
		return dag.InOrder(ctx, f, firsts, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
			roots := siblings[d.Root]
			if len(roots) > 1 || slices.ContainsFunc(lids, w.charges) {
				w.routeEach(d, t, roots, first)
			} else {
				w.routeUncharged(d, t, lids)
			}
			done += len(roots)
			p.Report(done, len(hosts)+len(others))
		})
	}
	const first, last = true, false
	if err := sweep(hosts, first); err != nil {
		return nil, err
	}
	if err := sweep(others, last); err != nil {
		return nil, err
	}
	return t, nil
}

// together puts siblings that follow each other in a list together: firsts is the first of each such
// group, and siblings all of the group, itself included, by the first.
func together(f *fabric.Fabric, switches []fabric.NodeID) (firsts []fabric.NodeID, siblings map[fabric.NodeID][]fabric.NodeID) {
	siblings = map[fabric.NodeID][]fabric.NodeID{}
	for i := 0; i < len(switches); {
		k := i + 1
		for k < len(switches) && dag.Siblings(f, switches[i], switches[k]) {
			k++
		}
		firsts, siblings[switches[i]] = append(firsts, switches[i]), switches[i:k]
		i = k
	}
	return firsts, siblings
}

// charges reports whether a destination counts for the balance.
func (w *weights) charges(lid fabric.LID) bool {
	return w.f.Endpoint(w.f.Owner(lid)).Class != fabric.SwitchPort
}

// routeUncharged routes LIDs on d.Root that do not count for the balance: all by one choice.
func (w *weights) routeUncharged(d *dag.DAG, t *routing.Forwarding, lids []fabric.LID) {
	w.chooseOnce(d)
	for _, lid := range lids {
		intree.Write(w.f, t.Row(lid), lid, d.Order, w.out)
	}
}

// routeEach routes the LIDs on some switches, of which d leads to the first and the others are
// siblings of it, and charges them: if first, those of host adapters and switches, else the others.
func (w *weights) routeEach(d *dag.DAG, t *routing.Forwarding, roots []fabric.NodeID, first bool) {
	w.enter(d)
	for _, root := range roots {
		if root != d.Root {
			w.moveRoot(d, root)
		}
		var row []uint8 // of the destination before
		w.lids = dag.LIDsOn(w.f, root, w.lids[:0])
		for _, lid := range w.lids {
			class := w.f.Endpoint(w.f.Owner(lid)).Class
			if (class == fabric.HostAdapter || class == fabric.SwitchPort) != first {
				continue
			}
			if w.free = append(w.free, lid); w.charges(lid) {
				const charge = true
				row = w.route(d, t, row, charge)
				w.charge(d)
			}
		}
		if len(w.free) > 0 {
			const charge = false
			w.route(d, t, row, charge)
		}
	}
	w.leave(d)
}

// route routes the LIDs on d.Root that are in w.free: the last, and those before it, which do not
// count and go the same ways. before is the row of another destination there, or nil; it
// returns that of this one. With charge, the last counts, and choose charges what it can.
func (w *weights) route(d *dag.DAG, t *routing.Forwarding, before []uint8, charge bool) []uint8 {
	last := len(w.free) - 1
	row := t.Row(w.free[last])
	if before == nil {
		w.writeFixed(row)
	} else {
		copy(row, before)
	}
	w.choose(d, row, charge)
	w.writeRuns(d, row)
	for _, lid := range w.free[:last] {
		copy(t.Row(lid), row)
	}
	for _, lid := range w.free {
		t.Row(lid)[d.Root] = w.f.LastPort(w.f.Endpoint(w.f.Owner(lid)))
	}
	w.free = w.free[:0]
	return row
}

// order is the order in which to take the switches: all for their hosts, those with
// most adapters first, and then those that have other endpoints for these.
func order(f *fabric.Fabric) (hosts, others []fabric.NodeID) {
	for s := range fabric.NodeID(f.Switches()) {
		hosts = append(hosts, s)
		if slices.ContainsFunc(f.Attached(s), func(e fabric.EndpointID) bool {
			c := f.Endpoint(e).Class
			return c == fabric.Aggregation || c == fabric.RouterPort
		}) {
			others = append(others, s)
		}
	}
	most := func(a, b fabric.NodeID) int { return cmp.Compare(len(f.Attached(b)), len(f.Attached(a))) }
	slices.SortStableFunc(hosts, most)
	slices.SortStableFunc(others, most)
	return hosts, others
}
