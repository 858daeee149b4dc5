package deadlock

import (
	"context"
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits/cdg"
)

// Escape is a proof for tables with groups whose dependencies have a cycle. It holds for
// switches that choose again as long as a packet waits, so that it leaves by whichever
// port of its group has space first; it does not hold for switches that keep to the port
// that they chose when the packet came in.
//
// Theory. J. Duato, IEEE TPDS 7(8), 1996, as for internal/adaptive/judge. The routing subfunction
// R' is not given here but found. A lane gets rank r if every packet that can hold it has
// a way on to a lane of a rank below r, or leaves the switches. Packets that cannot choose
// need it of the one port they have, and so do packets whose port a hash decides. A lane
// of the lowest rank held by a packet that can never move would be waited for by none of
// lower rank, so there is none. If some lanes get no rank, each of them can be filled with
// packets all of whose ways on lead to such lanes: no other R' would do either.
type Escape struct {
	Lanes int     // lanes are numbered 0 … Lanes-1
	Rank  []int32 // [trunk × Lanes + lane]; Unused for lanes that carry nothing

	// Choices counts the (switch, in-port, LID, service level) at which packets choose, and
	// Static those of them at which the static port alone is of lower rank.
	Choices, Static int64
	First           *EscapePort // the first at which it is not; nil: the static ports are an escape
}

// EscapePort is a port that is an escape where the static port is not.
type EscapePort struct {
	Switch   fabric.NodeID
	LID      fabric.LID
	In, Port uint8
}

// findEscape ranks lanes until no more get a rank; nil if some have none.
func (d *derivation) findEscape(ctx context.Context) (*Escape, error) {
	e := &escapeSearch{d: d, rank: make([]int32, len(d.inUse)*d.lanes)}
	left := 0
	for _, mask := range d.inUse {
		left += bits.OnesCount16(mask)
	}
	for v := range e.rank {
		e.rank[v] = unranked32
	}
	cdg.MarkUnused(e.rank, d.inUse, d.lanes)
	e.done = make([]bool, d.t.Fabric.TopLID()+1)
	for round := int32(0); left > 0; round++ {
		found, err := e.round(ctx, round)
		if err != nil {
			return nil, err
		}
		if found == 0 {
			return nil, nil
		}
		left -= found
	}
	proof := &Escape{Lanes: d.lanes, Rank: e.rank}
	w := newRelationWalker(d)
	for lid := range d.o.Scope.LIDs(d.t.Fabric) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.begin(lid)
		w.flows(func() { w.eachLevel(func() { proof.countStatic(w) }) })
	}
	return proof, nil
}

// unranked32 is the rank of a lane in use that has none yet: above all others.
const unranked32 = 1<<31 - 1

// escapeSearch is the state of findEscape.
type escapeSearch struct {
	d    *derivation
	rank []int32
	done []bool // [LID] all lanes that packets to it can hold have a rank
}

// escapeWorker looks at a part of the destinations.
type escapeWorker struct {
	*relationWalker
	stuck []bool // [trunk × lanes + lane] some packet that can hold it has no way on of lower rank
}

// round ranks the lanes that all packets can leave to lanes ranked before, and counts
// them.
func (e *escapeSearch) round(ctx context.Context, round int32) (int, error) {
	workers, err := eachDestination(ctx, e.d.t.Fabric, e.d.o, func() *escapeWorker {
		return &escapeWorker{newRelationWalker(e.d), make([]bool, len(e.rank))}
	}, func(w *escapeWorker, lid fabric.LID) {
		if e.done[lid] {
			return
		}
		e.done[lid] = true
		w.begin(lid)
		w.flows(func() { w.eachLevel(func() { e.look(w, lid) }) })
	})
	if err != nil {
		return 0, err
	}
	if e.d.t.Multicast != nil {
		newSpreader(e.d).markStuck(e.rank, workers[0].stuck)
	}
	found := 0
next:
	for v, r := range e.rank {
		if r != unranked32 {
			continue
		}
		for _, w := range workers {
			if w.stuck[v] {
				continue next
			}
		}
		e.rank[v] = round
		found++
	}
	return found, nil
}

// look marks the lanes that packets of a flow hold without a way on to a ranked lane.
func (e *escapeSearch) look(w *escapeWorker, lid fabric.LID) {
	for _, c := range w.trunks {
		on := w.waysOn(c)
		for m := w.lanes[c]; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros16(m)
			v := int(c)*e.d.lanes + lane
			if e.rank[v] == unranked32 {
				e.done[lid] = false
				w.stuck[v] = w.stuck[v] || !w.leaves(on, c, uint8(lane), e.rank, unranked32)
			}
		}
	}
}

// leaves reports whether packets on a lane of a trunk, whatever they are offered, can go on
// to a lane of a rank below a limit or leave the switches. Packets that are dropped
// leave too.
func (w *relationWalker) leaves(on *ways, c fabric.ChannelID, lane uint8, rank []int32, below int32) bool {
	any, all := on.stops, true
	for _, out := range on.trunks {
		if w.below(c, out, lane, rank, below) {
			any = true
		} else {
			all = false
		}
	}
	return all || on.choose && any
}

// below reports whether packets on a lane of a trunk go to a lane of a rank below a limit by
// another trunk, or are dropped.
func (w *relationWalker) below(c, out fabric.ChannelID, lane uint8, rank []int32, below int32) bool {
	next := w.nextLanes(c, out, 1<<lane)
	return next == 0 || rank[int(out)*w.d.lanes+bits.TrailingZeros16(next)] < below
}

// countStatic counts the choices of a flow at which the static port is the escape.
func (e *Escape) countStatic(w *relationWalker) {
	for _, c := range w.trunks {
		on := w.waysOn(c)
		if !on.choose {
			continue
		}
		in := w.f.Channel(c)
		for m := w.lanes[c]; m != 0; m &= m - 1 {
			lane := uint8(bits.TrailingZeros16(m))
			limit := e.Rank[int(c)*e.Lanes+int(lane)]
			e.Choices++
			if on.static == fabric.None && on.stops || on.static != fabric.None && w.below(c, on.static, lane, e.Rank, limit) {
				e.Static++
				continue
			}
			if e.First == nil {
				e.First = &EscapePort{Switch: in.To, LID: w.lid, In: in.ToPort}
				for _, out := range on.trunks {
					if w.below(c, out, lane, e.Rank, limit) {
						e.First.Port = w.f.Channel(out).FromPort
						break
					}
				}
			}
		}
	}
}
