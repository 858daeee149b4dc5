// Package regrow completes paths on one lane where nothing else does: it keeps those whose
// turns fit together, and routes the others anew.
//
// In trees some pairs of hosts have no way up and then down. Each turn from down to up that
// would join them may close a cycle with turns that others take (orient.Join). Here an
// escape tree comes first, along which every switch reaches every other, then the turns of
// the paths at hand by how many routes take them, as far as they close no cycle. In each
// destination's tree a switch keeps its way if its turn is admitted, and else takes another,
// in the end its escape path.
//
// That is how Nue begins (J. Domke, T. Hoefler, S. Matsuoka: Routing on the Dependency
// Graph: A New Approach to Deadlock-Free High-Performance Routing, HPDC 2016), with paths
// that are given in place of its own: most of them stay as they are.
//
// Guarantee: connected within each part of the network, and the turns of all paths together
// close no cycle. It fails on no network.
//
// Complexity: O(D·(S + C)) for D addresses, S switches and C trunks, and a search in the
// graph of turns for each turn that does not fit its order (package acyclic), for each of
// the roots that are tried.
package regrow

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/routing"
)

// tries is how many roots of escape trees are tried: no place is best in every network.
const tries = 4

// regrower is a call of Paths.
type regrower struct {
	f     *fabric.Fabric
	fw    *routing.Forwarding // completed in place
	heads []fabric.NodeID
	order []fabric.ChannelID // of trunks, in which most turns close no cycle

	graph   *acyclic.Graph
	state   []uint8 // [turn] unknown, admitted or refused
	escapes *intree.Escapes
	loads   *intree.Loads      // of routes to adapters
	had     routing.Tree       // of the row at hand, as it is
	tree    *intree.Tree       // the one made for it
	near    []fabric.ChannelID // scratch of Settle: trunks whose turn may be admitted yet
}

// The states of a turn.
const (
	unknown uint8 = iota
	admitted
	refused // it would close a cycle
)

// turn is one that routes take.
type turn struct {
	in, out fabric.ChannelID
	id      int
	routes  uint64
}

// Paths completes a forwarding in place, of which some entries may be empty, and clears its Apart.
// Most of its turns should keep to an order of trunks, in before out; others cost time. The note says
// how many addresses were routed anew. Package levels calls it for fat trees in which hosts would be
// left apart.
func Paths(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, order []fabric.ChannelID) (note string, err error) {
	r := &regrower{
		f: f, fw: fw, heads: f.Heads(), order: order,
		state: make([]uint8, f.Turns()), escapes: intree.NewEscapes(f), loads: intree.NewLoads(f),
	}
	r.tree = intree.New(f, r.loads)
	if err := r.choose(ctx, r.turns()); err != nil {
		return "", err
	}
	changed, all := 0, 0
	for _, class := range [...]fabric.Class{fabric.HostAdapter, fabric.Aggregation, fabric.RouterPort, fabric.SwitchPort} {
		err := dag.ByDestination(ctx, f, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
			for _, lid := range lids {
				if f.Endpoint(f.Owner(lid)).Class != class {
					continue
				}
				all++
				if r.routeAgain(d, lid, class != fabric.SwitchPort) {
					changed++
				}
			}
		})
		if err != nil {
			return "", err
		}
	}
	fw.Apart = false
	return fmt.Sprintf("%d of %d addresses routed anew around escape paths: with turns that join what has no switch above both, their paths would close a credit loop", changed, all), nil
}

// turns adds the paths as they are to loads, and lists their turns, those with most routes first.
func (r *regrower) turns() []turn {
	routes := make([]uint64, r.f.Turns())
	for lid, e := range r.f.LIDs() {
		end := r.f.Endpoint(e)
		if end.Switch == fabric.None {
			continue
		}
		r.had.Build(r.f, r.fw.Row(lid), end.Switch)
		if end.Class == fabric.SwitchPort {
			// No load, but the turns are wanted where they are still free.
			for _, u := range r.had.Order[1:] {
				if next := r.had.Out[r.heads[r.had.Out[u]]]; next != fabric.None {
					routes[r.f.Turn(r.had.Out[u], next)]++
				}
			}
			continue
		}
		r.loads.Charge(r.had.Order, r.had.Out, 1)
		for _, u := range r.had.Order[1:] {
			if next := r.had.Out[r.heads[r.had.Out[u]]]; next != fabric.None {
				routes[r.f.Turn(r.had.Out[u], next)] += switchLIDs * r.loads.Through[u]
			}
		}
	}
	var all []turn
	for in := range fabric.ChannelID(r.f.Trunks()) {
		id := r.f.FirstTurn(in)
		for out, end := r.f.TrunksFrom(r.heads[in]); out < end; out++ {
			if routes[id] > 0 {
				all = append(all, turn{in: in, out: out, id: id, routes: routes[id]})
			}
			id++
		}
	}
	slices.SortFunc(all, func(a, b turn) int { return cmp.Or(cmp.Compare(b.routes, a.routes), cmp.Compare(a.id, b.id)) })
	return all
}

// switchLIDs is how many routes to port 0 of switches one between adapters is worth.
const switchLIDs = 1 << 16

// choose makes graph, state and escapes from the roots with which the fewest routes are refused.
func (r *regrower) choose(ctx context.Context, wanted []turn) error {
	far, _ := dag.Far(r.f, nil)
	for s := range far {
		far[s] = -far[s] // in trees leaves are the farthest, and the best
	}
	sets := intree.RootSets(r.f, far, tries)
	best, last, least := 0, 0, ^uint64(0) // last: the set that the graph at hand was made from
	for i := 0; i < len(sets) && least > 0; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		last = i
		if cost := r.begin(sets[i], wanted, least); cost < least {
			best, least = i, cost
		}
	}
	if best != last {
		r.begin(sets[best], wanted, ^uint64(0))
	}
	return nil
}

// begin makes the graph of the escape tree from some roots and of the turns that fit in with
// it, and counts the routes over those that do not, up to a limit.
func (r *regrower) begin(roots []fabric.NodeID, wanted []turn, limit uint64) (cost uint64) {
	r.graph = acyclic.From(r.f, make([]uint32, r.f.Turns()), r.order)
	clear(r.state)
	r.escapes.Span(roots, nil)
	r.escapes.EachTurn(func(in, out fabric.ChannelID) {
		if !r.graph.Add(in, out) {
			panic("regrow: a tree has a cycle of turns")
		}
		r.state[r.f.Turn(in, out)] = admitted
	})
	for i := range wanted {
		if w := &wanted[i]; !r.admit(w.in, w.out, w.id) {
			if cost += w.routes; cost >= limit {
				break
			}
		}
	}
	return cost
}

// admit adds a turn to the graph, unless it would close a cycle, and reports whether the graph has it.
func (r *regrower) admit(in, out fabric.ChannelID, id int) bool {
	if r.state[id] == unknown {
		r.state[id] = refused
		if r.graph.Add(in, out) {
			r.state[id] = admitted
		}
	}
	return r.state[id] == admitted
}

// routeAgain routes an address again as far as need be, and reports whether that changed its row.
// Its routes count in loads if counts.
func (r *regrower) routeAgain(d *dag.DAG, lid fabric.LID, counts bool) bool {
	row, t := r.fw.Row(lid), r.tree
	r.had.Build(r.f, row, d.Root)
	t.Begin(d.Root)
	kept := len(r.had.Order) == len(d.Order)
	for _, u := range r.had.Order[1:] {
		c := r.had.Out[u]
		v := r.heads[c]
		if t.Hops[v] != intree.NoPath && (v == d.Root || r.admit(c, t.Out[v], r.f.Turn(c, t.Out[v]))) {
			t.Put(u, c)
		} else {
			kept = false
		}
	}
	if kept {
		return false
	}
	if counts {
		r.loads.Charge(r.had.Order, r.had.Out, ^uint64(0)) // takes one away
	}
	for _, u := range d.Order[1:] {
		if t.Hops[u] == intree.NoPath {
			t.Late = append(t.Late, u)
		}
	}
	t.Finish(d, r.escapes, r)
	intree.Write(r.f, row, lid, t.Order, t.Out)
	if counts {
		r.loads.Charge(t.Order, t.Out, 1)
	}
	return true
}

// Settle implements intree.Rules: by the way at hand, or the lightest, if its turn is
// admitted; else by the lightest whose turn can be.
func (r *regrower) Settle(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool {
	t := r.tree
	r.near = r.near[:0]
	best, least := fabric.ChannelID(fabric.None), ^uint64(0)
	for _, c := range choices {
		v := r.heads[c]
		if t.Hops[v] != hops {
			continue
		}
		sum := t.Sum[v] + r.loads.On[c]
		if v == t.Order[0] || r.state[r.f.Turn(c, t.Out[v])] == admitted {
			if c == r.had.Out[u] {
				sum = 0
			}
			if sum < least {
				best, least = c, sum
			}
		} else if r.state[r.f.Turn(c, t.Out[v])] == unknown {
			r.near = append(r.near, c)
		}
	}
	if best != fabric.None {
		t.Put(u, best)
		return true
	}
	slices.SortStableFunc(r.near, func(a, b fabric.ChannelID) int {
		return cmp.Compare(t.Sum[r.heads[a]]+r.loads.On[a], t.Sum[r.heads[b]]+r.loads.On[b])
	})
	for _, c := range r.near {
		if next := t.Out[r.heads[c]]; r.admit(c, next, r.f.Turn(c, next)) {
			t.Put(u, c)
			return true
		}
	}
	return false
}

// Escape implements intree.Rules: escape paths are in the graph.
func (r *regrower) Escape(u fabric.NodeID, c fabric.ChannelID) { r.tree.Put(u, c) }

// Retract implements intree.Rules: turns that were admitted for the tree before stay.
func (r *regrower) Retract() {}
