package bgp

import (
	mathbits "math/bits"
	"slices"

	"github.com/weft-fabric/weft/ethernet"
)

// Withdrawal is what devices lose of a class when links go down, where that is all that happens: no device takes a
// route instead that it did not take before. Package failures tries it before it has a Computer compute the class anew, which takes
// longer. It is for one goroutine.
type Withdrawal struct {
	plan   *Plan
	before ethernet.Row        // next hops before the links go down
	known  []uint64            // devices with a route, as bits; nil: those with a next hop
	left   ethernet.Row        // next hops of the devices that lost some; of others it says nothing
	stamp  []uint32            // [DeviceID] the round in which it last lost some
	round  uint32              // counts calls of Try
	lost   []ethernet.DeviceID // devices that lost next hops
	gone   []ethernet.DeviceID // those of them that lost all
}

// NewWithdrawal is a Withdrawal with memory for one class at a time.
func NewWithdrawal(p *Plan) *Withdrawal {
	return &Withdrawal{plan: p, left: p.Cabling.NewRow(), stamp: make([]uint32, len(p.Cabling.Names))}
}

// Left is the next hops that a device has left, as words of a row.
func (w *Withdrawal) Left(d ethernet.DeviceID) []uint64 {
	switch {
	case w.stamp[d] == w.round:
		return w.plan.Cabling.Words(w.left, d)
	case !w.has(d):
		return nil
	}
	return w.plan.Cabling.Words(w.before, d)
}

// has reports whether a device had a route before.
func (w *Withdrawal) has(d ethernet.DeviceID) bool {
	return w.known == nil || w.known[d/64]>>(d%64)&1 == 1
}

// take takes a next hop away from the device that a link leaves, if it has it.
func (w *Withdrawal) take(l ethernet.LinkID) {
	c := w.plan.Cabling
	d := c.Links[l].From
	if !w.has(d) || !c.Has(w.before, l) {
		return
	}
	if w.stamp[d] != w.round {
		w.stamp[d] = w.round
		copy(c.Words(w.left, d), c.Words(w.before, d))
		w.lost = append(w.lost, d)
	}
	if !c.Has(w.left, l) {
		return
	}
	c.Remove(w.left, l)
	if none(c.Words(w.left, d)) {
		w.gone = append(w.gone, d)
	}
}

func none(words []uint64) bool {
	return !slices.ContainsFunc(words, func(word uint64) bool { return word != 0 })
}

// Try takes links, of both directions, out of the next hops of a class: those before, at devices that know it. A
// device that loses all of them withdraws its route, which its neighbors lose. Try returns false where routes must be
// computed anew: a device announces another path than before, or one that lost its route is offered another.
func (w *Withdrawal) Try(class int, before ethernet.Row, known []uint64, links []ethernet.LinkID, down []bool) bool {
	if w.plan.Protocol == UpDown {
		return false
	}
	if w.round++; w.round == 0 {
		clear(w.stamp)
		w.round = 1
	}
	w.before, w.known, w.lost, w.gone = before, known, w.lost[:0], w.gone[:0]
	c := w.plan.Cabling
	for _, l := range links {
		w.take(l)
	}
	for i := 0; i < len(w.gone); i++ { // it grows
		for l, end := c.LinksFrom(w.gone[i]); l < end; l++ {
			w.take(c.Reverse[l])
		}
	}
	for _, d := range w.lost {
		if !none(c.Words(w.left, d)) && !w.announcesSame(d) {
			return false
		}
	}
	pin := w.plan.pins[class]
	for _, d := range w.gone {
		for l, end := c.LinksFrom(d); l < end; l++ {
			// Devices where packets leave have no next hop; what they offer is taken at once or never.
			if from := c.Links[l].To; !down[l] && !none(w.Left(from)) && (pin == nil || w.plan.announces(pin, from, d)) && w.accepts(d, from) {
				return false
			}
		}
	}
	return true
}

// parent is the neighbor whose path a device with some next hops announces, as Computer chooses it; None: packets leave there.
func (w *Withdrawal) parent(words []uint64, d ethernet.DeviceID) ethernet.DeviceID {
	lowest := ethernet.DeviceID(ethernet.None)
	c := w.plan.Cabling
	for i, word := range words {
		for ; word != 0; word &= word - 1 {
			if to := c.Links[c.FirstOf(d, i, word)].To; lowest == ethernet.None || to < lowest {
				lowest = to
			}
		}
	}
	return lowest
}

// accepts says what Computer.accepts does, by the next hops that are left.
func (w *Withdrawal) accepts(to, from ethernet.DeviceID) bool {
	if w.plan.Protocol != BGP || w.plan.unique {
		return true
	}
	left := w.plan.own(to)
	for d := from; d != ethernet.None && left >= 0; d = w.parent(w.Left(d), d) {
		if w.plan.AS[d] == w.plan.AS[to] {
			left--
		}
	}
	return left >= 0
}

// announcesSame reports whether a device announces the AS path of before.
func (w *Withdrawal) announcesSame(d ethernet.DeviceID) bool {
	if w.plan.Protocol != BGP || w.plan.unique {
		return true
	}
	c := w.plan.Cabling
	was, is := w.parent(c.Words(w.before, d), d), w.parent(c.Words(w.left, d), d)
	for was != is && was != ethernet.None && is != ethernet.None {
		if w.plan.AS[was] != w.plan.AS[is] {
			return false
		}
		before := c.Words(w.before, was)
		if !w.has(was) {
			before = nil
		}
		was, is = w.parent(before, was), w.parent(w.Left(is), is)
	}
	return was == is
}

// Over writes the next hops that are left, after Try, into a row. For a pin (Try was given who knows it) the row has those of its
// subnet, which count where all of the pin's are lost; otherwise the row has those before.
func (w *Withdrawal) Over(row ethernet.Row) {
	c := w.plan.Cabling
	for i, bits := range w.known {
		for ; bits != 0; bits &= bits - 1 {
			d := ethernet.DeviceID(i*64 + mathbits.TrailingZeros64(bits))
			if words := w.Left(d); !none(words) {
				copy(c.Words(row, d), words)
			}
		}
	}
	if w.known == nil {
		for _, d := range w.lost {
			copy(c.Words(row, d), c.Words(w.left, d))
		}
	}
}

// Some reports whether any device lost a next hop.
func (w *Withdrawal) Some() bool { return len(w.lost) > 0 }
