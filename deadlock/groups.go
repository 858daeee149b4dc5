package deadlock

import "github.com/weft-fabric/weft/fabric"

// groupsWalker follows packets through a single set of tables in which switches choose among groups of ports, or
// the lane that a packet comes by decides the next (SL2VL maps by lane). Verify has one on each core; walker is its
// twin for all other tables.
type groupsWalker struct {
	*relationWalker
	sls     uint16  // service levels that the tables give out, as bits
	verdict Verdict // the counts
	pairs   []int64 // [switch] those to the destination at hand
	beside  []fate  // [switch] the worst that would become of packets to it from there, where there are no pairs
}

func newGroupsWalker(d *derivation) *groupsWalker {
	return &groupsWalker{relationWalker: newRelationWalker(d), pairs: make([]int64, d.f.Switches()), beside: make([]fate, d.f.Switches())}
}

func (w *groupsWalker) part() part {
	w.verdict.Dropped = w.dropped
	return part{matrix: w.matrix, same: w.same, inUse: w.inUse, sls: w.sls, verdict: &w.verdict}
}

// destination follows all packets to a LID, and adds up who reaches it, whatever the switches choose.
func (w *groupsWalker) destination(lid fabric.LID) {
	w.d.o.trim(&w.verdict.Lost) // so that the list does not grow with every destination
	w.begin(lid)
	clear(w.pairs)
	clear(w.beside)
	for i := range w.starts {
		if b := &w.starts[i]; b.sls != 0 {
			w.pairs[b.s] += b.pairs
		}
	}
	flows := 0
	w.flows(func() {
		if flows++; w.kind == ordered {
			w.lookBeside()
		}
	})
	if flows == 0 { // nobody sends
		w.kind, w.levels, w.sl = ordered, bit(0), 0
		w.search(0, 1)
		w.lookBeside()
	}
	w.countStarts()
	for s, why := range w.beside {
		if why == arrives {
			continue
		}
		w.verdict.Stray++
		if why == lost+fate(Circles) {
			w.lose(Lost{Switch: fabric.NodeID(s), LID: lid, Why: Circles})
		}
	}
}

// lookBeside looks what would become of packets of the flow at switches from which nobody sends any. Those that switches send
// themselves do not choose.
func (w *groupsWalker) lookBeside() {
	for s, pairs := range w.pairs {
		if pairs == 0 {
			place := w.place(0, fabric.NodeID(s), 0)
			w.searchFrom(place)
			w.beside[s] = max(w.beside[s], w.fates[place])
		}
	}
}

// countStarts adds up what became of the packets that are sent.
func (w *groupsWalker) countStarts() {
	row := w.d.t.Lanes.SLRow(w.lid)
	for i := range w.starts {
		b := &w.starts[i]
		w.sls |= bit(levelIn(row, b.g.rows[0])) // whatever the contract
		if b.why == lost+fate(NoAddress) && !w.d.unaddressable(b.g, w.lid, w.to) {
			continue // it can be sent to by another LID, or has been counted at its base LID
		}
		w.verdict.Pairs += b.pairs
		if b.why != arrives {
			w.lose(Lost{Switch: b.s, LID: w.lid, Why: Loss(b.why - lost), Pairs: b.pairs})
		}
	}
}

// lose counts pairs without a route. A switch circles packets to a LID once, however many kinds of sources it has.
func (w *groupsWalker) lose(l Lost) {
	w.verdict.Unreachable += l.Pairs
	list, fresh := withLost(w.verdict.Lost, l)
	if w.verdict.Lost = list; fresh && l.Why == Circles {
		w.verdict.Loops++
	}
}

// withLost is a list with further pairs, those of a switch to a LID that are lost alike together; fresh: there were none.
func withLost(list []Lost, l Lost) (all []Lost, fresh bool) {
	for i := len(list) - 1; i >= 0 && list[i].Switch == l.Switch && list[i].LID == l.LID; i-- {
		if list[i].Why == l.Why {
			list[i].Pairs += l.Pairs
			return list, false
		}
	}
	return append(list, l), true
}
