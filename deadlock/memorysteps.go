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
	passed      []bool          // [switch] packets of some source may leave it, else none does
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
	n := now.f.Switches()
	st := &steps{before: before, now: now, p: p, row: make([]uint8, n), stamp: make([]int32, n), sender: make([]bool, n), passed: make([]bool, n), why: make([]Loss, n)}
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

// next is the trunk to which a switch forwards, and where it leads.
func (r *tree) next(s fabric.NodeID) exit { return r.t.d.exits.of(s, r.row[s]) }

// children is the switches that forward to a switch.
func (r *tree) children(s fabric.NodeID) iter.Seq[fabric.NodeID] {
	return func(yield func(fabric.NodeID) bool) {
		first, end := r.t.f.TrunksFrom(s)
		heads, back := r.t.f.Heads()[first:end], r.t.places.back[first:end]
		for i, from := range heads {
			if r.row[from] == back[i] && !yield(from) {
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

// mark finds the switches that packets leave. Others may have many entries that lead to one another.
func (st *steps) mark(r *tree) {
	copy(st.passed, st.sender)
	exits, row, passed := r.t.d.exits, r.row, st.passed
	for _, s := range r.t.d.senders {
		for u := exits.of(s, row[s]).to; u != fabric.None && !passed[u]; u = exits.of(u, row[u]).to {
			passed[u] = true
		}
	}
}

// lanes is those of some lanes on which packets of any source leave a switch, as bits.
func (st *steps) lanes(r *tree, s fabric.NodeID, some uint16) uint16 {
	if !st.passed[s] {
		return 0
	}
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
	if e == nil || home.Switch != e.Switch || was.f.LastPort(home) != d.f.LastPort(e) || st.p.levelsDiffer(lid) {
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
	copy(st.row, old)
	leaving, coming := &tree{st.before, st.row}, &tree{st.now, st.row}
	st.mark(leaving)
	for _, s := range st.changed {
		st.row[s] = routing.NoPort
		st.count(leaving, s, old[s], ^uint32(0))
	}
	for _, s := range st.changed {
		st.count(coming, s, now[s], 1)
		st.row[s] = now[s]
	}
	return true
}

// count counts what packets hold and wait for since a switch, which has no entry, forwards them by a port.
func (st *steps) count(r *tree, s fabric.NodeID, port uint8, one uint32) {
	x := r.t.d.exits.of(s, port)
	if x.trunk == fabric.None {
		return
	}
	lanes := st.own(s)
	for c := range r.children(s) {
		if from := st.lanes(r, c, st.all); from != 0 {
			r.t.wait(r.next(c).trunk, x.trunk, from, one)
			lanes |= from
		}
	}
	for lanes != 0 {
		st.passed[x.to] = true
		next := r.next(x.to)
		r.t.add(x.trunk, next.trunk, lanes, one)
		if next.trunk == fabric.None {
			return
		}
		lanes &^= st.lanes(r, x.to, lanes) // on which others come there as well
		x = next
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
		if s != e.Switch && now.next(s).to == fabric.None {
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
		if now[m.s] == m.in && old[m.s] == m.in {
			st.changed = append(st.changed, m.s)
		}
	}
	if len(st.changed)*2 > len(now) {
		return false
	}
	r := &tree{st.now, now}
	for _, s := range st.changed {
		left := len(now)
		for ; s != root && s != fabric.None; s = r.next(s).to {
			if left--; left < 0 {
				return false
			}
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
