package weave

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
	"github.com/weft-fabric/weft/routing/internal/dag"
	"github.com/weft-fabric/weft/routing/internal/turnlanes"
)

// escapes is a spanning tree of each part of the network. It has a path from
// every switch to every other, and no cycle of turns.
type escapes struct {
	f     *fabric.Fabric
	up    []fabric.ChannelID // [switch] the trunk to its parent; None at a root
	depth []int32            // [switch] trunks up to the root
}

// newEscapes makes the breadth-first trees from these roots, one in each part.
func newEscapes(f *fabric.Fabric, roots []fabric.NodeID) *escapes {
	t := &escapes{f: f, up: make([]fabric.ChannelID, f.Switches()), depth: make([]int32, f.Switches())}
	for s := range t.depth {
		t.depth[s] = unsettled
	}
	order := append([]fabric.NodeID(nil), roots...)
	for _, r := range roots {
		t.up[r], t.depth[r] = fabric.None, 0
	}
	for i := 0; i < len(order); i++ {
		u := order[i]
		first, end := f.TrunksFrom(u)
		for c := first; c < end; c++ {
			if v := f.Heads()[c]; t.depth[v] == unsettled {
				t.up[v], t.depth[v] = f.Reverses()[c], t.depth[u]+1
				order = append(order, v)
			}
		}
	}
	return t
}

// turns is every turn within the trees: those up on lane 0, and those down there too
// if low, else on the highest of so many lanes.
func (t *escapes) turns(lanes int, low bool) []turnlanes.Reserved {
	heads, reverses := t.f.Heads(), t.f.Reverses()
	top := uint8(lanes - 1)
	var all []turnlanes.Reserved
	var tree []fabric.ChannelID // the trunks of the tree that leave a switch
	for s := range fabric.NodeID(t.f.Switches()) {
		tree = tree[:0]
		first, end := t.f.TrunksFrom(s)
		for c := first; c < end; c++ {
			if c == t.up[s] || t.up[heads[c]] == reverses[c] {
				tree = append(tree, c)
			}
		}
		for _, back := range tree {
			for _, out := range tree {
				if out == back {
					continue
				}
				in := reverses[back]
				r := turnlanes.Reserved{Turn: acyclic.Turn{ID: int32(t.f.Turn(in, out)), In: in, Out: out}, Within: true}
				switch {
				case low: // on lane 0
				case back == t.up[s]: // from above
					r.Lane = top
				case out != t.up[s]: // over the top
					r.Lane, r.Within = top, top == 0
				}
				all = append(all, r)
			}
		}
	}
	return all
}

// out is the trunk of switch v on its escape path to another: down to the child
// that has it below, or up.
func (t *escapes) out(v, to fabric.NodeID) fabric.ChannelID {
	heads := t.f.Heads()
	for t.depth[to] > t.depth[v] {
		c := t.up[to]
		if heads[c] == v {
			return t.f.Reverses()[c]
		}
		to = heads[c]
	}
	return t.up[v]
}

// escape begins the tree anew, with the late switches and all between them and the
// destination on their escape paths. Each time it is more of them, and all of them
// are a whole tree, so it ends.
func (g *grower) escape(d *dag.DAG) {
	for _, u := range g.late {
		for ; u != d.Root && !g.frozen[u]; u = g.heads[g.escapes.out(u, d.Root)] {
			g.frozen[u] = true
		}
	}
	g.plant(d.Root)
	for again := true; again; {
		again = false
		for _, u := range d.Order[1:] {
			if g.frozen[u] && g.hops[u] == unsettled {
				if c := g.escapes.out(u, d.Root); g.hops[g.heads[c]] != unsettled {
					g.put(u, c, g.carriersBy(c))
					again = true
				}
			}
		}
	}
	for _, u := range d.Order[1:] {
		if g.hops[u] == unsettled && g.sends[u] {
			g.late = append(g.late, u)
		}
	}
}
