package weave

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/engine/steps/intree"
	"github.com/weft-fabric/weft/internal/engine/steps/turnlanes"
	"github.com/weft-fabric/weft/routing"
)

// grower routes destinations anew for a rerouting, one after another, so that the assignment admits
// the paths from all sources: grow makes a whole new tree, mend keeps what is admitted of the old one.
type grower struct {
	f         *fabric.Fabric
	heads     []fabric.NodeID
	lanes     *turnlanes.Assignment // a lane for each turn, by service level
	escapes   *intree.Escapes       // nil: none are reserved
	sends     []bool                // [switch] it has sources in scope
	loads     *intree.Loads         // by weight
	work      int                   // trunks that Settle looked at: effort by a measure that no clock changes
	had       routing.Tree          // the tree of the destination's row as it is (rerouting.read)
	tree      *intree.Tree          // the one that is made for it
	admitting []uint16              // [switch] service levels that admit its path in it, as bits
	leave     []bool                // [trunk] it is too full for rows that are mended to keep it
	avoid     []fabric.ChannelID    // [switch] a trunk that kept another switch from its path; None

	near  []fabric.ChannelID // scratch: trunks to choose from
	steps []acyclic.Turn     // scratch: the turns of a path
	trail []fabric.NodeID    // scratch: its switches
}

// weight is what an endpoint counts in loads, as source and as destination: hosts
// much, others little, switches nothing.
func weight(c fabric.Class) uint32 {
	switch c {
	case fabric.HostAdapter:
		return 16
	case fabric.SwitchPort:
		return 0
	}
	return 1
}

// contention is the penalty for a trunk whose choice left others without a path: more
// than the loads of any path.
const contention = 1 << 40

func newGrower(f *fabric.Fabric, scope routing.Scope) *grower {
	n := f.Switches()
	loads := intree.NewLoads(f)
	g := &grower{
		f: f, heads: f.Heads(), sends: scope.Ends(f), loads: loads, tree: intree.New(f, loads),
		admitting: make([]uint16, n), leave: make([]bool, f.Trunks()), avoid: make([]fabric.ChannelID, n),
	}
	g.tree.Need = g.sends
	for s := range g.sends {
		g.avoid[s], loads.Sources[s] = fabric.None, 0
		for _, e := range f.Attached(fabric.NodeID(s)) {
			loads.Sources[s] += weight(f.Endpoint(e).Class)
		}
	}
	return g
}

// tries is how often a tree is begun at most, because the choices of some switches left
// others without a path.
const tries = 3

// grow grows g.tree anew, to d.Root. It reports whether all sources have a path in it that the
// assignment, in which it places turns, admits.
func (g *grower) grow(d *dag.DAG) bool {
	g.admitting[d.Root] = ^uint16(0)
	for try := 1; ; try++ {
		g.tree.Shortest(d, g)
		if len(g.tree.Late) == 0 || try == tries {
			break
		}
		g.avoidBlockers(d)
	}
	for s := range g.avoid {
		g.avoid[s] = fabric.None
	}
	g.tree.Finish(d, g.escapes, g)
	if len(g.tree.Late) > 0 {
		return false
	}
	g.others(d)
	return true
}

// mend makes g.tree of g.had, both to d.Root: switches whose paths the assignment admits keep them,
// unless these pass a trunk marked in leave, the others get shortest paths beside them. It reports
// whether all sources have a path.
func (g *grower) mend(d *dag.DAG) bool {
	t := g.tree
	g.plant(d.Root)
	for _, u := range g.had.Order[1:] {
		if c := g.had.Out[u]; t.Hops[g.heads[c]] != intree.NoPath && !g.leave[c] {
			if m := g.admittingBy(c); m != 0 {
				g.put(u, c, m)
			}
		}
	}
	for i := 1; i < len(d.Order); i++ {
		u := d.Order[i]
		if t.Hops[u] == intree.NoPath && !g.Settle(u, d.Choices(i), d.Hops[u]-1) && g.sends[u] {
			return false
		}
	}
	g.others(d)
	return true
}

// plant begins g.tree with its root.
func (g *grower) plant(root fabric.NodeID) {
	g.tree.Plant(root)
	g.admitting[root] = ^uint16(0)
}

// avoidBlockers makes the switches that late ones could follow choose another trunk in
// the next try.
func (g *grower) avoidBlockers(d *dag.DAG) {
	t := g.tree
	for _, u := range t.Late {
		for c, end := g.f.TrunksFrom(u); c < end; c++ {
			if v := g.heads[c]; t.Hops[v] > 0 && t.Hops[v] == d.Hops[u]-1 {
				g.avoid[v] = t.Out[v]
			}
		}
	}
}

// Settle implements intree.Rules: by the least loaded path that is admitted already or,
// if there is none, that can be.
func (g *grower) Settle(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool {
	best, least, admitting := fabric.ChannelID(fabric.None), ^uint64(0), uint16(0)
	g.near = g.near[:0]
	g.work += len(choices)
	for _, c := range choices {
		if g.tree.Hops[g.heads[c]] != hops {
			continue
		}
		sum := g.pathLoad(u, c)
		if sum >= least {
			continue
		}
		if m := g.admittingBy(c); m != 0 {
			best, least, admitting = c, sum, m
		} else if next := g.tree.Out[g.heads[c]]; next == fabric.None || !g.lanes.Bars(int32(g.f.Turn(c, next))) {
			g.near = append(g.near, c)
		}
	}
	if best != fabric.None {
		g.put(u, best, admitting)
		return true
	}
	if len(g.near) == 0 {
		return false
	}
	slices.SortStableFunc(g.near, func(a, b fabric.ChannelID) int {
		if g.pathLoad(u, a) < g.pathLoad(u, b) {
			return -1
		}
		return 1
	})
	for _, c := range g.near {
		if g.lanes.Place(g.path(c)) {
			g.renew()
			g.put(u, c, g.admittingBy(c))
			return true
		}
	}
	return false
}

// pathLoad is the load on the path of u by trunk c, with contention where u should avoid c.
func (g *grower) pathLoad(u fabric.NodeID, c fabric.ChannelID) uint64 {
	w := g.tree.Sum[g.heads[c]] + g.loads.On[c]
	if g.avoid[u] == c {
		w += contention
	}
	return w
}

// Escape implements intree.Rules: the turns of escape paths have had lanes from the
// start.
func (g *grower) Escape(u fabric.NodeID, c fabric.ChannelID) { g.put(u, c, g.admittingBy(c)) }

// Retract implements intree.Rules: turns keep their lanes.
func (g *grower) Retract() {}

// put gives switch u its path by trunk c, which some service levels admit.
func (g *grower) put(u fabric.NodeID, c fabric.ChannelID, admitting uint16) {
	g.tree.Put(u, c)
	g.admitting[u] = admitting
}

// admittingBy is the service levels, as bits, that admit the path which begins with a trunk to a
// switch in g.tree.
func (g *grower) admittingBy(c fabric.ChannelID) uint16 {
	v := g.heads[c]
	b, after := g.tree.Out[v], fabric.ChannelID(fabric.None)
	if b != fabric.None {
		after = g.tree.Out[g.heads[b]]
	}
	return g.lanes.Admitting(c, b, after, g.admitting[v])
}

// path is the turns of the path that begins with a trunk to a switch in g.tree; trail is its switches.
func (g *grower) path(c fabric.ChannelID) []acyclic.Turn {
	g.steps, g.trail = g.steps[:0], g.trail[:0]
	for {
		v := g.heads[c]
		next := g.tree.Out[v]
		if next == fabric.None {
			return g.steps
		}
		g.steps = append(g.steps, acyclic.Turn{ID: int32(g.f.Turn(c, next)), In: c, Out: next})
		g.trail = append(g.trail, v)
		c = next
	}
}

// renew updates admitting for the switches of trail, whose path was just placed.
func (g *grower) renew() {
	for _, v := range slices.Backward(g.trail) {
		g.admitting[v] = g.admittingBy(g.tree.Out[v])
	}
}

// others gives switches that are not in g.tree, all without sources, any shortest path: lanes do not matter, because
// nothing is sent from there and no source's path passes them.
func (g *grower) others(d *dag.DAG) {
	for i := 1; i < len(d.Order); i++ {
		u := d.Order[i]
		if g.tree.Hops[u] != intree.NoPath {
			continue
		}
		best := d.Choices(i)[0]
		for _, c := range d.Choices(i) {
			if g.pathLoad(u, c) < g.pathLoad(u, best) {
				best = c
			}
		}
		g.put(u, best, 0)
	}
}

// admitted copies g.had into g.tree, and reports whether the assignment admits the paths of all
// sources; else the copy ends at the first that it does not admit.
func (g *grower) admitted() bool {
	g.plant(g.had.Order[0])
	for _, u := range g.had.Order[1:] {
		c := g.had.Out[u]
		g.put(u, c, g.admittingBy(c))
		if g.sends[u] && g.admitting[u] == 0 {
			return false
		}
	}
	return true
}
