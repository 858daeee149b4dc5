package turnlanes

import "github.com/weft-fabric/weft/routing/internal/acyclic"

// Policy says which of several lanes a turn had better get. What counts first is
// how many turns a path adds to lanes that do not hold them yet.
type Policy uint8

// The policies. Which of them serves a network better is not known beforehand.
const (
	Even Policy = iota // the turns of a path are spread evenly over the lanes
	Low                // the lowest lanes, even if that adds turns to them
)

// What lanes cost.
const (
	newTurn = 64      // a turn that its lane does not hold yet
	uneven  = 4       // a place of a turn as far from the even one as there are lanes
	high    = 200     // a lane higher
	tooMuch = 1 << 30 // not to be had
)

// prefer is what a policy charges for the i-th of so many turns on a lane.
func (p Policy) prefer(i, turns, lane, lanes int) uint32 {
	if p == Low {
		return uint32(high * lane)
	}
	off := lane*(turns+1) - (i+1)*lanes
	return uint32(max(off, -off) * uneven / (turns + 1))
}

// fitter looks for the lanes of the turns of one path in one service level that
// cost least, lane by lane along the path.
type fitter struct {
	lane []uint8  // [turn of the path] what was found
	bars []uint16 // [turn of the path] lanes, as bits, within which not to take it
	cost []uint32 // [turn of the path × lanes + lane]
	came []uint8  // [turn of the path × lanes + lane] the lane before
}

// begin forgets the bars of the path before.
func (x *fitter) begin(turns int) {
	x.bars = x.bars[:0]
	for range turns {
		x.bars = append(x.bars, 0)
	}
}

// bar keeps the i-th turn from being taken within a lane.
func (x *fitter) bar(i int, lane uint8) { x.bars[i] |= 1 << lane }

// find fills in lane, or says that there are no lanes for the path.
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

// within is the cost of taking a turn within a lane.
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

// trace follows the cheapest lanes back from the end.
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
