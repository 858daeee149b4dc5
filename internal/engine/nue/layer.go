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

// A layer is begun from as many roots, within these limits, as it takes to admit
// this many turns.
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
// those with the most routes first.
func (s *search) wanted(ctx context.Context, dests []fabric.NodeID) ([]want, error) {
	routes := make([]uint64, s.f.Turns())
	load := slices.Clone(s.loads.On)
	for i := range s.state {
		s.state[i] = used // so that nothing is asked and nothing refused
	}
	err := dag.InOrder(ctx, s.f, dests, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
		for _, lid := range lids {
			if s.f.Endpoint(s.f.Owner(lid)).Class != fabric.SwitchPort {
				s.grow(d, false)
				s.charge()
				s.countTurns(routes)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	copy(s.loads.On, load)
	return s.heaviestFirst(routes), nil
}

// countTurns adds the routes of the tree at hand, just charged, to its turns.
func (s *search) countTurns(routes []uint64) {
	for _, u := range s.tree.Order[1:] {
		c := s.tree.Out[u]
		if next := s.tree.Out[s.heads[c]]; next != fabric.None {
			routes[s.f.Turn(c, next)] += s.loads.Through[u]
		}
	}
}

func (s *search) heaviestFirst(routes []uint64) []want {
	var list []want
	for in := range fabric.ChannelID(s.f.Trunks()) {
		turn := s.f.FirstTurn(in)
		first, end := s.f.TrunksFrom(s.heads[in])
		for out := first; out < end; out++ {
			if n := routes[turn]; n > 0 {
				list = append(list, want{in, out, turn, n})
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
	candidates := candidates(s.f, dests, max(fewestRoots, min(mostRoots, admissions/max(1, len(wanted)))))
	best, last, least := 0, 0, ^uint64(0)
	for i := 0; i < len(candidates) && least > 0; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		last = i
		if cost := s.begin(candidates[i], dests, wanted, least); cost < least {
			best, least = i, cost
		}
	}
	if best != last {
		s.begin(candidates[best], dests, wanted, ^uint64(0))
	}
	return nil
}

// begin makes an empty graph with the escape tree from roots and the wanted
// turns, and returns the routes that are blocked. It gives up at a limit.
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

// candidates is so many sets of roots at the most, spread evenly over the switches by
// how far these are from the destinations, the farthest first: no place in that order
// is best in every network, but in fat trees the leaves are, and with them nothing is
// blocked.
func candidates(f *fabric.Fabric, dests []fabric.NodeID, tries int) [][]fabric.NodeID {
	lids := make([]int64, f.Switches())
	for _, d := range dests {
		lids[d] = -int64(len(f.Attached(d))) // the farthest first
	}
	far, _ := dag.Far(f, lids)
	return intree.RootSets(f, far, tries)
}
