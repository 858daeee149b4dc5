package deadlock

import (
	"iter"
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// laneKinds sorts the lanes that some packets may use.
//
// Lanes are alike if they have the same choices, lead to the same lanes, and are
// led to by the same: then a packet that can hold one of them on a trunk can hold
// the others there, and go on from there alike. The lowest leads: it stands for
// them all. What a lane relies on may differ among them.
type laneKinds struct {
	t       *routing.Adaptive
	apart   bool   // no two lanes are alike
	relied  uint16 // lanes of the routing subfunction at the source
	allowed uint16
	leads   uint16   // the lowest of the lanes alike, of those allowed
	alike   []uint16 // [lane] the lanes like it, itself included
}

// newLaneKinds is the lanes of t, none of which is allowed yet.
func newLaneKinds(t *routing.Adaptive, apart bool) laneKinds {
	k := laneKinds{t: t, apart: apart, alike: make([]uint16, len(t.Lanes))}
	for _, l := range t.Lanes {
		k.relied |= l.Rely
	}
	return k
}

// sort finds out which of the allowed lanes are alike, if others were allowed
// before.
func (k *laneKinds) sort(allowed uint16) {
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

func (k *laneKinds) areAlike(x, y uint8) bool {
	a, b := &k.t.Lanes[x], &k.t.Lanes[y]
	if k.apart || a.Choices != b.Choices || (a.Next^b.Next)&k.allowed != 0 {
		return false
	}
	for l := range lanesIn(k.allowed) {
		if next := k.t.Lanes[l].Next; next>>x&1 != next>>y&1 {
			return false
		}
	}
	return true
}

// lead is the lane that stands for those like lane l.
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

// crowd is packets let loose: every place they can get to. Where a packet may go
// depends on the switch, its lane, and its phase, not on the trunk that it came by:
// all that agree in these are in one place. So there are no more places than
// switches, times lanes and phases, and a way to follow for each trunk, where there
// would be one for each turn.
type crowd struct {
	laneKinds
	packets
	phases int // the most of all choices

	places  []place // in breadth-first order, the sources first
	offered []uint16
	first   []int32            // [place, plus one] into next and via
	next    []int32            // the places that places lead to,
	via     []fabric.ChannelID // by these trunks
	bitsAt  []int32            // [place] into bits
	bits    []uint64           // for each place and lane of opens the trunks it may take, from the first of the switch

	index []int32  // [switch, lane or none, phase] the place, if met says so
	met   []uint32 // [as index] the round that met it last
	round uint32
}

// place is where a packet is, as far as it matters for where it can go.
type place struct {
	at   fabric.NodeID
	in   fabric.ChannelID // a trunk by which packets came; None at the source
	lane uint8            // of that trunk; at the source the number of lanes
}

// newCrowd gets ready to let packets loose. Lanes that are alike are taken together
// unless it is told to keep them apart.
func newCrowd(t *routing.Adaptive, apart bool) *crowd {
	w := &crowd{laneKinds: newLaneKinds(t, apart)}
	for _, l := range t.Lanes {
		w.phases = max(w.phases, l.Choices.Phases())
	}
	n := t.Fabric.Switches() * (len(t.Lanes) + 1) * w.phases
	w.index, w.met = make([]int32, n), make([]uint32, n)
	return w
}

// loose forgets all packets and follows others wherever they can go. The n-th
// source is the n-th place.
func (w *crowd) loose(p packets) {
	w.sort(p.lanes)
	w.packets = p
	w.places, w.offered, w.bitsAt, w.bits = w.places[:0], w.offered[:0], w.bitsAt[:0], w.bits[:0]
	w.first, w.next, w.via = append(w.first[:0], 0), w.next[:0], w.via[:0]
	if w.round++; w.round == 0 { // wrapped: old marks could look new
		clear(w.met)
		w.round = 1
	}
	for _, s := range p.sources {
		w.meet(place{s, fabric.None, uint8(len(w.t.Lanes))}, 0)
	}
	for i := 0; i < len(w.places); i++ {
		w.bitsAt = append(w.bitsAt, int32(len(w.bits)))
		w.offered = append(w.offered, w.onwards(w.places[i]))
		w.first = append(w.first, int32(len(w.next)))
	}
}

// meet is the number of a place, a new one if it was not met before.
func (w *crowd) meet(p place, phase uint8) int32 {
	i := (int(p.at)*(len(w.t.Lanes)+1)+int(p.lane))*w.phases + int(phase)
	if w.met[i] != w.round {
		w.met[i], w.index[i] = w.round, int32(len(w.places))
		w.places = append(w.places, p)
	}
	return w.index[i]
}

// opens is the lanes that may be open to a packet in a place, one of each kind.
func (w *crowd) opens(p place) uint16 {
	switch {
	case p.at == w.dest:
		return 0
	case p.in == fabric.None:
		return w.leads
	}
	return w.t.Lanes[p.lane].Next & w.leads
}

// onwards follows all ways on from a place. It returns the lanes by which there is
// any.
func (w *crowd) onwards(p place) (offered uint16) {
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
				w.next = append(w.next, w.meet(place{heads[c], c, to}, choices.Phase(c)))
				w.via = append(w.via, c)
			}
		}
		if len(w.next) > ways {
			offered |= w.alike[to]
		}
	}
	return offered
}

// successors is the places that a packet can go to from a place.
func (w *crowd) successors(i int) []int32 { return w.next[w.first[i]:w.first[i+1]] }

// arrived says whether a packet in a place is at its destination.
func (w *crowd) arrived(i int) bool { return w.places[i].at == w.dest }

// canStrand says whether some lane of a place relies on none by which a packet can
// go on.
func (w *crowd) canStrand(i int) bool {
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
