package deadlock

import "github.com/weft-fabric/weft/fabric"

// groupsWalker follows packets through a single set of tables in which switches choose among groups of ports, or
// the lane that a packet comes by decides the next (SL2VL maps by lane). Verify has one on each core; walker is its
// twin for all other tables.
type groupsWalker struct {
	*relationWalker
	verdict Verdict // the counts
}

func newGroupsWalker(d *derivation) *groupsWalker {
	return &groupsWalker{relationWalker: newRelationWalker(d)}
}

func (w *groupsWalker) part() part {
	w.verdict.Dropped = w.dropped
	return part{matrix: w.matrix, same: w.same, inUse: w.inUse, sls: w.sls, verdict: &w.verdict}
}

// destination follows all packets to a LID, and adds up who reaches it, whatever the switches choose.
func (w *groupsWalker) destination(lid fabric.LID) {
	w.d.o.trim(&w.verdict.Lost) // so that the list does not grow with every destination
	w.begin(lid)
	w.flows(func() {}) // nothing to do for each kind of packets
	for i := range w.starts {
		b := &w.starts[i]
		if b.why == lost+fate(NoAddress) && !w.d.unaddressable(b.g, w.lid, w.to) {
			continue // it can be sent to by another LID, or has been counted at its base LID
		}
		w.verdict.Pairs += b.pairs
		if b.why == arrives {
			continue
		}
		why := Loss(b.why - lost)
		if why == Circles {
			w.verdict.Loops++
		}
		w.verdict.Unreachable += b.pairs
		w.verdict.Lost = append(w.verdict.Lost, Lost{Switch: b.s, LID: w.lid, Why: why, Pairs: b.pairs})
	}
}
