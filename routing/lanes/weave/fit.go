package weave

// fitter looks for the lanes of the turns of one path in one service level that
// cost least.
type fitter struct {
	lane []uint8  // [turn of the path] what was found
	bars []uint16 // [turn of the path] lanes, as bits, not to be tried again
	cost []uint32 // [turn of the path × lanes + lane]
	came []uint8  // [turn of the path × lanes + lane] the lane before
}

// What lanes cost: each turn that a lane does not hold yet.
const (
	newTurn = 64
	tooMuch = 1 << 30
)

func (x *fitter) begin(turns int) {
	x.bars = x.bars[:0]
	for range turns {
		x.bars = append(x.bars, 0)
	}
}

// bar keeps the i-th turn from being taken within a lane.
func (x *fitter) bar(i int, lane uint8) { x.bars[i] |= 1 << lane }

// find fills in lane, or says that there are no lanes for the path.
func (x *fitter) find(l *Loom, sl int, steps []step) bool {
	n := l.lanes
	if len(x.cost) < len(steps)*n {
		x.cost, x.came = make([]uint32, len(steps)*n), make([]uint8, len(steps)*n)
	}
	if cap(x.lane) < len(steps) {
		x.lane = make([]uint8, len(steps))
	}
	x.lane = x.lane[:len(steps)]
	start := [16]uint32{}
	for i := 1; i < n; i++ {
		start[i] = tooMuch
	}
	before := start[:n]
	for i, s := range steps {
		cost, came := x.cost[i*n:][:n], x.came[i*n:][:n]
		fixed := l.at(s.turn, sl)
		least, from := uint32(tooMuch), uint8(0) // of the lanes below
		for to := range uint8(n) {
			within := before[to]
			if within < tooMuch && l.held[s.turn]>>to&1 == 0 {
				if (l.barred[s.turn]|x.bars[i])>>to&1 == 1 {
					within = tooMuch
				} else {
					within += newTurn
				}
			}
			cost[to], came[to] = within, to
			if least < within {
				cost[to], came[to] = least, from
			}
			if fixed != unset && fixed != to {
				cost[to] = tooMuch
			}
			if before[to] < least {
				least, from = before[to], to
			}
		}
		before = cost
	}
	at, least := uint8(0), uint32(tooMuch)
	for to, c := range before {
		if c < least {
			at, least = uint8(to), c
		}
	}
	if least == tooMuch {
		return false
	}
	for i := len(steps) - 1; i >= 0; i-- {
		x.lane[i] = at
		at = x.came[i*n+int(at)]
	}
	return true
}
