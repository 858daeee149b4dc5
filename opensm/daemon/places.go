package daemon

import (
	"cmp"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// places is the connections that are served. Their number is bounded, and so is
// the memory that their questions take. Where one more does not fit, another is
// given up for it: who sends nothing, or takes nothing, keeps nobody out for long.
type places struct {
	most  int // connections
	bytes int // of all questions together

	mu      sync.Mutex
	taken   []*place
	entries int64         // into phases, of all places
	freed   chan struct{} // a place was left since somebody waited for one
}

// place is a connection that is served.
type place struct {
	of    *places
	conn  *net.UnixConn
	user  uint32
	phase phase
	since int64         // when it entered its phase, counted in entries
	bytes int           // of its question, so far
	lost  chan struct{} // closed when the place is given to another
}

// phase is what a connection is waited for, in the order in which places are
// given up.
type phase int

const (
	asking    phase = iota // its question
	taking                 // that it takes its answer
	waiting                // it waits for tables
	reporting              // it has its answer, and is being noted
)

// errPlaceLost ends a connection that made place.
var errPlaceLost = errors.New("daemon: its place was needed for another connection")

// Times of a connection whose place is needed.
const (
	lastWords = time.Second            // to take the refusal
	hurry     = 250 * time.Millisecond // to leave, before another one is given up too
)

func newPlaces(most, bytes int) *places {
	return &places{most: most, bytes: bytes, freed: make(chan struct{}, 1)}
}

// take takes a place for a connection of a user, that of another if need be.
func (p *places) take(c *net.UnixConn, user uint32) *place {
	x := &place{of: p, conn: c, user: user, lost: make(chan struct{})}
	for {
		p.mu.Lock()
		if len(p.taken) < p.most {
			p.entries++
			x.since = p.entries
			p.taken = append(p.taken, x)
			p.mu.Unlock()
			return x
		}
		if victim := p.victim(user); victim != nil {
			victim.giveUp()
		}
		p.mu.Unlock()
		select {
		case <-p.freed:
		case <-time.After(hurry):
		}
	}
}

// victim is whose place a user gets, or nil: of those of the user with the most
// places, the user who asks for one more included, the one that is longest in the
// first phase that there is. So a user who connects often takes places from itself.
func (p *places) victim(user uint32) *place {
	places := map[uint32]int{user: 1}
	var all []*place
	for _, x := range p.taken {
		places[x.user]++
		if x.phase != reporting && !x.isLost() {
			all = append(all, x)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b *place) int {
		return cmp.Or(cmp.Compare(places[b.user], places[a.user]), cmp.Compare(a.phase, b.phase), cmp.Compare(a.since, b.since))
	})
}

// giveUp tells whoever serves the connection to leave. The caller holds mu.
func (x *place) giveUp() {
	close(x.lost)
	if x.phase == asking || x.phase == taking {
		_ = x.conn.SetDeadline(time.Unix(1, 0)) // fails only where it is closed already
	}
}

func (x *place) isLost() bool {
	select {
	case <-x.lost:
		return true
	default:
		return false
	}
}

// enter begins a phase. Of the other end there is patience for a whole question
// and for a whole answer. A place that was lost before anything was read is left at
// once: whoever waits for it waits for nothing else.
func (x *place) enter(now phase) error {
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	if now == asking && x.isLost() {
		return errPlaceLost
	}
	x.of.entries++
	x.phase, x.since = now, x.of.entries
	if now != asking && now != taking {
		return nil
	}
	limit := patience
	if x.isLost() {
		limit = lastWords
	}
	return x.conn.SetDeadline(time.Now().Add(limit))
}

// leave frees the place.
func (x *place) leave() {
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	if i := slices.Index(x.of.taken, x); i >= 0 {
		x.of.taken = slices.Delete(x.of.taken, i, i+1)
	}
	select {
	case x.of.freed <- struct{}{}:
	default:
	}
}

// cutOff closes all connections.
func (p *places) cutOff() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.taken {
		x.conn.Close()
	}
}

// counted reads from the connection of a place and counts what comes. The place
// whose question is the largest is given up when all together are too large.
type counted struct{ *place }

func (x counted) Read(b []byte) (int, error) {
	n, err := x.conn.Read(b)
	p := x.of
	p.mu.Lock()
	defer p.mu.Unlock()
	x.bytes += n
	sum := 0
	var largest *place
	for _, other := range p.taken {
		if other.isLost() {
			continue
		}
		sum += other.bytes
		if largest == nil || other.bytes > largest.bytes {
			largest = other
		}
	}
	if sum > p.bytes && largest != nil {
		largest.giveUp()
	}
	if x.isLost() {
		return n, errPlaceLost
	}
	return n, err
}
