package deadlock

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Nearly all routes to the addresses on one switch are alike: packets to each have as many hops
// left at a switch, mostly go the same way, and mostly on the same service levels. So what
// is found of one address is kept for the next on the same switch:
//
//   - the hops from every switch. Where every entry leads to a switch with one hop less, all
//     packets arrive, and the switches in order of their hops are one after another on every way;
//   - the entries. Only where another one stands than for the address before can a
//     dependency be new;
//   - the service levels. Where they and the entries are the same, nothing is new at all.
//
// It is so where the SL alone decides the lane, no service level is dropped, and packets
// arrive from everywhere; any other address is followed by itself.

// exit is where a port of a switch leads.
type exit struct {
	trunk fabric.ChannelID // None: to no switch
	to    fabric.NodeID    // None, likewise
}

// exits is where all ports lead, by switch and port, stride ports a switch.
type exits struct {
	at     []exit
	stride int
}

func newExits(f *fabric.Fabric) exits {
	x := exits{stride: 1}
	for s := range fabric.NodeID(f.Switches()) {
		x.stride = max(x.stride, f.Node(s).Ports+1)
	}
	x.at = slices.Repeat([]exit{{fabric.None, fabric.None}}, f.Switches()*x.stride)
	heads, ports := f.Heads(), f.TailPorts()
	for s := range fabric.NodeID(f.Switches()) {
		from := x.at[int(s)*x.stride:][:x.stride]
		for c, end := f.TrunksFrom(s); c < end; c++ {
			from[ports[c]] = exit{c, heads[c]}
		}
	}
	return x
}

// of is where a port of a switch leads, of ports that do not exist to none.
func (x *exits) of(s fabric.NodeID, port uint8) exit {
	if int(port) >= x.stride {
		return exit{fabric.None, fabric.None}
	}
	return x.at[int(s)*x.stride+int(port)]
}

// kept is what is known of the address before, where walker.next and walker.to are its ways.
type kept struct {
	root  fabric.NodeID // its switch; None: nothing is known
	depth []int32       // [switch + 1] hops to it; beyond all others for fabric.None, at 0
	order []fabric.NodeID
	inner []fabric.NodeID // those of order that have no sources
	row   []uint8         // its entries
	other []fabric.NodeID // where the entries of the address at hand are others
	count []int32         // scratch

	lanes bool     // the lanes that packets start on are known:
	back  []uint16 // [switch] those of answers
	slRow []uint8  // service levels

	counted []uint8 // service levels that are counted, where all packets are on the same lanes; nil: none
}

// again follows the routes to an address by what is known of the one before, if that is on the
// same switch and suffices.
func (w *walker) again(lid fabric.LID, row []uint8, e *fabric.Endpoint) bool {
	k := &w.kept
	if k.root != e.Switch || row[k.root] != w.f.LastPort(e) || !w.step(row) {
		k.root = fabric.None
		return false
	}
	if w.d.allOn != 0 {
		if !w.countAlike(lid, e) {
			k.root = fabric.None
			return false
		}
		w.renew(w.d.allOn)
		return true
	}
	if k.lanes && w.renewLevels(lid) {
		return true
	}
	w.home, w.arrive = w.f.LastPort(e), true
	w.order, w.passed = k.order, 0
	w.findFates(row, e)
	w.inject(lid, e)
	w.flowSimple()
	return true
}

// step goes from the entries of the address before to those of another, and says whether
// packets have as many hops left as before from everywhere.
func (w *walker) step(row []uint8) bool {
	k := &w.kept
	k.other = addDiffering(k.row, row, k.other[:0])
	k.row = row
	for i := 0; i < len(k.other); i++ {
		s := k.other[i]
		if s == k.root {
			k.other = slices.Delete(k.other, i, i+1)
			i--
			continue
		}
		x := w.d.exits.of(s, row[s])
		if k.depth[x.to+1]+1 != k.depth[s+1] {
			return false
		}
		w.next[s], w.to[s] = x.trunk, x.to
	}
	return true
}

// addDiffering adds to a list the switches where two rows have different entries, looking closely only at blocks that differ.
func addDiffering(a, b []uint8, list []fabric.NodeID) []fabric.NodeID {
	const block = 128
	for at := 0; at < len(a); at += block {
		end := min(at+block, len(a))
		x, y := a[at:end], b[at:end]
		if bytes.Equal(x, y) {
			continue
		}
		n := len(x) &^ 7
		for i := 0; i < n; i += 8 {
			differ := binary.LittleEndian.Uint64(x[i:]) ^ binary.LittleEndian.Uint64(y[i:])
			for differ != 0 {
				k := bits.TrailingZeros64(differ) / 8
				list = append(list, fabric.NodeID(at+i+k))
				differ &^= 0xff << (k * 8)
			}
		}
		for i := n; i < len(x); i++ {
			if x[i] != y[i] {
				list = append(list, fabric.NodeID(at+i))
			}
		}
	}
	return list
}

// keep is what is known once the ways to an address are read.
func (w *walker) keep(lid fabric.LID, row []uint8, e *fabric.Endpoint) {
	k := &w.kept
	k.root, k.lanes, k.counted = fabric.None, false, nil
	if !w.simple || !w.arrive || w.d.droppedLevels != 0 || len(w.f.Attached(e.Switch)) < 2 {
		return
	}
	n := w.f.Switches()
	if k.depth == nil {
		k.depth, k.count, k.order = make([]int32, n+1), make([]int32, n+1), make([]fabric.NodeID, n)
		k.depth[0] = int32(2 * n)
		k.back = make([]uint16, n)
	}
	k.root, k.row = e.Switch, row
	for _, s := range slices.Backward(w.order) {
		d := int32(0)
		if u := w.to[s]; u != fabric.None {
			d = k.depth[u+1] + 1
		}
		k.depth[s+1] = d
	}
	if w.d.allOn != 0 && len(w.d.senders) == n && !w.ordered {
		return // no order is needed
	}
	w.keepOrder()
	w.keepLevels(lid, e)
}

// keepOrder sorts the switches by their hops, the farthest first, as packets flow. Hops are few, so that counting them sorts
// quickest.
func (w *walker) keepOrder() {
	k := &w.kept
	clear(k.count)
	for _, d := range k.depth[1:] {
		k.count[d]++
	}
	at := int32(len(k.order))
	for d := range k.count {
		at -= k.count[d]
		k.count[d] = at
		if at == 0 {
			break
		}
	}
	for s, d := range k.depth[1:] {
		k.order[k.count[d]] = fabric.NodeID(s)
		k.count[d]++
	}
	k.inner = k.inner[:0]
	for _, s := range k.order {
		if len(w.d.groups[s]) == 0 {
			k.inner = append(k.inner, s)
		}
	}
}

// keepLevels is the part of keep that looks at the row of service levels, and at those of answers by source switch.
func (w *walker) keepLevels(lid fabric.LID, e *fabric.Endpoint) {
	k, home := &w.kept, w.d.groups[e.Switch]
	k.slRow = w.d.t.Lanes.SLRow(lid)
	k.lanes = w.d.rowOn != nil && k.slRow != nil && w.d.fixed == 0 && (len(home) == 0 || len(home[0].from) > 1)
	if !k.lanes || w.d.answers[0] == nil {
		return
	}
	to := w.d.answers[0].toGroups(w.d.t.Lanes.Row[w.f.Owner(lid)])
	for _, s := range w.d.senders {
		answers := to[w.d.groups[s][0].index]
		k.back[s] = w.low[answers&255] | w.high[answers>>8]
	}
}

// pairsTo is how many sources send to an endpoint, which does not send to itself.
func (w *walker) pairsTo(owner fabric.EndpointID) int64 {
	if w.d.sends[owner] {
		return w.d.sources - 1
	}
	return w.d.sources
}

// level is what packets on a service level do.
type level struct {
	bit   uint32 // the level as a bit, noLevel if it is none
	lane  uint16 // its lane, as a bit
	backs uint16 // all bits, if those who send on it are answered; else 0
}

// noLevel is beyond the bits of service levels: of routing.NoSL.
const noLevel = 1 << routing.SLs

// renewLevels is flowLevels, unless all that it would find is known.
func (w *walker) renewLevels(lid fabric.LID) bool {
	k, row := &w.kept, w.d.t.Lanes.SLRow(lid)
	same := len(k.other) == 0 && bytes.Equal(row, k.slRow)
	k.slRow = row
	if !same {
		return w.flowLevels(lid)
	}
	w.verdict.Pairs += w.pairsTo(w.f.Owner(lid))
	return true
}

// flowLevels is inject and flowSimple in one, where all sources on a switch have the same service levels and
// packets arrive from everywhere. It says whether every source has one for the address.
func (w *walker) flowLevels(lid fabric.LID) bool {
	k, row := &w.kept, w.d.t.Lanes.SLRow(lid)
	lanes, back, rows, next, to := w.lanes, k.back, w.d.rowOn, w.next, w.to
	clear(lanes)
	seen := uint32(0)
	for _, s := range k.order {
		mask := lanes[s]
		if r := rows[s]; r >= 0 {
			l := &w.levels[row[r]]
			seen |= l.bit
			mask |= l.lane | back[s]&l.backs
		}
		u := to[s]
		if u == fabric.None || mask == 0 {
			continue
		}
		lanes[u] |= mask
		in := next[s]
		if out := next[u]; out != fabric.None {
			w.waitsFor(in, out, mask)
		} else if use := &w.inUse[in]; *use&mask != mask {
			*use |= mask
		}
	}
	if seen&noLevel != 0 {
		k.root = fabric.None // what is not known is not the same for the next
		return false
	}
	w.sls |= uint16(seen)
	w.verdict.Pairs += w.pairsTo(w.f.Owner(lid))
	return true
}

// renew notes what packets on some lanes from all sources hold and wait for that is not known yet.
func (w *walker) renew(lanes uint16) {
	k := &w.kept
	if len(k.inner) == 0 && len(k.other)*16 < len(w.to) {
		for _, s := range k.other {
			w.hold(s, lanes)
			in := w.next[s]
			for c, end := w.f.TrunksFrom(s); c < end; c++ {
				from := w.f.Heads()[c]
				if before := w.f.Reverses()[c]; w.next[from] == before {
					w.waitsFor(before, in, lanes)
				}
			}
		}
		return
	}
	clear(w.lanes)
	for _, s := range w.d.senders {
		w.hold(s, lanes)
		if u := w.to[s]; u != fabric.None {
			w.lanes[u] = lanes
		}
	}
	for _, s := range k.inner {
		if w.lanes[s] == 0 {
			continue
		}
		w.hold(s, lanes)
		if u := w.to[s]; u != fabric.None {
			w.lanes[u] = lanes
		}
	}
}

// hold notes what packets on some lanes hold and wait for when they leave a switch.
func (w *walker) hold(s fabric.NodeID, lanes uint16) {
	u := w.to[s]
	if u == fabric.None {
		return
	}
	in := w.next[s]
	if out := w.next[u]; out != fabric.None {
		w.waitsFor(in, out, lanes)
	} else if use := &w.inUse[in]; *use&lanes != lanes {
		*use |= lanes
	}
}

// waitsFor notes that packets on some lanes of a trunk wait for those of another.
func (w *walker) waitsFor(in, out fabric.ChannelID, lanes uint16) {
	if w.same.Add(int(w.turns[in]+int32(out)), lanes) {
		w.inUse[in] |= lanes
	}
}
