package judge

import (
	"iter"
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
)

// laneKinds groups the lanes that some packets may use.
//
// Two lanes are alike if they have the same choices, lead to the same lanes, and can be
// reached from the same lanes. A packet that can hold one of them on a trunk can then
// hold the others there, and has the same ways on. The lowest lane of a group stands
// for all of them. Which lanes it relies on may still differ within a group.
type laneKinds struct {
	t        *adaptive.Tables
	separate bool     // never group lanes
	relied   uint16   // lanes of the routing subfunction that are allowed at the source
	allowed  uint16   // lanes that the packets may use, as bits
	leads    uint16   // the lowest lane of each group of the allowed lanes, as bits
	alike    []uint16 // [lane] the lanes of its group, itself included, as bits
}

// newLaneKinds begins with no lane allowed. If apart, lanes are not grouped into kinds.
func newLaneKinds(t *adaptive.Tables, apart bool) laneKinds {
	k := laneKinds{t: t, separate: apart, alike: make([]uint16, len(t.Lanes))}
	for _, l := range t.Lanes {
		k.relied |= l.Rely
	}
	return k
}

// allow makes some lanes, as bits, the allowed ones, and finds their groups.
func (k *laneKinds) allow(allowed uint16) {
	if allowed == k.allowed {
		return
	}
	k.allowed, k.leads = allowed, 0
	for l := range lanesIn(allowed) {
		k.alike[l] = 0
		for lead := range lanesIn(k.leads) {
			if k.areAlike(lead, l) {
				k.alike[lead] |= 1 << l
				k.alike[l] = 1 << lead
			}
		}
		if k.alike[l] == 0 {
			k.alike[l] = 1 << l
			k.leads |= 1 << l
		}
	}
	for l := range lanesIn(allowed) {
		k.alike[l] = k.alike[bits.TrailingZeros16(k.alike[l])]
	}
}

// areAlike reports whether two allowed lanes are of one group.
func (k *laneKinds) areAlike(x, y uint8) bool {
	a, b := &k.t.Lanes[x], &k.t.Lanes[y]
	if k.separate || a.Choices != b.Choices || (a.Next^b.Next)&k.allowed != 0 {
		return false
	}
	for l := range lanesIn(k.allowed) {
		if next := k.t.Lanes[l].Next; next>>x&1 != next>>y&1 {
			return false
		}
	}
	return true
}

// lead is the lane that stands for the group of lane l.
func (k *laneKinds) lead(l uint8) uint8 { return uint8(bits.TrailingZeros16(k.alike[l])) }

// lanesIn is the lanes of a set, ascending.
func lanesIn(mask uint16) iter.Seq[uint8] {
	return func(yield func(uint8) bool) {
		for ; mask != 0; mask &= mask - 1 {
			if !yield(uint8(bits.TrailingZeros16(mask))) {
				return
			}
		}
	}
}

// reach is the set of places that the packets of a flowSet can get to. Where a packet
// may go next depends on the switch, its lane and its phase, but not on the trunk by
// which it came: all packets that agree in these three are in one place. So there are
// at most switches × lanes × phases places, each with one edge for every trunk out of
// it, instead of one for every turn.
type reach struct {
	laneKinds
	flowSet
	phases int // the largest number of phases that any lane has

	places  []place            // in breadth-first order, the sources first
	offered []uint16           // [place] lanes by which there is a way on, as bits
	first   []int32            // [place, plus one at the end] into next and via
	next    []int32            // the places that follow each place,
	via     []fabric.ChannelID // and the trunk to each of them
	bitsAt  []int32            // [place] into bits
	bits    []uint64           // for each place and each lane that is open there: the trunks it may take, counted from the first trunk of the switch

	index []int32  // [switch, lane or none, phase] the number of the place; valid only if met has the current round
	met   []uint32 // [as index] the last round in which the place was met
	round uint32
}

// place is what decides where a packet can go next.
type place struct {
	at   fabric.NodeID
	in   fabric.ChannelID // a trunk by which packets came here; None at the source
	lane uint8            // of that trunk; at the source the number of lanes
}

// newReach allocates for the network of t. If apart, lanes are not grouped into
// kinds.
func newReach(t *adaptive.Tables, apart bool) *reach {
	w := &reach{laneKinds: newLaneKinds(t, apart)}
	for _, l := range t.Lanes {
		w.phases = max(w.phases, l.Choices.Phases())
	}
	n := t.Fabric.Switches() * (len(t.Lanes) + 1) * w.phases
	w.index, w.met = make([]int32, n), make([]uint32, n)
	return w
}

// follow forgets the last set and finds every place that p can reach. The n-th source
// is the n-th place.
func (w *reach) follow(p flowSet) {
	w.allow(p.lanes)
	w.flowSet = p
	w.places, w.offered, w.bitsAt, w.bits = w.places[:0], w.offered[:0], w.bitsAt[:0], w.bits[:0]
	w.first, w.next, w.via = append(w.first[:0], 0), w.next[:0], w.via[:0]
	if w.round++; w.round == 0 { // the counter wrapped: clear the old marks, they could equal a new round
		clear(w.met)
		w.round = 1
	}
	for _, s := range p.sources {
		w.meet(place{at: s, in: fabric.None, lane: uint8(len(w.t.Lanes))}, 0)
	}
	for i := 0; i < len(w.places); i++ {
		w.bitsAt = append(w.bitsAt, int32(len(w.bits)))
		w.offered = append(w.offered, w.onwards(w.places[i]))
		w.first = append(w.first, int32(len(w.next)))
	}
}

// meet returns the number of a place and adds it if it is new.
func (w *reach) meet(p place, phase uint8) int32 {
	i := (int(p.at)*(len(w.t.Lanes)+1)+int(p.lane))*w.phases + int(phase)
	if w.met[i] != w.round {
		w.met[i], w.index[i] = w.round, int32(len(w.places))
		w.places = append(w.places, p)
	}
	return w.index[i]
}

// opens is the lanes on which a packet in a place may go on, one lane of each group, as bits.
func (w *reach) opens(p place) uint16 {
	switch {
	case p.at == w.dest:
		return 0
	case p.in == fabric.None:
		return w.leads
	}
	return w.t.Lanes[p.lane].Next & w.leads
}

// onwards adds all places that follow p, the trunks to them and its bits, and returns the lanes, as
// bits, by which there is a way on.
func (w *reach) onwards(p place) (offered uint16) {
	heads := w.t.Fabric.Heads()
	first, end := w.t.Fabric.TrunksFrom(p.at)
	for to := range lanesIn(w.opens(p)) {
		from := p.lane
		if p.in == fabric.None {
			from = 0
		}
		choices, ways := w.t.Lanes[to].Choices, len(w.next)
		begin := len(w.bits)
		w.bits = w.t.Ways(w.address, p.in, from, to).AppendRange(w.bits, first, end)
		for n, word := range w.bits[begin:] {
			for base := first + fabric.ChannelID(64*n); word != 0; word &= word - 1 {
				c := base + fabric.ChannelID(bits.TrailingZeros64(word))
				w.next = append(w.next, w.meet(place{at: heads[c], in: c, lane: to}, choices.Phase(c)))
				w.via = append(w.via, c)
			}
		}
		if len(w.next) > ways {
			offered |= w.alike[to]
		}
	}
	return offered
}

func (w *reach) successors(i int) []int32 { return w.next[w.first[i]:w.first[i+1]] }

func (w *reach) arrived(i int) bool { return w.places[i].at == w.dest }

// canStrand reports whether a packet in a place can be on a lane that relies only on lanes
// by which there is no way on.
func (w *reach) canStrand(i int) bool {
	p := w.places[i]
	if p.in == fabric.None {
		return w.relied&w.offered[i] == 0
	}
	for l := range lanesIn(w.alike[p.lane]) {
		if w.t.Lanes[l].Rely&w.offered[i] == 0 {
			return true
		}
	}
	return false
}
