package nue

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
)

// enter tries as many sets of roots, within these limits, as make begin admit about so many turns
// altogether.
const (
	fewestRoots = 3
	mostRoots   = 64
	admissions  = 1 << 20
)

// want is a turn that routes would take if nothing were blocked.
type want struct {
	in, out fabric.ChannelID
	turn    int
	routes  uint64
}

// wanted is the turns that sssp would use to reach the adapters on some switches,
// those with the most routes first. It leaves loads as they were, but states for begin to clear.
func (s *search) wanted(ctx context.Context, dests []fabric.NodeID) ([]want, error) {
	routes := make([]uint64, s.f.Turns())
	const reuse = false
	before := slices.Clone(s.loads.On)
	for i := range s.state {
		s.state[i] = used // so that nothing is asked and nothing refused
	}
	err := dag.InOrder(ctx, s.f, dests, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
		for _, lid := range lids {
			if s.f.Endpoint(s.f.Owner(lid)).Class != fabric.SwitchPort {
				s.grow(d, reuse)
				s.charge()
				s.countTurns(routes)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	copy(s.loads.On, before)
	return s.heaviestFirst(routes), nil
}

// countTurns adds the routes of the tree at hand, just charged, to routes, [turn].
func (s *search) countTurns(routes []uint64) {
	for _, u := range s.tree.Order[1:] {
		c := s.tree.Out[u]
		if next := s.tree.Out[s.heads[c]]; next != fabric.None {
			routes[s.f.Turn(c, next)] += s.loads.Through[u]
		}
	}
}

// heaviestFirst is the turns with routes, [turn], those with the most first.
func (s *search) heaviestFirst(routes []uint64) []want {
	var list []want
	for in := range fabric.ChannelID(s.f.Trunks()) {
		turn := s.f.FirstTurn(in)
		first, end := s.f.TrunksFrom(s.heads[in])
		for out := first; out < end; out++ {
			if n := routes[turn]; n > 0 {
				list = append(list, want{in: in, out: out, turn: turn, routes: n})
			}
			turn++
		}
	}
	slices.SortFunc(list, func(a, b want) int {
		return cmp.Or(cmp.Compare(b.routes, a.routes), cmp.Compare(a.turn, b.turn))
	})
	return list
}

// enter begins a layer: an escape tree and the wanted turns that fit in with it,
// from the roots with which the fewest routes are blocked.
func (s *search) enter(ctx context.Context, dests []fabric.NodeID, wanted []want) error {
	sets := rootSets(s.f, dests, max(fewestRoots, min(mostRoots, admissions/max(1, len(wanted)))))
	best, last, least := 0, 0, ^uint64(0) // last: the set that the graph at hand was made from
	for i := 0; i < len(sets) && least > 0; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		last = i
		if cost := s.begin(sets[i], dests, wanted, least); cost < least {
			best, least = i, cost
		}
	}
	if best != last {
		s.begin(sets[best], dests, wanted, ^uint64(0))
	}
	return nil
}

// begin makes s.graph anew, of the escape tree from roots and the wanted turns that fit in with
// it, and returns how many routes want a turn that is blocked. It gives up when these reach a limit.
func (s *search) begin(roots, dests []fabric.NodeID, wanted []want, limit uint64) uint64 {
	s.graph = acyclic.New(s.f)
	clear(s.state)
	s.escapes.Span(roots, dests)
	s.escapes.EachTurn(func(in, out fabric.ChannelID) {
		if !s.graph.Add(in, out) {
			panic("nue: a tree has a cycle of turns")
		}
		s.state[s.f.Turn(in, out)] = used
	})
	cost := uint64(0)
	for i := range wanted {
		if w := &wanted[i]; s.state[w.turn] == unused && !s.add(w.in, w.out, w.turn) {
			if cost += w.routes; cost >= limit {
				break
			}
		}
	}
	s.refused = s.refused[:0]
	return cost
}

// rootSets is at most tries sets of roots of escape trees, spread evenly over the switches by
// how far these are from the destinations, the farthest first: no place in that order
// is best in every network, but in fat trees the leaves are, and with them nothing is
// blocked.
func rootSets(f *fabric.Fabric, dests []fabric.NodeID, tries int) [][]fabric.NodeID {
	weights := make([]int64, f.Switches())
	for _, d := range dests {
		weights[d] = -int64(len(f.Attached(d))) // negative, so that the farthest come first
	}
	far, _ := dag.Far(f, weights)
	return intree.RootSets(f, far, tries)
}
