package repair

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
	"github.com/weft-fabric/weft/internal/engine/steps/marks"
	"github.com/weft-fabric/weft/routing"
)

// flow is the packets to one LID: the trunks they take, by the entries in force and by
// new ones, and the lanes they are on.
type flow struct {
	f      *fabric.Fabric
	sl2vl  *routing.SL2VL
	levels *levels
	used   int  // number of service levels in use; each is numbered by its index in levels.used
	lanes  int  // lanes are 0 … lanes-1
	plain  bool // all packets are on lane 0, wherever they are

	// depend is called for each dependency between two vertices (trunk × lanes + lane),
	// and may refuse it.
	depend func(in, out fabric.ChannelID) bool

	lacks []uint16 // [trunk] lanes, as bits, that no new entry brings packets to; nil: none

	// Per LID.
	lid     fabric.LID
	home    fabric.NodeID      // the switch of its owner; None: the LID is not assigned
	cur     []fabric.ChannelID // [switch] the trunk of the entry in force; None: the entry delivers or is dead. home has one where the LID moved to it: until that entry changes, packets pass through
	dead    bool               // some switch but home has no trunk in cur
	next    []fabric.ChannelID // [switch] the trunk of the new entry; None: there is none
	arrived []uint16           // [trunk × used + level] lanes of the packets on a trunk, as bits
	touched []int32            // superset of the indices into arrived that are not 0
	under   []int64            // [switch] scratch: number of pairs whose paths pass it by the entries in force
	sorted  []fabric.NodeID    // every switch before the one that it forwards to; without those that circle and what is behind them
	isSort  bool               // sorted is of this LID
	waiting []int32            // [switch] scratch of sort
	walks   walks              // of this LID, if plain
	seen    *marks.Set         // switches, scratch of passes
	queue   []fabric.NodeID    // scratch of passes
}

// dropLane is the lane of subnet management: data packets mapped to it are dropped.
const dropLane = 15

func newFlow(f *fabric.Fabric, sl2vl *routing.SL2VL, l *levels) *flow {
	n := f.Switches()
	w := &flow{
		f: f, sl2vl: sl2vl, levels: l, used: len(l.used),
		cur: make([]fabric.ChannelID, n), next: make([]fabric.ChannelID, n),
		arrived: make([]uint16, f.Trunks()*len(l.used)),
		under:   make([]int64, n), waiting: make([]int32, n), seen: marks.New(n), walks: walks{met: make([]int64, n)},
	}
	w.lanes = 1 + int(w.topLane())
	lane, uniform := sl2vl.Uniform()
	w.plain = uniform && w.lanes == 1 && w.used == 1 && lane[l.used[0]] == 0
	return w
}

// topLane is the highest lane that a packet can be on.
func (w *flow) topLane() uint8 {
	top := uint8(0)
	if lane, ok := w.sl2vl.Uniform(); ok {
		for _, sl := range w.levels.used {
			if lane[sl] < dropLane {
				top = max(top, lane[sl])
			}
		}
		return top
	}
	for s := range fabric.NodeID(w.f.Switches()) {
		first, end := w.f.TrunksFrom(s)
		for out := first; out < end; out++ {
			for in := range uint8(w.f.Node(s).Ports + 1) {
				for _, sl := range w.levels.used {
					if vl := w.sl2vl.VL(s, in, w.f.Channel(out).FromPort, sl); vl < dropLane {
						top = max(top, vl)
					}
				}
			}
		}
	}
	return top
}

// begin reads the entries in force for a LID: its row.
func (w *flow) begin(row []uint8, lid fabric.LID) {
	w.reset(lid)
	for s, port := range row {
		w.next[s], w.cur[s] = fabric.None, w.f.Trunk(fabric.NodeID(s), port)
		w.dead = w.dead || w.cur[s] == fabric.None && fabric.NodeID(s) != w.home
	}
}

// reset forgets the LID before.
func (w *flow) reset(lid fabric.LID) {
	for _, i := range w.touched {
		w.arrived[i] = 0
	}
	w.touched = w.touched[:0]
	w.lid, w.home = lid, homeOf(w.f, lid)
	w.dead, w.isSort = false, false
}

// homeOf is the switch of the owner of a LID; None: nobody on a switch has it.
func homeOf(f *fabric.Fabric, lid fabric.LID) fabric.NodeID {
	if e := f.Owner(lid); e != fabric.None {
		return f.Endpoint(e).Switch
	}
	return fabric.None
}

// startAll sends the packets of all sources by the entries in force. It fails if a
// dependency is refused.
func (w *flow) startAll() bool {
	if w.plain && !w.passesHome() && w.walk() {
		return w.startPlain()
	}
	for s, c := range w.cur {
		if c != fabric.None && !w.start(fabric.NodeID(s), c, nil) {
			return false
		}
	}
	return true
}

// countRow counts by times what packets of all sources cause by a row: each dependency in
// uses, as numbering has them, and each pair in load, [trunk], unless that is nil.
func (w *flow) countRow(row []uint8, lid fabric.LID, by int32, uses []int32, load []int64) {
	n := numbering{w.f, fabric.ChannelID(w.lanes)}
	w.depend = func(in, out fabric.ChannelID) bool {
		uses[n.number(acyclic.Dependency{In: in, Out: out})] += by
		return true
	}
	w.begin(row, lid)
	w.startAll()
	if load != nil {
		w.addLoad(load, int64(by))
	}
}

// passesHome says whether the entry in force at home sends packets on.
func (w *flow) passesHome() bool { return w.home != fabric.None && w.cur[w.home] != fabric.None }

// start sends the packets of the sources on a switch by a trunk. It fails if a
// dependency is refused.
func (w *flow) start(s fabric.NodeID, c fabric.ChannelID, log *undo) bool {
	sls := w.levels.of(s, w.lid)
	if sls == 0 {
		return true
	}
	out := w.f.TailPorts()[c]
	for i, sl := range w.levels.used {
		if sls>>sl&1 == 1 && !w.put(c, i, w.levels.first(s, out, sl), log) {
			return false
		}
	}
	return true
}

// put adds lanes of packets of a service level on a trunk and sends them on, by the
// entries in force and by new ones. It fails if a dependency is refused.
func (w *flow) put(c fabric.ChannelID, level int, lanes uint16, log *undo) bool {
	at := int(c)*w.used + level
	fresh := lanes &^ (w.arrived[at] | 1<<dropLane)
	if fresh == 0 {
		return true
	}
	if log != nil && w.lacks != nil && fresh&w.lacks[c] != 0 {
		return false
	}
	w.touched = append(w.touched, int32(at))
	log.arrived(at, w.arrived[at])
	w.arrived[at] |= fresh
	s := w.f.Heads()[c]
	return w.pass(c, w.cur[s], level, fresh, log) && w.pass(c, w.next[s], level, fresh, log)
}

// pass sends packets that came by a trunk on by another.
func (w *flow) pass(in, out fabric.ChannelID, level int, lanes uint16, log *undo) bool {
	if out == fabric.None {
		return true
	}
	ports := w.f.TailPorts()
	vl := w.sl2vl.VL(w.f.Heads()[in], ports[w.f.Reverses()[in]], ports[out], w.levels.used[level])
	if vl >= dropLane {
		return log == nil // a new entry must not drop packets
	}
	to := out*fabric.ChannelID(w.lanes) + fabric.ChannelID(vl)
	for m := lanes; m != 0; m &= m - 1 {
		if !w.depend(in*fabric.ChannelID(w.lanes)+fabric.ChannelID(bits.TrailingZeros16(m)), to) {
			return false
		}
	}
	return w.put(out, level, 1<<vl, log)
}

// comes says whether any packet arrives at a switch by a trunk, or starts there.
func (w *flow) comes(s fabric.NodeID) bool {
	if w.levels.of(s, w.lid) != 0 {
		return true
	}
	first, end := w.f.TrunksFrom(s)
	for c := first; c < end; c++ {
		in := int(w.f.Reverses()[c]) * w.used
		for _, lanes := range w.arrived[in : in+w.used] {
			if lanes != 0 {
				return true
			}
		}
	}
	return false
}

// passes says whether packets from one switch can pass another, by entries in force and new
// ones.
func (w *flow) passes(from, s fabric.NodeID) bool {
	w.seen.Empty()
	w.queue = append(w.queue[:0], from)
	for i := 0; i < len(w.queue); i++ {
		at := w.queue[i]
		if at == s {
			return true
		}
		for _, c := range [...]fabric.ChannelID{w.cur[at], w.next[at]} {
			if c != fabric.None && w.seen.Add(int(w.f.Heads()[c])) {
				w.queue = append(w.queue, w.f.Heads()[c])
			}
		}
	}
	return false
}

// sort puts the switches into the order in which packets pass them by the entries in force.
// It says whether none circle.
func (w *flow) sort() bool {
	if !w.isSort {
		w.isSort = true
		heads := w.f.Heads()
		clear(w.waiting)
		for _, c := range w.cur {
			if c != fabric.None {
				w.waiting[heads[c]]++
			}
		}
		w.sorted = w.sorted[:0]
		for s := range w.cur {
			if w.waiting[s] == 0 {
				w.sorted = append(w.sorted, fabric.NodeID(s))
			}
		}
		for i := 0; i < len(w.sorted); i++ {
			if c := w.cur[w.sorted[i]]; c != fabric.None {
				u := heads[c]
				if w.waiting[u]--; w.waiting[u] == 0 {
					w.sorted = append(w.sorted, u)
				}
			}
		}
	}
	return len(w.sorted) == len(w.cur)
}

// addLoad counts by times the pairs on every trunk by the entries in force.
func (w *flow) addLoad(load []int64, by int64) {
	heads := w.f.Heads()
	w.sort()
	for s := range w.under {
		w.under[s] = int64(len(w.levels.sources[s]))
	}
	for _, s := range w.sorted {
		if c := w.cur[s]; c != fabric.None {
			load[c] += by * w.under[s]
			w.under[heads[c]] += w.under[s]
		}
	}
}

// undo records what an attempt changed, so that it can be taken back. A nil undo
// records nothing.
type undo struct {
	masks []mask
	added [][2]fabric.ChannelID // dependencies
}

type mask struct {
	at  int
	was uint16
}

func (u *undo) arrived(at int, was uint16) {
	if u != nil {
		u.masks = append(u.masks, mask{at, was})
	}
}
