package deadlock

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits/cdg"
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
	next   []fabric.ChannelID // the trunk of its entry; None otherwise
	to     []fabric.NodeID    // where that leads; None otherwise
	seen   []int32            // number of the walk that came to it last
	walks  int32              // walks so far, also those for other destinations
	room   []fabric.NodeID    // where order is filled, from the back
	order  []fabric.NodeID    // each switch after all that forward to it; those of a circle twice in succession
	begin  int                // where order begins in room
	passed int                // the last so many of order are those that packets from sources in scope pass, unless they circle
	path   []fabric.NodeID    // of a walk
	fate   []fate             // what becomes of a packet there
	lossy  bool               // some fates may be others than arrives
	arrive bool               // packets arrive from everywhere
	home   uint8              // the port by which the destination's switch delivers; 0: the destination is the switch itself

	simple bool     // the SL alone decides the lane
	lanes  []uint16 // [switch] lanes of the packets that leave by next, as bits
	turns  []int32  // [trunk] the turn from it to a trunk, less the trunk's number
	same   cdg.SameLane

	// Lanes of a set of service levels, as bits: low for levels 0 to 7, high for 8 to 15.
	low, high [256]uint16

	levels  [256]level // [SL] where the SL alone decides the lane
	kept    kept
	ordered bool // switches are wanted in order, whatever the lanes

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
	if d.exits.at == nil {
		d.exits = newExits(f)
	}
	w := &walker{
		d: d, f: f,
		inUse: make([]uint16, f.Trunks()),
		next:  make([]fabric.ChannelID, n),
		to:    make([]fabric.NodeID, n),
		seen:  make([]int32, n),
		room:  make([]fabric.NodeID, 2*n),
		path:  make([]fabric.NodeID, n),
		fate:  make([]fate, n),
		kept:  kept{root: fabric.None},
	}
	if w.simple = d.simple; !w.simple {
		w.slMask = make([]uint16, n)
		w.vlMask = make([][routing.SLs]uint16, n)
		w.matrix = make([]uint64, f.Turns()*cdg.WordsPerTurn(d.lanes))
		return w
	}
	for mask := range uint16(len(w.low)) {
		w.low[mask], w.high[mask] = d.lanesOf(mask), d.lanesOf(mask<<8)
	}
	for sl := range w.levels {
		w.levels[sl] = level{bit: noLevel}
	}
	for sl := range routing.SLs {
		w.levels[sl] = level{1 << sl, d.lanesOf(1 << sl), 1<<16 - 1}
	}
	w.turns = turnOffsets(f)
	w.lanes = make([]uint16, n)
	w.same = cdg.NewSameLane(f.Turns(), d.lanes)
	return w
}

// turnOffsets is, for each trunk, the turn from it to a trunk, less the trunk's number.
func turnOffsets(f *fabric.Fabric) []int32 {
	turns := make([]int32, f.Trunks())
	for c, head := range f.Heads() {
		first, _ := f.TrunksFrom(head)
		turns[c] = int32(f.FirstTurn(fabric.ChannelID(c))) - int32(first)
	}
	return turns
}

func (w *walker) part() part {
	return part{matrix: w.matrix, same: w.same, inUse: w.inUse, sls: w.sls, verdict: &w.verdict}
}

// destination follows all routes to one LID.
func (w *walker) destination(lid fabric.LID) {
	e := w.f.Endpoint(w.f.Owner(lid))
	row := w.d.t.Forwarding.Row(lid)
	if w.again(lid, row, e) {
		return
	}
	w.d.o.trim(&w.verdict.Lost)
	w.readEntries(row, e)
	w.sort()
	w.findFates(row, e)
	w.keep(lid, row, e)
	switch {
	case w.injectAlike(lid, e), w.kept.lanes && w.flowLevels(lid):
	case w.simple:
		if w.d.allOn != 0 {
			w.kept.root = fabric.None // some sources do not send to it, and renew would take their dependencies for known
		}
		w.inject(lid, e)
		w.flowSimple()
	default:
		w.inject(lid, e)
		w.flow()
	}
}

// readEntries fills next, to and arrive for an endpoint. What arrive says is true once sort has found no circle.
func (w *walker) readEntries(row []uint8, e *fabric.Endpoint) {
	w.home = w.f.LastPort(e)
	w.arrive = true
	next, to := w.next[:len(row)], w.to[:len(row)]
	for s, port := range row {
		x := w.d.exits.of(fabric.NodeID(s), port)
		next[s], to[s] = x.trunk, x.to
		if x.to == fabric.None { // seldom
			_, end := entry(w.f, fabric.NodeID(s), port, e, w.home)
			w.arrive = w.arrive && end == arrives
		}
	}
}

// sort orders the switches so that each comes after all that forward to it: it walks from each to where it was, first
// from those with sources, and puts the way before those in order.
func (w *walker) sort() {
	if w.walks > math.MaxInt32-2*int32(len(w.to)) {
		clear(w.seen)
		w.walks = 0
	}
	w.begin = len(w.room)
	before := w.walks
	w.walk(w.d.senders, before)
	w.passed = len(w.room) - w.begin
	w.walk(w.d.all, before)
	w.order = w.room[w.begin:]
}

// walk is sort for those of some switches that no walk came to after the walk before.
func (w *walker) walk(from []fabric.NodeID, before int32) {
	to, seen, path, room, at, walks := w.to, w.seen[:len(w.to)], w.path, w.room, w.begin, w.walks
	for _, s := range from {
		if seen[s] > before {
			continue
		}
		walks++
		seen[s] = walks
		u := to[s]
		if u == fabric.None || seen[u] > before {
			at--
			room[at] = s
			continue
		}
		path[0] = s
		n := 1
		for ; u != fabric.None && seen[u] <= before; u = to[u] {
			seen[u], path[n] = walks, u
			n++
		}
		if u != fabric.None && seen[u] == walks {
			w.begin = at
			w.circle(u, n)
			at = w.begin
			continue
		}
		at -= n
		copy(room[at:], path[:n])
	}
	w.begin, w.walks = at, walks
}

// prepend puts switches before those in order.
func (w *walker) prepend(path []fabric.NodeID) {
	w.begin -= len(path)
	copy(w.room[w.begin:], path)
}

// circle puts a path of n switches into order that comes back to one of them. The switches of the circle come twice in
// succession: packets that circle hold lanes and wait for others like any packets, and after the first round whatever
// enters the circle anywhere has reached its beginning, which is its lowest switch.
func (w *walker) circle(s fabric.NodeID, n int) {
	w.arrive = false
	first := slices.Index(w.path[:n], s)
	around := slices.Clone(w.path[first:n])
	lowest := slices.Index(around, slices.Min(around))
	around = append(around[lowest:], around[:lowest]...)
	w.prepend(around)
	w.prepend(around)
	w.prepend(w.path[:first])
}

// entry is the trunk to which an entry for an endpoint leads, or what becomes of the
// packet there; home is as in walker.
func entry(f *fabric.Fabric, s fabric.NodeID, port uint8, e *fabric.Endpoint, home uint8) (fabric.ChannelID, fate) {
	if c := f.Trunk(s, port); c != fabric.None {
		return c, lost + fate(Circles) // until the end of the path is known
	}
	switch {
	case port == routing.NoPort:
		return fabric.None, lost + fate(NoEntry)
	case s == e.Switch && port == home:
		return fabric.None, arrives
	case port != 0 && f.Out(s, port) == fabric.None:
		return fabric.None, lost + fate(DeadPort)
	}
	return fabric.None, lost + fate(WrongNode)
}

// findFates passes what becomes of packets from the end of each path back.
func (w *walker) findFates(row []uint8, e *fabric.Endpoint) {
	if w.arrive {
		if w.lossy {
			clear(w.fate)
			w.lossy = false
		}
		return
	}
	w.lossy = true
	for s, port := range row {
		_, w.fate[s] = entry(w.f, fabric.NodeID(s), port, e, w.home)
	}
	for i := len(w.order) - 1; i >= 0; i-- {
		if s := w.order[i]; w.to[s] != fabric.None {
			w.fate[s] = w.fate[w.to[s]]
		}
	}
}

// flowAlike notes what packets on some lanes from all sources hold and wait for.
func (w *walker) flowAlike(lanes uint16) {
	for _, s := range w.order[len(w.order)-w.passed:] {
		w.hold(s, lanes)
	}
}

// flowSimple carries lanes along the routes where the SL alone decides the lane, so
// that a packet never changes lanes.
func (w *walker) flowSimple() {
	for _, s := range w.order {
		u := w.to[s]
		mask := w.lanes[s]
		if u == fabric.None || mask == 0 {
			continue
		}
		in := w.next[s]
		w.lanes[u] |= mask
		// Nearly all was seen on the way to other destinations. To write it again would move twice the memory.
		if out := w.next[u]; out != fabric.None {
			w.waitsFor(in, out, mask)
		} else if use := &w.inUse[in]; *use&mask != mask {
			*use |= mask
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
	words := cdg.WordsPerTurn(w.d.lanes)
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
				cdg.Add(matrix, w.d.lanes, uint8(bits.TrailingZeros16(from)), vl)
			}
		}
	}
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
