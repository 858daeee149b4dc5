package repair

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// step is a step under construction.
type step struct {
	Step
	*shared
	before *routing.Tables // in force when the step begins
	flow   *flow
	graph  *acyclic.Lanes
	load   []int64 // [trunk] pairs in scope that pass it
	left   []Left
	later  []Left // of destinations that have moved: the next step leads packets there
}

// newStep begins with the tables in force and an empty graph.
func (sh *shared) newStep(tables *routing.Tables) *step {
	sh.begun++
	s := &step{shared: sh, before: tables, flow: sh.newFlow(tables), load: make([]int64, sh.f.Trunks())}
	s.flow.depend = func(in, out fabric.ChannelID) bool { return true }
	s.Tables = &routing.Tables{Fabric: s.f, Forwarding: sh.entriesOf(tables), Lanes: tables.Lanes, Multicast: tables.Multicast}
	return s
}

// entries is a copy of forwarding tables without what their path finder said of them, which
// need not hold of a step's.
func entries(f *fabric.Fabric, from *routing.Forwarding) *routing.Forwarding {
	fw := routing.NewForwarding(f)
	for lid := range f.TopLID() + 1 {
		copy(fw.Row(lid), from.Row(lid))
	}
	return fw
}

// eachInScope visits the LIDs of the endpoints in scope.
func (s *step) eachInScope(ctx context.Context, visit func(fabric.LID)) error {
	for lid := range s.o.Scope.LIDs(s.f) {
		if err := ctx.Err(); err != nil {
			return err
		}
		visit(lid)
	}
	return nil
}

// mend mends every destination in scope as far as possible, and those out of scope with
// them. If some are left, and orders, it tries other orders.
func (s *step) mend(ctx context.Context, orders bool) error {
	m := newMender(s)
	load := slices.Clone(s.load)
	if err := m.inOrder(ctx, nil); err != nil {
		return err
	}
	if orders && len(s.left) > 0 {
		if err := m.otherOrders(ctx, load); err != nil {
			return err
		}
	}
	s.left = append(s.left, s.later...)
	if s.Mended == 0 {
		return nil
	}
	return m.followOutside(ctx)
}

// history is the lengths of paths before the failure.
type history struct {
	tables *routing.Tables // nil: not known
	same   []fabric.NodeID // [switch] the switch in the fabric of tables, or None
}

// unknown stands for the hops of a path that there is not.
const unknown = -1

func newHistory(f *fabric.Fabric, was *routing.Tables) *history {
	h := &history{tables: was}
	if was == nil {
		return h
	}
	h.same = make([]fabric.NodeID, f.Switches())
	for s := range h.same {
		h.same[s] = was.Fabric.NodeByGUID(f.Node(fabric.NodeID(s)).GUID)
	}
	return h
}

// gone is the LIDs of endpoints in scope that fabric f no longer has.
func (h *history) gone(f *fabric.Fabric, scope routing.Scope) []fabric.LID {
	if h.tables == nil {
		return nil
	}
	var list []fabric.LID
	for lid := range scope.LIDs(h.tables.Fabric) {
		if lid > f.TopLID() {
			break
		}
		if homeOf(f, lid) == fabric.None {
			list = append(list, lid)
		}
	}
	return list
}

// had is the hops of the path that a switch had to a LID; unknown if there was none.
func (h *history) had(s fabric.NodeID, lid fabric.LID) int32 {
	if h.tables == nil || h.same[s] == fabric.None || lid > h.tables.Fabric.TopLID() {
		return unknown
	}
	f := h.tables.Fabric
	owner := f.Owner(lid)
	if owner == fabric.None || f.Endpoint(owner).Switch == fabric.None {
		return unknown
	}
	at, home, row := h.same[s], f.Endpoint(owner).Switch, h.tables.Forwarding.Row(lid)
	for hops := range int32(f.Switches()) {
		if at == home {
			return hops
		}
		c := f.Trunk(at, row[at])
		if c == fabric.None {
			break
		}
		at = f.Heads()[c]
	}
	return unknown
}
