// Package balance finds the shortest paths on which random traffic gets most
// bandwidth. It routes every destination again and again, each time by what its
// routes would meet of all others.
//
// It begins like P-SSSP (T. Hoefler, T. Schneider, A. Lumsdaine: Optimized Routing
// for Large-Scale InfiniBand Networks, HOTI 2009, section III.A; package sssp),
// which routes each destination once and charges the trunks with the routes they
// gained: who comes first does not know who comes later. Here each destination's
// tree is then taken out of the loads and routed again, in passes.
//
// # What is minimised
//
// The paper's measure is effective bisection bandwidth: half of the hosts send to
// the other half, pair by pair at random, and a flow gets 1/n of a trunk on which n
// meet (section II). In such a matching a host is in one pair only, so that two
// routes with the same destination, or the same source, never meet. The paper
// observes the effect, that routings with smaller loads can have less bandwidth
// (section IV.F); here it is the objective: the pairs of routes with different
// ends that share a trunk.
//
// Five switches: the leaves 1, 2 and 5, with the hosts a, b, and c and d, and the
// spines 3 and 4, each cabled to all leaves. By which spine do 1 and 2 send?
//
//	          1 to c, d   2 to c, d   3→5 carries   4→5 carries
//	parallel    3, 4        3, 4       a→c, b→c      a→d, b→d    nothing ever meets
//	crosswise   3, 4        4, 3       a→c, b→d      b→c, a→d    either two of a trunk meet
//
// Every trunk has the same load both times; but crosswise, while a sends to one of c
// and d and b to the other, each gets half of a trunk, and the other spine is idle.
//
//   - Same destination: a tree is routed when it is not in the loads itself. What
//     its routes meet is then the sum of the loads on their way. As long as
//     nothing else counts, the tree with the least sums is the exact optimum for
//     one destination, and no pass makes more routes meet: descent by blocks.
//   - Same source: routes of one source do not count on their first trunk, where
//     there are most of them.
//   - Met once: two routes that meet on a trunk and stay together on the next one
//     take the same from each other as if they parted. So the routes on both
//     trunks of a turn are taken off again. What a way then costs is the number of
//     routes that it meets, each counted once for a stretch in common. Where
//     leaves have more hosts than cables up, and on grids, this is worth more than
//     all balance of loads. Its price is there that the fullest trunk may carry a
//     third more routes; whose traffic is all to all asks for AllToAll.
//
// With the last two, the tree found from the root outwards is no longer the exact
// optimum, and no descent is sure to find the global one. So the search is a
// tournament of trials, which begin in different ways (switch by switch; one
// destination of each switch in turn; on grids, in the order of dimensions) and
// take all, half or none of what is met again off. They are judged by the measure
// itself, on a sample of bisections that is the same for all; the better half
// goes on. What is about as good by chance loses to what is more regular.
//
// Tried and left out: costs that grow faster than the loads (squares), and costs
// by the share of flows for which a trunk is the bottleneck, were worse or no
// better; restarts after random kicks gained up to a hundredth for ten times the
// work, half of it by learning the sample by heart.
//
// # Collectives in phases
//
// That is the aim Bisection. For Shifts and Mixed, routes are counted by trunk and rank
// offset as well: two flows of shifts meet if and only if they share a trunk and have
// equal offsets. See phased.go for the costs, shifts.go for the tournament and
// docs/balance.md for what it gives.
//
// In trees with odd tails and the like, where shortest paths would go down and up again, the
// last two take ways up and then down: see tree.go.
//
// Guarantee: connected within each part of the network, every path minimal but in such trees,
// and the same tables on any number of cores. Deadlock-free only together with a lane
// assigner. It refuses nothing.
//
// Complexity: O(S·(S + C)) for the shortest paths to each of S switches over C
// trunks, once; then O(D·(M + S)) a pass of a trial for D addresses of hosts, M
// the trunks on shortest paths to one; passes are bounded by Finder.Work. Memory:
// O(S·(M + S)) for the shortest paths, and for each trial 2·D·S bytes and eight
// bytes a turn.
//
// Deviations from P-SSSP: minimal paths are had without large initial weights, as
// in package sssp. Host adapters are routed first and weigh a hundred times what
// aggregation nodes and routers do; these are routed once, when the hosts are
// done, and addresses of switches last, uncharged. Slow trunks cost more.
package balance

import (
	"cmp"
	"context"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Finder is balance. The zero Finder is ready to use.
type Finder struct {
	// Aim is what the trials are judged by.
	Aim Aim
	// Begin is paths that Mixed and Shifts may begin with, beside those for random pairs:
	// what is soonest made first.
	Begin []Beginning
	// Orders is how the ranks of jobs sit on the hosts, for Mixed and Shifts. Nil: by
	// switch and port. Where there are several, each counts alike.
	Orders []Order

	// Demands is the traffic that paths are made for, in place of an aim, orders of ranks and
	// weights. Nil: the aim says.
	Demands []Demand

	// Passes is how often at most a tree is routed again; 0 is DefaultPasses, and
	// a negative number leaves it at the first routing.
	Passes int

	// Work is how many trunks may be looked at in all, over all trials and
	// passes; 0 is what LeastPasses passes take, but between LeastWork and
	// MostWork. It is counted, not timed: the same work gives the same tables. On
	// two cores 100 million take about a quarter of a second. The first routing
	// is always finished.
	Work int64

	// Time ends the search after a time by the clock, between two passes, the
	// first routing finished, and what it begins with measured; 0 is no such limit. With it results depend on the
	// machine, and on what else it does.
	Time time.Duration

	// Seed is for the order of destinations in a pass, and for the bisections by
	// which trials are judged.
	Seed uint64

	// Uniform takes all trunks for equally fast. Otherwise a trunk of half the
	// rate counts each of its routes twice.
	Uniform bool

	// Regular keeps paths in a mesh, torus or hypercube to dimension order: of
	// their ways, switches take one along the lowest dimension, halfway round a
	// ring up from even coordinates and down from odd ones, and balance only what
	// this leaves, the cables in parallel. Its few kinds of turns need few lanes.
	// Where something is missing they take what is next in order, and never
	// refuse. It changes nothing on other networks.
	Regular bool

	// Weights is how much traffic endpoints send and receive, relative to each
	// other, from 0 to MaxWeight [EndpointID]; storage may weigh more, login
	// nodes less; those of switches do not count. Nil: all host adapters alike,
	// aggregation nodes and routers next to nothing.
	Weights []uint8

	deadline time.Time // from Time, once for all parts of a search; zero: none
	shortest bool      // take shortest ways in trees too
}

// Limits and defaults.
const (
	DefaultPasses = 24
	LeastPasses   = 4
	LeastWork     = 100_000_000
	MostWork      = 1_200_000_000
	MaxWeight     = 100
)

// Paths implements routing.PathFinder.
func (fd Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	if fd.Demands != nil {
		fd.Aim, fd.Orders = Bisection, nil // where the search begins
	}
	if fd.Time > 0 {
		fd.deadline = time.Now().Add(fd.Time)
	}
	n, best, err := fd.find(ctx, f, p)
	if err != nil {
		return nil, err
	}
	t := routing.NewForwarding(f)
	best.write(t)
	if len(n.hosts) > 1 {
		t.Notes = append(t.Notes, best.note())
	}
	if err = best.rest(ctx, t); err == nil && n.tree != nil {
		err = n.join(ctx, t)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// secondWork is what a pass may look at where shortest ways are tried beside those of a tree,
// and better how much more they must be worth: they may close loops. On three of the sixty
// networks of test/bench/patchwork that makes phases a tenth shorter or more.
const (
	secondWork = 3_000_000
	better     = 1.02
)

// find finds the best routing, in small trees by shortest ways too.
func (fd Finder) find(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*network, *trial, error) {
	n, err := newNetwork(ctx, f, fd)
	if err != nil {
		return nil, nil, err
	}
	best, err := search(ctx, n, fd, p)
	if err != nil || n.tree == nil || n.counted > secondWork || best.from == nil {
		return n, best, err
	}
	fd.shortest, fd.Work = true, cmp.Or(fd.Work, phasedWork)/4
	m, err := newNetwork(ctx, f, fd)
	if err != nil {
		return nil, nil, err
	}
	other, err := search(ctx, m, fd, nil)
	if err != nil {
		return nil, nil, err
	}
	most := max(best.found.bandwidth, other.found.bandwidth)
	worth := func(t *trial) float64 { return fd.Aim.Worth(t.found.bandwidth, most, t.found.durations) }
	if other.from != nil && worth(other) > better*worth(best) {
		return m, other, nil
	}
	return n, best, nil
}
