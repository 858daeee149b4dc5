package deadlock

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits/cdg"
)

// spread finds the lanes that packets of the flow can hold by all tables together, and which of them wait for which.
func (w *relationWalker) spread() {
	w.search(0, len(w.d.tables))
	for i := range w.starts {
		if b := &w.starts[i]; w.sends(b) {
			b.why = max(b.why, w.fateOf(b))
			w.send(b)
		}
	}
	w.circles = w.circles || w.circle
	// Circling packets come back to places that were done: repeat until nothing is new. The order is reversed: the
	// place finished last comes first.
	for again := true; again; again = again && w.circle {
		again = false
		for i := len(w.order) - 1; i >= 0; i-- {
			if w.d.simple {
				again = w.passOn(w.order[i]) || again
			} else {
				again = w.forward(w.order[i]) || again
			}
		}
	}
}

// send puts packets of sources on the lanes of their first trunk.
func (w *relationWalker) send(b *start) {
	sls := b.sls & w.levels
	for i := range w.where() {
		to := &w.at[w.place(i, b.s, b.g.port)]
		if w.d.simple {
			w.drops = w.drops || sls&w.d.droppedLevels != 0
			for j := range to.trunks {
				w.masks[to.slot+j] |= w.d.lanesOf(sls)
			}
			continue
		}
		for m := sls; m != 0; m &= m - 1 {
			sl := uint8(bits.TrailingZeros16(m))
			for j, c := range to.trunks {
				lanes := w.d.union.first(b.g, w.f.Channel(c).FromPort, sl)
				w.drops = w.drops || lanes>>dropLane != 0
				w.masksOf(to.slot + j)[w.index(sl)] |= lanes &^ (1 << dropLane)
			}
			if to.home {
				w.deliver(b.s, b.g.port, sl, 0)
			}
		}
	}
}

// index is that of a service level among the masks of a slot.
func (w *relationWalker) index(sl uint8) int { return int(w.d.union.index[sl]) }

// passOn sends the packets of a place on by all their ways where the SL alone decides the lane, and says whether that
// added anything anywhere.
func (w *relationWalker) passOn(place int32) (fresh bool) {
	at := &w.at[place]
	for i, in := range at.trunks {
		lanes := w.masks[at.slot+i]
		if lanes == 0 {
			continue
		}
		w.inUse[in] |= lanes
		for k := range w.where() {
			on := &w.at[w.after(k, in)]
			for j, out := range on.trunks {
				w.same.Add(int(w.turns[in]+int32(out)), lanes)
				if had := &w.masks[on.slot+j]; lanes&^*had != 0 {
					*had |= lanes
					fresh = true
				}
			}
		}
	}
	return fresh
}

// forward is passOn where lanes differ by service level and from port to port.
func (w *relationWalker) forward(place int32) (fresh bool) {
	at := &w.at[place]
	for i, in := range at.trunks {
		from, all := w.masksOf(at.slot+i), uint16(0)
		for _, lanes := range from {
			all |= lanes
		}
		if all == 0 {
			continue
		}
		w.inUse[in] |= all
		for k := range w.where() {
			on := &w.at[w.after(k, in)]
			for j, out := range on.trunks {
				fresh = w.turn(in, out, from, w.masksOf(on.slot+j)) || fresh
			}
			if on.home && w.home != 0 {
				ch := w.f.Channel(in)
				for i, lanes := range from {
					if lanes != 0 {
						w.deliver(ch.To, ch.ToPort, w.d.union.levels[i], lanes)
					}
				}
			}
		}
	}
	return fresh
}

// masksOf is the masks of a slot, by the index of the service level.
func (w *relationWalker) masksOf(slot int) []uint16 { return w.masks[slot*w.width:][:w.width] }

// turn sends packets on some lanes of a trunk on by another, where to is the lanes of those that were there before, both
// by the index of the service level, and notes which wait for which. It says whether that added any to these.
func (w *relationWalker) turn(in, out fabric.ChannelID, from, to []uint16) (fresh bool) {
	turn, words := int(w.turns[in]+int32(out)), cdg.WordsPerTurn(w.d.lanes)
	matrix := w.matrix[turn*words:][:words]
	next := w.d.union.lanes[turn*w.width:][:len(from)]
	for i, lanes := range from {
		if lanes == 0 {
			continue
		}
		all := next[i]
		if w.d.byLane == nil || !w.d.looksAtLanes(w.f.Heads()[in], w.d.union.levels[i]) {
			w.note(matrix, lanes, all)
		} else {
			all = 0
			for m := lanes; m != 0; m &= m - 1 {
				one := w.mapped(in, out, w.d.union.levels[i], m&-m)
				w.note(matrix, m&-m, one)
				all |= one
			}
		}
		w.drops = w.drops || all>>dropLane != 0
		if all &^= 1 << dropLane; all&^to[i] != 0 {
			to[i] |= all
			fresh = true
		}
	}
	return fresh
}

// mapped is the lanes, as bits, of packets on some lanes of a trunk that go on by another, dropLane included.
func (w *relationWalker) mapped(in, out fabric.ChannelID, sl uint8, came uint16) uint16 {
	ch := w.f.Channel(in)
	return mapped(w.d.tables, ch.To, ch.ToPort, w.f.Channel(out).FromPort, sl, came)
}

// note adds the dependencies from some lanes to others to the matrix of a turn; there are none on dropLane.
func (w *relationWalker) note(matrix []uint64, from, to uint16) {
	to &^= 1 << dropLane
	for ; from != 0; from &= from - 1 {
		for next := to; next != 0; next &= next - 1 {
			cdg.Add(matrix, w.d.lanes, uint8(bits.TrailingZeros16(from)), uint8(bits.TrailingZeros16(next)))
		}
	}
}

// deliver counts the tables by which packets are dropped on the cable to the destination, and notes it if there are
// any; came is the lanes on which they came, 0 from a source there.
func (w *relationWalker) deliver(s fabric.NodeID, in, sl uint8, came uint16) (dropped int64) {
	for i := range w.d.tables {
		if mapped(w.d.tables[i:i+1], s, in, w.home, sl, came)>>dropLane != 0 {
			w.drops = true
			dropped++
		}
	}
	return dropped
}

// countDrops counts where packets are dropped: at a trunk that they would leave a place by, for each trunk and service
// level by which they came, or at the port of the destination.
func (w *relationWalker) countDrops() {
	for i := range w.starts {
		b, counted := &w.starts[i], uint16(0)
		for j := i - 1; j >= 0 && w.starts[j].g == b.g; j-- {
			counted |= w.starts[j].sls // by others that come by the same ports
		}
		for k := range w.where() {
			if !w.sends(b) {
				continue
			}
			on := &w.at[w.place(k, b.s, b.g.port)]
			if w.d.simple {
				if b.sls&w.d.droppedLevels != 0 {
					w.dropped += int64(len(on.trunks))
					if on.home && w.home != 0 {
						w.dropped++
					}
				}
				continue
			}
			for m := b.sls & w.levels &^ counted; m != 0; m &= m - 1 {
				sl := uint8(bits.TrailingZeros16(m))
				w.countDropsAt(on, b.s, b.g.port, sl, 0, func(out fabric.ChannelID) uint16 { return w.d.union.first(b.g, w.f.Channel(out).FromPort, sl) })
			}
		}
	}
	if w.d.simple {
		return // they keep their lanes from there
	}
	w.eachLevel(func() {
		for _, c := range w.trunks {
			ch, from := w.f.Channel(c), w.lanes[c]
			for k := range w.where() {
				w.countDropsAt(&w.at[w.after(k, c)], ch.To, ch.ToPort, w.sl, from, func(out fabric.ChannelID) uint16 { return w.mapped(c, out, w.sl, from) })
			}
		}
	})
}

// countDropsAt counts them for packets of a service level that came to a place by a port on some lanes; lanes is those
// on which they leave by a trunk.
func (w *relationWalker) countDropsAt(on *ways, s fabric.NodeID, in, sl uint8, came uint16, lanes func(out fabric.ChannelID) uint16) {
	for _, out := range on.trunks {
		if lanes(out)>>dropLane != 0 {
			w.dropped++
		}
	}
	if on.home && w.home != 0 {
		w.dropped += w.deliver(s, in, sl, came)
	}
}

// gather notes the lanes that packets on w.sl hold of every trunk that they come to.
func (w *relationWalker) gather() {
	if w.lanes == nil {
		w.lanes = make([]uint16, w.f.Trunks())
	}
	for _, c := range w.trunks {
		w.lanes[c] = 0
	}
	w.trunks = w.trunks[:0]
	index := 0
	if !w.d.simple {
		index = w.index(w.sl)
	}
	for _, place := range w.order {
		at := &w.at[place]
		for i, c := range at.trunks {
			if mask := w.masksOf(at.slot + i)[index]; mask != 0 {
				if w.lanes[c] == 0 {
					w.trunks = append(w.trunks, c)
				}
				w.lanes[c] |= mask
			}
		}
	}
}

// eachLevel visits every service level of the flow that differs from others, as w.sl, when its lanes are gathered.
func (w *relationWalker) eachLevel(visit func()) {
	levels := w.levels
	if w.d.simple {
		levels &= -levels
	}
	for ; levels != 0; levels &= levels - 1 {
		w.sl = uint8(bits.TrailingZeros16(levels))
		w.gather()
		visit()
	}
}
