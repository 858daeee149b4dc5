package turnlanes

import "github.com/weft-fabric/weft/internal/engine/steps/acyclic"

// Policy says which of several lanes a turn should get, if they add equally many turns
// to the graphs.
type Policy uint8

// Which one is better for a network is not known beforehand.
const (
	Even Policy = iota // the turns of a path are spread evenly over the lanes
	Low                // the lowest lanes, even if that adds turns to them
)

// Costs of lanes: a new turn counts more than how even the lanes are, and under Low less than a lane
// above.
const (
	newTurn = 64      // a turn that is not in the lane's graph yet
	uneven  = 4       // per lane of distance from the even distribution
	high    = 200     // per lane above the lowest
	tooMuch = 1 << 30 // impossible
)

// prefer is what a policy charges for the i-th of some turns on a lane.
func (p Policy) prefer(i, turns, lane, lanes int) uint32 {
	if p == Low {
		return uint32(high * lane)
	}
	off := lane*(turns+1) - (i+1)*lanes
	return uint32(max(off, -off) * uneven / (turns + 1))
}

// fitter finds the cheapest lanes for the turns of one path in one service level, turn
// by turn along the path.
type fitter struct {
	lane []uint8  // [turn of the path] the result
	bars []uint16 // [turn of the path] lanes, as bits, within which it must not be taken
	cost []uint32 // [turn of the path × lanes + lane]
	came []uint8  // [turn of the path × lanes + lane] the lane before
}

// begin forgets the bars of the last path.
func (x *fitter) begin(turns int) {
	x.bars = x.bars[:0]
	for range turns {
		x.bars = append(x.bars, 0)
	}
}

// bar excludes the i-th turn from a lane.
func (x *fitter) bar(i int, lane uint8) { x.bars[i] |= 1 << lane }

// find sets lane to the cheapest lanes for the turns of a path in a service level. It returns false if
// there are none for it. Nothing is entered into l.
func (x *fitter) find(l *Assignment, sl int, steps []acyclic.Turn) bool {
	n := l.lanes
	for len(x.cost) < len(steps)*n {
		x.cost, x.came, x.lane = append(x.cost, 0), append(x.came, 0), append(x.lane, 0)
	}
	var start [unset]uint32
	for i := range n {
		start[i] = tooMuch
	}
	start[l.start(sl)] = 0
	before := start[:n]
	for i, s := range steps {
		cost, came := x.cost[i*n:][:n], x.came[i*n:][:n]
		fixed := l.at(s.ID, sl)
		least, from := uint32(tooMuch), 0 // of the lanes below
		for to, within := range before {
			c := min(within+l.within(s.ID, to, x.bars[i]), tooMuch)
			came[to] = uint8(to)
			if least < c && l.change != Never {
				c, came[to] = least, uint8(from)
			}
			switch {
			case fixed == unset:
				c = min(c+l.policy.prefer(i, len(steps), to, n), tooMuch)
			case int(fixed) != to:
				c = tooMuch
			}
			cost[to] = c
			if within < least {
				least, from = within, to
			}
		}
		before = cost
	}
	return x.trace(before, len(steps), n)
}

// within is the cost of taking a turn within a lane, where the lanes in bars must not be.
func (l *Assignment) within(turn int32, lane int, bars uint16) uint32 {
	switch {
	case l.change == Always:
		return tooMuch
	case l.held[turn]>>lane&1 == 1:
		return 0
	case (l.barred[turn]|bars)>>lane&1 == 1:
		return tooMuch
	}
	return newTurn
}

// trace sets lane by following the cheapest lanes back from the last turn, end being the costs of that
// by lane. It returns false if all are impossible.
func (x *fitter) trace(end []uint32, turns, lanes int) bool {
	at, least := uint8(0), uint32(tooMuch)
	for to, c := range end {
		if c < least {
			at, least = uint8(to), c
		}
	}
	if least == tooMuch {
		return false
	}
	for i := turns - 1; i >= 0; i-- {
		x.lane[i] = at
		at = x.came[i*lanes+int(at)]
	}
	return true
}
