package deadlock

import (
	"iter"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// steps counts destinations again of which few entries changed, by these entries alone, where the service level
// decides the lane and no packet circles, before and after. Switches with another entry lose it one by one, and then get
// the new one, one by one; with each the packets come and go that leave the switch, and only they.
type steps struct {
	before, now *tally
	p           *comparison
	changed     []fabric.NodeID
	row         []uint8         // the entries in between
	sender      []bool          // [switch] it has sources
	passed      []uint64        // Memory.passed of the destination at hand
	levels      []uint8         // the service levels of the destination at hand; nil: all packets are on the same lanes
	answers     []uint16        // [group.index] those of answers to it, as bits; nil: they add none
	all         uint16          // the lanes that there are, as bits
	stamp       []int32         // [switch] the last destination for which it was listed
	round       int32           //
	list        []fabric.NodeID // switches that are cut off
	dropped     bool            // packets are dropped at one of changed
	why         []Loss          // [switch]
}

func newSteps(before, now *tally, p *comparison) *steps {
	n := now.d.f.Switches()
	st := &steps{before: before, now: now, p: p, row: make([]uint8, n), stamp: make([]int32, n), sender: make([]bool, n), why: make([]Loss, n)}
	for _, s := range now.d.senders {
		st.sender[s] = true
	}
	if st.all = now.d.allOn; st.all == 0 {
		st.all = 1<<now.d.lanes - 1
	}
	return st
}

// tree is the entries for one destination by some tables.
type tree struct {
	t   *tally
	row []uint8
}

// leads is where a switch forwards, None if to no switch, by which trunk, by its slot.
func (r *tree) leads(s fabric.NodeID, port uint8) (trunk int, to fabric.NodeID) {
	slots := r.t.slots
	if trunk = int(slots.trunk[s]) + int(port); trunk >= int(slots.trunk[s+1]) {
		return 0, fabric.None
	}
	return trunk, max(r.t.ends[trunk].to, fabric.None)
}

// next is where a switch forwards, and the slot of the trunk.
func (r *tree) next(s fabric.NodeID) (trunk int, to fabric.NodeID) { return r.leads(s, r.row[s]) }

// children is the switches that forward to a switch, and the slots of the trunks by which they do.
func (r *tree) children(s fabric.NodeID) iter.Seq2[fabric.NodeID, int] {
	return func(yield func(fabric.NodeID, int) bool) {
		slots := r.t.slots
		ends := r.t.ends[slots.trunk[s]:slots.trunk[s+1]]
		for i := range ends {
			from, by := ends[i].to, ends[i].back
			if from >= 0 && r.row[from] == by && !yield(from, int(slots.trunk[from])+int(by)) {
				return
			}
		}
	}
}

// own is the lanes, as bits, on which the sources on a switch send to the destination.
func (st *steps) own(s fabric.NodeID) uint16 {
	if !st.sender[s] {
		return 0
	}
	if st.levels == nil {
		return st.all
	}
	sls := uint16(0)
	for i := range st.now.d.groups[s] {
		g := &st.now.d.groups[s][i]
		sls |= bit(st.levels[g.rows[0]])
		if st.answers != nil {
			sls |= st.answers[g.index]
		}
	}
	return st.now.d.lanesOf(sls)
}

// passes reports whether packets of any source leave a switch. Others may have many entries that lead to one another.
func (st *steps) passes(s fabric.NodeID) bool { return st.passed[s/64]>>(s%64)&1 == 1 }

// lanes is those of some lanes on which packets of any source leave a switch, as bits.
func (st *steps) lanes(r *tree, s fabric.NodeID, some uint16) uint16 {
	switch {
	case !st.passes(s):
		return 0
	case st.levels == nil:
		return some
	}
	return st.come(r, s, some)
}

// come is those of some lanes on which packets of any source come to a switch or begin there, as bits.
func (st *steps) come(r *tree, s fabric.NodeID, some uint16) uint16 {
	found := st.own(s) & some
	if found == some {
		return found
	}
	for c := range r.children(s) {
		if found |= st.lanes(r, c, some&^found); found == some {
			break
		}
	}
	return found
}

// take counts a destination again if it can, and says so.
func (st *steps) take(lid fabric.LID) bool {
	was, d := st.before.d, st.now.d
	if !d.simple || d.droppedLevels != 0 || !st.now.notes[lid].plain {
		return false
	}
	e, home := d.destined(lid), was.destined(lid)
	if e == nil || home.Switch != e.Switch || was.f.LastPort(home) != d.f.LastPort(e) || st.p.homes[e.Switch] || st.p.levelsDiffer(lid) {
		return false
	}
	old, now := was.t.Forwarding.Row(lid), d.t.Forwarding.Row(lid)
	if old[e.Switch] != d.f.LastPort(e) || now[e.Switch] != d.f.LastPort(e) || !st.find(old, now, e.Switch) {
		return false
	}
	st.levels, st.answers = nil, nil
	if d.allOn == 0 {
		st.levels = d.t.Lanes.SLRow(lid)
		if d.answers[0] != nil {
			st.answers = d.answers[0].toGroups(d.t.Lanes.Row[d.f.Owner(lid)])
		}
	}
	st.passed = st.now.passedTo(lid)
	copy(st.row, old)
	st.p.m.exchange(st.p.moved)
	for _, s := range st.changed {
		st.row[s] = routing.NoPort
		st.count(&tree{st.before, st.row}, s, old[s], less)
	}
	st.p.m.exchange(st.p.moved)
	for _, s := range st.changed {
		st.count(&tree{st.now, st.row}, s, now[s], 1)
		st.row[s] = now[s]
	}
	return true
}

// count counts what packets hold and wait for since a switch, which has no entry, forwards them by a port, or what they did.
func (st *steps) count(r *tree, s fabric.NodeID, port uint8, one uint16) {
	trunk, to := r.leads(s, port)
	if to == fabric.None || !st.passes(s) {
		return
	}
	lanes := st.own(s)
	for c, by := range r.children(s) {
		if from := st.lanes(r, c, st.all); from != 0 {
			r.t.wait(by, port, from, one)
			lanes |= from
		}
	}
	for lanes != 0 {
		next, then := r.next(to)
		r.t.hold(trunk, lanes, one)
		if then != fabric.None {
			r.t.wait(trunk, r.row[to], lanes, one)
		}
		var others uint16 // of lanes, those on which others come there as well
		if one == less {
			others = st.come(r, to, lanes)
			if others == 0 && (lanes == st.all || st.come(r, to, st.all) == 0) {
				st.passed[to/64] &^= 1 << (to % 64)
			}
		} else {
			others = st.lanes(r, to, lanes)
			st.passed[to/64] |= 1 << (to % 64)
		}
		if then == fabric.None {
			return
		}
		lanes &^= others
		trunk, to = next, then
	}
}

// lose counts who is cut off from a destination that take counted again, to which packets were dropped at none but
// some switches; nil: nobody.
func (st *steps) lose(lid fabric.LID, at []fabric.NodeID) *Verdict {
	d := st.now.d
	e := d.destined(lid)
	now := &tree{st.now, d.t.Forwarding.Row(lid)}
	st.round++
	st.list = st.list[:0]
	for _, s := range at {
		if _, to := now.next(s); s != e.Switch && to == fabric.None {
			_, end := entry(d.f, s, now.row[s], e, d.f.LastPort(e))
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

// find lists the switches with other entries for a destination on one of them, and says whether no packet circles now.
func (st *steps) find(old, now []uint8, root fabric.NodeID) bool {
	st.changed, st.dropped = addDiffering(old, now, st.changed[:0]), false
	for _, m := range st.p.moved {
		if now[m.s] == m.port && old[m.s] == m.port {
			st.changed = append(st.changed, m.s)
		}
	}
	if len(st.changed)*2 > len(now) {
		return false
	}
	r := &tree{st.now, now}
	for _, s := range st.changed {
		left := len(now)
		for s != root && s != fabric.None {
			if left--; left < 0 {
				return false
			}
			_, s = r.next(s)
		}
		st.dropped = st.dropped || s == fabric.None
	}
	return true
}

func (st *steps) add(s fabric.NodeID) {
	if st.stamp[s] != st.round {
		st.stamp[s] = st.round
		st.list = append(st.list, s)
	}
}
