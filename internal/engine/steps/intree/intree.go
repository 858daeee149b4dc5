// Package intree grows in-trees, the paths to one destination, one after the other,
// where not every turn may be taken: a graph of turns that must stay free of cycles, or
// lanes assigned to turns, admits some and refuses others. Rules says what is admitted;
// the steps are the same for all callers:
//
//  1. switches get shortest paths, the nearest first (Tree.Shortest);
//  2. those still without a path get detours, the shortest first;
//  3. if that is not enough, the tree is begun again with these switches on escape
//     paths, whose turns were admitted before all others (Escapes), and the rest grows
//     around them.
//
// It ends because each time more switches are on escape paths, and these alone form a
// whole tree. The steps and the escape paths are those of J. Domke, T. Hoefler, S.
// Matsuoka: Routing on the Dependency Graph: A New Approach to Deadlock-Free
// High-Performance Routing, HPDC 2016.
//
// Loads counts the routes over trunks, also for trees that were not grown here.
//
// Complexity: O(S + C) calls of Rules for S switches and C trunks if every switch gets
// a shortest path; otherwise each number of hops takes a pass over the trunks of the
// switches without a path.
package intree

import (
	"math"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
)

// Rules says what may be added to a tree.
type Rules interface {
	// Settle puts switch u into the tree by one of some trunks, if the turns of its path
	// can be admitted. Only trunks to switches with this number of hops to the root count;
	// a switch without a path has NoPath.
	Settle(u fabric.NodeID, choices []fabric.ChannelID, hops int32) bool
	// Escape puts switch u into the tree, by the first trunk of its escape path.
	Escape(u fabric.NodeID, c fabric.ChannelID)
	// Retract takes back what was admitted for the tree so far, because it is begun again.
	Retract()
}

// Tree is an in-tree under construction. It is scratch space, used for one destination
// after another.
type Tree struct {
	Order []fabric.NodeID    // settled switches, the root first, each after the one it forwards to
	Out   []fabric.ChannelID // [switch] the trunk it forwards to; None at the root, valid once it is settled
	Hops  []int32            // [switch] to the root; NoPath
	Sum   []uint64           // [switch] load on its path, valid once it is settled
	Late  []fabric.NodeID    // switches in need of a path, without one so far
	Need  []bool             // [switch] it needs a path; nil: all do

	f      *fabric.Fabric
	heads  []fabric.NodeID
	load   []uint64           // [trunk]
	frozen []bool             // [switch] it keeps to its escape path
	kept   []fabric.NodeID    // those switches, each after the one it forwards to
	near   []fabric.ChannelID // scratch: trunks to choose from
	ahead  []int32            // [switch without a path] scratch: fewest hops of a neighbour that it has not tried
}

// NoPath is the hops of a switch without a path.
const NoPath = -1

// New is a Tree for a fabric; Sum adds up the given loads.
func New(f *fabric.Fabric, l *Loads) *Tree {
	n := f.Switches()
	return &Tree{
		Order: make([]fabric.NodeID, 0, n), Out: make([]fabric.ChannelID, n), Hops: make([]int32, n), Sum: make([]uint64, n),
		f: f, heads: f.Heads(), load: l.On, frozen: make([]bool, n), ahead: make([]int32, n),
	}
}

// Plant begins a tree with its root.
func (t *Tree) Plant(root fabric.NodeID) {
	for s := range t.Hops {
		t.Hops[s] = NoPath
	}
	t.Order, t.Late = append(t.Order[:0], root), t.Late[:0]
	t.Hops[root], t.Sum[root], t.Out[root] = 0, 0, fabric.None
}

// Begin is Plant for a tree in which no switch has to stay on its escape path yet.
func (t *Tree) Begin(root fabric.NodeID) {
	for _, u := range t.kept {
		t.frozen[u] = false
	}
	t.kept = t.kept[:0]
	t.Plant(root)
}

// Put adds switch u to the tree, by trunk c to a switch that is in it.
func (t *Tree) Put(u fabric.NodeID, c fabric.ChannelID) {
	v := t.heads[c]
	t.Out[u], t.Hops[u], t.Sum[u] = c, t.Hops[v]+1, t.Sum[v]+t.load[c]
	t.Order = append(t.Order, u)
}

// Frozen reports whether a switch stays on its escape path.
func (t *Tree) Frozen(u fabric.NodeID) bool { return t.frozen[u] }

// Grow grows the tree to d.Root, and says whether it took detours, and whether it took
// escape paths. Who is late in the end has no path; with escape paths (not nil) nobody is.
func (t *Tree) Grow(d *dag.DAG, e *Escapes, r Rules) (detours, escapes bool) {
	t.Shortest(d, r)
	if len(t.Late) == 0 {
		return false, false
	}
	return true, t.Finish(d, e, r)
}

// Shortest begins the tree to d.Root and gives switches shortest paths. Late is then
// those that need a path and have none.
func (t *Tree) Shortest(d *dag.DAG, r Rules) {
	t.Begin(d.Root)
	for i := 1; i < len(d.Order); i++ {
		if u := d.Order[i]; !r.Settle(u, d.Choices(i), d.Hops[u]-1) {
			t.late(u)
		}
	}
}

// late adds a switch to Late if it needs a path.
func (t *Tree) late(u fabric.NodeID) {
	if t.Need == nil || t.Need[u] {
		t.Late = append(t.Late, u)
	}
}

// Finish gives the late switches detours and, if escape paths are given (not nil),
// these to the rest, so that none is left. It says whether it used any escape path.
func (t *Tree) Finish(d *dag.DAG, e *Escapes, r Rules) (escaped bool) {
	t.detour(r)
	for len(t.Late) > 0 && e != nil {
		escaped = true
		t.escape(d, e, r)
		t.detour(r)
	}
	return escaped
}

// detour gives late switches longer paths, the shortest first.
func (t *Tree) detour(r Rules) {
	top := int32(0)
	for _, u := range t.Order {
		top = max(top, t.Hops[u])
	}
	for _, u := range t.Late {
		t.ahead[u] = 0
	}
	for hops := int32(0); hops <= top && len(t.Late) > 0; hops++ {
		settled := len(t.Order)
		t.Late = slices.DeleteFunc(t.Late, func(u fabric.NodeID) bool {
			return t.ahead[u] <= hops && t.look(u, hops) && r.Settle(u, t.near, hops)
		})
		for _, u := range t.Order[settled:] {
			top = max(top, hops+1)
			for _, v := range t.f.Neighbours(u) {
				t.ahead[v] = min(t.ahead[v], hops+1)
			}
		}
	}
}

// look sets near to the trunks of switch u to switches with so many hops, and ahead[u] to the fewest
// hops beyond that of a neighbour. It reports whether there are trunks in near.
func (t *Tree) look(u fabric.NodeID, hops int32) bool {
	t.near = t.near[:0]
	ahead := int32(math.MaxInt32)
	for c, end := t.f.TrunksFrom(u); c < end; c++ {
		switch h := t.Hops[t.heads[c]]; {
		case h == hops:
			t.near = append(t.near, c)
		case h > hops:
			ahead = min(ahead, h)
		}
	}
	t.ahead[u] = ahead
	return len(t.near) > 0
}

// escape begins the tree again, with the late switches and all between them and the
// root on their escape paths.
func (t *Tree) escape(d *dag.DAG, e *Escapes, r Rules) {
	r.Retract()
	for _, u := range t.Late {
		from := len(t.kept)
		for ; u != d.Root && !t.frozen[u]; u = t.heads[e.Out(u, d.Root)] {
			t.frozen[u] = true
			t.kept = append(t.kept, u)
		}
		slices.Reverse(t.kept[from:])
	}
	t.Plant(d.Root)
	for _, u := range t.kept {
		r.Escape(u, e.Out(u, d.Root))
	}
	for _, u := range d.Order[1:] {
		if t.Hops[u] == NoPath {
			t.late(u)
		}
	}
}

// Write stores an in-tree in the forwarding row of a LID on its root: order is its
// switches, the root first, and out the trunk of each, [switch].
func Write(f *fabric.Fabric, row []uint8, lid fabric.LID, order []fabric.NodeID, out []fabric.ChannelID) {
	row[order[0]] = f.LastPort(f.Endpoint(f.Owner(lid)))
	ports := f.TailPorts()
	for _, u := range order[1:] {
		row[u] = ports[out[u]]
	}
}
