package hop

import (
	"context"
	"math/bits"

	"github.com/weft-fabric/weft/routing"
)

// sequences is paths as turns, from the source on, one path behind the other.
type sequences struct {
	turns []int32 //
	start []int32 // [path, plus one at the end] into turns
	space int     // turns are numbered below this
}

// of is the turns of a path.
func (s *sequences) of(p int32) []int32 { return s.turns[s.start[p]:s.start[p+1]] }

// paths counts.
func (s *sequences) paths() int { return len(s.start) - 1 }

// plan is lanes by service level and turn, such that every path rises from lane
// to lane in one service level at least.
type plan struct {
	lane [][]uint8 // [service level][turn] 1 … top, 0: not used
	sl   []uint8   // [path] the first in which it rises
}

// makePlan looks for a plan with few service levels, in which the turns have the
// lanes 1 … top. It says how many paths are left over when it finds none with
// the service levels there are.
func makePlan(ctx context.Context, s *sequences, top int) (*plan, int, error) {
	m := newMender(s, top)
	if left, err := m.elect(ctx); err != nil || left > s.paths()/hopeless {
		return nil, left, err
	}
	if len(m.lane) > 1 {
		m.index()
		m.findLoose()
		if !m.mend(ctx) {
			return nil, m.broken, ctx.Err()
		}
		for fewest := s.fewest(top); len(m.lane) > fewest && m.mendWithOneFewer(ctx); {
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	p := &plan{lane: m.lane, sl: make([]uint8, s.paths())}
	for i, mask := range m.rises {
		p.sl[i] = uint8(bits.TrailingZeros16(mask))
	}
	return p, 0, nil
}

// fewest is a number of service levels below which there is no plan. Every path
// says between which lanes each of its turns must be, and a service level gives a
// turn one lane: it needs as many as there are such intervals without a lane in
// common.
func (s *sequences) fewest(top int) int {
	from := make([]uint8, s.space*(top+1)) // [turn × (top+1) + last lane] the highest first lane of an interval; 0: none ends here
	for p := range int32(s.paths()) {
		turns := s.of(p)
		slack := top - len(turns)
		for i, t := range turns {
			f := &from[int(t)*(top+1)+i+1+slack]
			*f = max(*f, uint8(i+1))
		}
	}
	fewest := 0
	for t := range s.space {
		n, at := 0, 0
		for last, first := range from[t*(top+1):][:top+1] {
			if int(first) > at {
				at, n = last, n+1
			}
		}
		fewest = max(fewest, n)
	}
	return fewest
}

// hopeless is the part of all paths, one in so many, that mending has never been
// seen to find service levels for.
const hopeless = 3

// elect lets the paths vote for the lane of every turn, service level by service
// level: those that fit leave, the others vote again, until none is left or the
// service levels are used up. It stops early when too many would be left even if
// every later service level took as many as the last, and returns how many are
// left.
func (m *mender) elect(ctx context.Context) (int, error) {
	left := make([]int32, m.s.paths())
	for p := range left {
		left[p] = int32(p)
	}
	votes := make([]uint32, m.s.space*m.top)
	for sl := 0; len(left) > 0 && sl < routing.SLs; sl++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		before := len(left)
		m.vote(votes, left)
		lane := make([]uint8, m.s.space)
		m.lane = append(m.lane, lane)
		left = m.fill(sl, left, m.winners(count(votes, m.top), lane))
		left = m.fill(sl, left, m.room(lane))
		if taken := before - len(left); len(left)-taken*(routing.SLs-1-sl) > m.s.paths()/hopeless {
			break
		}
	}
	return len(left), nil
}

// fill gives a service level the paths that fit, and returns the others.
func (m *mender) fill(sl int, paths []int32, fits func(turns []int32) bool) []int32 {
	rest := paths[:0]
	for _, p := range paths {
		if fits(m.s.of(p)) {
			m.rises[p] = 1 << sl
		} else {
			rest = append(rest, p)
		}
	}
	return rest
}

// winners is for paths that rise along the lanes elected; their turns get them.
func (m *mender) winners(elected, lane []uint8) func(turns []int32) bool {
	return func(turns []int32) bool {
		if !rises(turns, elected) {
			return false
		}
		for _, t := range turns {
			lane[t] = elected[t]
		}
		return true
	}
}

// room is for paths that can rise if turns without a lane get one, as low as can
// be; then they do.
func (m *mender) room(lane []uint8) func(turns []int32) bool {
	return func(turns []int32) bool {
		at := 0
		for i, t := range turns {
			at++
			if lane[t] != 0 && int(lane[t]) < at {
				return false
			}
			if at = max(at, int(lane[t])); at+len(turns)-1-i > m.top {
				return false
			}
		}
		at = 0
		for _, t := range turns {
			at = max(at+1, int(lane[t]))
			lane[t] = uint8(at)
		}
		return true
	}
}

// vote adds up for every turn and lane how many paths can have it there. Those
// that have little choice count more.
func (m *mender) vote(votes []uint32, voters []int32) {
	clear(votes)
	for _, p := range voters {
		turns := m.s.of(p)
		slack := m.top - len(turns)
		weight := uint32(1) << (2 * max(0, 3-slack))
		for i, t := range turns {
			for k := range votes[int(t)*m.top+i:][:slack+1] {
				votes[int(t)*m.top+i+k] += weight
			}
		}
	}
}

// count gives every turn the lane with the most votes, the lowest of several.
func count(votes []uint32, top int) []uint8 {
	lane := make([]uint8, len(votes)/top)
	for t := range lane {
		most := uint32(0)
		for k, v := range votes[t*top:][:top] {
			if v > most {
				most, lane[t] = v, uint8(k+1)
			}
		}
	}
	return lane
}

// rises says whether a path rises from lane to lane.
func rises(turns []int32, lane []uint8) bool {
	at := uint8(0)
	for _, t := range turns {
		if lane[t] <= at {
			return false
		}
		at = lane[t]
	}
	return true
}
