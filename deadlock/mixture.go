package deadlock

import (
	"context"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// MixtureVerdict is what VerifyMixture found.
type MixtureVerdict struct {
	Contract routing.Contract
	Scope    routing.Scope

	Pairs   int64   // ordered (source endpoint, destination LID) in scope that some of the tables use
	Cut     []int64 // [tables] pairs of them that those tables alone do not deliver
	Exposed int64   // pairs that the last tables deliver and some mixture does not: they can be cut off for a while
	Circles int64   // destination LIDs whose packets can circle in some mixture
	Dropped int64   // turns at which an SL in use is mapped to VL 15 in some mixture
	Lost    []Lost  // the first of the exposed pairs, at most 20

	Multicast *MulticastVerdict // nil: none of the tables says anything of multicast, and the verdict is not about it

	SelfCables bool // some tables send packets by a cable from a switch to itself, which are outside of the verdict

	Dependencies int // distinct dependencies between lanes of trunks, of all mixtures
	VLs          int // lanes that carry traffic in some mixture (at least 1)

	Certificate *Certificate  // nil if there is a credit loop
	Cycle       []MixtureStep // a shortest credit loop, nil if there is none
}

// Free reports whether no mixture can deadlock.
func (v *MixtureVerdict) Free() bool { return v.Certificate != nil }

// Outside lists whose traffic the verdict does not cover.
func (v *MixtureVerdict) Outside() []string {
	return (&Verdict{Scope: v.Scope, SelfCables: v.SelfCables, Multicast: v.Multicast}).Outside()
}

// MixtureStep is a step of a credit loop with the mixture that causes it.
type MixtureStep struct {
	LoopStep
	Way []TableChoice // the switches that the packet passes, from its source to the switch where the two trunks meet
}

// TableChoice says by which of the tables a switch forwards a packet. Where several of them agree it is the first.
type TableChoice struct {
	Switch  fabric.NodeID
	Port    uint8 // by which the packet leaves
	Entry   int   // index of the tables whose entry it follows
	Private int   // index of the tables that say in which private table that is
	Group   int   // index of the tables that say which ports the entry's group has; -1: the packet takes the static port
	Map     int   // index of the tables whose SL2VL map it follows
}

// VerifyMixture judges what a network goes through while it changes from some tables to
// others. No subnet manager writes all switches at once: at each switch the entry for a
// LID may be that of any of the tables at any time, and so may the SL2VL map; a source
// may use the service level of any of them. All tables are for the same fabric: the
// cables that are live during the change (see package transition for tables of another
// fabric).
//
// The dependencies of all mixtures together are one graph. If it has no cycle, no order
// of writes can deadlock, however late a packet or a write is: a packet that was sent
// under the first tables holds only lanes of the graph, and so does one that met any
// mixture on its way. (The union of two routing functions as the condition for changing
// from one to the other: T. M. Pinkston, R. Pang, J. Duato: Deadlock-Free Dynamic
// Reconfiguration Schemes for Increased Network Dependability, IEEE TPDS 14(8), 2003;
// O. Lysne et al.: An Efficient and Deadlock-Free Network Reconfiguration Protocol,
// IEEE Trans. Computers 57(6), 2008.) The graph allows any entry at each visit: a
// packet that passes a switch twice may find two different entries there. So the graph
// contains all that can happen, and perhaps more: the verdict may report a loop that
// cannot occur, but never misses one.
//
// A switch copies packets of a multicast group by the ports that the tree of any of the
// tables has there.
//
// With a single set of tables VerifyMixture agrees with Verify. Complexity: O(K·D·S)
// for K tables, D destination LIDs and S switches, and as Verify for the rest.
func VerifyMixture(ctx context.Context, tables []*routing.Tables, o Options) (*MixtureVerdict, error) {
	if o.Memory.take() {
		defer o.Memory.release()
	} else {
		o.Memory = nil
	}
	d, v, err := deriveMixture(ctx, tables, o)
	if err != nil {
		return nil, err
	}
	g := d.graph()
	v.Dependencies = g.Count()
	rank, free := o.Memory.rank(g, false)
	if free {
		v.Certificate = certify(rank, 0, d.inUse, d.lanes, o)
	} else {
		v.Cycle = witness(g.ShortestCycle(rank), d.lanes, d.causeOfMixture())
	}
	return v, nil
}

// CheckMixture re-checks a proof of VerifyMixture, without any search for cycles.
// The error is a *Violation where it does not hold.
func CheckMixture(ctx context.Context, tables []*routing.Tables, c *Certificate, p routing.Progress) (*MixtureVerdict, error) {
	d, v, err := deriveMixture(ctx, tables, Options{Contract: c.Contract, Scope: c.Scope, Progress: p})
	if err != nil {
		return nil, err
	}
	g := d.graph()
	if err := c.holds(g, d.inUse); err != nil {
		return nil, err
	}
	v.Dependencies, v.Certificate = g.Count(), c
	return v, nil
}

// deriveMixture follows packets by all mixtures of tables, and counts what becomes of them.
func deriveMixture(ctx context.Context, tables []*routing.Tables, o Options) (*derivation, *MixtureVerdict, error) {
	d, err := newDerivation(tables, true, o)
	if err != nil {
		return nil, nil, err
	}
	var as func(fabric.LID) bool // a destination is as by the first tables alone, of which all is known
	if o.Memory != nil {
		if as, err = o.Memory.under(ctx, d); err != nil {
			return nil, nil, err
		}
	}
	walkers, err := eachDestination(ctx, d.f, o, func() *mixtureWalker { return newMixtureWalker(d) }, func(w *mixtureWalker, lid fabric.LID) {
		if as == nil || !as(lid) {
			w.destination(lid)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	v := &MixtureVerdict{Contract: o.Contract, Scope: o.Scope, Cut: make([]int64, len(tables))}
	parts := make([]part, len(walkers))
	for i, w := range walkers {
		parts[i] = part{matrix: w.matrix, same: w.same, inUse: w.inUse}
		v.add(&w.verdict)
		v.Dropped += w.dropped
	}
	d.merge(parts)
	if as != nil {
		o.Memory.addTo(d, v, as)
	}
	v.SelfCables = slices.ContainsFunc(tables, overSelfCables)
	v.Multicast = d.addMulticast()
	v.Lost = firstLost(v.Lost, o.maxLost())
	mask := uint16(0)
	for _, lanes := range d.inUse {
		mask |= lanes
	}
	v.VLs = max(1, bits.OnesCount16(mask))
	return d, v, nil
}

// add adds what was counted of a part of the destinations.
func (v *MixtureVerdict) add(w *MixtureVerdict) {
	v.Pairs += w.Pairs
	v.Exposed += w.Exposed
	v.Circles += w.Circles
	for i, n := range w.Cut {
		v.Cut[i] += n
	}
	v.Lost = append(v.Lost, w.Lost...)
}

// mixtureWalker follows packets by every mixture of several tables.
type mixtureWalker struct {
	*relationWalker
	verdict MixtureVerdict // the counts
}

func newMixtureWalker(d *derivation) *mixtureWalker {
	return &mixtureWalker{newRelationWalker(d), MixtureVerdict{Cut: make([]int64, len(d.tables))}}
}

// destination follows all packets to a LID, and adds up who reaches it by which of the tables.
func (w *mixtureWalker) destination(lid fabric.LID) {
	w.d.o.trim(&w.verdict.Lost)
	w.begin(lid)
	w.starts = slices.DeleteFunc(w.starts, func(b start) bool { return b.sls == 0 })
	w.flows(func() {})
	if w.circles {
		w.verdict.Circles++
	}
	k := len(w.d.tables)
	for n := range w.starts {
		b := &w.starts[n]
		w.verdict.Pairs += b.pairs
		alone := w.alone[n*k:][:k]
		if !w.differ {
			for i := range alone {
				alone[i] = b.why
			}
		}
		why := NoEntry // by a mixture only
		for i, end := range slices.Backward(alone) {
			if end != arrives {
				w.verdict.Cut[i] += b.pairs
				why = Loss(end - lost)
			}
		}
		if alone[k-1] == arrives && b.why != arrives {
			w.verdict.Exposed += b.pairs
			w.verdict.Lost, _ = withLost(w.verdict.Lost, Lost{b.s, lid, why, b.pairs})
		}
	}
}
