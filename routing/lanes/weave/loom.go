package weave

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/acyclic"
	"github.com/weft-fabric/weft/routing"
)

// unset is the lane of a turn that a service level does not use yet.
const unset = 15

// Loom is lanes for the turns of a fabric, by service level, as far as paths have
// asked for them. A packet begins on lane 0 and leaves every switch on the lane of
// its turn. Paths are taken so that lanes never fall along them and the turns that
// are taken within a lane close no cycle.
type Loom struct {
	f      *fabric.Fabric
	lanes  int
	levels int              // service levels there may be
	used   int              // of them, those in use
	graphs []*acyclic.Graph // [lane] the turns taken within it
	held   []uint16         // [turn] lanes, as bits, whose graph holds it
	barred []uint16         // [turn] lanes, as bits, whose graph it would close a cycle in, for good
	lane   []uint64         // [turn] four bits for each service level: its lane, or unset

	fit fitter
}

// NewLoom is a loom for so many lanes and service levels.
func NewLoom(f *fabric.Fabric, lanes, levels int) *Loom {
	l := &Loom{
		f: f, lanes: lanes, levels: levels,
		held:   make([]uint16, f.Turns()),
		barred: make([]uint16, f.Turns()),
		lane:   make([]uint64, f.Turns()),
	}
	for range lanes {
		l.graphs = append(l.graphs, acyclic.New(f))
	}
	for t := range l.lane {
		l.lane[t] = ^uint64(0)
	}
	return l
}

// at is the lane of a turn in a service level.
func (l *Loom) at(turn int32, sl int) uint8 { return uint8(l.lane[turn] >> (4 * sl) & 15) }

func (l *Loom) set(turn int32, sl int, lane uint8) {
	l.lane[turn] = l.lane[turn]&^(15<<(4*sl)) | uint64(lane)<<(4*sl)
}

// carries says whether a service level carries a path as things are.
func (l *Loom) carries(sl int, steps []step) bool {
	from := uint8(0)
	for _, s := range steps {
		to := l.at(s.turn, sl)
		if !l.passes(s.turn, from, to) {
			return false
		}
		from = to
	}
	return true
}

// passes says whether a turn may be taken from one lane to another.
func (l *Loom) passes(turn int32, from, to uint8) bool {
	return to != unset && (from < to || from == to && l.held[turn]>>to&1 == 1)
}

// Place finds a service level for a path, and lanes for those of its turns that
// have none there.
func (l *Loom) place(steps []step) bool {
	for sl := range l.used {
		if l.carries(sl, steps) {
			return true
		}
	}
	for sl := range l.levels {
		if sl < l.used && l.cannot(sl, steps) {
			continue
		}
		l.used = max(l.used, sl+1)
		if l.put(sl, steps) {
			return true
		}
	}
	return false
}

// cannot says that the lanes of turns already set fall along the path.
func (l *Loom) cannot(sl int, steps []step) bool {
	from := uint8(0)
	for _, s := range steps {
		if to := l.at(s.turn, sl); to != unset {
			if to < from || to == 0 && l.barred[s.turn]&1 == 1 {
				return true
			}
			from = to
		}
	}
	return false
}

// put places a path in a service level, wholly or not at all.
func (l *Loom) put(sl int, steps []step) bool {
	l.fit.begin(len(steps))
	for l.fit.find(l, sl, steps) {
		if l.commit(sl, steps, l.fit.lane) {
			return true
		}
	}
	return false
}

// commit adds the turns within lanes to their graphs and fixes the lanes. If one
// would close a cycle it takes everything back, and bars that choice.
func (l *Loom) commit(sl int, steps []step, lane []uint8) bool {
	from := uint8(0)
	for i, s := range steps {
		to := lane[i]
		if from == to && l.held[s.turn]>>to&1 == 0 && !l.graphs[to].Add(s.in, s.out) {
			if l.takeBack(steps[:i], lane) {
				// Others of this path were in the graph: was it for them?
				if l.graphs[to].Add(s.in, s.out) {
					l.graphs[to].Remove(s.in, s.out)
					l.fit.bar(i, to)
					return false
				}
			}
			l.barred[s.turn] |= 1 << to
			return false
		}
		from = to
	}
	from = 0
	for i, s := range steps {
		to := lane[i]
		if from == to {
			l.held[s.turn] |= 1 << to
		}
		l.set(s.turn, sl, to)
		from = to
	}
	return true
}

// takeBack takes turns just added out of the graphs, and says whether there were
// any.
func (l *Loom) takeBack(steps []step, lane []uint8) bool {
	from, any := uint8(0), false
	for i, s := range steps {
		to := lane[i]
		if from == to && l.held[s.turn]>>to&1 == 0 {
			l.graphs[to].Remove(s.in, s.out)
			any = true
		}
		from = to
	}
	return any
}

// sl2vl is the lanes as tables.
func (l *Loom) sl2vl() *routing.SL2VL {
	m := routing.UniformSL2VL([routing.SLs]uint8{})
	if l.lanes == 1 {
		return m
	}
	m = m.PerPort(l.f)
	for in := range fabric.ChannelID(l.f.Trunks()) {
		c := l.f.Channel(in)
		first, end := l.f.TrunksFrom(c.To)
		for out := first; out < end; out++ {
			turn, port := int32(l.f.Turn(in, out)), l.f.Channel(out).FromPort
			for sl := range uint8(routing.SLs) {
				vl := l.at(turn, int(sl)%max(1, l.used))
				if vl == unset {
					vl = uint8(l.lanes - 1)
				}
				m.Set(c.To, c.ToPort, port, sl, vl)
			}
		}
	}
	return m
}
