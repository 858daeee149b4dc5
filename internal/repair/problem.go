package repair

import (
	"bytes"
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// problem is what the steps of a plan have in common.
type problem struct {
	o       Options
	f       *fabric.Fabric
	was     *history
	sources *packetset.Sources
	dead    *deadRows
	gone    []fabric.LID // of endpoints in scope that are gone
	stale   []staleEntry
	turns   []acyclic.Dependency // of the trees for multicast
	doomed  []bool               // [trunk] packets have to leave it, and no new entry uses it, between switches of one part; nil: there are none
	apart   []int32              // [switch] the part that it is in without these trunks
	lacks   []uint16             // [trunk] see lacking; nil: new entries may use all lanes

	entries int // number of entries for the LIDs in scope, which are fewer than the highest LID
	begun   int // number of steps begun, whether they became part of a plan or not

	// Most steps change few rows of those before. What all rows cause is counted once, and
	// for later tables only where a row differs.
	counter *packetset.Counter
	counted *routing.Forwarding // whose dependencies and pairs are counted; nil: of none yet
	uses    []int32             // [dependency, as packetset numbers them] how often packets cause it
	pairs   []int64             // [trunk] pairs in scope that pass it
}

// mostUses is the largest number of possible dependencies that are counted: 64 MB. Beyond
// that every step reads all rows.
const mostUses = 16_000_000

func newProblem(tables, was *routing.Tables, o Options) *problem {
	f := tables.Fabric
	p := &problem{o: o, f: f, was: newHistory(f, was), sources: packetset.NewSources(tables, o.Contract, o.Scope, 0), dead: newDeadRows(f)}
	p.gone, p.stale, p.counter = p.was.gone(f, o.Scope), staleEntries(tables, p.was), packetset.NewCounter(p.sources)
	for range o.Scope.LIDs(f) {
		p.entries += f.Switches()
	}
	p.turns = treeTurns(tables, p.sources.Lanes)
	return p
}

// eachInScope visits the LIDs of the endpoints in scope.
func (p *problem) eachInScope(ctx context.Context, visit func(fabric.LID)) error {
	for lid := range p.o.Scope.LIDs(p.f) {
		if err := ctx.Err(); err != nil {
			return err
		}
		visit(lid)
	}
	return nil
}

// eachSent visits the LIDs in scope and those of hosts that are gone: packets to these are
// still sent for a while and go as far as the entries for them lead; and the host may come
// back. They are no load.
func (p *problem) eachSent(ctx context.Context, visit func(lid fabric.LID, gone bool)) error {
	err := p.eachInScope(ctx, func(lid fabric.LID) { visit(lid, false) })
	if err != nil {
		return err
	}
	for _, lid := range p.gone {
		visit(lid, true)
	}
	return nil
}

// derive computes the graph and the loads from the tables in force.
func (a *attempt) derive(ctx context.Context) (err error) {
	p, n := a.problem, a.packets.Dependencies()
	add := func(yield func(in, out fabric.ChannelID)) { n.Each(func(d int) bool { return p.uses[d] > 0 }, yield) }
	if n.Count() > mostUses {
		add = func(yield func(in, out fabric.ChannelID)) { err = a.readAll(ctx, yield) }
	} else if err := p.count(ctx, a.before.Forwarding, n.Count()); err != nil {
		return err
	} else {
		copy(a.load, p.pairs)
	}
	a.graph = &acyclic.Journal{Lanes: acyclic.NewLanes(a.f, p.sources.Lanes, p.withTrees(add))}
	switch {
	case err != nil:
		return err
	case a.graph.Lanes == nil:
		return ErrLoop
	}
	return nil
}

// count goes on from the tables that are counted to others.
func (p *problem) count(ctx context.Context, now *routing.Forwarding, dependencies int) error {
	last := p.counted
	if last == nil {
		p.uses, p.pairs = make([]int32, dependencies), make([]int64, p.f.Trunks())
	}
	p.counted = nil // if it is interrupted
	rows := []*routing.Forwarding{now}
	if last != nil {
		rows = append(rows, last)
	}
	count := func(lid fabric.LID, times int32, load []int64) {
		if last != nil {
			p.counter.Count(last.Row(lid), lid, -times, p.uses, load)
		}
		p.counter.Count(now.Row(lid), lid, times, p.uses, load)
	}
	same, times := newTwins(p), make([]int32, p.f.TopLID()+1)
	err := p.eachSent(ctx, func(lid fabric.LID, gone bool) {
		switch {
		case last != nil && bytes.Equal(now.Row(lid), last.Row(lid)):
		case gone:
			count(lid, 1, nil)
		default:
			times[same.of(lid, rows...)]++
		}
	})
	for lid, n := range times {
		if n > 0 && err == nil {
			count(fabric.LID(lid), n, p.pairs)
			err = ctx.Err()
		}
	}
	if err == nil {
		p.counted = now
	}
	return err
}

// readAll yields the dependencies of all rows, and adds up the loads.
func (a *attempt) readAll(ctx context.Context, yield func(in, out fabric.ChannelID)) error {
	return a.problem.eachSent(ctx, func(lid fabric.LID, gone bool) {
		row := a.before.Forwarding.Row(lid)
		a.packets.Begin(row, lid)
		a.packets.Start(func(in, out fabric.ChannelID) bool { yield(in, out); return true })
		if !gone {
			a.problem.counter.Count(row, lid, 1, nil, a.load)
		}
	})
}
