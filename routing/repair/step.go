package repair

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/acyclic"
)

// step is a step under construction.
type step struct {
	Step
	o      Options
	f      *fabric.Fabric
	before *routing.Tables // in force when the step begins
	was    *history
	levels *levels
	flow   *flow
	graph  *acyclic.Lanes
	load   []int64 // [trunk] pairs in scope that pass it
	left   []Left
	onward []bool // [switch × 256 + port] a trunk is at the port
}

// newStep begins with the tables in force and an empty graph.
func newStep(tables, was *routing.Tables, o Options) *step {
	f := tables.Fabric
	s := &step{o: o, f: f, before: tables, was: newHistory(f, was), levels: newLevels(tables, o), load: make([]int64, f.Trunks())}
	s.flow = newFlow(f, tables.Lanes.SL2VL, s.levels)
	s.flow.depend = func(in, out fabric.ChannelID) bool { return true }
	fw := routing.NewForwarding(f)
	for lid := range f.TopLID() + 1 {
		copy(fw.Row(lid), tables.Forwarding.Row(lid))
	}
	s.Tables = &routing.Tables{Fabric: f, Forwarding: fw, Lanes: tables.Lanes}
	s.onward = make([]bool, f.Switches()<<8)
	for c := range fabric.ChannelID(f.Trunks()) {
		from := f.Channel(c)
		s.onward[int(from.From)<<8|int(from.FromPort)] = true
	}
	return s
}

// hasDead says whether any switch but that of the owner has a dead entry for a LID in force.
// Most rows have none after most failures, and need not be looked at any further.
func (s *step) hasDead(lid fabric.LID, home fabric.NodeID) bool {
	for at, port := range s.before.Forwarding.Row(lid) {
		if !s.onward[at<<8|int(port)] && fabric.NodeID(at) != home {
			return true
		}
	}
	return false
}

// derive computes the graph and the loads from the tables in force.
func (s *step) derive(ctx context.Context) error {
	f, tables := s.f, s.before
	var err error
	s.graph = acyclic.NewLanes(f, s.flow.lanes, func(yield func(in, out fabric.ChannelID)) {
		s.flow.depend = func(in, out fabric.ChannelID) bool { yield(in, out); return true }
		err = s.eachInScope(ctx, func(lid fabric.LID) {
			s.flow.begin(tables.Forwarding.Row(lid), lid)
			s.flow.startAll(s.load)
		})
		// Packets to a host that is gone are still sent for a while and go as far as the
		// entries for it lead; and the host may come back.
		for _, lid := range s.was.gone(s.f, s.o.Scope) {
			s.flow.begin(tables.Forwarding.Row(lid), lid)
			s.flow.startAll(nil)
		}
	})
	switch {
	case err != nil:
		return err
	case s.graph == nil:
		return ErrLoop
	}
	return nil
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
// them.
func (s *step) mend(ctx context.Context) error {
	m := newMender(s)
	err := s.eachInScope(ctx, func(lid fabric.LID) {
		m.destination(lid, s.Tables.Forwarding.Row(lid))
	})
	if err != nil || s.Mended == 0 {
		return err
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
		if e := f.Owner(lid); e == fabric.None || f.Endpoint(e).Switch == fabric.None {
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
		c := f.Out(at, row[at])
		if c == fabric.None || int(c) >= f.Trunks() {
			break
		}
		at = f.Heads()[c]
	}
	return unknown
}
