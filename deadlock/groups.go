package deadlock

import "github.com/weft-fabric/weft/fabric"

// groupsWalker follows packets through a single set of tables in which they have several ways on, or their lane
// decides the next.
type groupsWalker struct {
	*relationWalker
	verdict Verdict // the counts
}

func newGroupsWalker(d *derivation) *groupsWalker {
	return &groupsWalker{relationWalker: newRelationWalker(d)}
}

func (w *groupsWalker) part() part {
	w.verdict.Dropped = w.dropped
	return part{w.matrix, w.same, w.inUse, w.sls, &w.verdict}
}

// destination follows all packets to a LID, and adds up who reaches it, whatever the switches choose.
func (w *groupsWalker) destination(lid fabric.LID) {
	w.d.o.trim(&w.verdict.Lost)
	w.begin(lid)
	w.flows(func() {})
	for i := range w.starts {
		b := &w.starts[i]
		if b.why == lost+fate(NoAddress) && !w.d.unaddressable(b.g, w.lid, w.to) {
			continue // by another LID of the endpoint
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
		w.verdict.Lost = append(w.verdict.Lost, Lost{b.s, w.lid, why, b.pairs})
	}
}
