// Package p2sssp balances routes pair by pair: P²-SSSP.
//
// T. Hoefler, T. Schneider, A. Lumsdaine: Optimized Routing for Large-Scale
// InfiniBand Networks, HOTI 2009, section III.B. Where P-SSSP (package sssp)
// charges the channels once for a destination, this does so for every pair of
// endpoints, and so sees the loads as they are.
//
// For every source, for every destination: the path with the smallest sum of
// routes already on its channels, where switches that have an entry for the
// destination already are bound by it ("the path is constrained by
// destination-based routing").
//
// Guarantee: connected within each part of the network, every path minimal.
// Deadlock-free only together with a lane assigner.
//
// Complexity: O(S·(S + C)) for the distances, then O(S·D·h) for S switches, D
// destination LIDs and paths of h hops, and for each of the S·D entries a search
// of the shortest paths that are not bound yet. Memory: the graphs of shortest
// paths to every switch, four bytes for each trunk on one; they must be at hand
// all at once, since the order is by source.
//
// Deviations from the paper: minimal paths are forced by searching among them
// only, as in sssp. Sources are taken by switch; those of one switch share its
// entries, as they must. Which of several paths that are loaded alike is taken, the paper
// leaves open; see explore. LIDs of switches, and switches without endpoints, are
// routed last and not charged.
package p2sssp

import (
	"context"
	"math"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/marks"
	"github.com/weft-fabric/weft/routing"
)

// Finder is P²-SSSP. The zero Finder is ready to use.
type Finder struct{}

// Paths implements routing.PathFinder.
func (Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	s := newSearch(f)
	order := s.sourceOrder()
	for n, src := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sources := uint64(len(f.Attached(src)) - 1)
		for _, d := range s.dests {
			s.route(src, d, sources > 0 && d.charged)
		}
		// The other sources of the switch find all entries there: they only
		// add to the loads what the first one did.
		for c, routes := range s.own {
			s.load[c] += routes*max(1, sources) - routes
		}
		clear(s.own)
		p.Report(n+1, len(order))
	}
	return s.table, nil
}

// search is a call of Paths.
type search struct {
	f     *fabric.Fabric
	table *routing.Forwarding
	dests []dest
	ways  []ways   // [root] the shortest paths to it
	load  []uint64 // [trunk] routes on it so far
	own   []uint64 // [trunk] routes on it of the source at hand
	port  []uint8  // [trunk] port it leaves by

	// One search.
	seen *marks.Set         // switches whose cost is known
	cost []uint64           // [switch] of the cheapest way on
	next []fabric.ChannelID // [switch] its first trunk
}

// ways is the shortest paths to one switch: the trunks that bring a packet from
// switch s one hop nearer are out[first[s]:first[s+1]].
type ways struct {
	first []int32
	out   []fabric.ChannelID
}

// dest is a destination.
type dest struct {
	lid     fabric.LID
	root    fabric.NodeID
	charged bool // routes to it count as load
}

func newSearch(f *fabric.Fabric) *search {
	n := f.Switches()
	s := &search{
		f: f, table: routing.NewForwarding(f),
		ways: make([]ways, n), load: make([]uint64, f.Trunks()), own: make([]uint64, f.Trunks()), port: make([]uint8, f.Trunks()),
		seen: marks.New(n), cost: make([]uint64, n), next: make([]fabric.ChannelID, n),
	}
	for c := range s.port {
		s.port[c] = f.Channel(fabric.ChannelID(c)).FromPort
	}
	var d dag.DAG
	for root := range fabric.NodeID(n) {
		dag.Shortest(&d, f, root)
		s.ways[root] = newWays(&d, n)
		for _, lid := range dag.LIDsOn(f, root, nil) {
			e := f.Endpoint(f.Owner(lid))
			s.table.Row(lid)[root] = f.LastPort(e)
			s.dests = append(s.dests, dest{lid: lid, root: root, charged: e.Class != fabric.SwitchPort})
		}
	}
	return s
}

// newWays puts the paths of d in the order of switches.
func newWays(d *dag.DAG, switches int) ways {
	w := ways{first: make([]int32, switches+1), out: make([]fabric.ChannelID, len(d.Out))}
	for i, u := range d.Order {
		w.first[u+1] = d.First[i+1] - d.First[i]
	}
	for u := range switches {
		w.first[u+1] += w.first[u]
	}
	for i, u := range d.Order {
		copy(w.out[w.first[u]:], d.Choices(i))
	}
	return w
}

// sourceOrder is the switches with endpoints, then the others.
func (s *search) sourceOrder() []fabric.NodeID {
	var with, without []fabric.NodeID
	for u := range fabric.NodeID(s.f.Switches()) {
		if len(s.f.Attached(u)) > 1 {
			with = append(with, u)
		} else {
			without = append(without, u)
		}
	}
	return append(with, without...)
}

// route follows the path from a switch to a destination, writes the entries on it that are missing,
// and charges its channels.
func (s *search) route(src fabric.NodeID, d dest, charge bool) {
	w := &s.ways[d.root]
	if w.first[src] == w.first[src+1] {
		return // at the destination, or in another part
	}
	row := s.table.Row(d.lid)
	if row[src] == routing.NoPort {
		s.seen.Empty()
		s.explore(src, row, w, d.root)
	}
	heads := s.f.Heads()
	for u := src; u != d.root; {
		c := s.f.Out(u, row[u])
		if c == fabric.None {
			c = s.next[u]
			row[u] = s.port[c]
		}
		if charge {
			s.load[c]++
			s.own[c]++
		}
		u = heads[c]
	}
}

// explore sets next to the cheapest way from a switch to the root, bound by the entries
// there are, and returns its cost. Of equals it takes the first, beginning with the choice of the
// switch's own number modulo the choices: with all ties to the lowest
// port, every switch of a tree would begin with the same spine.
func (s *search) explore(u fabric.NodeID, row []uint8, w *ways, root fabric.NodeID) uint64 {
	if u == root {
		return 0
	}
	if !s.seen.Add(int(u)) {
		return s.cost[u]
	}
	heads := s.f.Heads()
	least := uint64(math.MaxUint64)
	if row[u] != routing.NoPort {
		c := s.f.Out(u, row[u])
		least = s.load[c] + s.explore(heads[c], row, w, root)
	} else {
		choices := w.out[w.first[u]:w.first[u+1]]
		for i := range choices {
			c := choices[(int(u)+i)%len(choices)]
			if cost := s.load[c] + s.explore(heads[c], row, w, root); cost < least {
				least, s.next[u] = cost, c
			}
		}
	}
	s.cost[u] = least
	return least
}
