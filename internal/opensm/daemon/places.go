package daemon

import (
	"cmp"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// places is the connections that are served at a time. Their number is limited, and so is the
// memory of their questions. If one more does not fit, another is closed for it: a
// client that sends or reads nothing keeps others out only briefly.
type places struct {
	most  int // connections
	bytes int // of all questions together

	mu      sync.Mutex
	taken   []*place
	entries int64         // into phases, of all connections
	freed   chan struct{} // closed when a connection ends while somebody waits for its place
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

// phase is what a connection waits for. Those in an earlier phase are closed first where a place is needed.
type phase int

const (
	asking    phase = iota // its question
	taking                 // the client to read its answer
	waiting                // tables
	reporting              // it has its answer, which is being recorded
)

// errPlaceLost ends a connection that was closed for another.
var errPlaceLost = errors.New("its place was needed for another connection")

// Times for a connection whose place is needed.
const (
	lastWords = time.Second            // for reading the refusal
	hurry     = 250 * time.Millisecond // for ending, before another one is closed too
)

func newPlaces(most, bytes int) *places {
	return &places{most: most, bytes: bytes, freed: make(chan struct{}, 1)}
}

// take takes a place for a connection of a user; if necessary that of another.
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

// victim is the connection that is closed for one more of a user, or nil: of the user
// with the most connections (including the new one), the one that has been longest in
// the earliest phase. So a user who connects often only takes places from itself.
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

// giveUp tells the connection's goroutine to end. The caller holds mu.
func (x *place) giveUp() {
	close(x.lost)
	if x.phase == asking || x.phase == taking {
		_ = x.conn.SetDeadline(time.Unix(1, 0)) // fails only if it is closed already
	}
}

// isLost reports whether the place was given to another.
func (x *place) isLost() bool { return closed(x.lost) }

// closed reports whether a channel on which nothing is sent is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// enter begins a phase, with a time limit for a whole question and a whole answer. A
// place that was lost before anything was read is left at once, because its connection
// waits for nothing else.
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

// countingReader reads from a connection and counts the bytes. If all questions together are
// too large, the connection with the largest one is closed.
type countingReader struct{ *place }

func (x countingReader) Read(b []byte) (int, error) {
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
