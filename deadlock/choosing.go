package deadlock

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Tables with groups (routing.Groups). Two kinds of packets travel by them: those that may
// choose, and those that must stay in order and take the static port everywhere. Both
// count, on every service level in use.
//
// A switch that keeps to the port that it chose when the packet came in makes the packet
// wait for that port alone: then every choice is a dependency, and tables are free if all
// of these together have no cycle. That is what Verify asks. What else can be said of
// tables that are not free by this is in escape.go.

// kinds of packets
const (
	ordered  = iota // takes the static port
	choosing        // takes any port of the group, or the static port
	packetKinds
)

// ways is how packets of one kind leave a switch for a destination.
type ways struct {
	trunks []fabric.ChannelID // the trunks that they may take
	static fabric.ChannelID   // that of the static port, one of trunks, or None
	end    fate               // what becomes of those that take none: arrives or lost; circles while trunks alone count
	stops  bool               // some of them take none
	choose bool               // waiting packets may take any of trunks; false: the one that each has
}

// chooser follows packets through tables with groups to one destination after another.
// Places are pairs of a switch and the private table by which packets go on there,
// numbered switch × tables + table.
type chooser struct {
	d       *derivation
	f       *fabric.Fabric
	g       *routing.Groups
	outs    [][]outlets // [switch][group] the channels of its ports
	tables  int
	inUse   []uint16
	sls     uint16
	verdict Verdict

	simple  bool               // the SL alone decides the lane, and nothing else depends on it
	uniform [routing.SLs]uint8 // [SL] its lane, if simple
	same    sameLane           // if simple
	matrix  []uint64           // see derivation, unless simple

	// Per destination.
	lid    fabric.LID
	to     *fabric.Endpoint
	home   uint8
	starts []start

	// Per destination, kind and service level.
	kind   int
	sl     uint8
	at     []ways  // [place]
	known  []int32 // [place] at is that of the flow of this number
	flow   int32
	fates  []fate             // [place]
	seen   []int32            // [place] 2 × flow: being searched; 2 × flow + 1: its fate is known
	lanes  []uint16           // [trunk] lanes of the packets on it, as bits
	fresh  []uint16           // [trunk] those of them that were not passed on
	queue  []fabric.ChannelID // with fresh lanes
	trunks []fabric.ChannelID // with any lanes
	pool   []fabric.ChannelID // of ways.trunks
	visit  []searched         // the places on the way of a search
}

// start is sources that send to a destination.
type start struct {
	s     fabric.NodeID
	g     *group
	sls   uint16 // as bits
	pairs int64
	why   fate // the worst that becomes of a packet of theirs
}

// outlets is the channels of a group's ports.
type outlets struct {
	trunks []fabric.ChannelID
	beside []uint8 // ports to adapters and routers
}

func newChooser(d *derivation) *chooser {
	f, g := d.t.Fabric, d.choices
	w := &chooser{
		d: d, f: f, g: g, tables: g.Tables(),
		inUse: make([]uint16, f.Trunks()), lanes: make([]uint16, f.Trunks()), fresh: make([]uint16, f.Trunks()),
		outs: d.outs,
	}
	places := f.Switches() * w.tables
	w.at, w.known = make([]ways, places), make([]int32, places)
	w.fates, w.seen = make([]fate, places), make([]int32, places)
	if w.uniform, w.simple = d.t.Lanes.SL2VL.Uniform(); w.simple && g.IgnoresSL() {
		w.same = newSameLane(f.Turns(), d.lanes)
	} else {
		w.simple = false
		w.matrix = make([]uint64, f.Turns()*wordsPerTurn(d.lanes))
	}
	return w
}

func (w *chooser) part() part { return part{w.matrix, w.same, w.inUse, w.sls, &w.verdict} }

// outletsOf looks up the channels of all groups.
func outletsOf(f *fabric.Fabric, g *routing.Groups) [][]outlets {
	all := make([][]outlets, f.Switches())
	for s := range all {
		sets := g.Sets(fabric.NodeID(s))
		all[s] = make([]outlets, len(sets))
		for i := range sets {
			for port := range sets[i].All() {
				if c := f.Trunk(fabric.NodeID(s), port); c != fabric.None {
					all[s][i].trunks = append(all[s][i].trunks, c)
				} else if f.Out(fabric.NodeID(s), port) != fabric.None { // a switch does not choose a port that is down
					all[s][i].beside = append(all[s][i].beside, port)
				}
			}
		}
	}
	return all
}

// begin looks at who sends to a LID, on which service levels.
func (w *chooser) begin(lid fabric.LID) {
	e := w.f.Endpoint(w.f.Owner(lid))
	w.lid, w.to, w.home, w.starts = lid, e, w.f.LastPort(e), w.starts[:0]
	row := w.d.t.Lanes.SLRow(lid)
	owner := w.f.Owner(lid)
	for s := range w.d.groups {
		for i := range w.d.groups[s] {
			g := &w.d.groups[s][i]
			n := int64(len(g.from))
			here := fabric.NodeID(s) == e.Switch && slices.Contains(g.from, owner)
			if here {
				n--
			}
			if n == 0 {
				continue
			}
			sl := uint8(0)
			if row != nil {
				sl = row[g.rows[0]]
			}
			b := start{s: fabric.NodeID(s), g: g, sls: bit(sl), pairs: n}
			switch {
			case w.d.fixed != 0:
				b.sls = w.d.fixed
			case sl == routing.NoSL:
				b.why = lost + fate(NoAddress)
			case w.d.answers != nil && here:
				b.sls |= w.d.answers.ofOthers(g, lid)
			case w.d.answers != nil:
				b.sls |= w.d.answers.toGroups(w.d.t.Lanes.Row[owner])[g.index]
			}
			w.starts = append(w.starts, b)
		}
	}
}

// destination follows all packets to a LID.
func (w *chooser) destination(lid fabric.LID) {
	w.begin(lid)
	w.flows(func() {
		w.depend()
		w.judgeFates()
	})
	w.countPairs()
}

// flows visits every kind of packets to the destination and every service level that
// differs from others, once the lanes that they can hold are known.
func (w *chooser) flows(visit func()) {
	kinds := 1
	for table := range w.tables {
		for _, c := range w.g.Row(table, w.lid) {
			if c != routing.NoChoice {
				kinds = packetKinds
			}
		}
	}
	sls := uint16(0)
	for i := range w.starts {
		sls |= w.starts[i].sls
	}
	w.sls |= sls
	if w.simple {
		sls &= -sls // any of them stands for all
	}
	for w.kind = range kinds {
		for m := sls; m != 0; m &= m - 1 {
			w.sl = uint8(bits.TrailingZeros16(m))
			w.spread()
			visit()
		}
	}
}

// spread finds the lanes of every trunk that packets of a kind and service level can hold.
func (w *chooser) spread() {
	w.flow++
	w.pool = w.pool[:0]
	for _, c := range w.trunks {
		w.lanes[c] = 0
	}
	w.trunks = w.trunks[:0]
	for i := range w.starts {
		b := &w.starts[i]
		if !w.sends(b) {
			continue
		}
		for _, c := range w.waysFrom(b.s, b.g.port).trunks {
			w.arrive(c, w.firstLanes(b, c))
		}
	}
	for len(w.queue) > 0 {
		c := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		mask := w.fresh[c]
		w.fresh[c] = 0
		for _, out := range w.waysOn(c).trunks {
			w.arrive(out, w.nextLanes(c, out, mask))
		}
	}
}

// sends says whether sources send packets of the service level that is followed.
func (w *chooser) sends(b *start) bool { return w.simple && b.sls != 0 || b.sls>>w.sl&1 == 1 }

// arrive adds lanes of a trunk.
func (w *chooser) arrive(c fabric.ChannelID, lanes uint16) {
	before := w.lanes[c]
	if lanes&^before == 0 {
		return
	}
	if before == 0 {
		w.trunks = append(w.trunks, c)
	}
	if w.fresh[c] == 0 {
		w.queue = append(w.queue, c)
	}
	w.fresh[c] |= lanes &^ before
	w.lanes[c] |= lanes
}

// firstLanes is the lanes on which sources leave their switch by a trunk.
func (w *chooser) firstLanes(b *start, out fabric.ChannelID) uint16 {
	switch {
	case !w.simple && w.byLane(b.s):
		return laneBit(w.d.t.Lanes.SL2VL.VL(b.s, b.g.port, w.f.Channel(out).FromPort, w.d.sourceLane(b.s, b.g.port, w.sl)))
	case !w.simple:
		return laneBit(w.d.maps.first(b.g, w.f.Channel(out).FromPort, w.sl))
	}
	lanes := uint16(0)
	for m := b.sls; m != 0; m &= m - 1 {
		lanes |= laneBit(w.uniform[bits.TrailingZeros16(m)])
	}
	return lanes
}

// dropsFirst says whether packets of sources are dropped at their first trunk.
func (w *chooser) dropsFirst(b *start, out fabric.ChannelID) bool {
	if !w.simple {
		return w.firstLanes(b, out) == 0
	}
	for m := b.sls; m != 0; m &= m - 1 {
		if w.uniform[bits.TrailingZeros16(m)] >= dropLane {
			return true
		}
	}
	return false
}

// nextLanes is the lanes of a trunk that packets on some lanes of the trunk before take.
func (w *chooser) nextLanes(in, out fabric.ChannelID, lanes uint16) uint16 {
	switch {
	case w.simple:
		return lanes
	case w.byLane(w.f.Heads()[in]):
		next := uint16(0)
		for ; lanes != 0; lanes &= lanes - 1 {
			next |= w.laneAfter(in, out, uint8(bits.TrailingZeros16(lanes)))
		}
		return next
	}
	return laneBit(w.d.maps.lane(w.f.Turn(in, out), w.sl))
}

// laneBit is a lane as a bit; none for that on which data is dropped.
func laneBit(vl uint8) uint16 { return 1 << vl &^ (1 << dropLane) }

// waysOn is how packets go on that came by a trunk.
func (w *chooser) waysOn(c fabric.ChannelID) *ways {
	return w.waysFrom(w.f.Heads()[c], w.f.Channel(c).ToPort)
}

// waysFrom is how packets that entered a switch by a port leave it.
func (w *chooser) waysFrom(s fabric.NodeID, in uint8) *ways { return w.waysAt(w.place(s, in)) }

// place is the number of the place of packets that entered a switch by a port.
func (w *chooser) place(s fabric.NodeID, in uint8) int32 {
	return int32(int(s)*w.tables + w.g.Table(s, in, w.sl))
}

// waysAt works the ways of a place out once per flow; the slice is good until the next flow.
func (w *chooser) waysAt(place int32) *ways {
	to := &w.at[place]
	if w.known[place] == w.flow {
		return to
	}
	w.known[place] = w.flow
	s, table := fabric.NodeID(int(place)/w.tables), int(place)%w.tables
	fw := w.d.t.Forwarding
	if table > 0 {
		fw = w.g.Static(table)
	}
	c, end := entry(w.f, s, fw.Port(s, w.lid), w.to, w.home)
	begin := len(w.pool)
	*to = ways{static: c, end: end, stops: c == fabric.None}
	if c != fabric.None {
		w.pool = append(w.pool, c)
	}
	if choice := w.g.Row(table, w.lid)[s]; w.kind == choosing && choice != routing.NoChoice && w.g.Levels(s)>>w.sl&1 == 1 {
		to.choose = !choice.Hashed()
		w.addGroup(to, s, &w.outs[s][choice.Group()], c)
	}
	to.trunks = w.pool[begin:len(w.pool):len(w.pool)]
	return to
}

// addGroup adds the ports of a group to the static port, whose trunk is c or None.
func (w *chooser) addGroup(to *ways, s fabric.NodeID, o *outlets, c fabric.ChannelID) {
	if to.stops && (to.end == lost+fate(NoEntry) || to.end == lost+fate(DeadPort)) && len(o.trunks)+len(o.beside) > 0 {
		to.stops = false // the static port is down, and there are others
	}
	for _, out := range o.trunks {
		if out != c {
			w.pool = append(w.pool, out)
		}
	}
	for _, port := range o.beside {
		end := lost + fate(WrongNode)
		if s == w.to.Switch && port == w.home {
			end = arrives
		}
		if !to.stops || end > to.end {
			to.stops, to.end = true, end
		}
	}
}

// depend notes which lane waits for which.
func (w *chooser) depend() {
	words := wordsPerTurn(w.d.lanes)
	for i := range w.starts {
		if b := &w.starts[i]; w.sends(b) {
			lane := uint16(1) << w.d.sourceLane(b.s, b.g.port, w.sl)
			w.drops(w.waysFrom(b.s, b.g.port), b.s, b.g.port, lane, func(out fabric.ChannelID) bool { return w.dropsFirst(b, out) })
		}
	}
	for _, c := range w.trunks {
		mask := w.lanes[c]
		w.inUse[c] |= mask
		on := w.waysOn(c)
		w.drops(on, w.f.Heads()[c], w.f.Channel(c).ToPort, mask, func(out fabric.ChannelID) bool { return w.loses(c, out, mask) })
		for _, out := range on.trunks {
			turn := w.f.Turn(c, out)
			if w.simple {
				w.same.add(turn, mask)
				continue
			}
			for m := mask; m != 0; m &= m - 1 {
				if next := w.nextLanes(c, out, m&-m); next != 0 {
					setBit(w.matrix[turn*words:][:words], w.d.lanes, uint8(bits.TrailingZeros16(m)), uint8(bits.TrailingZeros16(next)))
				}
			}
		}
	}
}

// drops counts the ways on which packets are dropped that entered a switch by a port on some
// lanes, their service level or one of the lanes being mapped to dropLane.
func (w *chooser) drops(on *ways, s fabric.NodeID, in uint8, lanes uint16, dropped func(out fabric.ChannelID) bool) {
	for _, out := range on.trunks {
		if dropped(out) {
			w.verdict.Dropped++
		}
	}
	if on.stops && on.end == arrives && w.home != 0 && w.losesLast(s, in, lanes) {
		w.verdict.Dropped++
	}
}

// countPairs adds up who reaches the destination, whatever the switches choose.
func (w *chooser) countPairs() {
	for i := range w.starts {
		b := &w.starts[i]
		if b.why == lost+fate(NoAddress) && !w.d.unaddressable(b.g, w.lid, w.to) {
			continue // by another LID of the endpoint
		}
		w.verdict.Pairs += b.pairs
		if b.why == arrives {
			continue
		}
		why := Loss(b.why - lost)
		if why == Circles {
			w.verdict.Loops++
		}
		w.verdict.Unreachable += b.pairs
		w.d.o.list(&w.verdict.Lost, Lost{b.s, w.lid, why, b.pairs})
	}
}
