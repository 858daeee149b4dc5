package weave

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
	"github.com/weft-fabric/weft/routing/internal/dag"
	"github.com/weft-fabric/weft/routing/internal/turnlanes"
)

// grower routes destinations anew, one after another, so that the loom carries the
// paths from all sources.
type grower struct {
	f       *fabric.Fabric
	heads   []fabric.NodeID
	loom    *turnlanes.Assignment
	escapes *escapes     // nil: none are reserved
	sends   []bool       // [switch] it has sources in scope
	sources []uint64     // [switch] weight of the endpoints on it
	load    []uint64     // [trunk] routes over it
	routes  []uint64     // [switch] scratch: routes from its subtree
	work    int          // trunks looked at
	tree    routing.Tree // scratch of count

	// The tree at hand.
	order    []fabric.NodeID    // settled switches, each after the one it forwards to
	out      []fabric.ChannelID // [switch] the trunk it forwards to; None at the root
	hops     []int32            // [switch] to the root; unsettled
	sum      []uint64           // [switch] load on its path
	carriers []uint16           // [switch] service levels that carry its path, as bits
	avoid    []fabric.ChannelID // [switch] a trunk that was in others' way; None
	frozen   []bool             // [switch] it keeps to its escape path
	late     []fabric.NodeID    // sources without a path so far

	near  []fabric.ChannelID // scratch: trunks to choose from
	steps []acyclic.Turn     // scratch: the turns of a path
	trail []fabric.NodeID    // scratch: its switches
}

const unsettled = -1

// weight is what an endpoint counts in loads, as source and as destination: hosts
// much, others little, switches nothing.
func weight(c fabric.Class) uint64 {
	switch c {
	case fabric.HostAdapter:
		return 16
	case fabric.SwitchPort:
		return 0
	}
	return 1
}

// shy is what it costs to take a trunk that was in the way of others.
const shy = 1 << 40

func newGrower(f *fabric.Fabric, scope routing.Scope) *grower {
	n := f.Switches()
	g := &grower{
		f: f, heads: f.Heads(),
		sends:    scope.Ends(f),
		sources:  make([]uint64, n),
		load:     make([]uint64, f.Trunks()),
		routes:   make([]uint64, n),
		out:      make([]fabric.ChannelID, n),
		hops:     make([]int32, n),
		sum:      make([]uint64, n),
		carriers: make([]uint16, n),
		avoid:    make([]fabric.ChannelID, n),
		frozen:   make([]bool, n),
	}
	for s := range g.sends {
		g.avoid[s] = fabric.None
		for _, e := range f.Attached(fabric.NodeID(s)) {
			g.sources[s] += weight(f.Endpoint(e).Class)
		}
	}
	return g
}

// tries is how often a tree is begun anew because some switches were in the way of
// others.
const tries = 3

// grow grows the tree to d.Root, and says whether all sources have a path that the
// loom carries.
func (g *grower) grow(d *dag.DAG) bool {
	clear(g.frozen)
	for try := 1; ; try++ {
		g.shortest(d)
		if len(g.late) == 0 || try == tries {
			break
		}
		g.complain(d)
	}
	for s := range g.avoid {
		g.avoid[s] = fabric.None
	}
	if len(g.late) > 0 {
		g.detour()
	}
	for len(g.late) > 0 && g.escapes != nil {
		g.escape(d)
		g.detour()
	}
	if len(g.late) > 0 {
		return false
	}
	g.others(d)
	return true
}

// mend keeps the paths of a row that the loom carries and settles the other sources
// beside them, on shortest paths. It says whether there was room for all.
func (g *grower) mend(d *dag.DAG, row []uint8) bool {
	g.tree.Build(g.f, row, d.Root)
	g.plant(d.Root)
	for _, u := range g.tree.Order[1:] {
		if c := g.tree.Out[u]; g.hops[g.heads[c]] != unsettled {
			if m := g.carriersBy(c); m != 0 {
				g.put(u, c, m)
			}
		}
	}
	for i := 1; i < len(d.Order); i++ {
		u := d.Order[i]
		if g.hops[u] == unsettled && !g.settle(u, d.Choices(i), d.Hops[u]-1) && g.sends[u] {
			return false
		}
	}
	g.others(d)
	return true
}

// plant begins a tree.
func (g *grower) plant(root fabric.NodeID) {
	for s := range g.hops {
		g.hops[s] = unsettled
	}
	g.order, g.late = append(g.order[:0], root), g.late[:0]
	g.hops[root], g.sum[root], g.out[root] = 0, 0, fabric.None
	g.carriers[root] = ^uint16(0)
}

// shortest settles switches on shortest paths.
func (g *grower) shortest(d *dag.DAG) {
	g.plant(d.Root)
	for i := 1; i < len(d.Order); i++ {
		if u := d.Order[i]; !g.settle(u, d.Choices(i), d.Hops[u]-1) && g.sends[u] {
			g.late = append(g.late, u)
		}
	}
}

// complain has the switches that late ones could follow choose another trunk in the
// next try.
func (g *grower) complain(d *dag.DAG) {
	for _, u := range g.late {
		first, end := g.f.TrunksFrom(u)
		for c := first; c < end; c++ {
			if v := g.heads[c]; g.hops[v] > 0 && g.hops[v] == d.Hops[u]-1 {
				g.avoid[v] = g.out[v]
			}
		}
	}
}

// settle gives u the lightest path that begins with one of some trunks to switches
// so many hops away: one that is carried as things are or, if there is none, can be.
func (g *grower) settle(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool {
	best, least, by := fabric.ChannelID(fabric.None), ^uint64(0), uint16(0)
	g.near = g.near[:0]
	g.work += len(choices)
	for _, c := range choices {
		if g.hops[g.heads[c]] != hops {
			continue
		}
		sum := g.weight(u, c)
		if sum >= least {
			continue
		}
		if m := g.carriersBy(c); m == 0 {
			g.near = append(g.near, c)
		} else {
			best, least, by = c, sum, m
		}
	}
	if best != fabric.None {
		g.put(u, best, by)
		return true
	}
	if len(g.near) == 0 {
		return false
	}
	slices.SortStableFunc(g.near, func(a, b fabric.ChannelID) int {
		if g.weight(u, a) < g.weight(u, b) {
			return -1
		}
		return 1
	})
	for _, c := range g.near {
		if g.loom.Place(g.path(c)) {
			g.renew()
			g.put(u, c, g.carriersBy(c))
			return true
		}
	}
	return false
}

// weight is the load on the path of u by a trunk.
func (g *grower) weight(u fabric.NodeID, c fabric.ChannelID) uint64 {
	w := g.sum[g.heads[c]] + g.load[c]
	if g.avoid[u] == c {
		w += shy
	}
	return w
}

// put settles u on trunk c.
func (g *grower) put(u fabric.NodeID, c fabric.ChannelID, carriers uint16) {
	v := g.heads[c]
	g.out[u], g.hops[u], g.sum[u], g.carriers[u] = c, g.hops[v]+1, g.sum[v]+g.load[c], carriers
	g.order = append(g.order, u)
}

// carriersBy is the service levels that carry the path that begins with a trunk to a
// settled switch.
func (g *grower) carriersBy(c fabric.ChannelID) uint16 {
	v := g.heads[c]
	b, after := g.out[v], fabric.ChannelID(fabric.None)
	if b != fabric.None {
		after = g.out[g.heads[b]]
	}
	return g.loom.Admitting(c, b, after, g.carriers[v])
}

// path is the turns of the path that begins with a trunk to a settled switch.
func (g *grower) path(c fabric.ChannelID) []acyclic.Turn {
	g.steps, g.trail = g.steps[:0], g.trail[:0]
	for {
		v := g.heads[c]
		next := g.out[v]
		if next == fabric.None {
			return g.steps
		}
		g.steps = append(g.steps, acyclic.Turn{ID: int32(g.f.Turn(c, next)), In: c, Out: next})
		g.trail = append(g.trail, v)
		c = next
	}
}

// renew brings the carriers of the path just placed up to date.
func (g *grower) renew() {
	for _, v := range slices.Backward(g.trail) {
		g.carriers[v] = g.carriersBy(g.out[v])
	}
}

// detour settles late sources by longer paths, the shortest first. Those that stay
// late have none.
func (g *grower) detour() {
	for again := true; again && len(g.late) > 0; {
		again = false
		top := int32(0)
		for _, u := range g.order {
			top = max(top, g.hops[u])
		}
		for hops := int32(0); hops <= top && len(g.late) > 0; hops++ {
			before := len(g.late)
			g.late = slices.DeleteFunc(g.late, func(u fabric.NodeID) bool { return g.follow(u, hops) })
			again = again || len(g.late) < before
		}
	}
}

// follow settles u behind a switch so many hops away.
func (g *grower) follow(u fabric.NodeID, hops int32) bool {
	first, end := g.f.TrunksFrom(u)
	var near [fabric.MaxPorts]fabric.ChannelID
	n := 0
	for c := first; c < end; c++ {
		if g.hops[g.heads[c]] == hops {
			near[n] = c
			n++
		}
	}
	return n > 0 && g.settle(u, near[:n], hops)
}

// others settles switches without sources, for which lanes do not matter: nothing
// is sent from there, and no source's path leads over them.
func (g *grower) others(d *dag.DAG) {
	for i := 1; i < len(d.Order); i++ {
		u := d.Order[i]
		if g.hops[u] != unsettled {
			continue
		}
		best := d.Choices(i)[0]
		for _, c := range d.Choices(i) {
			if g.weight(u, c) < g.weight(u, best) {
				best = c
			}
		}
		g.put(u, best, 0)
	}
}

// write puts the tree into the forwarding row of a LID.
func (g *grower) write(row []uint8) {
	for _, u := range g.order[1:] {
		row[u] = g.f.Channel(g.out[u]).FromPort
	}
}

// charge adds the routes of a tree to the loads, so many times over; -1 takes them
// away.
func (g *grower) charge(row []uint8, root fabric.NodeID, times uint64) {
	g.tree.Build(g.f, row, root)
	for _, u := range g.tree.Order {
		g.routes[u] = g.sources[u]
	}
	for i := len(g.tree.Order) - 1; i > 0; i-- {
		u := g.tree.Order[i]
		c := g.tree.Out[u]
		g.load[c] += g.routes[u] * times
		g.routes[g.heads[c]] += g.routes[u]
	}
}

// carried says whether the loom carries the paths of all sources along a row.
func (g *grower) carried(row []uint8, root fabric.NodeID) bool {
	g.tree.Build(g.f, row, root)
	g.plant(root)
	for _, u := range g.tree.Order[1:] {
		c := g.tree.Out[u]
		g.put(u, c, g.carriersBy(c))
		if g.sends[u] && g.carriers[u] == 0 {
			return false
		}
	}
	return true
}
