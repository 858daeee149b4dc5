package deadlock

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// mixtureWalker follows the routes to one destination after another, by every
// entry that a switch may have.
type mixtureWalker struct {
	m       *mixture
	f       *fabric.Fabric
	k       int // number of tables
	verdict MixtureVerdict
	matrix  []uint64 // see mixture
	inUse   []uint16 // see mixture

	// Per destination.
	own    []fabric.ChannelID // [table × switches + switch] the trunk of its entry in that table; None if it has no trunk
	fates  []fate             // [table × switches + switch] what becomes of a packet that meets this table only
	next   []fabric.ChannelID // [switch × k + i] the different trunks of own
	ways   []uint8            // [switch] number of trunks in next
	lossy  []bool             // [switch] packets may get lost here or further on
	state  []visit            // [switch] state of the depth-first search
	tried  []uint8            // [switch] number of trunks of next already searched
	order  []fabric.NodeID    // switches that packets reach, in the order in which the search finished them: a switch comes after those it forwards to, unless they circle
	circle bool               // packets can circle
	home   uint8              // the port by which the destination's switch delivers; 0: the destination is the switch itself

	slMask []uint16              // [switch] service levels of the packets there
	vlMask [][routing.SLs]uint16 // [switch × k + i][SL] lanes of those that leave by next, as bits
	stack  []fabric.NodeID
}

// visit is the state of a switch in the depth-first search.
type visit uint8

const (
	unseen visit = iota
	open         // on the path from where the search began
	done
)

func newMixtureWalker(m *mixture) *mixtureWalker {
	n, k := m.f.Switches(), len(m.tables)
	w := &mixtureWalker{
		m: m, f: m.f, k: k,
		matrix: make([]uint64, m.f.Turns()*wordsPerTurn(m.lanes)),
		inUse:  make([]uint16, m.f.Trunks()),
		own:    make([]fabric.ChannelID, n*k), fates: make([]fate, n*k),
		next: make([]fabric.ChannelID, n*k), ways: make([]uint8, n),
		lossy: make([]bool, n), state: make([]visit, n), tried: make([]uint8, n),
		slMask: make([]uint16, n), vlMask: make([][routing.SLs]uint16, n*k),
	}
	w.verdict.Cut = make([]int64, k)
	return w
}

// destination follows all routes to one LID.
func (w *mixtureWalker) destination(lid fabric.LID) {
	e := w.f.Endpoint(w.f.Owner(lid))
	w.readEntries(lid, e)
	w.order, w.circle = w.order[:0], false
	clear(w.state)
	clear(w.slMask)
	clear(w.vlMask)
	for s := range w.m.groups {
		w.inject(fabric.NodeID(s), lid, e)
	}
	if w.circle {
		w.verdict.Circles++
	}
	// Circling packets come back to switches that were done: repeat until nothing is new.
	// The order is reversed: the switch finished last comes first.
	for again := true; again; {
		again = false
		for i := len(w.order) - 1; i >= 0; i-- {
			again = w.forward(w.order[i]) || again
		}
		again = again && w.circle
	}
}

// readEntries fills own and fates for an endpoint.
func (w *mixtureWalker) readEntries(lid fabric.LID, e *fabric.Endpoint) {
	n := w.f.Switches()
	w.home = w.f.LastPort(e)
	clear(w.ways)
	for i, t := range w.m.tables {
		own, fates := w.own[i*n:][:n], w.fates[i*n:][:n]
		for s, port := range t.Forwarding.Row(lid) {
			own[s], fates[s] = entry(w.f, fabric.NodeID(s), port, e, w.home)
			if own[s] != fabric.None {
				w.addWay(s, own[s])
			}
		}
		w.followOwn(own, fates)
	}
	for s := range w.lossy {
		w.lossy[s] = false
		for i := range w.k {
			// Where there is a trunk, the next switch decides.
			if w.own[i*n+s] == fabric.None && w.fates[i*n+s] != arrives {
				w.lossy[s] = true
			}
		}
	}
}

// addWay adds a trunk to those by which packets may leave a switch.
func (w *mixtureWalker) addWay(s int, c fabric.ChannelID) {
	for _, known := range w.next[s*w.k:][:w.ways[s]] {
		if known == c {
			return
		}
	}
	w.next[s*w.k+int(w.ways[s])] = c
	w.ways[s]++
}

// followOwn computes fates along the entries of one of the tables, from the ends of the
// paths back.
func (w *mixtureWalker) followOwn(own []fabric.ChannelID, fates []fate) {
	heads := w.f.Heads()
	clear(w.state)
	for s := range own {
		w.stack = w.stack[:0]
		at := fabric.NodeID(s)
		for ; w.state[at] == unseen && own[at] != fabric.None; at = heads[own[at]] {
			w.state[at] = open
			w.stack = append(w.stack, at)
		}
		end := fates[at] // in a circle: Circles, as set by entry
		for _, at := range w.stack {
			fates[at], w.state[at] = end, done
		}
	}
}

// inject counts the pairs of a switch and a LID and starts their packets.
func (w *mixtureWalker) inject(s fabric.NodeID, lid fabric.LID, to *fabric.Endpoint) {
	pairs := int64(0)
	for i := range w.m.groups[s] {
		g := &w.m.groups[s][i]
		sources := int64(len(g.from))
		var sls uint16
		if s != to.Switch {
			sls = w.levels(g, lid)
		} else {
			sources, sls = w.levelsOfOthers(g, lid)
		}
		if sources == 0 || sls == 0 {
			continue
		}
		pairs += sources
		w.slMask[s] |= sls
		for i, c := range w.next[int(s)*w.k:][:w.ways[s]] {
			out := w.f.Channel(c).FromPort
			for m := sls; m != 0; m &= m - 1 {
				sl := uint8(bits.TrailingZeros16(m))
				w.vlMask[int(s)*w.k+i][sl] |= w.keep(w.m.maps.first(g, out, sl))
			}
		}
		if w.arrivesAt(s) && w.home != 0 {
			for m := sls; m != 0; m &= m - 1 {
				w.deliver(s, g.port, uint8(bits.TrailingZeros16(m)), 0)
			}
		}
	}
	if pairs == 0 {
		return
	}
	w.verdict.Pairs += pairs
	n := w.f.Switches()
	for i := range w.k {
		if w.fates[i*n+int(s)] != arrives {
			w.verdict.Cut[i] += pairs
		}
	}
	w.search(s)
	if last := w.fates[(w.k-1)*n+int(s)]; last == arrives && w.lossy[s] {
		w.verdict.Exposed += pairs
		w.m.o.list(&w.verdict.Lost, Lost{Switch: s, LID: lid, Why: w.why(s), Pairs: pairs})
	}
}

// why is the reason why packets from switch s get lost in some mixture.
func (w *mixtureWalker) why(s fabric.NodeID) Loss {
	for i := range w.k {
		if end := w.fates[i*w.f.Switches()+int(s)]; end != arrives {
			return Loss(end - lost)
		}
	}
	return NoEntry
}

// levels is the service levels that packets of a group may use, as bits.
func (w *mixtureWalker) levels(g *group, lid fabric.LID) uint16 {
	if w.m.fixed != 0 {
		return w.m.fixed
	}
	there, back := uint16(0), uint16(0)
	for i, t := range w.m.tables {
		row := t.Lanes.SLRow(lid)
		if row == nil {
			there |= 1
			continue
		}
		there |= bit(row[g.rows[i]])
		if a := w.m.answers[i]; a != nil {
			back |= a.toGroups(t.Lanes.Row[w.f.Owner(lid)])[g.index]
		}
	}
	if there == 0 {
		return 0
	}
	return there | back
}

// levelsOfOthers counts the sources of a group other than the destination itself, and
// returns their service levels.
func (w *mixtureWalker) levelsOfOthers(g *group, lid fabric.LID) (sources int64, sls uint16) {
	to := w.f.Owner(lid)
	for _, e := range g.from {
		if e != to {
			sources++
			there, back := w.m.ofSource(e, lid)
			sls |= there | back
		}
	}
	if w.m.fixed != 0 {
		sls &= w.m.fixed
	}
	return sources, sls
}

// ofSource is the service levels of packets from one source, as bits: those of their
// own direction, and those of answers.
func (m *mixture) ofSource(e fabric.EndpointID, lid fabric.LID) (there, back uint16) {
	if m.fixed != 0 {
		return m.allowed, 0
	}
	for i, t := range m.tables {
		there |= bit(t.Lanes.SL(e, lid))
		if a := m.answers[i]; a != nil {
			back |= a.toSource(t.Lanes.Row[m.f.Owner(lid)], e)
		}
	}
	if there == 0 {
		return 0, 0
	}
	return there, back
}

// keep removes the drop lane from lanes, and counts it.
func (w *mixtureWalker) keep(lanes uint16) uint16 {
	if lanes>>dropLane != 0 {
		w.verdict.Dropped++
	}
	return lanes &^ (1 << dropLane)
}

// arrivesAt says whether some tables deliver from a switch.
func (w *mixtureWalker) arrivesAt(s fabric.NodeID) bool {
	for i := range w.k {
		if at := i*w.f.Switches() + int(s); w.own[at] == fabric.None && w.fates[at] == arrives {
			return true
		}
	}
	return false
}

// search adds all switches that packets from s can reach to the order, those further on
// first, and passes back whether packets may get lost. In a circle every switch must be
// marked as losing packets: the first one that is finished leads to one still open, and
// each other leads to one finished before it or still open.
func (w *mixtureWalker) search(s fabric.NodeID) {
	if w.state[s] != unseen {
		return
	}
	heads := w.f.Heads()
	w.stack = append(w.stack[:0], s)
	w.state[s] = open
	for len(w.stack) > 0 {
		at := w.stack[len(w.stack)-1]
		i := w.tried[at]
		if i == w.ways[at] {
			w.tried[at], w.state[at] = 0, done
			w.order = append(w.order, at)
			w.stack = w.stack[:len(w.stack)-1]
			if len(w.stack) > 0 && w.lossy[at] {
				w.lossy[w.stack[len(w.stack)-1]] = true
			}
			continue
		}
		w.tried[at]++
		switch u := heads[w.next[int(at)*w.k+int(i)]]; w.state[u] {
		case unseen:
			w.state[u] = open
			w.stack = append(w.stack, u)
		case open:
			w.circle, w.lossy[at] = true, true
		case done:
			w.lossy[at] = w.lossy[at] || w.lossy[u]
		}
	}
}

// forward sends the packets of a switch on by all their ways, and says whether that
// added anything to a switch that was done.
func (w *mixtureWalker) forward(s fabric.NodeID) bool {
	channels := w.f.Channels()
	fresh := false
	for i, in := range w.next[int(s)*w.k:][:w.ways[s]] {
		u := channels[in].To
		w.slMask[u] |= w.slMask[s]
		for m := w.slMask[s]; m != 0; m &= m - 1 {
			sl := uint8(bits.TrailingZeros16(m))
			from := w.vlMask[int(s)*w.k+i][sl]
			if from == 0 {
				continue
			}
			w.inUse[in] |= from
			for j, out := range w.next[int(u)*w.k:][:w.ways[u]] {
				turn := w.f.Turn(in, out)
				to := w.turn(turn, in, out, sl, from)
				had := &w.vlMask[int(u)*w.k+j][sl]
				fresh = fresh || to&^*had != 0
				*had |= to
			}
			if w.home != 0 && w.arrivesAt(u) {
				w.deliver(u, channels[in].ToPort, sl, from)
			}
		}
	}
	return fresh
}

// turn adds the dependencies of packets on some lanes of a trunk that go on by another, and returns
// their lanes there.
func (w *mixtureWalker) turn(turn int, in, out fabric.ChannelID, sl uint8, from uint16) uint16 {
	ch := w.f.Channel(in)
	if w.m.byLane == nil || w.m.byLane[ch.To]>>sl&1 == 0 {
		to := w.keep(w.m.maps.lane(turn, sl))
		w.note(turn, from, to)
		return to
	}
	all := uint16(0)
	for ; from != 0; from &= from - 1 {
		to := mapped(w.m.tables, ch.To, ch.ToPort, w.f.Channel(out).FromPort, sl, from&-from)
		w.note(turn, from&-from, to&^(1<<dropLane))
		all |= to
	}
	return w.keep(all)
}

// note adds the dependencies from some lanes to others on a turn.
func (w *mixtureWalker) note(turn int, from, to uint16) {
	words := wordsPerTurn(w.m.lanes)
	matrix := w.matrix[turn*words:][:words]
	for ; from != 0; from &= from - 1 {
		for next := to; next != 0; next &= next - 1 {
			setBit(matrix, w.m.lanes, uint8(bits.TrailingZeros16(from)), uint8(bits.TrailingZeros16(next)))
		}
	}
}

// deliver counts packets of an SL that are dropped on the cable to the destination; came is the lanes
// on which they came, 0 from a source there.
func (w *mixtureWalker) deliver(s fabric.NodeID, in, sl uint8, came uint16) {
	for i := range w.m.tables {
		if mapped(w.m.tables[i:i+1], s, in, w.home, sl, came)>>dropLane != 0 {
			w.verdict.Dropped++
		}
	}
}
