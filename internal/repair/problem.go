package repair

import (
	"bytes"
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// problem is what the steps of a plan have in common: the network as it is now, what was before, and what is
// counted of the tables of the last step. Mend, Migrate and Leave make one each.
type problem struct {
	o           Options
	f           *fabric.Fabric
	was         *history
	sources     *packetset.Sources
	dead        *deadRows
	gone        []fabric.LID         // of endpoints in scope that are gone
	stale       []staleEntry         // see staleEntries
	turns       []acyclic.Dependency // of the trees for multicast
	doomed      []bool               // [trunk] packets have to leave it, and no new entry uses it, where mustLeave says so; nil: there are none
	partWithout []int32              // [switch] the part that it is in without the cables of these trunks
	lacks       []uint16             // [trunk] see lacking; nil: new entries may use all lanes

	entries  int // number of entries for the LIDs in scope, which are fewer than the highest LID
	attempts int // number of attempts begun, whether they became part of a plan or not

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

// newProblem is for tables in force as they act on the live cables; was, the tables before the failure, may be nil.
func newProblem(tables, was *routing.Tables, o Options) *problem {
	f := tables.Fabric
	if !o.Gentle {
		o.Needed = o.Scope
	}
	p := &problem{o: o, f: f, was: newHistory(f, was), sources: packetset.NewSources(tables, o.Contract, o.Scope, 0)}
	p.dead = newDeadRows(f, newEmptyEntries(f, p.was, o.Needed))
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

// eachSent visits the LIDs in scope and those of hosts that are gone: packets to the latter are
// still sent for a while and go as far as the entries for them lead; and the host may come
// back. These packets are in the graph, but not in the load.
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

// derive sets the graph and the loads of an attempt by the tables before its step. It fails with ErrLoop if these
// have a cycle of dependencies.
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

// count sets uses and pairs to what the tables now cause: from those counted before, by the rows that differ, or
// from none. dependencies is how many numbers dependencies have.
func (p *problem) count(ctx context.Context, now *routing.Forwarding, dependencies int) error {
	last := p.counted
	if last == nil {
		p.uses, p.pairs = make([]int32, dependencies), make([]int64, p.f.Trunks())
	}
	p.counted = nil // if it is interrupted, nothing is counted
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
	seen, times := newTwins(p), make([]int32, p.f.TopLID()+1) // times: [LID] itself and its twins, if it has no earlier one
	err := p.eachSent(ctx, func(lid fabric.LID, gone bool) {
		switch {
		case last != nil && bytes.Equal(now.Row(lid), last.Row(lid)):
		case gone:
			count(lid, 1, nil)
		default:
			times[seen.of(lid, rows...)]++
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

// readAll yields the dependencies that all rows before the step cause, and adds to load.
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
