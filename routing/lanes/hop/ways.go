package hop

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/par"
	"github.com/weft-fabric/weft/routing"
)

// none is the absent turn, hop or path.
const none = -1

// ways is the paths to all addresses on one switch, as a forest: a node is a
// hop, its parent the next hop. Paths that agree from a hop on share what
// follows, whether they come from different switches or lead to different
// addresses; nearly all do.
type ways struct {
	root   fabric.NodeID
	lids   []fabric.LID
	first  []int32  // [offset in lids × switches + switch] the first hop of the path; none: not asked for, or without a hop
	nodes  []node   // a node comes after its parent
	leaves []int32  // the nodes at which a path begins that no other continues
	sl     []uint8  // [node] the service level of the paths that begin here; routing.NoSL: not yet known
	far    farthest // the longest path
}

// node is a hop of one or more paths.
type node struct {
	parent int32 // the next hop; none: this is the last
	turn   int32 // the turn from here to there; none likewise
}

// farthest is a path and its length.
type farthest struct {
	hops int // switch-to-switch; circling for a path that never ends
	from fabric.NodeID
	lid  fabric.LID
}

// circling is longer than every path.
const circling = 1 << 30

// gather collects the paths between the endpoints in scope, switch by switch, in
// the order of the switches.
func gather(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding, scope routing.Scope, p routing.Progress) ([]*ways, error) {
	sources := make([]bool, f.Switches())
	var all []*ways
	for s := range sources {
		w := &ways{root: fabric.NodeID(s)}
		for _, e := range f.Attached(fabric.NodeID(s)) {
			ep := f.Endpoint(e)
			if !scope.Includes(ep.Class) {
				continue
			}
			sources[s] = true
			for l := range fabric.LID(1) << ep.LMC {
				w.lids = append(w.lids, ep.LID+l)
			}
		}
		if len(w.lids) > 0 {
			all = append(all, w)
		}
	}
	gatherers := make([]*gatherer, par.Workers(len(all)))
	for i := range gatherers {
		gatherers[i] = newGatherer(f, fw, sources)
	}
	err := par.For(ctx, len(all), func(worker, n int) {
		gatherers[worker].gather(all[n])
		if worker == 0 && n%64 == 0 {
			p.Report(n, len(all))
		}
	})
	return all, err
}

// longest is the longest path of all, the first of several.
func longest(all []*ways) farthest {
	var far farthest
	for _, w := range all {
		if w.far.hops > far.hops {
			far = w.far
		}
	}
	return far
}

// gatherer builds ways, one after another.
type gatherer struct {
	f       *fabric.Fabric
	fw      *routing.Forwarding
	sources []bool // [switch] whether it has endpoints in scope

	// Of the ways at hand.
	byTrunk []int32            // [trunk] a node of that trunk; none
	next    []int32            // [node] another node of its trunk; none
	trunk   []fabric.ChannelID // [node]
	hops    []int32            // [node] to the end, itself included
	begins  []bool             // [node] whether a path begins there

	steps []step // scratch: the part of a path not known before
}

// step is a hop of the path at hand.
type step struct {
	at  fabric.NodeID
	out fabric.ChannelID
}

func newGatherer(f *fabric.Fabric, fw *routing.Forwarding, sources []bool) *gatherer {
	g := &gatherer{f: f, fw: fw, sources: sources, byTrunk: make([]int32, f.Trunks())}
	for c := range g.byTrunk {
		g.byTrunk[c] = none
	}
	return g
}

// gather fills in ways that know their LIDs only.
func (g *gatherer) gather(w *ways) {
	n := g.f.Switches()
	w.first = make([]int32, len(w.lids)*n)
	g.next, g.trunk, g.hops, g.begins = g.next[:0], g.trunk[:0], g.hops[:0], g.begins[:0]
	for i, lid := range w.lids {
		g.walk(w, lid, w.first[i*n:][:n])
	}
	for _, c := range g.trunk {
		g.byTrunk[c] = none
	}
	g.findLeaves(w)
}

// What is not known of the path from a switch while a LID is walked; both are
// none afterwards.
const (
	unknown = -2 - iota
	onTheWay
)

// walk finds the first hop of every source to a LID.
func (g *gatherer) walk(w *ways, lid fabric.LID, first []int32) {
	for s := range first {
		first[s] = unknown
	}
	for s, sends := range g.sources {
		if !sends {
			continue
		}
		n, ends := g.follow(w, lid, fabric.NodeID(s), first)
		if !ends {
			w.far = farthest{circling, fabric.NodeID(s), lid}
			break
		}
		if n == none {
			continue
		}
		g.begins[n] = true
		if h := int(g.hops[n]); h > w.far.hops {
			w.far = farthest{h, fabric.NodeID(s), lid}
		}
	}
	for s, n := range first {
		if n < 0 {
			first[s] = none
		}
	}
}

// follow goes from switch s along a row, up to where the path is known, ends or
// closes a circle. A path that ends without arriving counts like any: its
// packets hold lanes until they are dropped.
func (g *gatherer) follow(w *ways, lid fabric.LID, s fabric.NodeID, first []int32) (n int32, ends bool) {
	row, heads, trunks := g.fw.Row(lid), g.f.Heads(), fabric.ChannelID(g.f.Trunks())
	g.steps = g.steps[:0]
	for first[s] == unknown {
		out := g.f.Out(s, row[s])
		if out == fabric.None || out >= trunks {
			first[s] = none
			break
		}
		first[s] = onTheWay
		g.steps = append(g.steps, step{s, out})
		s = heads[out]
	}
	n = first[s]
	if n == onTheWay {
		return none, false
	}
	for i := len(g.steps) - 1; i >= 0; i-- {
		n = g.node(w, g.steps[i].out, n)
		first[g.steps[i].at] = n
	}
	return n, true
}

// node finds or makes the hop over a trunk with what follows.
func (g *gatherer) node(w *ways, trunk fabric.ChannelID, parent int32) int32 {
	for n := g.byTrunk[trunk]; n != none; n = g.next[n] {
		if w.nodes[n].parent == parent {
			return n
		}
	}
	made := node{parent, none}
	hops := int32(1)
	if parent != none {
		made.turn = int32(g.f.Turn(trunk, g.trunk[parent]))
		hops = g.hops[parent] + 1
	}
	n := int32(len(w.nodes))
	w.nodes = append(w.nodes, made)
	g.next = append(g.next, g.byTrunk[trunk])
	g.byTrunk[trunk] = n
	g.trunk, g.hops, g.begins = append(g.trunk, trunk), append(g.hops, hops), append(g.begins, false)
	return n
}

// findLeaves lists the nodes at which a path begins and behind which none does:
// whoever can travel from there can travel from everywhere on the way.
func (g *gatherer) findLeaves(w *ways) {
	inner := make([]bool, len(w.nodes))
	w.sl = make([]uint8, len(w.nodes))
	for n := len(w.nodes) - 1; n >= 0; n-- {
		w.sl[n] = routing.NoSL
		if inner[n] || g.begins[n] {
			if p := w.nodes[n].parent; p != none {
				inner[p] = true
			}
			if !inner[n] {
				w.leaves = append(w.leaves, int32(n))
			}
		}
	}
}

// sequencesOf is the paths that need a service level found: those of three hops
// or more that no other path continues. Shorter ones have one turn or none, and
// travel on any service level.
func sequencesOf(all []*ways, turns int) *sequences {
	s := &sequences{start: []int32{0}, first: []int32{0}, space: turns}
	eachLong(all, func(w *ways, leaf int32) {
		s.add(w, leaf)
		s.close()
	})
	return s
}

// add adds the path that begins with a hop.
func (s *sequences) add(w *ways, hop int32) {
	for n := w.nodes[hop]; n.parent != none; n = w.nodes[n.parent] {
		s.turns = append(s.turns, n.turn)
	}
	s.start = append(s.start, int32(len(s.turns)))
}

// eachLong visits the leaves of paths of three hops or more.
func eachLong(all []*ways, visit func(w *ways, leaf int32)) {
	for _, w := range all {
		for _, leaf := range w.leaves {
			if n := w.nodes[leaf].parent; n != none && w.nodes[n].parent != none {
				visit(w, leaf)
			}
		}
	}
}

// settle gives every hop a service level of a path that leads over it.
func (w *ways) settle() {
	for n := len(w.nodes) - 1; n >= 0; n-- {
		if w.sl[n] == routing.NoSL {
			w.sl[n] = 0 // a short path that no other continues
		}
		if p := w.nodes[n].parent; p != none && w.sl[p] == routing.NoSL {
			w.sl[p] = w.sl[n]
		}
	}
}
