package hop

import (
	"context"
	"math/bits"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/forest"
	"github.com/weft-fabric/weft/routing"
)

// sequences is paths as turns, from the source on, one path behind the other, those of a
// bundle together. A bundle is the paths that need the same service level: one path or,
// under contract honored, all between two switches, both ways.
type sequences struct {
	turns  []int32 // numbers of turns in the fabric
	start  []int32 // [path, plus one at the end] into turns
	first  []int32 // [bundle, plus one at the end] its first path
	bundle []int32 // [path] its bundle
	space  int     // turns are numbered below this
}

func newSequences(turns int) *sequences {
	return &sequences{start: []int32{0}, first: []int32{0}, space: turns}
}

// add adds the path that begins with a hop of a forest.
func (s *sequences) add(all *forest.Forest, n int32) {
	for next := all.Next[n]; next != forest.None; n, next = next, all.Next[next] {
		s.turns = append(s.turns, int32(all.Fabric.Turn(all.Trunk[n], all.Trunk[next])))
	}
	s.start = append(s.start, int32(len(s.turns)))
}

// path is the turns of a path.
func (s *sequences) path(p int32) []int32 { return s.turns[s.start[p]:s.start[p+1]] }

func (s *sequences) paths() int { return len(s.start) - 1 }

func (s *sequences) bundles() int { return len(s.first) - 1 }

// close makes a bundle of the paths added since the last one, if there are any, and reports whether
// there are.
func (s *sequences) close() (closed bool) {
	n := int32(s.paths())
	for len(s.bundle) < int(n) {
		s.bundle = append(s.bundle, int32(s.bundles()))
		closed = true
	}
	if closed {
		s.first = append(s.first, n)
	}
	return closed
}

// plan is lanes by service level and turn, such that every path rises from lane
// to lane in one service level at least, all of a bundle in the same.
type plan struct {
	lane [][]uint8 // [service level][turn] 1 … top, 0: not used
	sl   []uint8   // [bundle] the first in which all its paths rise
}

// makePlan looks for a plan with few service levels, in which the turns have the
// lanes 1 … top: elect makes a first one, mend improves it. Without a plan (nil) it returns how many
// bundles are left over with the service levels there are.
func makePlan(ctx context.Context, s *sequences, top int) (*plan, int, error) {
	m := newMender(s, top)
	if left, err := m.elect(ctx); err != nil || left > s.bundles()/giveUp {
		return nil, left, err
	}
	if len(m.lane) > 1 {
		m.index()
		m.check()
		if !m.mend(ctx) {
			return nil, m.broken, ctx.Err()
		}
		for fewest := s.fewest(top); len(m.lane) > fewest && m.mendWithOneFewer(ctx); {
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	p := &plan{lane: m.lane, sl: make([]uint8, s.bundles())}
	for i, mask := range m.whole {
		p.sl[i] = uint8(bits.TrailingZeros16(mask))
	}
	return p, 0, nil
}

// fewest is a number of service levels below which there is no plan. The length of a path
// says between which lanes each of its turns must be, and a service level gives a
// turn one lane: a turn needs as many service levels as there are such intervals no two of which
// have a lane in common.
func (s *sequences) fewest(top int) int {
	from := make([]uint8, s.space*(top+1)) // [turn × (top+1) + last lane] the highest first lane of an interval; 0: none ends here
	for p := range int32(s.paths()) {
		turns := s.path(p)
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

// giveUp is the part of all bundles, one in so many, that mending has never been
// seen to find service levels for.
const giveUp = 3

// elect makes the first lanes, of every service level: the bundles vote for the lane of every turn,
// those that fit leave, the others vote again for the next service level, until none is left or the
// service levels are used up. It stops early when too many would be left even if
// every later service level took as many as the last, and returns how many bundles are
// left.
func (m *mender) elect(ctx context.Context) (int, error) {
	left := fabric.All[int32](m.s.bundles())
	votes := make([]uint32, m.s.space*m.top)
	for sl := 0; len(left) > 0 && sl < routing.SLs; sl++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		before := len(left)
		m.vote(votes, left)
		lane := make([]uint8, m.s.space)
		m.lane = append(m.lane, lane)
		left = m.fill(sl, left, m.asElected(count(votes, m.top), lane))
		left = m.fill(sl, left, m.besides(lane))
		if taken := before - len(left); len(left)-taken*(routing.SLs-1-sl) > m.s.bundles()/giveUp {
			break
		}
	}
	return len(left), nil
}

// fill makes the bundles whole in a service level that fit into it, and returns the others, in the same
// slice. fit gives the turns of a bundle lanes, or returns false if it does not fit.
func (m *mender) fill(sl int, bundles []int32, fit func(bundle int32) bool) []int32 {
	rest := bundles[:0]
	for _, b := range bundles {
		if fit(b) {
			m.whole[b] = 1 << sl
		} else {
			rest = append(rest, b)
		}
	}
	return rest
}

// asElected is for fill: a bundle fits whose paths all rise along the lanes that their turns were
// elected to, and these are written into lane. Both are [turn].
func (m *mender) asElected(elected, lane []uint8) func(bundle int32) bool {
	return func(bundle int32) bool {
		first, end := m.s.first[bundle], m.s.first[bundle+1]
		for p := first; p < end; p++ {
			if !rises(m.s.path(p), elected) {
				return false
			}
		}
		for _, t := range m.s.turns[m.s.start[first]:m.s.start[end]] {
			lane[t] = elected[t]
		}
		return true
	}
}

// besides is for fill, after asElected: a bundle fits whose paths can rise if their turns that
// have no lane yet get one, as low as can be. lane is [turn]; 0: none yet.
func (m *mender) besides(lane []uint8) func(bundle int32) bool {
	var given []int32 // the turns that have a lane for the bundle at hand
	return func(bundle int32) bool {
		first, end := m.s.first[bundle], m.s.first[bundle+1]
		given = given[:0]
		for again := true; again; again = again && end-first > 1 {
			again = false
			for p := first; p < end; p++ {
				changed, ok := m.lift(m.s.path(p), lane, &given)
				if !ok {
					for _, t := range given {
						lane[t] = 0
					}
					return false
				}
				again = again || changed
			}
		}
		return true
	}
}

// lift makes a path rise: it gives its turns that have no lane the lowest one that will
// do, adds them to given, and raises those that are in given already, whose lanes were found for this
// bundle. It returns whether lanes have changed, and whether the path can rise.
func (m *mender) lift(turns []int32, lane []uint8, given *[]int32) (changed, ok bool) {
	at := 0
	for i, t := range turns {
		at++
		switch vl := int(lane[t]); {
		case vl == 0:
			*given = append(*given, t)
			fallthrough
		case vl < at && slices.Contains(*given, t):
			lane[t], changed = uint8(at), true
		case vl < at:
			return changed, false
		default:
			at = vl
		}
		if at+len(turns)-1-i > m.top {
			return changed, false
		}
	}
	return changed, true
}

// vote sets votes, [turn × top + lane - 1], to how many paths of the voters, which are bundles, can
// have the turn on the lane. Paths with as many turns as lanes have no choice and count 64 times
// those that may leave three lanes out.
func (m *mender) vote(votes []uint32, voters []int32) {
	clear(votes)
	for _, b := range voters {
		for p := m.s.first[b]; p < m.s.first[b+1]; p++ {
			turns := m.s.path(p)
			slack := m.top - len(turns)
			weight := uint32(1) << (2 * max(0, 3-slack))
			for i, t := range turns {
				for k := range votes[int(t)*m.top+i:][:slack+1] {
					votes[int(t)*m.top+i+k] += weight
				}
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

// rises reports whether a path, by its turns, rises from lane to lane in a service level, [turn].
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
