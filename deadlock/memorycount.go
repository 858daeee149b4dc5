package deadlock

import (
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// slots numbers turns and trunks by switch and ports, so that the numbers stay while cables come and go.
type slots struct {
	turn   []int32 // [switch] its first turn
	trunk  []int32 // [switch, plus one] its first trunk
	turns  int
	lanes  int
	width  int    // counters of a turn
	words  int    // of a set of switches
	mapped bool   // packets change lanes
	all    uint16 // all packets are on these lanes, as bits, and have one counter; 0: each lane has its own
}

func newSlots(d *derivation) slots {
	n := d.f.Switches()
	s := slots{turn: make([]int32, n), trunk: make([]int32, n+1), lanes: d.lanes, width: d.lanes, words: (n + 63) / 64, mapped: !d.simple, all: d.allOn}
	switch {
	case !d.simple:
		s.width *= d.lanes
	case d.allOn != 0:
		s.lanes, s.width = 1, 1
	}
	for i := range n {
		p := d.f.Node(fabric.NodeID(i)).Ports + 1
		s.turn[i] = int32(s.turns)
		s.turns += p * p
		s.trunk[i+1] = s.trunk[i] + int32(p)
	}
	return s
}

// ports is how many slots of trunks there are.
func (s *slots) ports() int { return int(s.trunk[len(s.trunk)-1]) }

// these is the lanes that counters stand for, as bits.
func (s *slots) these(counted uint16) uint16 {
	if s.all != 0 && counted != 0 {
		return s.all
	}
	return counted
}

// counted is the counters of lanes, as bits.
func (s *slots) counted(lanes uint16) uint16 {
	if s.all != 0 {
		return 1 // one counter for all
	}
	return lanes
}

// end is where a port of a switch leads.
type end struct {
	to   fabric.NodeID // None: there is no cable; noSwitch: to what is no switch
	into int32         // the slot of the first turn from there
	back uint8         // the port at the other end
}

// noSwitch is where a cable leads to an adapter or router, or back to its own switch.
const noSwitch = fabric.None - 1

func (s *slots) end(f *fabric.Fabric, from fabric.NodeID, port uint8) end {
	c := f.Out(from, port)
	switch {
	case c == fabric.None:
		return end{to: fabric.None}
	case int(c) >= f.Trunks():
		return end{to: noSwitch}
	}
	ch := f.Channel(c)
	return end{ch.To, s.firstTurn(f, ch.To, ch.ToPort), ch.ToPort}
}

// firstTurn is the slot of the first turn from a port of a switch.
func (s *slots) firstTurn(f *fabric.Fabric, at fabric.NodeID, in uint8) int32 {
	return s.turn[at] + int32(in)*int32(f.Node(at).Ports+1)
}

func (s *slots) ends(f *fabric.Fabric) []end {
	ends := make([]end, 0, s.ports())
	for from := range fabric.NodeID(f.Switches()) {
		for port := range f.Node(from).Ports + 1 {
			ends = append(ends, s.end(f, from, uint8(port)))
		}
	}
	return ends
}

// moved is a port of a switch that leads elsewhere in one of two fabrics than in the other.
type moved struct {
	s    fabric.NodeID
	port uint8
	end  end // in the fabric that Memory.ends is not of
}

// exchange makes ends those of the other of two fabrics.
func (m *Memory) exchange(all []moved) {
	for i := range all {
		e := &m.ends[m.slots.trunk[all[i].s]+int32(all[i].port)]
		*e, all[i].end = all[i].end, *e
	}
}

// tally is a walker that counts what it finds.
type tally struct {
	d       *derivation
	walker  *walker // nil: none was needed yet
	ends    []end
	slots   *slots
	waits   []uint16
	held    []uint16
	use     []uint16
	passed  []uint64
	notes   []note
	lossy   map[fabric.LID]*Verdict
	touched *[]touched // dependencies that came or went; nil: all are looked at in the end
}

// touched is a turn, by switch and ports.
type touched struct {
	s       fabric.NodeID
	in, out uint8
}

func (m *Memory) newTally(d *derivation, waits, held, use []uint16) *tally {
	return &tally{
		d: d, ends: m.ends, slots: &m.slots, waits: waits, held: held, use: use,
		passed: m.passed, notes: m.notes, lossy: map[fabric.LID]*Verdict{},
	}
}

// start makes the walker, which is as large as the network: where few destinations changed, most tallies have none to count.
func (t *tally) start() {
	t.walker = newWalker(t.d)
	t.walker.ordered = true
}

// destination counts what packets to an address hold and wait for.
func (t *tally) destination(lid fabric.LID) { t.notes[lid] = t.count(lid, 1) }

// less is what count adds to take one away.
const less = ^uint16(0)

// count adds one to all that packets to an address hold and wait for, or takes one away.
func (t *tally) count(lid fabric.LID, one uint16) note {
	if t.walker == nil {
		t.start()
	}
	w := t.walker
	e, row := w.f.Endpoint(w.f.Owner(lid)), w.d.t.Forwarding.Row(lid)
	w.verdict, w.sls = Verdict{}, 0
	w.kept.counted = nil // of each address by itself
	if w.kept.root == e.Switch && row[e.Switch] == w.f.LastPort(e) && w.step(row) {
		w.home, w.arrive, w.order, w.passed = w.f.LastPort(e), true, w.kept.order, 0
		w.findFates(row, e)
	} else {
		w.readEntries(row, e)
		w.sort()
		w.findFates(row, e)
		w.keep(lid, row, e)
	}
	switch {
	case w.d.allOn != 0 && w.arrive && w.countAlike(lid, e):
		t.spreadAlike()
		t.countSimple(lid, row, one)
	case w.simple:
		w.inject(lid, e)
		w.flowSimple()
		t.countSimple(lid, row, one)
	default:
		w.inject(lid, e)
		w.flow()
		t.countMapped(row, one)
	}
	v := &w.verdict
	n := note{known: true, sls: w.sls}
	n.plain = v.Pairs == w.pairsTo(w.f.Owner(lid)) && v.Dropped == 0 && v.Loops == 0 &&
		!slices.ContainsFunc(v.Lost, func(l Lost) bool { return l.Why == NoAddress })
	n.clean = n.plain && v.Unreachable == 0 && v.Stray == 0
	if !n.clean {
		c := *v
		t.lossy[lid] = &c
	}
	return n
}

// spreadAlike finds the lanes of packets where all are on the same, in w.lanes.
func (t *tally) spreadAlike() {
	w := t.walker
	clear(w.lanes)
	for _, s := range w.d.senders {
		w.lanes[s] = w.d.allOn
	}
	for _, s := range w.order {
		if u := w.to[s]; u != fabric.None {
			w.lanes[u] |= w.lanes[s]
		}
	}
}

// passedTo is the switches that packets to an address leave, as bits.
func (t *tally) passedTo(lid fabric.LID) []uint64 {
	return t.passed[int(lid)*t.slots.words:][:t.slots.words]
}

// countSimple counts each switch once, those of a circle too.
func (t *tally) countSimple(lid fabric.LID, row []uint8, one uint16) {
	w, passed := t.walker, t.passedTo(lid)
	clear(passed)
	for s, u := range w.to {
		lanes := w.lanes[s]
		if lanes == 0 {
			continue
		}
		passed[s/64] |= 1 << (s % 64)
		if u == fabric.None {
			continue
		}
		in := int(t.slots.trunk[s]) + int(row[s])
		t.hold(in, lanes, one)
		if w.to[u] != fabric.None {
			t.wait(in, row[u], lanes, one)
		}
	}
}

// hold counts packets on some lanes of a trunk, by its slot.
func (t *tally) hold(trunk int, lanes, one uint16) {
	held, use := t.held[trunk*t.slots.lanes:][:t.slots.lanes], &t.use[trunk]
	for m := t.slots.counted(lanes); m != 0; m &= m - 1 {
		n := &held[bits.TrailingZeros16(m)]
		switch *n += one; *n {
		case 0:
			*use &^= m & -m
		case 1:
			*use |= m & -m
		}
	}
}

// wait counts packets on some lanes of a trunk, by its slot, that wait for the same of the trunk at a port where it leads.
func (t *tally) wait(in int, out uint8, lanes, one uint16) {
	for m := t.slots.counted(lanes); m != 0; m &= m - 1 {
		t.depend(in, out, bits.TrailingZeros16(m), one)
	}
}

// depend counts one dependency, by its place among those of the turn.
func (t *tally) depend(in int, out uint8, place int, one uint16) {
	e := &t.ends[in]
	n := &t.waits[(int(e.into)+int(out))*t.slots.width+place]
	if t.touched != nil && (*n == 0 || *n+one == 0) {
		*t.touched = append(*t.touched, touched{e.to, e.back, out})
	}
	*n += one
}

// countMapped counts each lane and dependency once, on however many service levels.
func (t *tally) countMapped(row []uint8, one uint16) {
	w, lanes := t.walker, t.slots.lanes
	for s, u := range w.to {
		if u == fabric.None {
			continue
		}
		in, out := w.next[s], w.next[u]
		held, waits := uint16(0), [(routing.MaxDataVLs*routing.MaxDataVLs + 63) / 64]uint64{}
		for m := w.slMask[s]; m != 0; m &= m - 1 {
			sl := uint8(bits.TrailingZeros16(m))
			from := w.vlMask[s][sl]
			held |= from
			if out == fabric.None || from == 0 {
				continue
			}
			vl := w.d.maps.lane(w.f.Turn(in, out), sl)
			for ; vl < dropLane && from != 0; from &= from - 1 {
				place := bits.TrailingZeros16(from)*lanes + int(vl)
				waits[place/64] |= 1 << (place % 64)
			}
		}
		trunk := int(t.slots.trunk[s]) + int(row[s])
		t.hold(trunk, held, one)
		for i, word := range waits {
			for ; word != 0; word &= word - 1 {
				t.depend(trunk, row[u], i*64+bits.TrailingZeros64(word), one)
			}
		}
	}
}
