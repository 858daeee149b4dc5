package spanning

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// grower grows a spanning tree cable by cable, together with the dependencies in a graph, which stays
// free of cycles.
type grower struct {
	f     *fabric.Fabric
	maps  *routing.SL2VL
	graph acyclic.Journal
	lanes int     // of the graph, whose vertices are trunk × lanes + lane
	sls   []uint8 // service levels of multicast packets to follow

	at     [][]fabric.ChannelID // [switch] the trunks of the tree that leave it
	piece  []fabric.NodeID      // [switch] a switch that stands for all that the tree joins it with
	joined int                  // cables of the tree
	held   [][]uint16           // [index into sls][trunk] lanes of multicast packets, as bits
	log    []arrival            // what was added to held for this tree, in order
	fresh  bool                 // dependencies may be added to the graph (join)
	seen   []bool               // [switch] scratch of members, all false
}

// Whether join and spread may add dependencies to the graph.
const (
	mayAdd    = true
	knownOnly = false // the graph must have them already
)

// arrival is lanes of a trunk that multicast packets came to.
type arrival struct {
	trunk fabric.ChannelID
	level int    // index into sls
	lanes uint16 // as bits
}

// newGrower has no tree yet. The graph is that of the unicast packets of the tables, nil only if there
// are no sls.
func newGrower(t *routing.Tables, graph *acyclic.Lanes, lanes int, sls []uint8) *grower {
	f := t.Fabric
	g := &grower{f: f, maps: t.Lanes.SL2VL, graph: acyclic.Journal{Lanes: graph}, lanes: lanes, sls: sls, at: make([][]fabric.ChannelID, f.Switches()), piece: fabric.All[fabric.NodeID](f.Switches()), seen: make([]bool, f.Switches())}
	for range sls {
		g.held = append(g.held, make([]uint16, f.Trunks()))
	}
	return g
}

// clear takes the whole tree out again.
func (g *grower) clear() {
	g.undo(0, 0)
	for s := range g.at {
		g.at[s], g.piece[s] = g.at[s][:0], fabric.NodeID(s)
	}
	g.joined = 0
}

// beginWith puts what the fabric still has of a tree into the new one; nil: nothing. It returns false,
// and clears the new tree, where that does not fit beside the paths.
func (g *grower) beginWith(t *routing.MulticastTree) bool {
	if t == nil {
		return true
	}
	for _, n := range t.Nodes {
		for port := range n.Ports.All() {
			c := g.f.Trunk(n.Switch, port)
			if c == fabric.None || c > g.f.Reverses()[c] || !hasBoth(g.f, t, c) {
				continue
			}
			if g.piece[n.Switch] != g.piece[g.f.Heads()[c]] && !g.join(c, mayAdd) {
				g.clear()
				return false
			}
		}
	}
	return true
}

// hasBoth reports whether a tree has both ends of a cable.
func hasBoth(f *fabric.Fabric, t *routing.MulticastTree, c fabric.ChannelID) bool {
	ch := f.Channel(c)
	from, to := t.At(ch.From), t.At(ch.To)
	return from.Has(ch.FromPort) && to.Has(ch.ToPort)
}

// Whole is a tree that is in use, as one that has all endpoints that a fabric has now; nil if what the
// fabric still has of it does not join all switches.
func Whole(f *fabric.Fabric, t *routing.MulticastTree) *routing.MulticastTree {
	g := &grower{f: f, at: make([][]fabric.ChannelID, f.Switches()), piece: fabric.All[fabric.NodeID](f.Switches()), seen: make([]bool, f.Switches())}
	if !g.beginWith(t) || g.joined < f.Switches()-1 {
		return nil
	}
	whole := g.tree()
	return &whole
}

// breadthFirst grows the tree from a root, the nearest switches first.
func (g *grower) breadthFirst(root fabric.NodeID) { g.spread(g.members(nil, root), mayAdd) }

// knownFirst grows the tree from a root, with cables first whose dependencies the graph has already.
func (g *grower) knownFirst(root fabric.NodeID) {
	reached := g.spread(g.members(nil, root), knownOnly)
	for i := 0; i < len(reached); i++ {
		first, end := g.f.TrunksFrom(reached[i])
		for c := first; c < end; c++ {
			if u := g.f.Heads()[c]; g.piece[u] != g.piece[root] && g.join(c, mayAdd) {
				reached = g.spread(g.members(reached, u), knownOnly)
			}
		}
	}
}

// spread grows the tree from switches that it has reached, and returns these and all that it reaches
// then. fresh is mayAdd or knownOnly.
func (g *grower) spread(reached []fabric.NodeID, fresh bool) []fabric.NodeID {
	for i := 0; i < len(reached); i++ {
		first, end := g.f.TrunksFrom(reached[i])
		for c := first; c < end; c++ {
			if u := g.f.Heads()[c]; g.piece[u] != g.piece[reached[i]] && g.join(c, fresh) {
				reached = g.members(reached, u)
			}
		}
	}
	return reached
}

// members appends to a list a switch, and all switches that the tree joins it with and that are not
// in the list.
func (g *grower) members(list []fabric.NodeID, s fabric.NodeID) []fabric.NodeID {
	for _, old := range list {
		g.seen[old] = true
	}
	from := len(list)
	g.seen[s] = true
	list = append(list, s)
	for i := from; i < len(list); i++ {
		for _, c := range g.at[list[i]] {
			if u := g.f.Heads()[c]; !g.seen[u] {
				g.seen[u] = true
				list = append(list, u)
			}
		}
	}
	for _, s := range list {
		g.seen[s] = false
	}
	return list
}

// join adds the cable of a trunk to the tree, unless a dependency that comes with it closes a
// cycle, or is not in the graph and fresh is knownOnly. It reports whether it did.
func (g *grower) join(c fabric.ChannelID, fresh bool) bool {
	back := g.f.Reverses()[c]
	u, v := g.f.Heads()[back], g.f.Heads()[c]
	came, added := len(g.log), g.graph.Checkpoint()
	g.at[u], g.at[v] = append(g.at[u], c), append(g.at[v], back)
	g.fresh = fresh
	if g.enter(u, c) && g.enter(v, back) && g.pass(came) {
		for _, s := range g.members(nil, v) {
			g.piece[s] = g.piece[u]
		}
		g.joined++
		return true
	}
	g.undo(came, added)
	g.at[u], g.at[v] = g.at[u][:len(g.at[u])-1], g.at[v][:len(g.at[v])-1]
	return false
}

// enter puts the packets of all endpoints of a switch, and those that come to it by the tree,
// on a trunk. It returns false where some are dropped or a dependency is refused.
func (g *grower) enter(s fabric.NodeID, out fabric.ChannelID) bool {
	for level := range g.sls {
		for _, e := range g.f.Attached(s) {
			vl := g.vl(s, g.f.LastPort(g.f.Endpoint(e)), out, level)
			if vl >= routing.MaxDataVLs {
				return false
			}
			g.arrive(out, level, 1<<vl)
		}
		for _, other := range g.at[s] {
			if in := g.f.Reverses()[other]; other != out && !g.turn(in, out, level, g.held[level][in]) {
				return false
			}
		}
	}
	return true
}

// pass passes on what has arrived, from a place in the log on. It returns false as enter does.
func (g *grower) pass(from int) bool {
	for ; from < len(g.log); from++ {
		a := g.log[from]
		for _, out := range g.at[g.f.Heads()[a.trunk]] {
			if out != g.f.Reverses()[a.trunk] && !g.turn(a.trunk, out, a.level, a.lanes) {
				return false
			}
		}
	}
	return true
}

// turn copies packets on some lanes, as bits, of a trunk to another trunk, with the dependencies of
// that. It returns false as enter does. level is an index into sls.
func (g *grower) turn(in, out fabric.ChannelID, level int, lanes uint16) bool {
	ch := g.f.Channel(in)
	vl := g.vl(ch.To, ch.ToPort, out, level)
	if vl >= routing.MaxDataVLs {
		return false // the group would be cut here
	}
	to := out*fabric.ChannelID(g.lanes) + fabric.ChannelID(vl)
	for m := lanes; m != 0; m &= m - 1 {
		if !g.admit(in*fabric.ChannelID(g.lanes)+fabric.ChannelID(bits.TrailingZeros16(m)), to) {
			return false
		}
	}
	if lanes != 0 {
		g.arrive(out, level, 1<<vl)
	}
	return true
}

// vl is the lane of packets from an in-port to a trunk.
func (g *grower) vl(s fabric.NodeID, in uint8, out fabric.ChannelID, level int) uint8 {
	return g.maps.VL(s, in, g.f.Channel(out).FromPort, g.sls[level])
}

// admit reports whether the graph has a dependency, which it adds if it may.
func (g *grower) admit(in, out fabric.ChannelID) bool {
	return g.fresh && g.graph.Admit(in, out) || g.graph.Has(in, out)
}

// arrive notes packets on lanes, as bits, of a trunk.
func (g *grower) arrive(c fabric.ChannelID, level int, lanes uint16) {
	if lanes &^= g.held[level][c]; lanes != 0 {
		g.held[level][c] |= lanes
		g.log = append(g.log, arrival{trunk: c, level: level, lanes: lanes})
	}
}

// undo takes back what was done since the log had some length and the graph was at a checkpoint.
func (g *grower) undo(came, added int) {
	for _, a := range g.log[came:] {
		g.held[a.level][a.trunk] &^= a.lanes
	}
	g.log = g.log[:came]
	g.graph.Rollback(added)
}

// tree is the tree as that of a group of all endpoints.
func (g *grower) tree() routing.MulticastTree {
	t := routing.MulticastTree{MLID: routing.FirstMLID}
	for s := range fabric.NodeID(g.f.Switches()) {
		n := routing.TreeNode{Switch: s}
		for _, c := range g.at[s] {
			n.Ports.Add(g.f.Channel(c).FromPort)
		}
		for _, e := range g.f.Attached(s) {
			n.Ports.Add(g.f.LastPort(g.f.Endpoint(e)))
		}
		t.Nodes = append(t.Nodes, n)
	}
	return t
}
