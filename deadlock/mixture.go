package deadlock

import (
	"context"
	"errors"
	"fmt"
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

	Dependencies int // distinct dependencies between lanes of trunks, of all mixtures
	VLs          int // lanes that carry traffic in some mixture (at least 1)

	Certificate *Certificate  // nil if there is a credit loop
	Cycle       []MixtureStep // a shortest credit loop, nil if there is none
}

// Free says whether no mixture can deadlock.
func (v *MixtureVerdict) Free() bool { return v.Certificate != nil }

// MixtureStep is a step of a credit loop with the mixture that causes it.
type MixtureStep struct {
	LoopStep
	Way []TableChoice // the switches that the packet passes, from its source to the switch where the two trunks meet
}

// TableChoice says by which of the tables a switch forwards a packet.
type TableChoice struct {
	Switch fabric.NodeID
	Entry  int // index of the tables whose entry it follows; the first of those that agree
	Map    int // index of the tables whose SL2VL map it follows, likewise
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
	m, err := newMixture(ctx, tables, o)
	if err != nil {
		return nil, err
	}
	v, g := m.verdict, m.graph()
	v.Dependencies = g.count()
	rank, free := g.rank()
	if free {
		v.Certificate = certify(rank, m.inUse, m.lanes, o)
	} else {
		v.Cycle = witness(g.shortestCycle(rank), m.lanes, m.causeOf())
	}
	return v, nil
}

// CheckMixture re-checks a proof of VerifyMixture, without any search for cycles.
// The error is a *Violation where it does not hold.
func CheckMixture(ctx context.Context, tables []*routing.Tables, c *Certificate, p routing.Progress) (*MixtureVerdict, error) {
	m, err := newMixture(ctx, tables, Options{Contract: c.Contract, Scope: c.Scope, Progress: p})
	if err != nil {
		return nil, err
	}
	g := m.graph()
	if err := c.holds(g, m.inUse); err != nil {
		return nil, err
	}
	m.verdict.Dependencies, m.verdict.Certificate = g.count(), c
	return m.verdict, nil
}

// mixture is what the judge derives from several tables together.
type mixture struct {
	f       *fabric.Fabric
	tables  []*routing.Tables
	o       Options
	fixed   uint16            // service levels to follow, as bits, where the contract alone decides them; else 0
	allowed uint16            // the service levels that the contract then allows
	groups  [][]group         // [switch] the sources on it
	copies  uint16            // lanes whose traffic equals that of the one lane that is followed, as bits, that lane included; 0: all lanes are followed
	answers []*answers        // [tables] nil where answers add no service levels
	byLane  []uint16          // [switch] service levels on which any of the tables look up lanes by lanes, as bits; nil: none
	maps    *laneMaps[uint16] // lanes as bits, with dropLane for service levels that are dropped
	lanes   int               // lanes are 0 … lanes-1
	matrix  []uint64          // [turn × words + …] which lane waits for which, lanes × lanes bits
	inUse   []uint16          // [trunk] lanes that carry something
	verdict *MixtureVerdict
}

func newMixture(ctx context.Context, tables []*routing.Tables, o Options) (*mixture, error) {
	if len(tables) == 0 {
		return nil, fmt.Errorf("deadlock: a mixture of no tables")
	}
	m := &mixture{f: tables[0].Fabric, tables: tables, o: o, answers: make([]*answers, len(tables))}
	ignored := true
	for _, t := range tables {
		if t.Fabric != m.f {
			return nil, fmt.Errorf("deadlock: a mixture of tables for different fabrics")
		}
		if t.Groups != nil {
			return nil, errors.New("deadlock: a change of tables with groups of ports cannot be judged")
		}
		if err := t.Check(); err != nil {
			return nil, err
		}
		m.lanes = max(m.lanes, laneCount(t))
		ignored = ignored && t.Lanes.SL2VL.IgnoresSL()
	}
	m.byLane = levelsByLane(tables)
	m.groups = groupSources(o.Scope, tables...)
	for i, t := range tables {
		if o.Contract.EitherWay() && !ignored {
			m.answers[i] = newAnswers(t, m.groups)
		}
	}
	used := uint16(0)
	if mask, fixed := o.Contract.FixedMask(); fixed {
		m.fixed, m.allowed = mask, mask
		m.copies = copiesOf(tables, mask)
		if ignored || m.copies != 0 {
			m.fixed &= -m.fixed // the lowest stands for all
		}
		used = m.fixed
	} else {
		for _, t := range tables {
			used |= t.Levels()
		}
	}
	m.maps = newLaneMaps(m.f, used, m.groups, func(s fabric.NodeID, in, out, sl uint8) uint16 {
		return mapped(tables, s, in, out, sl, 0) // not read where switches look at lanes: mixtureWalker.turn asks for each lane
	})
	walkers, err := eachDestination(ctx, m.f, o, func() *mixtureWalker { return newMixtureWalker(m) }, (*mixtureWalker).destination)
	if err != nil {
		return nil, err
	}
	m.merge(walkers)
	return m, nil
}

// merge adds up what the walkers saw, each of them a part of the destinations.
func (m *mixture) merge(walkers []*mixtureWalker) {
	first := walkers[0]
	m.matrix, m.inUse, m.verdict = first.matrix, first.inUse, &first.verdict
	v := m.verdict
	for _, w := range walkers[1:] {
		unite(m.matrix, w.matrix)
		unite(m.inUse, w.inUse)
		v.Pairs += w.verdict.Pairs
		v.Exposed += w.verdict.Exposed
		v.Circles += w.verdict.Circles
		v.Dropped += w.verdict.Dropped
		for i, n := range w.verdict.Cut {
			v.Cut[i] += n
		}
		v.Lost = append(v.Lost, w.verdict.Lost...)
	}
	m.copyLanes()
	m.addMulticast()
	v.Contract, v.Scope = m.o.Contract, m.o.Scope
	v.Lost = firstLost(v.Lost, m.o.maxLost())
	mask := uint16(0)
	for _, lanes := range m.inUse {
		mask |= lanes
	}
	v.VLs = max(1, bits.OnesCount16(mask))
}

// copiesOf is the lanes of some service levels, as bits, if every source may use all of
// them and each level stays on its lane: the packets on one lane then travel exactly
// like those on any other. It is 0 if they do not, or if some are dropped.
func copiesOf(tables []*routing.Tables, sls uint16) uint16 {
	first, uniform := tables[0].Lanes.SL2VL.Uniform()
	for _, t := range tables[1:] {
		lane, ok := t.Lanes.SL2VL.Uniform()
		uniform = uniform && ok && lane == first
	}
	if !uniform {
		return 0
	}
	lanes := uint16(0)
	for ; sls != 0; sls &= sls - 1 {
		lanes |= 1 << min(first[bits.TrailingZeros16(sls)], dropLane)
	}
	if lanes>>dropLane != 0 {
		return 0
	}
	return lanes
}

// copyLanes gives every lane of copies the dependencies of the one that was followed.
func (m *mixture) copyLanes() {
	if m.copies == 0 {
		return
	}
	for i, lanes := range m.inUse {
		if lanes != 0 {
			m.inUse[i] = m.copies
		}
	}
	words := wordsPerTurn(m.lanes)
	for i := 0; i < len(m.matrix); i += words {
		turn := m.matrix[i : i+words]
		if !slices.ContainsFunc(turn, func(w uint64) bool { return w != 0 }) {
			continue
		}
		for lanes := m.copies; lanes != 0; lanes &= lanes - 1 {
			vl := uint8(bits.TrailingZeros16(lanes))
			setBit(turn, m.lanes, vl, vl)
		}
	}
}

func (m *mixture) graph() *graph { return &graph{f: m.f, lanes: m.lanes, matrix: m.matrix} }
