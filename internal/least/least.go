// Package least says what any change of tables has to write at least where cables are gone: a lower bound, beside
// which plans of repair are shown.
package least

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Bound is a lower bound on what any one step has to write so that the sources in scope
// reach every LID again that they reached, as far as cables lead there. It counts dead entries, and entries
// behind them on the way: where a switch has no cable but to switches that forward to it,
// these have to avoid it, each by an entry of its own, since until all is written their old
// entries would send packets back.
type Bound struct {
	Entries int
	Blocks  int // of 64 LIDs at a switch

	BySwitch []int // [switch] blocks that are certain; where one of several entries has to change, Blocks alone counts one
}

// Of is the bound for tables as they act on the live cables (transition.On). It looks at forwarding
// loops only, not at credit loops. Empty entries for LIDs out of scope may stay so: some path finders
// leave them.
func Of(tables *routing.Tables, scope routing.Scope) Bound {
	f := tables.Fabric
	n := f.Switches()
	b := bound{
		f: f, sources: make([]bool, n), cur: make([]fabric.ChannelID, n), child: make([]fabric.NodeID, n), sibling: make([]fabric.NodeID, n),
		served: make([]bool, n), other: make([]bool, n), last: make([]int, n),
	}
	b.least.BySwitch = make([]int, n)
	for _, e := range scope.Endpoints(f) {
		b.sources[f.Endpoint(e).Switch] = true
	}
	for lid, owner := range f.LIDs() {
		if int(lid)/routing.BlockLIDs != int(b.lid)/routing.BlockLIDs {
			b.endBlocks()
		}
		b.lid = lid
		if e := f.Endpoint(owner); e.Switch != fabric.None {
			b.count(lid, e.Switch, tables.Forwarding.Row(lid), !scope.Includes(e.Class))
		}
	}
	b.endBlocks()
	return b.least
}

// bound is the work on a Bound.
type bound struct {
	f       *fabric.Fabric
	least   Bound
	sources []bool // [switch] it has sources in scope
	last    []int  // [switch] the last block counted, plus one

	// Of the 64 LIDs at hand.
	certain int // blocks that are counted
	most    int // entries for one of the LIDs: each is of another switch, and so of another block

	// Of the LID at hand, all [switch].
	lid            fabric.LID
	home           fabric.NodeID
	cur            []fabric.ChannelID // the trunk of the entry in force; None: dead, or it delivers
	child, sibling []fabric.NodeID    // lists of the switches that forward to a switch; None ends a list
	served         []bool             // its packets arrive, or may once entries change
	other          []bool             // another entry may serve it
	queue          []fabric.NodeID
}

// count adds the entries for one LID, of an endpoint at switch home, that have to change. Empty ones are not
// among these if they may stay.
func (b *bound) count(lid fabric.LID, home fabric.NodeID, row []uint8, emptyStay bool) {
	b.lid, b.home = lid, home
	dead := false
	for s, port := range row {
		b.cur[s], b.child[s] = fabric.None, fabric.None
		b.served[s], b.other[s] = false, false
		if fabric.NodeID(s) == home {
			continue
		}
		b.cur[s] = b.f.Trunk(fabric.NodeID(s), port)
		dead = dead || b.cur[s] == fabric.None
	}
	if !dead {
		return
	}
	for s, c := range b.cur {
		if c != fabric.None {
			u := b.f.Heads()[c]
			b.sibling[s], b.child[u] = b.child[u], fabric.NodeID(s)
		}
	}
	b.spread()
	entries := 0
	for s, c := range b.cur {
		if s := fabric.NodeID(s); c == fabric.None && s != home && !(emptyStay && row[s] == routing.NoPort) {
			entries += b.below(s)
		}
	}
	b.least.Entries += entries
	b.most = max(b.most, entries)
}

// endBlocks counts the blocks of 64 LIDs that there have to be, though it is not certain on which
// switches.
func (b *bound) endBlocks() {
	b.least.Blocks += max(0, b.most-b.certain)
	b.certain, b.most = 0, 0
}

// spread finds which switches can be served by other entries of their own: those with a
// cable to one that is served, unless packets get from there back to them.
func (b *bound) spread() {
	b.queue = b.queue[:0]
	b.serve(b.home)
	for i := 0; i < len(b.queue); i++ {
		at := b.queue[i]
		for c, end := b.f.TrunksFrom(at); c < end; c++ {
			s := b.f.Heads()[c]
			if s == b.home || b.other[s] || b.passes(at, s) {
				continue
			}
			b.other[s] = true
			b.serve(s)
		}
	}
}

// serve marks a switch as served, and all that forward to it.
func (b *bound) serve(s fabric.NodeID) {
	if b.served[s] {
		return
	}
	b.served[s] = true
	b.queue = append(b.queue, s)
	for c := b.child[s]; c != fabric.None; c = b.sibling[c] {
		b.serve(c)
	}
}

// passes reports whether packets from one switch pass another by the entries in force.
func (b *bound) passes(from, s fabric.NodeID) bool {
	for range b.cur { // they may circle
		if from == s {
			return true
		}
		c := b.cur[from]
		if c == fabric.None {
			return false
		}
		from = b.f.Heads()[c]
	}
	return false
}

// below is the least number of entries that have to change at a switch without a path and at
// those that forward to it.
func (b *bound) below(s fabric.NodeID) int {
	if !b.other[s] {
		n := 0
		for c := b.child[s]; c != fabric.None; c = b.sibling[c] {
			n += b.below(c)
		}
		return n
	}
	if b.sources[s] {
		b.block(s)
		return 1
	}
	for c := b.child[s]; c != fabric.None; c = b.sibling[c] {
		if b.used(c) {
			return 1 // this entry, or others below it: no switch is certain
		}
	}
	return 0
}

// used reports whether packets from any source come by a switch.
func (b *bound) used(s fabric.NodeID) bool {
	if b.sources[s] {
		return true
	}
	for c := b.child[s]; c != fabric.None; c = b.sibling[c] {
		if b.used(c) {
			return true
		}
	}
	return false
}

// block counts the block of the LID at a switch.
func (b *bound) block(s fabric.NodeID) {
	if n := int(b.lid)/routing.BlockLIDs + 1; b.last[s] != n {
		b.last[s] = n
		b.certain++
		b.least.Blocks++
		b.least.BySwitch[s]++
	}
}
