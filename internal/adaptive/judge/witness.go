package judge

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
	"github.com/weft-fabric/weft/internal/waits"
	"github.com/weft-fabric/weft/internal/waits/cdg"
)

// Hop is a lane of a trunk.
type Hop struct {
	Trunk fabric.ChannelID
	Lane  uint8
}

// Dependency is how a packet that holds one hop comes to wait for another.
type Dependency uint8

// The kinds of dependency: direct and cross are of Definitions 4 and 14, the indirect
// ones are Duato's for wormhole switching.
const (
	Direct        Dependency = iota // the packet came by the routing subfunction alone
	Cross                           // it came there by a way outside the subfunction
	Indirect                        // it went on outside the subfunction while it held the hop
	IndirectCross                   // both cross and indirect
)

func (d Dependency) String() string {
	return [...]string{"direct", "cross", "indirect", "indirect cross"}[d]
}

// Step is one step of a cycle of dependencies: a packet that holds a hop,
// and is offered the hop of the next step by the routing subfunction.
type Step struct {
	Hop
	Kind    Dependency
	Source  fabric.NodeID
	Address adaptive.Address
	Route   []Hop // from the source up to and including this hop
	Via     []Hop // from this hop to where the next is offered; nil unless indirect
}

// edge is a dependency between two vertices.
type edge struct{ from, to int32 }

// extended is the extended channel dependency graph: turns, and under wormhole switching
// far edges, between trunks that do not meet.
type extended struct {
	*cdg.Graph
	far []edge // sorted
}

// extend adds to a graph the edges of a set that are not turns of it.
func extend(g *cdg.Graph, set map[edge]struct{}) *extended {
	x := &extended{Graph: g}
	for e := range set {
		if !x.isTurn(e) {
			x.far = append(x.far, e)
		}
	}
	slices.SortFunc(x.far, func(a, b edge) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return x
}

// isTurn reports whether the graph of turns has an edge.
func (x *extended) isTurn(e edge) bool {
	in, out := fabric.ChannelID(int(e.from)/x.Lanes), fabric.ChannelID(int(e.to)/x.Lanes)
	if x.Fabric.Heads()[in] != x.Fabric.Channel(out).From {
		return false
	}
	m := x.Turns[x.Fabric.Turn(in, out)*cdg.WordsPerTurn(x.Lanes):]
	return cdg.WaitsFor(m, int(e.from)%x.Lanes, x.Lanes)>>(int(e.to)%x.Lanes)&1 == 1
}

// shortest is a shortest cycle of a graph that has one. A cycle of one step can only be
// a far edge: a packet that went round a circle and waits for itself.
func (x *extended) shortest(rank []int32) []int32 {
	for _, e := range x.far {
		if e.from == e.to {
			return []int32{e.from}
		}
	}
	return waits.ShortestCycle(rank, x.next)
}

// rank gives every vertex a number that rises along every edge, see waits.Rank.
func (x *extended) rank() (rank []int32, all bool) {
	return waits.Rank(x.Fabric.Trunks()*x.Lanes, x.next)
}

// next adds to a list every vertex that v leads to: first those of turns, then those of
// far edges.
func (x *extended) next(v int32, list []int32) []int32 {
	list = x.Successors(v, list)
	i, _ := slices.BinarySearchFunc(x.far, v, func(e edge, v int32) int { return cmp.Compare(e.from, v) })
	for ; i < len(x.far) && x.far[i].from == v; i++ {
		list = append(list, x.far[i].to)
	}
	return list
}

// witness finds packets that cause every step of a cycle: those of the lowest address
// and, for it, of the lowest source whose allowed lanes make the step possible.
func (d *derivation) witness(ctx context.Context, cycle []int32) ([]Step, error) {
	steps := make([]Step, len(cycle))
	missing := len(cycle)
	w := newLaneReach(d.t, d.o.Switching == Wormhole)
	look := func(p flowSet) (more bool) {
		w.follow(p)
		for n, v := range cycle {
			if steps[n].Route != nil {
				continue
			}
			if step, ok := w.cause(v, cycle[(n+1)%len(cycle)], d.o.Switching); ok {
				steps[n] = step
				missing--
			}
		}
		return missing > 0
	}
	var g grouper
	for n, dest := range d.dests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.o.Progress.Report(n, len(d.dests))
		if !g.each(d, dest, look) {
			return steps, nil
		}
	}
	panic("a dependency without a packet that causes it")
}

// cause is how a packet that holds the vertex v comes to wait for u; false: none does.
func (w *laneReach) cause(v, u int32, s Switching) (Step, bool) {
	step := Step{Hop: w.hop(v), Address: w.address}
	i, ok := w.stateOf(v)
	if !ok {
		return step, false
	}
	wanted := w.hop(u)
	ok = w.t.Lanes[step.Lane].Rely>>wanted.Lane&1 == 1 && slices.ContainsFunc(w.successors(int(i)), func(next int32) bool {
		out, _ := w.split(w.states[next])
		return out == wanted.Trunk && w.lanesOf(next)>>wanted.Lane&1 == 1
	})
	if !ok && s == Wormhole {
		w.beyond(int(i), func(to, at int32) {
			if to == u && !ok {
				ok = true
				step.Via = w.hops(w.via(at))
			}
		})
	}
	if !ok {
		return step, false
	}
	// Any lane of a group will do on the way there.
	way := []int32{v}
	for at := w.parent[i]; at != -1; at = w.parent[at] {
		way = append(way, w.states[at])
	}
	step.Route = w.hops(way)
	step.Source = w.t.Fabric.Channel(step.Route[0].Trunk).From
	direct := w.reachableByReliance(v)
	switch {
	case direct && step.Via == nil:
		step.Kind = Direct
	case direct:
		step.Kind = Indirect
	case step.Via == nil:
		step.Kind = Cross
	default:
		step.Kind = IndirectCross
	}
	return step, true
}

// stateOf is the state that stands for a vertex, if packets can get there.
func (w *laneReach) stateOf(v int32) (int32, bool) {
	h := w.hop(v)
	if w.allowed>>h.Lane&1 == 0 {
		return 0, false
	}
	lead := w.vertex(h.Trunk, w.lead(h.Lane))
	return w.index[lead], w.met[lead] == w.round
}

func (w *laneReach) hop(v int32) Hop {
	trunk, lane := w.split(v)
	return Hop{Trunk: trunk, Lane: lane}
}

// hops turns vertices, listed last first, into hops in the order of travel.
func (w *laneReach) hops(vertices []int32) []Hop {
	way := make([]Hop, 0, len(vertices))
	for _, v := range slices.Backward(vertices) {
		way = append(way, w.hop(v))
	}
	return way
}

// reachableByReliance reports whether a packet can reach a vertex by the routing
// subfunction alone. What a lane relies on may differ within a group, so each lane is
// followed by itself.
func (w *laneReach) reachableByReliance(v int32) bool {
	seen := make([]bool, len(w.index))
	var queue []int32
	see := func(u int32) {
		if !seen[u] {
			seen[u] = true
			queue = append(queue, u)
		}
	}
	for _, s := range w.sources {
		w.onwards(s, fabric.None, 0, w.relied&w.allowed, see)
	}
	for n := 0; n < len(queue); n++ {
		h := w.hop(queue[n])
		if at := w.t.Fabric.Heads()[h.Trunk]; at != w.dest {
			w.onwards(at, h.Trunk, h.Lane, w.t.Lanes[h.Lane].Rely&w.allowed, see)
		}
	}
	return seen[v]
}
