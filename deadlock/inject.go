package deadlock

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// injectAlike is inject and flow where all packets arrive, on the same lanes. It returns false where that is
// not so.
func (w *walker) injectAlike(lid fabric.LID, to *fabric.Endpoint) bool {
	if w.d.allOn == 0 || !w.arrive || !w.countAlike(lid, to) {
		return false
	}
	w.flowAlike(w.d.allOn)
	return true
}

// countAlike counts the pairs of an address to which packets arrive, and their service levels. It says whether every
// source has one for it.
func (w *walker) countAlike(lid fabric.LID, to *fabric.Endpoint) bool {
	k, row, owner := &w.kept, w.d.t.Lanes.SLRow(lid), w.f.Owner(lid)
	pairs := w.pairsTo(owner)
	switch {
	case pairs == 0 || row != nil && w.d.rowOn == nil:
		return false
	case row == nil:
		w.sls |= bit(0)
	case k.root == to.Switch && bytes.Equal(row, k.counted): // as of the address before
	default:
		seen := uint32(0)
		for _, s := range w.d.senders {
			if s != to.Switch || !w.d.sends[owner] || len(w.d.groups[s][0].from) > 1 {
				seen |= w.levels[row[w.d.rowOn[s]]].bit
			}
		}
		if seen&noLevel != 0 && w.d.fixed == 0 {
			return false
		}
		w.sls |= uint16(seen)
		k.counted = nil
		if len(w.d.groups[to.Switch]) == 0 || len(w.d.groups[to.Switch][0].from) > 1 {
			k.counted = row
		}
	}
	w.verdict.Pairs += pairs
	return true
}

// inject counts the pairs and starts the packets of every source on their way.
func (w *walker) inject(lid fabric.LID, to *fabric.Endpoint) {
	row := w.d.t.Lanes.SLRow(lid)
	fixed, isFixed := w.d.fixed, w.d.fixed != 0
	var back []uint16 // [group.index] the service levels of answers
	if w.d.answers[0] != nil {
		back = w.d.answers[0].toGroups(w.d.t.Lanes.Row[w.f.Owner(lid)])
	}
	clear(w.lanes)
	clear(w.slMask)
	clear(w.vlMask)
	from := w.d.senders
	if !w.arrive {
		from = w.d.all
	}
	for _, s := range from {
		groups := w.d.groups[s]
		pairs, mute := int64(0), int64(0) // mute: pairs of sources that may use no LID of the destination
		for i := range groups {
			g := &groups[i]
			sources := int64(len(g.from))
			if s == to.Switch && slices.Contains(g.from, w.f.Owner(lid)) {
				sources-- // an endpoint does not send to itself
			}
			if sources == 0 {
				continue
			}
			sl := uint8(0)
			if row != nil {
				sl = row[g.rows[0]]
			}
			if sl == routing.NoSL && !isFixed {
				if w.d.unaddressable(g, lid, to) {
					mute += sources
				}
				continue
			}
			pairs += sources
			w.sls |= bit(sl)
			there, answers := bit(sl), uint16(0)
			switch {
			case isFixed:
				there = fixed
			case back != nil:
				answers = back[g.index] &^ there
				if s == to.Switch {
					answers = w.d.answers[0].ofOthers(g, lid) &^ there
				}
			}
			if w.simple {
				w.startSimple(s, there|answers)
			} else {
				w.start(s, g, there|answers)
			}
		}
		if mute > 0 {
			w.verdict.Unreachable += mute
			w.verdict.Lost = append(w.verdict.Lost, Lost{s, lid, NoAddress, mute})
		}
		w.verdict.Pairs += pairs + mute
		if w.fate[s] != arrives {
			w.lose(s, lid, pairs)
		}
	}
}

// lose records that packets for a LID do not arrive from a switch, and how many pairs
// this cuts off.
func (w *walker) lose(s fabric.NodeID, lid fabric.LID, pairs int64) {
	why := Loss(w.fate[s] - lost)
	if why == Circles {
		w.verdict.Loops++
	}
	if pairs == 0 {
		w.verdict.Stray++
		if why != Circles {
			return
		}
	}
	w.verdict.Unreachable += pairs
	w.verdict.Lost = append(w.verdict.Lost, Lost{s, lid, why, pairs})
}

// startSimple puts packets of some service levels on the lanes of their first trunk
// where the SL alone decides the lane.
func (w *walker) startSimple(s fabric.NodeID, sls uint16) {
	w.lanes[s] |= w.low[sls&255] | w.high[sls>>8]
	if sls&w.d.droppedLevels != 0 && (w.next[s] != fabric.None || w.fate[s] == arrives && w.home != 0) {
		w.verdict.Dropped++
	}
}

// start puts the packets of a group of sources on the lanes of their first trunk.
func (w *walker) start(s fabric.NodeID, g *group, sls uint16) {
	w.slMask[s] |= sls
	c := w.next[s]
	for m := sls; m != 0; m &= m - 1 {
		sl := uint8(bits.TrailingZeros16(m))
		if c == fabric.None {
			w.deliver(s, g.port, sl)
		} else if vl := w.d.maps.first(g, w.f.Channel(c).FromPort, sl); vl < dropLane {
			w.vlMask[s][sl] |= 1 << vl
		} else {
			w.verdict.Dropped++
		}
	}
}
