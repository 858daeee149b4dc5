package repair

import (
	"bytes"
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// shared is what the steps of a plan have in common.
type shared struct {
	o      Options
	f      *fabric.Fabric
	was    *history
	levels *levels
	dead   *deadRows
	gone   []fabric.LID // of endpoints in scope that are gone
	stale  []staleEntry
	turns  []acyclic.Dependency // of the trees for multicast
	doomed []bool               // [trunk] packets have to leave it, and no new entry uses it, between switches of one part; nil: there are none
	apart  []int32              // [switch] the part that it is in without these trunks
	lacks  []uint16             // [trunk] see lacking; nil: new entries may use all lanes

	entries int // number of entries for the LIDs in scope, which are fewer than the highest LID
	begun   int // number of steps begun, whether they became part of a plan or not

	// Most steps change few rows of those before. What all rows cause is counted once, and
	// for later tables only where a row differs.
	counted *routing.Forwarding // whose dependencies and pairs are counted; nil: of none yet
	uses    []int32             // [dependency, as numbering has them] how often packets cause it
	pairs   []int64             // [trunk] pairs in scope that pass it
	plain   *counter            // nil: of none yet, or not all packets are on lane 0
}

// mostUses is the largest number of possible dependencies that are counted: 64 MB. Beyond
// that every step reads all rows.
const mostUses = 16_000_000

func newShared(tables, was *routing.Tables, o Options) *shared {
	f := tables.Fabric
	sh := &shared{o: o, f: f, was: newHistory(f, was), levels: newLevels(tables, o), dead: newDeadRows(f)}
	sh.gone, sh.stale = sh.was.gone(f, o.Scope), staleEntries(tables, sh.was)
	for range o.Scope.LIDs(f) {
		sh.entries += f.Switches()
	}
	if tables.Multicast != nil {
		sh.turns = treeTurns(tables, newFlow(f, tables.Lanes.SL2VL, sh.levels).lanes)
	}
	return sh
}

// derive computes the graph and the loads from the tables in force.
func (s *step) derive(ctx context.Context) (err error) {
	n := numbering{s.f, fabric.ChannelID(s.flow.lanes)}
	add := func(yield func(in, out fabric.ChannelID)) { n.each(func(d int) bool { return s.uses[d] > 0 }, yield) }
	if n.dependencies() > mostUses {
		add = func(yield func(in, out fabric.ChannelID)) { err = s.readAll(ctx, yield) }
	} else if err := s.count(ctx, n.dependencies()); err != nil {
		return err
	}
	s.graph = acyclic.NewLanes(s.f, s.flow.lanes, s.besideTrees(add))
	switch {
	case err != nil:
		return err
	case s.graph == nil:
		return ErrLoop
	}
	return nil
}

// count goes on from the tables that are counted to those in force.
func (s *step) count(ctx context.Context, dependencies int) error {
	sh, last, now := s.shared, s.counted, s.before.Forwarding
	if last == nil {
		sh.uses, sh.pairs = make([]int32, dependencies), make([]int64, s.f.Trunks())
	}
	sh.counted = nil // if it is interrupted
	rows := []*routing.Forwarding{now}
	if last != nil {
		rows = append(rows, last)
	}
	if s.flow.plain && sh.plain == nil {
		sh.plain = newCounter(s.f, s.levels)
	}
	count := func(lid fabric.LID, times int32, load []int64) {
		if last != nil {
			s.countRow(last.Row(lid), lid, -times, load)
		}
		s.countRow(now.Row(lid), lid, times, load)
	}
	unlike := func(lid fabric.LID) bool { return last == nil || !bytes.Equal(now.Row(lid), last.Row(lid)) }
	same, times := newTwins(s.levels), make([]int32, s.f.TopLID()+1)
	err := s.eachSent(ctx, func(lid fabric.LID, gone bool) {
		switch {
		case !unlike(lid):
		case gone:
			count(lid, 1, nil)
		default:
			times[same.of(lid, rows...)]++
		}
	})
	for lid, n := range times {
		if n > 0 && err == nil {
			count(fabric.LID(lid), n, sh.pairs)
			err = ctx.Err()
		}
	}
	if err != nil {
		return err
	}
	sh.counted = now
	copy(s.load, sh.pairs)
	return nil
}

// countRow counts by times what packets of all sources cause by a row, in uses, and the pairs in
// load, unless that is nil.
func (s *step) countRow(row []uint8, lid fabric.LID, by int32, load []int64) {
	if !s.flow.plain || !s.plain.row(row, lid, homeOf(s.f, lid), by, s.uses, load) {
		s.flow.countRow(row, lid, by, s.uses, load)
	}
}

// readAll yields the dependencies of all rows, and adds up the loads.
func (s *step) readAll(ctx context.Context, yield func(in, out fabric.ChannelID)) error {
	s.flow.depend = func(in, out fabric.ChannelID) bool { yield(in, out); return true }
	return s.eachSent(ctx, func(lid fabric.LID, gone bool) {
		s.flow.begin(s.before.Forwarding.Row(lid), lid)
		s.flow.startAll()
		if !gone {
			s.flow.addLoad(s.load, 1)
		}
	})
}

// eachSent visits the LIDs in scope and those of hosts that are gone: packets to these are
// still sent for a while and go as far as the entries for them lead; and the host may come
// back. They are no load.
func (s *step) eachSent(ctx context.Context, visit func(lid fabric.LID, gone bool)) error {
	err := s.eachInScope(ctx, func(lid fabric.LID) { visit(lid, false) })
	if err != nil {
		return err
	}
	for _, lid := range s.gone {
		visit(lid, true)
	}
	return nil
}
