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
// Complexity: O(S²·(S + C)) for the distances, then O(P·D·h) for P sources, D
// destination LIDs and paths of h hops, and for each of the S·D entries a search
// of the shortest paths that are not bound yet. Memory: S² distances.
//
// Deviations from the paper: minimal paths are forced by searching among them
// only, as in sssp. Sources are taken by switch; those of one switch share its
// entries, as they must. LIDs of switches, and switches without endpoints, are
// routed last and not charged.
package p2sssp

import (
	"context"
	"math"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/paths/dag"
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
		sources := len(f.Attached(src)) - 1
		for range max(1, sources) {
			for _, d := range s.dests {
				s.route(src, d, sources > 0 && d.charged)
			}
		}
		p.Report(n+1, len(order))
	}
	return s.table, nil
}

// search is the state of the algorithm.
type search struct {
	f     *fabric.Fabric
	table *routing.Forwarding
	dests []dest
	hops  []uint16 // [root × switches + switch] distance; unreached without a path
	load  []uint64 // [trunk] routes on it so far
	port  []uint8  // [trunk] port it leaves by

	// One search.
	stamp uint32
	seen  []uint32           // [switch] the search that knows its cost
	cost  []uint64           // [switch] of the cheapest way on
	next  []fabric.ChannelID // [switch] its first trunk
}

type dest struct {
	lid     fabric.LID
	root    fabric.NodeID
	charged bool // routes to it count as load
}

const unreached = math.MaxUint16

func newSearch(f *fabric.Fabric) *search {
	n := f.Switches()
	s := &search{
		f: f, table: routing.NewForwarding(f),
		hops: make([]uint16, n*n), load: make([]uint64, f.Trunks()), port: make([]uint8, f.Trunks()),
		seen: make([]uint32, n), cost: make([]uint64, n), next: make([]fabric.ChannelID, n),
	}
	for c := range s.port {
		s.port[c] = f.Channel(fabric.ChannelID(c)).FromPort
	}
	var d dag.DAG
	for root := range fabric.NodeID(n) {
		dag.Shortest(&d, f, root)
		for u, h := range d.Hops {
			s.hops[int(root)*n+u] = uint16(h) // dag.NoPath becomes unreached
		}
		for _, lid := range dag.LIDsOn(f, root, nil) {
			e := f.Endpoint(f.Owner(lid))
			s.table.Row(lid)[root] = dag.LastPort(f, e)
			s.dests = append(s.dests, dest{lid, root, e.Class != fabric.SwitchPort})
		}
	}
	return s
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

// route takes the path from a switch to a destination, finding what of it is not
// there yet, and charges its channels.
func (s *search) route(src fabric.NodeID, d dest, charge bool) {
	hops := s.hops[int(d.root)*s.f.Switches():][:s.f.Switches()]
	if src == d.root || hops[src] == unreached {
		return
	}
	row := s.table.Row(d.lid)
	if row[src] == routing.NoPort {
		s.stamp++
		s.explore(src, row, hops, d.root)
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
		}
		u = heads[c]
	}
}

// explore finds the cheapest way from a switch to the root, bound by the entries
// there are, and returns its cost. Ties go to the lowest port.
func (s *search) explore(u fabric.NodeID, row []uint8, hops []uint16, root fabric.NodeID) uint64 {
	if u == root {
		return 0
	}
	if s.seen[u] == s.stamp {
		return s.cost[u]
	}
	s.seen[u] = s.stamp
	heads := s.f.Heads()
	first, end := s.f.TrunksFrom(u)
	if row[u] != routing.NoPort {
		first = s.f.Out(u, row[u])
		end = first + 1
	}
	least := uint64(math.MaxUint64)
	for c := first; c < end; c++ {
		if hops[heads[c]] != hops[u]-1 {
			continue
		}
		if cost := s.load[c] + s.explore(heads[c], row, hops, root); cost < least {
			least, s.next[u] = cost, c
		}
	}
	s.cost[u] = least
	return least
}
