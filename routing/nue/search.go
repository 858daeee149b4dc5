package nue

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// What a layer thinks of a turn, in the words of the paper.
const (
	unused  uint8 = iota // not in the graph, not known to close a cycle
	used                 // in the graph
	blocked              // it would close a cycle
)

// Values of search.place besides those of switches on their way.
const (
	unsettled = -2 // no path yet
	arrived   = -1 // the destination's switch, where no turn follows
)

// search grows one in-tree after the other inside the dependency graph of a
// layer.
type search struct {
	f        *fabric.Fabric
	heads    []fabric.NodeID
	reverses []fabric.ChannelID

	// Balance, over all layers.
	sources []uint64 // [switch] adapter and router ports on it
	load    []uint64 // [trunk] routes to adapters over it so far

	// The layer at hand.
	graph   *acyclic.Graph
	state   []uint8 // [turn] unused, used or blocked
	escapes *escapes

	// The tree at hand.
	order   []fabric.NodeID    // settled switches, each after the one it forwards to
	out     []fabric.ChannelID // [switch] the trunk it forwards to
	place   []int32            // [switch] out, counted from the first trunk of the switch; unsettled, arrived
	hops    []int32            // [switch] to the destination's switch
	sum     []uint64           // [switch] load on its path
	routes  []uint64           // [switch] sources in its subtree
	fresh   []bool             // [switch] the turn after its trunk is new in the graph
	frozen  []bool             // [switch] it keeps to its escape path
	late    []fabric.NodeID    // switches without a path so far
	news    int                // turns added since the tree was begun
	refused []int              // turns blocked after news, perhaps because of them
	dear    uint64             // what a turn new to the graph counts, as load
	taken   bool               // some of the news were taken out again

	near  []fabric.ChannelID // scratch of detours
	steps []step             // scratch of move
}

func newSearch(f *fabric.Fabric) *search {
	n := f.Switches()
	s := &search{
		f: f, heads: f.Heads(), reverses: f.Reverses(),
		sources: make([]uint64, n),
		load:    make([]uint64, f.Trunks()),
		state:   make([]uint8, f.Turns()),
		escapes: newEscapes(f),
		order:   make([]fabric.NodeID, 0, n),
		out:     make([]fabric.ChannelID, n),
		place:   make([]int32, n),
		hops:    make([]int32, n),
		sum:     make([]uint64, n),
		routes:  make([]uint64, n),
		fresh:   make([]bool, n),
		frozen:  make([]bool, n),
		late:    make([]fabric.NodeID, 0, n),
	}
	for u := range s.sources {
		s.sources[u] = uint64(len(f.Attached(fabric.NodeID(u))) - 1) // less its own port 0
	}
	return s
}

// tree grows the in-tree to d.Root, and says whether it has detours, and whether
// it has escape paths. A tree that is thrifty takes a turn new to the graph only
// for want of another: each of them costs a search, and may block others.
func (s *search) tree(d *dag.DAG, thrifty bool) (detours, escapes bool) {
	s.dear = 0
	if thrifty {
		s.dear = 1 << 62
	}
	s.plant(d.Root)
	for i := 1; i < len(d.Order); i++ {
		u := d.Order[i]
		if !s.settle(u, d.Out[d.First[i]:d.First[i+1]], d.Hops[u]-1) {
			s.late = append(s.late, u)
		}
	}
	if len(s.late) > 0 {
		detours = true
		s.detours()
		for len(s.late) > 0 {
			escapes = true
			s.escape(d)
			s.detours()
		}
		// Those that moved may now come before the one they forward to.
		slices.SortStableFunc(s.order, func(a, b fabric.NodeID) int { return int(s.hops[a] - s.hops[b]) })
		clear(s.frozen)
	}
	if s.taken {
		s.retry()
	}
	return detours, escapes
}

// plant begins a tree.
func (s *search) plant(root fabric.NodeID) {
	for u := range s.place {
		s.place[u] = unsettled
	}
	s.place[root], s.hops[root], s.sum[root], s.fresh[root] = arrived, 0, 0, false
	s.order = append(s.order[:0], root)
	s.late = s.late[:0]
	s.refused = s.refused[:0]
	s.news, s.taken = 0, false
}

// retry lifts the block of turns that may have been blocked by what was taken
// out again.
func (s *search) retry() {
	for _, t := range s.refused {
		s.state[t] = unused
	}
	s.refused = s.refused[:0]
}

// settle gives u the lightest path that begins with one of some trunks, to a
// switch so many hops from the destination's.
func (s *search) settle(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool {
	for {
		best, turn, least := fabric.ChannelID(fabric.None), -1, ^uint64(0)
		for _, c := range choices {
			v := s.heads[c]
			place := s.place[v]
			if place == unsettled || s.hops[v] != hops {
				continue
			}
			sum := s.sum[v] + s.load[c]
			if sum >= least {
				continue
			}
			if place == arrived {
				best, turn, least = c, -1, sum
				continue
			}
			t := s.f.FirstTurn(c) + int(place)
			switch s.state[t] {
			case blocked:
				continue
			case unused:
				if sum += s.dear; sum >= least {
					continue
				}
			}
			best, turn, least = c, t, sum
		}
		if best == fabric.None {
			return s.makeWay(u, choices, hops)
		}
		fresh := turn >= 0 && s.state[turn] == unused
		if !fresh || s.add(best, s.out[s.heads[best]], turn) {
			s.put(u, best, hops+1, fresh)
			return true
		}
	}
}

// put settles u on trunk c.
func (s *search) put(u fabric.NodeID, c fabric.ChannelID, hops int32, fresh bool) {
	first, _ := s.f.TrunksFrom(u)
	s.out[u], s.place[u], s.hops[u], s.fresh[u] = c, int32(c-first), hops, fresh
	s.sum[u] = s.sum[s.heads[c]] + s.load[c]
	s.order = append(s.order, u)
}

// add adds an unused turn to the graph, or blocks it.
func (s *search) add(in, out fabric.ChannelID, turn int) bool {
	if s.graph.Add(in, out) {
		s.state[turn] = used
		s.news++
		return true
	}
	s.state[turn] = blocked
	if s.news > 0 {
		s.refused = append(s.refused, turn)
	}
	return false
}

// take takes a turn that is new with this tree out of the graph.
func (s *search) take(in, out fabric.ChannelID) {
	s.graph.Remove(in, out)
	s.state[s.f.Turn(in, out)] = unused
	s.taken = true
}

// detours settles late switches by longer paths, the shortest first. Those that
// stay late are in an impasse.
func (s *search) detours() {
	top := int32(0)
	for _, u := range s.order {
		top = max(top, s.hops[u])
	}
	for hops := int32(0); hops <= top && len(s.late) > 0; hops++ {
		still := s.late[:0]
		for _, u := range s.late {
			s.near = s.near[:0]
			first, end := s.f.TrunksFrom(u)
			for c := first; c < end; c++ {
				if v := s.heads[c]; s.place[v] != unsettled && s.hops[v] == hops {
					s.near = append(s.near, c)
				}
			}
			if len(s.near) > 0 && s.settle(u, s.near, hops) {
				top = max(top, hops+1)
			} else {
				still = append(still, u)
			}
		}
		s.late = still
	}
}

// charge adds the routes of the tree at hand to the loads.
func (s *search) charge() {
	for _, u := range s.order {
		s.routes[u] = s.sources[u]
	}
	for i := len(s.order) - 1; i > 0; i-- {
		u := s.order[i]
		c := s.out[u]
		s.load[c] += s.routes[u]
		s.routes[s.heads[c]] += s.routes[u]
	}
}
