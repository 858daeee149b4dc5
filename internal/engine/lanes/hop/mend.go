package hop

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/routing"
)

// mender improves the lanes of a number of service levels until every bundle is whole
// in one of them, all its paths rising there, by local search: it takes a bundle that is
// whole in none and gives the turns of its paths new lanes where that breaks the least.
// What is broken counts the more the oftener it was taken up, so that the search does
// not go in circles.
type mender struct {
	s     *sequences
	top   int       // the highest lane of a turn
	lane  [][]uint8 // [service level][turn] 1 … top, 0: not used
	rises []uint16  // [path] service levels in which it rises, as bits
	whole []uint16  // [bundle] service levels in which all its paths rise, as bits

	first  []int32  // [turn, plus one at the end] into users
	users  []int32  // the paths over every turn
	weight []uint32 // [bundle] one more than how often it was taken up
	todo   []int32  // the bundles that are whole nowhere, and some that have become whole since
	broken int      // how many are whole nowhere
	work   int      // uses of turns looked at
	raised int32    // the bundle that raise is at; none

	cost [maxTurns][maxTurns]uint32 // scratch: what breaks if the i-th turn of a path has lane i+1+k
	best [maxTurns]uint8            // scratch: the lanes that break the least
}

// maxTurns is the turns of the longest path: its hops need a lane each.
const maxTurns = routing.MaxDataVLs - 1

// The search gives up when it has looked at every use of a turn so often without
// having fewer paths to mend than ever before, or at so many uses in all: about a
// tenth of a second's worth, or a second's.
const (
	patiencePerUse = 1000
	maxPatience    = 25_000_000
	maxWork        = 150_000_000
)

// none is no bundle.
const none = -1

func newMender(s *sequences, top int) *mender {
	return &mender{s: s, top: top, rises: make([]uint16, s.paths()), whole: make([]uint16, s.bundles()), raised: none}
}

// index sets first and users, the paths over every turn, and every weight to 1.
func (m *mender) index() {
	m.first = make([]int32, m.s.space+1)
	for _, t := range m.s.turns {
		m.first[t+1]++
	}
	for t := range m.s.space {
		m.first[t+1] += m.first[t]
	}
	next := slices.Clone(m.first)
	m.users = make([]int32, len(m.s.turns))
	m.weight = slices.Repeat([]uint32{1}, m.s.bundles())
	for p := range int32(m.s.paths()) {
		for _, t := range m.s.path(p) {
			m.users[next[t]] = p
			next[t]++
		}
	}
}

// check sets rises, whole, todo and broken by the lanes as they are.
func (m *mender) check() {
	m.todo, m.broken = m.todo[:0], 0
	for p := range m.rises {
		m.rises[p] = 0
		for sl, lane := range m.lane {
			if rises(m.s.path(int32(p)), lane) {
				m.rises[p] |= 1 << sl
			}
		}
	}
	for b := range m.whole {
		m.whole[b] = ^uint16(0)
		for p := m.s.first[b]; p < m.s.first[b+1]; p++ {
			m.whole[b] &= m.rises[p]
		}
		if m.whole[b] == 0 {
			m.breakUp(int32(b))
		}
	}
}

// breakUp notes that a bundle is whole nowhere any more.
func (m *mender) breakUp(b int32) {
	m.todo = append(m.todo, b)
	m.broken++
}

// mendWithOneFewer takes the last service level away and mends what that breaks.
// It leaves everything as it was when that fails.
func (m *mender) mendWithOneFewer(ctx context.Context) bool {
	before := make([][]uint8, len(m.lane))
	for sl, lane := range m.lane {
		before[sl] = slices.Clone(lane)
	}
	last := len(m.lane) - 1
	m.lane = m.lane[:last]
	for p := range m.rises {
		m.rises[p] &^= 1 << last
	}
	for b := range m.whole {
		if m.whole[b] &^= 1 << last; m.whole[b] == 0 {
			m.breakUp(int32(b))
		}
	}
	if m.mend(ctx) {
		return true
	}
	m.lane = before
	m.check()
	return false
}

// mend changes lanes until every bundle is whole in some service level. It returns false if it gave up,
// or ctx is done.
func (m *mender) mend(ctx context.Context) bool {
	patience := min(patiencePerUse*len(m.s.turns), maxPatience)
	m.work = 0
	fewest, since := m.broken, 0
	for step := 0; m.broken > 0; step++ {
		if m.broken < fewest {
			fewest, since = m.broken, m.work
		}
		if m.work-since > patience || m.work > maxWork || step%1024 == 0 && ctx.Err() != nil {
			return false
		}
		b := m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		if m.whole[b] == 0 {
			m.weight[b]++
			m.raise(b)
		}
	}
	m.todo = m.todo[:0]
	return true
}

// raise makes the paths of a bundle rise, one after another, in the service level where
// that breaks the least. Where they are in each other's way it is taken up again.
func (m *mender) raise(b int32) {
	sl, least := 0, ^uint32(0)
	first, end := m.s.first[b], m.s.first[b+1]
	for i := range m.lane {
		c := uint32(0)
		for p := first; p < end; p++ {
			if m.rises[p]>>i&1 == 0 {
				c += m.price(p, i)
			}
		}
		if c < least {
			sl, least = i, c
		}
	}
	m.raised = b
	for p := first; p < end; p++ {
		if m.rises[p]>>sl&1 == 1 {
			continue
		}
		work := m.work
		m.price(p, sl) // for best, since it was called for other service levels meanwhile
		m.work = work
		for i, t := range m.s.path(p) {
			if m.lane[sl][t] != m.best[i] {
				m.set(sl, t, m.best[i])
			}
		}
	}
	m.raised = none
	if m.whole[b] == 0 {
		m.todo = append(m.todo, b)
	}
}

// price is the weight of what breaks at the least when a path is made to rise in a service
// level, and sets best to the lanes of its turns for that. It adds up what each turn breaks by itself:
// paths that break at two turns count twice, and those that two changes heal count as broken.
func (m *mender) price(p int32, sl int) uint32 {
	turns := m.s.path(p)
	slack := m.top - len(turns)
	for i, t := range turns {
		cost := m.cost[i][:slack+1]
		clear(cost)
		m.breaks(t, sl, i+1, cost)
	}
	// From here on cost[i][k] is that of the turns up to the i-th, where that
	// has lane i+1+k or a lower one.
	for i := range turns {
		for k := range slack + 1 {
			if i > 0 {
				m.cost[i][k] += m.cost[i-1][k]
			}
			if k > 0 {
				m.cost[i][k] = min(m.cost[i][k], m.cost[i][k-1])
			}
		}
	}
	k := slack
	for i := len(turns) - 1; i >= 0; i-- {
		for k > 0 && m.cost[i][k-1] == m.cost[i][k] {
			k--
		}
		m.best[i] = uint8(i + 1 + k)
	}
	return m.cost[len(turns)-1][slack]
}

// sibling is what it costs to break another path of the bundle that is being raised.
const sibling = 1 << 16

// breaks adds to cost what breaks when a turn has lane first, first+1, … in a
// service level: the bundles that are whole there and nowhere else.
func (m *mender) breaks(t int32, sl, first int, cost []uint32) {
	users := m.users[m.first[t]:m.first[t+1]]
	m.work += len(users)
	lane := m.lane[sl]
	for _, p := range users {
		b := m.s.bundle[p]
		weight := m.weight[b]
		switch {
		case m.whole[b] == 1<<sl:
		case b == m.raised && m.rises[p]>>sl&1 == 1:
			weight = sibling
		default:
			continue
		}
		turns := m.s.path(p)
		i := slices.Index(turns, t)
		below, above := 0, m.top+1
		if i > 0 {
			below = int(lane[turns[i-1]])
		}
		if i+1 < len(turns) {
			above = int(lane[turns[i+1]])
		}
		for k := range cost {
			if first+k <= below || first+k >= above {
				cost[k] += weight
			}
		}
	}
}

// set gives a turn a lane in a service level, and updates rises and what depends on it.
func (m *mender) set(sl int, t int32, vl uint8) {
	lane := m.lane[sl]
	lane[t] = vl
	users := m.users[m.first[t]:m.first[t+1]]
	m.work += len(users)
	for _, p := range users {
		if rises(m.s.path(p), lane) {
			m.rises[p] |= 1 << sl
		} else {
			m.rises[p] &^= 1 << sl
		}
		m.update(m.s.bundle[p], sl)
	}
}

// update sets whole of a bundle for a service level in which rises of one of its paths has changed,
// and counts it as broken or not.
func (m *mender) update(b int32, sl int) {
	before, all := m.whole[b], uint16(1)<<sl
	for p := m.s.first[b]; p < m.s.first[b+1]; p++ {
		all &= m.rises[p]
	}
	m.whole[b] = before&^(1<<sl) | all
	switch {
	case before == 0 && all != 0:
		m.broken--
	case before != 0 && m.whole[b] == 0:
		m.breakUp(b)
	}
}
