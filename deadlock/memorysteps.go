package deadlock

import (
	"iter"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// steps counts destinations again of which few entries changed, by these entries alone, where all
// packets are on the same lanes and none circles, before and after.
type steps struct {
	before, now *tally
	stamp       []int32 // [switch] the last destination for which it was listed
	round       int32
	list        []fabric.NodeID // switches whose packets may hold something else, or wait for something else
	changed     []fabric.NodeID
	sender      []bool // [switch] it has sources
	p           *comparison
	dropped     bool   // packets are dropped at one of changed
	why         []Loss // [switch]
}

func newSteps(before, now *tally, p *comparison) *steps {
	n := now.f.Switches()
	st := &steps{before: before, now: now, stamp: make([]int32, n), sender: make([]bool, n), p: p, why: make([]Loss, n)}
	for _, s := range now.d.senders {
		st.sender[s] = true
	}
	return st
}

// tree is the entries for one destination by some tables.
type tree struct {
	t    *tally
	row  []uint8
	root fabric.NodeID
}

// next is the trunk to which a switch forwards, and where it leads.
func (r *tree) next(s fabric.NodeID) exit {
	if s == r.root {
		return exit{fabric.None, fabric.None}
	}
	return r.t.d.exits.of(s, r.row[s])
}

// children is the switches that forward to a switch.
func (r *tree) children(s fabric.NodeID) iter.Seq[fabric.NodeID] {
	return func(yield func(fabric.NodeID) bool) {
		first, end := r.t.f.TrunksFrom(s)
		heads, back := r.t.f.Heads()[first:end], r.t.places.back[first:end]
		for i, from := range heads {
			if r.row[from] == back[i] && from != r.root && !yield(from) {
				return
			}
		}
	}
}

// passes says whether packets of any source leave a switch.
func (st *steps) passes(r *tree, s fabric.NodeID) bool {
	if st.sender[s] {
		return true
	}
	for c := range r.children(s) {
		if st.passes(r, c) {
			return true
		}
	}
	return false
}

// take counts a destination again if it can, and says so.
func (st *steps) take(lid fabric.LID) bool {
	was, d := st.before.d, st.now.d
	if d.allOn == 0 || !st.now.notes[lid].plain {
		return false
	}
	e := d.destined(lid)
	if e == nil || was.destined(lid).Switch != e.Switch || was.f.LastPort(was.destined(lid)) != d.f.LastPort(e) || st.p.levelsDiffer(lid) {
		return false
	}
	old := &tree{st.before, was.t.Forwarding.Row(lid), e.Switch}
	now := &tree{st.now, d.t.Forwarding.Row(lid), e.Switch}
	if now.row[e.Switch] != d.f.LastPort(e) || !st.find(old, now) {
		return false
	}
	for _, s := range st.list {
		if st.passes(old, s) {
			st.count(old, s, ^uint32(0))
		}
		if st.passes(now, s) {
			st.count(now, s, 1)
		}
	}
	return true
}

// lose counts who is cut off from a destination that take counted again; nil: nobody.
func (st *steps) lose(lid fabric.LID) *Verdict {
	d := st.now.d
	e := d.destined(lid)
	now := &tree{st.now, d.t.Forwarding.Row(lid), e.Switch}
	st.round++
	st.list = st.list[:0]
	for s, port := range now.row {
		if s := fabric.NodeID(s); s != now.root && d.exits.of(s, port).to == fabric.None {
			_, end := entry(d.f, s, port, e, d.f.LastPort(e))
			st.add(s)
			st.why[s] = Loss(end - lost)
		}
	}
	if len(st.list) == 0 {
		return nil
	}
	for i := 0; i < len(st.list); i++ {
		s := st.list[i]
		for c := range now.children(s) {
			st.add(c)
			st.why[c] = st.why[s]
		}
	}
	slices.Sort(st.list)
	v := &Verdict{Pairs: d.sources}
	if d.sends[d.f.Owner(lid)] {
		v.Pairs--
	}
	for _, s := range st.list {
		pairs := int64(0)
		for i := range d.groups[s] {
			pairs += int64(len(d.groups[s][i].from))
		}
		if pairs == 0 {
			v.Stray++
			continue
		}
		v.Unreachable += pairs
		v.Lost = append(v.Lost, Lost{s, lid, st.why[s], pairs})
	}
	return v
}

// find lists the switches of which packets may hold or wait for something else, and says whether all packets still arrive.
func (st *steps) find(old, now *tree) bool {
	st.round++
	st.list, st.changed, st.dropped = st.list[:0], st.changed[:0], false
	st.changed = addDiffering(old.row, now.row, st.changed)
	for _, m := range st.p.moved {
		if now.row[m.s] == m.in && old.row[m.s] == m.in {
			st.changed = append(st.changed, m.s)
		}
	}
	if len(st.changed)*8 > len(now.row) {
		return false
	}
	for _, s := range st.changed {
		st.add(s)
		at := s
		for range now.row { // it arrives, is dropped, or circles
			if at == now.root || at == fabric.None {
				break
			}
			at = now.next(at).to
		}
		if at != now.root && at != fabric.None {
			return false
		}
		st.dropped = st.dropped || at == fabric.None
		for _, r := range []*tree{old, now} {
			for c := range r.children(s) {
				st.add(c)
			}
			for u := r.next(s).to; u != fabric.None && !st.sender[u]; u = r.next(u).to {
				st.add(u)
			}
		}
	}
	return true
}

func (st *steps) add(s fabric.NodeID) {
	if st.stamp[s] != st.round {
		st.stamp[s] = st.round
		st.list = append(st.list, s)
	}
}

// count counts what the packets that leave a switch hold and wait for.
func (st *steps) count(r *tree, s fabric.NodeID, one uint32) {
	x := r.next(s)
	if x.trunk != fabric.None {
		r.t.add(x.trunk, r.next(x.to).trunk, r.t.d.allOn, one)
	}
}
