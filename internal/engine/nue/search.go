package nue

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
)

// The states of a turn in the graph of a layer, in the words of the paper.
const (
	unused  uint8 = iota // not in the graph, not known to close a cycle
	used                 // in the graph
	blocked              // it would close a cycle
)

// search grows one in-tree after the other inside the dependency graph of a
// layer, which enter begins. It is the intree.Rules of these trees. In each layer run.route first has wanted
// grow trees with every turn allowed, to count which turns routes want, then enter, and then grow the trees that stay.
type search struct {
	f        *fabric.Fabric
	heads    []fabric.NodeID
	reverses []fabric.ChannelID
	loads    *intree.Loads // over all layers, of routes to adapters

	// The layer at hand.
	graph   *acyclic.Graph
	state   []uint8 // [turn] unused, used or blocked
	escapes *intree.Escapes

	// The tree at hand.
	tree    *intree.Tree
	fresh   []bool // [switch] the turn from its trunk to the next one was added to the graph for this tree
	added   int    // turns added to the graph for this tree, also those removed again
	removed bool   // turns added for this tree were removed again
	refused []int  // turns blocked since one was added for this tree: they may fit if it is removed
	newTurn uint64 // load that a turn counts for which is not in the graph yet

	steps []step // scratch of move, in impasse.go: the turns of a move
}

func newSearch(f *fabric.Fabric) *search {
	loads := intree.NewLoads(f)
	return &search{
		f: f, heads: f.Heads(), reverses: f.Reverses(), loads: loads,
		state: make([]uint8, f.Turns()), escapes: intree.NewEscapes(f),
		tree: intree.New(f, loads), fresh: make([]bool, f.Switches()),
	}
}

// grow grows the in-tree to d.Root, and says whether it has detours, and whether
// it uses escape paths. The graph has its turns then; charge adds its routes to the loads. With reuse it takes a turn
// that is not in the graph yet only where no other is left: each of these costs a search, and may block others.
func (s *search) grow(d *dag.DAG, reuse bool) (detours, escapes bool) {
	s.newTurn = 0
	if reuse {
		s.newTurn = 1 << 62
	}
	s.forget()
	t := s.tree
	if detours, escapes = t.Grow(d, s.escapes, s); detours {
		// Those that moved may now come before the one they forward to.
		slices.SortStableFunc(t.Order, func(a, b fabric.NodeID) int { return int(t.Hops[a] - t.Hops[b]) })
	}
	if s.removed {
		s.retry()
	}
	return detours, escapes
}

// forget forgets what was new with the tree before.
func (s *search) forget() {
	s.refused = s.refused[:0]
	s.added, s.removed = 0, false
}

// Retract implements intree.Rules: it takes the turns that are new with this tree out
// of the graph.
func (s *search) Retract() {
	for _, u := range s.tree.Order[1:] {
		if s.fresh[u] {
			s.remove(s.tree.Out[u], s.tree.Out[s.heads[s.tree.Out[u]]])
		}
	}
	s.retry()
	s.forget()
}

// Escape implements intree.Rules: escape paths are in the graph.
func (s *search) Escape(u fabric.NodeID, c fabric.ChannelID) { s.put(u, c, false) }

// retry lifts the block of turns that may have been blocked by what was taken
// out again.
func (s *search) retry() {
	for _, t := range s.refused {
		s.state[t] = unused
	}
	s.refused = s.refused[:0]
}

// Settle implements intree.Rules: by the lightest path, or where every turn is blocked
// by local backtracking.
func (s *search) Settle(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool {
	t := s.tree
	for {
		best, turn, least := fabric.ChannelID(fabric.None), -1, ^uint64(0)
		for _, c := range choices {
			v := s.heads[c]
			if t.Hops[v] != hops {
				continue
			}
			sum := t.Sum[v] + s.loads.On[c]
			if sum >= least {
				continue
			}
			if hops == 0 { // the root, where no turn follows
				best, turn, least = c, -1, sum
				continue
			}
			next := s.f.Turn(c, t.Out[v])
			switch s.state[next] {
			case blocked:
				continue
			case unused:
				if sum += s.newTurn; sum >= least {
					continue
				}
			}
			best, turn, least = c, next, sum
		}
		if best == fabric.None {
			return s.backtrack(u, choices, hops)
		}
		fresh := turn >= 0 && s.state[turn] == unused
		if !fresh || s.add(best, t.Out[s.heads[best]], turn) {
			s.put(u, best, fresh)
			return true
		}
	}
}

// put settles u on trunk c.
func (s *search) put(u fabric.NodeID, c fabric.ChannelID, fresh bool) {
	s.tree.Put(u, c)
	s.fresh[u] = fresh
}

// add adds an unused turn to the graph, or blocks it.
func (s *search) add(in, out fabric.ChannelID, turn int) bool {
	if s.graph.Add(in, out) {
		s.state[turn] = used
		s.added++
		return true
	}
	s.state[turn] = blocked
	if s.added > 0 {
		s.refused = append(s.refused, turn)
	}
	return false
}

// remove takes a turn that is new with this tree out of the graph.
func (s *search) remove(in, out fabric.ChannelID) {
	s.graph.Remove(in, out)
	s.state[s.f.Turn(in, out)] = unused
	s.removed = true
}

// charge adds the routes of the tree at hand to the loads.
func (s *search) charge() { s.loads.Charge(s.tree.Order, s.tree.Out, 1) }
