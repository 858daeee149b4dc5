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
// one; M is at most C and usually far below.
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
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/dag"
	"github.com/weft-fabric/weft/routing/internal/intree"
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
		return dag.InOrder(ctx, f, switches, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
			w.enter(d)
			defer w.leave()
			charged := true    // since the last choice
			var before []uint8 // row of the destination before
			for _, lid := range lids {
				e := f.Endpoint(f.Owner(lid))
				if (e.Class == fabric.HostAdapter || e.Class == fabric.SwitchPort) != first {
					continue
				}
				if charged {
					w.choose(d)
				}
				row := t.Row(lid)
				if before == nil {
					intree.Write(f, row, lid, d.Order, w.out)
				} else {
					copy(row, before)
					w.rewrite(f, row, lid, d.Root)
				}
				before = row
				if charged = e.Class != fabric.SwitchPort; charged {
					w.charge(f.Heads())
				}
			}
			done++
			p.Report(done, len(hosts)+len(others))
		})
	}
	if err := sweep(hosts, true); err != nil {
		return nil, err
	}
	if err := sweep(others, false); err != nil {
		return nil, err
	}
	return t, nil
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
