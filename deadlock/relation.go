package deadlock

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/waits/cdg"
	"github.com/weft-fabric/weft/routing"
)

// Where a packet has more than one way on, tables are a routing relation: for a switch and
// a destination a set of trunks, any of which it may leave by. Two things make it so, and
// both together:
//
//   - groups of ports (routing.Groups), from which a switch chooses;
//   - several tables, while a subnet manager replaces one by another: any switch may go by
//     the entry of any of them.
//
// Every trunk of the relation is a dependency. For groups that is what holds of a switch
// that keeps to the port that it chose when the packet came in, and so waits for that port
// alone; what else can be said of tables that are not free by this is in escape.go. Two
// kinds of packets travel by tables with groups, those that may choose and those that must
// stay in order and take the static port everywhere. Both count, on every service level in
// use.
//
// While tables change, all that a switch goes by may be of any of them, each by itself:
// the private table that is chosen for a packet, the entry in it, the ports that the
// number of its group stands for, the service levels that may choose, and the SL2VL map.

// kinds of packets
const (
	ordered  = iota // takes the static port
	choosing        // takes any port of the group, or the static port
	packetKinds
)

// ways is how packets of one kind leave a place.
type ways struct {
	trunks []fabric.ChannelID // the trunks that they may take
	slot   int                // number of the first of trunks among those of all places
	static fabric.ChannelID   // that of the static port, one of trunks, or None; of one set of tables
	end    fate               // the worst that becomes of those that take none: arrives or lost; circles while trunks alone count
	stops  bool               // some of them take none
	home   bool               // some of these are delivered
	choose bool               // waiting packets may take any of trunks; false: the one that each has
}

// relationWalker follows packets by all their ways to one destination after another.
// Places are pairs of a switch and the private table by which packets go on there,
// numbered switch × private tables + private table. A slot is a trunk as it leaves a place;
// its masks are the lanes of the packets on it.
type relationWalker struct {
	d       *derivation
	f       *fabric.Fabric
	inUse   []uint16
	dropped int64
	turns   []int32      // [trunk] the turn from it to a trunk, less the trunk's number
	same    cdg.SameLane // where the SL alone decides the lane
	matrix  []uint64     // see derivation, elsewhere
	width   int          // masks of a slot: one of all lanes where the SL alone decides them, else one for each service level in use

	// Per destination.
	lid     fabric.LID
	to      *fabric.Endpoint
	home    uint8 // the port by which the destination's switch delivers; 0: the destination is the switch itself
	starts  []start
	alone   []fate // [start × tables + table] the worst that becomes of its packets by these tables alone
	differ  bool   // the tables do not all have the same entries for it
	circles bool   // packets to it can circle

	// Per flow: the packets of a kind on some service levels that are forwarded alike.
	kind      int
	levels    uint16 // the service levels, as bits
	sl        uint8  // one of them
	low, high int    // the tables that count: low … high-1
	flow      int32  // its number
	at        []ways // [place]
	fates     []fate // [place] the worst that becomes of packets there
	seen      []int32
	order     []int32            // the places that packets come to, in the order in which the search finished them: a place comes after those that it leads to, unless packets circle
	pool      []fabric.ChannelID // [slot] of ways.trunks
	masks     []uint16           // [slot × width + index of the SL] lanes, as bits
	visit     []searched         // the places on the way of the search
	circle    bool               // packets can circle
	drops     bool               // a service level in use is mapped to dropLane somewhere

	lanes  []uint16           // [trunk] lanes that gather found, as bits
	trunks []fabric.ChannelID // with any of these
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

func newRelationWalker(d *derivation) *relationWalker {
	f := d.f
	w := &relationWalker{d: d, f: f, inUse: make([]uint16, f.Trunks()), turns: turnOffsets(f), width: 1}
	places := f.Switches() * d.private
	w.at, w.fates, w.seen = make([]ways, places), make([]fate, places), make([]int32, places)
	if d.simple {
		w.same = cdg.NewSameLane(f.Turns(), d.lanes)
	} else {
		w.width = d.union.used
		w.matrix = make([]uint64, f.Turns()*cdg.WordsPerTurn(d.lanes))
	}
	return w
}

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
func (w *relationWalker) begin(lid fabric.LID) {
	owner := w.f.Owner(lid)
	e := w.f.Endpoint(owner)
	w.lid, w.to, w.home, w.starts = lid, e, w.f.LastPort(e), w.starts[:0]
	for _, s := range w.d.senders {
		for i := range w.d.groups[s] {
			w.addStarts(s, &w.d.groups[s][i])
		}
	}
	w.differ = w.d.differ(lid)
	w.circles = false
	w.alone = slices.Grow(w.alone[:0], len(w.starts)*len(w.d.tables))[:len(w.starts)*len(w.d.tables)]
	clear(w.alone)
}

// addStarts adds the sources of a group: as one, or, where their answers are not all on the same service levels and
// these can go different ways, those of like levels each by themselves.
func (w *relationWalker) addStarts(s fabric.NodeID, g *group) {
	owner, first := w.f.Owner(w.lid), len(w.starts)
	if !w.d.alike && w.d.fixed == 0 && w.d.answered() {
		for _, e := range g.from {
			if e != owner {
				there, back := w.d.ofSource(e, w.lid)
				w.addStart(first, start{s: s, g: g, sls: there | back, pairs: 1})
			}
		}
		return
	}
	n := int64(len(g.from))
	here := s == w.to.Switch && slices.Contains(g.from, owner)
	if here {
		n--
	}
	if n > 0 {
		w.addStart(first, start{s: s, g: g, sls: w.d.levelsOf(g, w.lid, here), pairs: n})
	}
}

// addStart adds sources to those from a first on that are alike.
func (w *relationWalker) addStart(first int, b start) {
	for i := first; i < len(w.starts); i++ {
		if w.starts[i].sls == b.sls {
			w.starts[i].pairs += b.pairs
			return
		}
	}
	if b.sls == 0 {
		b.why = lost + fate(NoAddress)
	}
	w.starts = append(w.starts, b)
}

// answered reports whether answers add service levels by any of the tables.
func (d *derivation) answered() bool {
	return slices.ContainsFunc(d.answers, func(a *answers) bool { return a != nil })
}

// levelsOf is the service levels, as bits, that sources use for a LID by any of the tables; here: its
// owner is one of them.
func (d *derivation) levelsOf(g *group, lid fabric.LID, here bool) uint16 {
	if d.fixed != 0 {
		return d.fixed
	}
	there, back := uint16(0), uint16(0)
	for i, t := range d.tables {
		row := t.Lanes.SLRow(lid)
		switch a := d.answers[i]; {
		case row == nil:
			there |= bit(0)
		case a != nil && here:
			back |= a.ofOthers(g, lid)
		case a != nil:
			back |= a.toGroups(t.Lanes.Row[d.f.Owner(lid)])[g.index]
		}
		if row != nil {
			there |= bit(row[g.rows[i]])
		}
	}
	if there == 0 {
		return 0
	}
	return there | back
}

// differ reports whether tables have different entries for a LID, or different settings for their groups.
func (d *derivation) differ(lid fabric.LID) bool {
	first := d.tables[0]
	for _, t := range d.tables[1:] {
		if !bytes.Equal(t.Forwarding.Row(lid), first.Forwarding.Row(lid)) || t.Groups != first.Groups {
			return true
		}
	}
	return false
}

// chooses reports whether any entry for the destination has a group.
func (w *relationWalker) chooses() bool {
	for _, t := range w.d.tables {
		if t.Groups == nil {
			continue
		}
		for table := range t.Groups.Tables() {
			if slices.ContainsFunc(t.Groups.Row(table, w.lid), func(c routing.Choice) bool { return c != routing.NoChoice }) {
				return true
			}
		}
	}
	return false
}

// flows follows all packets to the destination, and calls visit for those of every kind and of service
// levels that are forwarded alike, once the lanes that they can hold are known.
func (w *relationWalker) flows(visit func()) {
	kinds := 1
	if w.chooses() {
		kinds = packetKinds
	}
	sls := uint16(0)
	for i := range w.starts {
		sls |= w.starts[i].sls
	}
	for w.kind = range kinds {
		for left := sls; left != 0; left &^= w.levels {
			if w.levels = left; !w.d.alike {
				w.levels &= -left
			}
			w.sl = uint8(bits.TrailingZeros16(w.levels))
			w.judgeAlone()
			w.spread()
			if w.drops {
				w.countDrops()
			}
			visit()
		}
	}
}

// sends reports whether sources send packets of the flow.
func (w *relationWalker) sends(b *start) bool { return b.sls&w.levels != 0 }

// where is how many places packets that came by a port can be at: one by each of the tables that count,
// where there are private tables at all.
func (w *relationWalker) where() int {
	if w.d.private == 1 {
		return 1
	}
	return w.high - w.low
}

// place is the number of the place of packets that entered a switch by a port, by the i-th of the tables
// that count.
func (w *relationWalker) place(i int, s fabric.NodeID, in uint8) int32 {
	if w.d.private == 1 {
		return int32(s)
	}
	table := 0
	if g := w.d.tables[w.low+i].Groups; g != nil {
		table = g.Table(s, in, w.sl)
	}
	return int32(int(s)*w.d.private + table)
}

// after is the place of packets that came by a trunk, likewise.
func (w *relationWalker) after(i int, c fabric.ChannelID) int32 {
	if w.d.private == 1 {
		return int32(w.f.Heads()[c])
	}
	ch := w.f.Channel(c)
	return w.place(i, ch.To, ch.ToPort)
}

// findWays works the ways of a place out.
func (w *relationWalker) findWays(place int32) {
	s, table := fabric.NodeID(int(place)/w.d.private), int(place)%w.d.private
	to := &w.at[place]
	*to = ways{slot: len(w.pool), static: fabric.None}
	for i := w.low; i < w.high; i++ {
		t := w.d.tables[i]
		fw, choice := t.Forwarding, routing.NoChoice
		switch {
		case t.Groups != nil && table < t.Groups.Tables():
			if table > 0 {
				fw = t.Groups.Static(table)
			}
			choice = t.Groups.Row(table, w.lid)[s]
		case table > 0:
			continue // one of the private tables of others
		}
		c, end := entry(w.f, s, fw.Port(s, w.lid), w.to, w.home)
		if c != fabric.None {
			to.static = c
			w.addTrunk(to, c)
		}
		plain := w.kind == ordered || choice == routing.NoChoice || w.addGroup(to, s, choice, c == fabric.None, end)
		if plain && c == fabric.None {
			to.stop(end)
		}
	}
	to.trunks = w.pool[to.slot:len(w.pool):len(w.pool)]
	for range len(to.trunks) * w.width {
		w.masks = append(w.masks, 0)
	}
}

// stop adds what becomes of packets that take no trunk.
func (to *ways) stop(end fate) {
	to.stops, to.home, to.end = true, to.home || end == arrives, max(to.end, end)
}

// addTrunk adds a trunk to the ways of the place at hand.
func (w *relationWalker) addTrunk(to *ways, c fabric.ChannelID) {
	if !slices.Contains(w.pool[to.slot:], c) {
		w.pool = append(w.pool, c)
	}
}

// addGroup adds the ports that the group of an entry has by any of the tables to its static port; down:
// that leads to no trunk, and end is what becomes of packets there. It says whether packets may take the
// static port as though there were no group.
func (w *relationWalker) addGroup(to *ways, s fabric.NodeID, choice routing.Choice, down bool, end fate) (plain bool) {
	may := false
	for _, t := range w.d.tables[w.low:w.high] {
		if t.Groups != nil && t.Groups.Levels(s)>>w.sl&1 == 1 {
			may = true
		} else {
			plain = true
		}
	}
	if !may {
		return true
	}
	to.choose = !choice.Hashed()
	for i, outs := range w.d.outs[w.low:w.high] {
		if outs == nil || choice.Group() >= len(outs[s]) {
			plain = true
			continue
		}
		if i > 0 && w.d.tables[w.low+i].Groups == w.d.tables[w.low].Groups {
			continue // the same ports
		}
		w.addOutlets(to, s, &outs[s][choice.Group()], down, end)
	}
	return plain
}

// addOutlets adds the ports of a group to a static port.
func (w *relationWalker) addOutlets(to *ways, s fabric.NodeID, o *outlets, down bool, end fate) {
	instead := (end == lost+fate(NoEntry) || end == lost+fate(DeadPort)) && len(o.trunks)+len(o.beside) > 0 // the static port is down, and there are others
	if down && !instead {
		to.stop(end)
	}
	for _, out := range o.trunks {
		w.addTrunk(to, out)
	}
	for _, port := range o.beside {
		if s == w.to.Switch && port == w.home {
			to.stop(arrives)
		} else {
			to.stop(lost + fate(WrongNode))
		}
	}
}
