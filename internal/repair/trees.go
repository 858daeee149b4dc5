package repair

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// Trees for multicast stay as they are, so the dependencies of their packets are in the graph of
// every step before any new entry is: between every two cables of a tree that meet at a switch, in
// both directions.

// withTrees is a function that yields the dependencies that add yields, and then those of the trees.
func (p *problem) withTrees(add func(yield func(in, out fabric.ChannelID))) func(yield func(in, out fabric.ChannelID)) {
	return func(yield func(in, out fabric.ChannelID)) {
		add(yield)
		for _, d := range p.turns {
			yield(d.In, d.Out)
		}
	}
}

// treeTurns is the dependencies of multicast packets from all endpoints at the switches of the
// trees, as far as they are on the first so many lanes: those that unicast packets hold too. Some come twice.
func treeTurns(t *routing.Tables, lanes int) []acyclic.Dependency {
	if t.Multicast == nil {
		return nil
	}
	w := treeWalk{t: t, lanes: fabric.ChannelID(lanes), held: make([]uint16, t.Fabric.Trunks())}
	for i := range t.Multicast.Trees {
		w.tree = &t.Multicast.Trees[i]
		for sls := t.Multicast.SLs; sls != 0; sls &= sls - 1 {
			clear(w.held)
			w.sl = uint8(bits.TrailingZeros16(sls))
			for _, n := range w.tree.Nodes {
				for _, e := range t.Fabric.Attached(n.Switch) {
					w.copyOn(n.Switch, t.Fabric.LastPort(t.Fabric.Endpoint(e)), fabric.None)
				}
			}
		}
	}
	return w.turns
}

// treeWalk follows the packets of a tree on a service level.
type treeWalk struct {
	t     *routing.Tables
	lanes fabric.ChannelID
	tree  *routing.MulticastTree
	sl    uint8
	held  []uint16 // [trunk] lanes that packets came by, as bits
	turns []acyclic.Dependency
}

// copyOn sends a packet that came to a switch by port in on to all other ports of the tree, and so on, and adds
// to turns what it causes. It holds a vertex of the graph meanwhile, or None: it comes from an endpoint, or by
// a lane that unicast does not use.
func (w *treeWalk) copyOn(s fabric.NodeID, in uint8, holds fabric.ChannelID) {
	f := w.t.Fabric
	ports := w.tree.At(s)
	for port := range ports.All() {
		c := f.Trunk(s, port)
		if port == in || c == fabric.None {
			continue
		}
		vl := w.t.Lanes.SL2VL.VL(s, in, port, w.sl)
		if vl >= routing.MaxDataVLs {
			continue
		}
		if fabric.ChannelID(vl) < w.lanes && holds != fabric.None {
			w.turns = append(w.turns, acyclic.Dependency{In: holds, Out: c*w.lanes + fabric.ChannelID(vl)})
		}
		if w.held[c]>>vl&1 == 1 {
			continue
		}
		w.held[c] |= 1 << vl
		next := fabric.ChannelID(fabric.None)
		if fabric.ChannelID(vl) < w.lanes {
			next = c*w.lanes + fabric.ChannelID(vl)
		}
		w.copyOn(f.Heads()[c], f.Channel(c).ToPort, next)
	}
}
