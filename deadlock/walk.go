package deadlock

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// dropLane is the lane of subnet management: data packets mapped to it are dropped.
const dropLane = 15

// walker follows the routes to one destination after another. Where the SL alone
// decides the lane, as in nearly all networks, it carries sets of lanes along the
// routes; otherwise sets of service levels and the lanes of each.
type walker struct {
	d       *derivation
	f       *fabric.Fabric
	inUse   []uint16 // see derivation
	sls     uint16   // service levels that the tables give out, as bits
	verdict Verdict  // the counts

	// Per destination, all [switch].
	next    []fabric.ChannelID // the trunk of its entry; None otherwise
	waiting []int32            // number of switches that forward to it and are not yet in order
	order   []fabric.NodeID    // each switch after all that forward to it; those of a circle twice in succession
	fate    []fate             // what becomes of a packet there
	home    uint8              // the port by which the destination's switch delivers; 0: the destination is the switch itself

	simple  bool // the SL alone decides the lane
	uniform [routing.SLs]uint8
	dropped uint16   // service levels mapped to dropLane, as bits
	lanes   []uint16 // [switch] lanes of the packets that leave by next, as bits
	same    []uint16 // [turn] lanes on which packets wait for the same lane of the next trunk, as bits

	// Lanes of a set of service levels, as bits: low for levels 0 to 7, high for 8 to 15.
	low, high [256]uint16

	slMask []uint16              // [switch] service levels of the packets that leave by next
	vlMask [][routing.SLs]uint16 // [switch][SL] their lanes, as bits
	matrix []uint64              // see derivation
}

// fate is what becomes of a packet at a switch.
type fate uint8

const (
	arrives fate = iota
	lost         // lost + Loss
)

func newWalker(d *derivation) *walker {
	f := d.t.Fabric
	n := f.Switches()
	w := &walker{
		d: d, f: f,
		inUse:   make([]uint16, f.Trunks()),
		next:    make([]fabric.ChannelID, n),
		waiting: make([]int32, n),
		order:   make([]fabric.NodeID, 0, n),
		fate:    make([]fate, n),
	}
	if w.uniform, w.simple = d.t.Lanes.SL2VL.Uniform(); !w.simple {
		w.slMask = make([]uint16, n)
		w.vlMask = make([][routing.SLs]uint16, n)
		w.matrix = make([]uint64, f.Turns()*wordsPerTurn(d.lanes))
		return w
	}
	for sl, vl := range w.uniform {
		half, sls := &w.low, 1<<sl
		if sl >= 8 {
			half, sls = &w.high, 1<<(sl-8)
		}
		if vl >= dropLane {
			w.dropped |= bit(uint8(sl))
			continue
		}
		for mask := range half {
			if mask&sls != 0 {
				half[mask] |= 1 << vl
			}
		}
	}
	w.lanes = make([]uint16, n)
	w.same = make([]uint16, f.Turns())
	return w
}

func (w *walker) part() part { return part{w.matrix, w.same, w.inUse, w.sls, &w.verdict} }

// destination follows all routes to one LID.
func (w *walker) destination(lid fabric.LID) {
	e := w.f.Endpoint(w.f.Owner(lid))
	w.readEntries(w.d.t.Forwarding.Row(lid), e)
	w.sort()
	w.propagateFates()
	w.inject(lid, e)
	if w.simple {
		w.flowSimple()
	} else {
		w.flow()
	}
}

// readEntries fills next and fate for an endpoint.
func (w *walker) readEntries(row []uint8, e *fabric.Endpoint) {
	w.home = w.f.LastPort(e)
	for s, port := range row {
		w.next[s], w.fate[s] = entry(w.f, fabric.NodeID(s), port, e, w.home)
	}
}

// entry is the trunk to which an entry for an endpoint leads, or what becomes of the
// packet there; home is as in walker.
func entry(f *fabric.Fabric, s fabric.NodeID, port uint8, e *fabric.Endpoint, home uint8) (fabric.ChannelID, fate) {
	c := f.Out(s, port)
	switch {
	case port == routing.NoPort:
		return fabric.None, lost + fate(NoEntry)
	case s == e.Switch && port == home:
		return fabric.None, arrives
	case port == 0:
		return fabric.None, lost + fate(WrongNode)
	case c == fabric.None:
		return fabric.None, lost + fate(DeadPort)
	case int(c) >= f.Trunks():
		return fabric.None, lost + fate(WrongNode)
	}
	return c, lost + fate(Circles) // until the end of the path is known
}

// sort orders the switches so that each comes after all that forward to it. The
// switches of a circle come last, each circle twice in succession: packets that circle
// hold lanes and wait for others like any packets, and after the first round whatever
// enters the circle anywhere has reached its beginning.
func (w *walker) sort() {
	heads := w.f.Heads()
	clear(w.waiting)
	for _, c := range w.next {
		if c != fabric.None {
			w.waiting[heads[c]]++
		}
	}
	w.order = w.order[:0]
	for s := range w.next {
		// Begin at every switch to which none forwards, and go on while no other forwards to the next.
		for at := fabric.NodeID(s); w.waiting[at] == 0; {
			w.order = append(w.order, at)
			w.waiting[at] = -1
			if w.next[at] == fabric.None {
				break
			}
			at = heads[w.next[at]]
			w.waiting[at]--
		}
	}
	for s := range w.next {
		if w.waiting[s] < 0 {
			continue
		}
		begin := len(w.order)
		for at := fabric.NodeID(s); w.waiting[at] >= 0; at = heads[w.next[at]] {
			w.order = append(w.order, at)
			w.waiting[at] = -1
		}
		w.order = append(w.order, w.order[begin:]...)
	}
}

// propagateFates passes what becomes of packets from the end of each path back.
func (w *walker) propagateFates() {
	heads := w.f.Heads()
	for i := len(w.order) - 1; i >= 0; i-- {
		if c := w.next[w.order[i]]; c != fabric.None {
			w.fate[w.order[i]] = w.fate[heads[c]]
		}
	}
}

// inject counts the pairs and starts the packets of every source on their way.
func (w *walker) inject(lid fabric.LID, to *fabric.Endpoint) {
	row := w.d.t.Lanes.SLRow(lid)
	fixed, isFixed := w.d.fixed, w.d.fixed != 0
	var back []uint16 // [group.index] the service levels of answers
	if w.d.answers != nil {
		back = w.d.answers.toGroups(w.d.t.Lanes.Row[w.f.Owner(lid)])
	}
	for s, groups := range w.d.groups {
		s := fabric.NodeID(s)
		if w.simple {
			w.lanes[s] = 0
		} else {
			w.slMask[s] = 0
		}
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
				if w.unaddressable(g, lid, to) {
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
					answers = w.answersOfOthers(g, lid) &^ there
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
			w.list(Lost{s, lid, NoAddress, mute})
		}
		w.verdict.Pairs += pairs + mute
		if w.fate[s] != arrives {
			w.lose(s, lid, pairs)
		}
	}
}

// unaddressable says whether sources that may not use a LID are cut off, because they
// may not use any other LID of the endpoint either. It is true only for the base LID,
// so that each pair is counted once.
func (w *walker) unaddressable(g *group, lid fabric.LID, to *fabric.Endpoint) bool {
	if lid != to.LID {
		return false
	}
	for l := range to.LIDs() {
		if w.d.t.Lanes.SLRow(l)[g.rows[0]] != routing.NoSL {
			return false
		}
	}
	return true
}

// answersOfOthers is the service levels of answers of the sources of a group that are
// not the destination itself, as bits.
func (w *walker) answersOfOthers(g *group, lid fabric.LID) uint16 {
	to := w.f.Owner(lid)
	mask := uint16(0)
	for _, e := range g.from {
		if e != to {
			mask |= w.d.answers.toSource(w.d.t.Lanes.Row[to], e)
		}
	}
	return mask
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
	w.list(Lost{s, lid, why, pairs})
}

// list adds a lost pair to the list while it is short.
func (w *walker) list(l Lost) {
	if len(w.verdict.Lost) < w.d.o.maxLost() {
		w.verdict.Lost = append(w.verdict.Lost, l)
	}
}

// flowSimple carries lanes along the routes where the SL alone decides the lane, so
// that a packet never changes lanes.
func (w *walker) flowSimple() {
	heads := w.f.Heads()
	for _, s := range w.order {
		in := w.next[s]
		mask := w.lanes[s]
		if in == fabric.None || mask == 0 {
			continue
		}
		w.inUse[in] |= mask
		u := heads[in]
		w.lanes[u] |= mask
		if out := w.next[u]; out != fabric.None {
			w.same[w.f.Turn(in, out)] |= mask
		}
	}
}

// startSimple puts packets of some service levels on the lanes of their first trunk
// where the SL alone decides the lane.
func (w *walker) startSimple(s fabric.NodeID, sls uint16) {
	w.lanes[s] |= w.low[sls&255] | w.high[sls>>8]
	if sls&w.dropped != 0 && (w.next[s] != fabric.None || w.fate[s] == arrives && w.home != 0) {
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

// deliver counts packets of an SL that switch s passes to the destination, or that are
// dropped on the last cable.
func (w *walker) deliver(s fabric.NodeID, in, sl uint8) {
	if w.fate[s] == arrives && w.home != 0 && w.d.t.Lanes.SL2VL.VL(s, in, w.home, sl) >= dropLane {
		w.verdict.Dropped++
	}
}

// flow carries service levels and lanes along the routes.
func (w *walker) flow() {
	heads, channels := w.f.Heads(), w.f.Channels()
	words := wordsPerTurn(w.d.lanes)
	for _, s := range w.order {
		in := w.next[s]
		if in == fabric.None || w.slMask[s] == 0 {
			continue
		}
		u := heads[in]
		out := w.next[u]
		w.slMask[u] |= w.slMask[s]
		for m := w.slMask[s]; m != 0; m &= m - 1 {
			sl := uint8(bits.TrailingZeros16(m))
			from := w.vlMask[s][sl]
			w.inUse[in] |= from
			switch {
			case from == 0:
				continue
			case out == fabric.None:
				w.deliver(u, channels[in].ToPort, sl)
				continue
			}
			turn := w.f.Turn(in, out)
			vl := w.d.maps.lane(turn, sl)
			if vl >= dropLane {
				w.verdict.Dropped++
				continue
			}
			w.vlMask[u][sl] |= 1 << vl
			matrix := w.matrix[turn*words:][:words]
			for ; from != 0; from &= from - 1 {
				setBit(matrix, w.d.lanes, uint8(bits.TrailingZeros16(from)), vl)
			}
		}
	}
	clear(w.vlMask)
}

func (v *Verdict) add(w *Verdict) {
	v.Pairs += w.Pairs
	v.Unreachable += w.Unreachable
	v.Dropped += w.Dropped
	v.Stray += w.Stray
	v.Loops += w.Loops
	v.Lost = append(v.Lost, w.Lost...)
}

// firstLost is the first lost pairs, at most so many, by LID, then switch.
func firstLost(lost []Lost, most int) []Lost {
	slices.SortStableFunc(lost, func(a, b Lost) int {
		return cmp.Or(cmp.Compare(a.LID, b.LID), cmp.Compare(a.Switch, b.Switch))
	})
	return lost[:min(len(lost), most)]
}

// finish computes what depends on all destinations.
func (v *Verdict) finish(inUse []uint16, sls uint16, maxLost int) {
	v.Lost = firstLost(v.Lost, maxLost)
	for _, mask := range inUse {
		v.LaneMask |= mask
	}
	v.VLs = max(1, bits.OnesCount16(v.LaneMask))
	v.SLs = max(1, bits.OnesCount16(sls))
}
