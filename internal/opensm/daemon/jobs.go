package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weft-fabric/weft/fabric"
)

// keptJobs is the number of fabrics whose tables the daemon remembers.
const keptJobs = 4

// key identifies a fabric under settings.
type key [sha256.Size]byte

// String is a key as written in sweeps.
func (k key) String() string { return hex.EncodeToString(k[:]) }

// keyOf is equal for equal fabrics: nodes and ports by GUID, cables, rates, LIDs,
// lanes. Names of nodes do not count.
func keyOf(f *fabric.Fabric, s *settings, lanes int) key {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d\n", s.key(), lanes)
	b := make([]byte, 0, 64)
	flush := func() {
		h.Write(b)
		b = b[:0]
	}
	le := binary.LittleEndian
	for i := range f.Nodes() {
		n := f.Node(fabric.NodeID(i))
		b = append(le.AppendUint64(b, uint64(n.GUID)), byte(n.Kind), byte(n.Ports))
		flush()
	}
	for i := range f.Channels() {
		c := f.Channel(fabric.ChannelID(i))
		b = le.AppendUint32(le.AppendUint32(b, uint32(c.From)), uint32(c.To))
		b = append(b, c.FromPort, c.ToPort, c.Rate.Width)
		b = append(b, fmt.Sprint(c.Rate.Speed)...)
		flush()
	}
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		b = le.AppendUint32(le.AppendUint64(b, uint64(e.PortGUID)), uint32(e.Node))
		b = append(le.AppendUint16(b, uint16(e.LID)), e.Port, e.LMC, byte(e.Class))
		flush()
	}
	return key(h.Sum(nil))
}

// job is the search for tables of one fabric under some settings. It goes on when somebody has got the best so far.
type job struct {
	key     key
	began   time.Time
	some    chan struct{} // closed when best is set, or there will be none
	done    chan struct{} // closed when result is set and ended was called
	waiters int           // number of connections that wait for it
	cancel  context.CancelFunc

	mu     sync.Mutex
	result *proven // nil: in progress
	best   *proven // the best so far; nil: none
	given  *proven // the one handed over last; nil: none
	// awaited says that somebody waits, or waited, for something better than given.
	awaited bool
}

// found records tables that are better than all before.
func (x *job) found(p *proven) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.best == nil {
		close(x.some)
	}
	x.best = p
}

// handOut is the best so far, which counts as given from now on; nil: there is none. ended says that it is
// the result, and nothing follows.
func (x *job) handOut() (p *proven, ended bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.result != nil {
		return x.result, true
	}
	if x.best != nil {
		x.given = x.best
	}
	return x.best, false
}

// noteWaiter records that somebody waits for something better than given, and returns given;
// nil: nothing was handed over.
func (x *job) noteWaiter() (given *proven) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.awaited = true
	return x.given
}

// isAwaited reports whether noteWaiter was called.
func (x *job) isAwaited() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.awaited
}

// settle records the result of a job, and returns what was handed over before; nil: nothing was.
func (x *job) settle(p *proven) (given *proven) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.result = p
	return x.given
}

// jobs works on one fabric at a time and remembers the last few.
type jobs struct {
	mu    sync.Mutex
	list  []*job // the one asked for last is at the end
	turn  chan struct{}
	group sync.WaitGroup
}

func newJobs() *jobs { return &jobs{turn: make(chan struct{}, 1)} }

// task says how a job is done.
type task struct {
	// work returns the result; found is called meanwhile with everything better than what
	// was there before.
	work  func(ctx context.Context, found func(*proven)) *proven
	limit time.Duration
	// ended is called at the end with what was handed over meanwhile, if anything was.
	ended func(x *job, given *proven)
}

// ask returns the job for a key, and starts it if there is none; known says that it was
// finished already. The caller must call leave. Jobs that nobody waits for make room
// for a new one.
func (j *jobs) ask(ctx context.Context, k key, t task) (x *job, known bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i := slices.IndexFunc(j.list, func(x *job) bool { return x.key == k }); i >= 0 {
		x = j.list[i]
		j.list = append(slices.Delete(j.list, i, i+1), x)
		x.waiters++
		return x, x.finished()
	}
	j.list = slices.DeleteFunc(j.list, func(old *job) bool {
		idle := old.waiters == 0 && !old.finished()
		if idle {
			old.cancel()
		}
		return idle
	})
	limited, cancel := context.WithTimeout(ctx, t.limit)
	x = &job{key: k, began: time.Now(), some: make(chan struct{}), done: make(chan struct{}), waiters: 1, cancel: cancel}
	j.list = append(j.list, x)
	if len(j.list) > keptJobs {
		if i := slices.IndexFunc(j.list, func(x *job) bool { return x.waiters == 0 }); i >= 0 {
			j.list[i].cancel()
			j.list = slices.Delete(j.list, i, i+1)
		}
	}
	j.group.Go(func() {
		defer cancel()
		j.do(limited, x, t)
	})
	return x, false
}

// do does a job when its turn comes.
func (j *jobs) do(ctx context.Context, x *job, t task) {
	var p *proven
	select {
	case j.turn <- struct{}{}:
		p = t.work(ctx, x.found)
		<-j.turn
	case <-ctx.Done():
		p = &proven{refusal: ctx.Err().Error()}
	}
	if ctx.Err() != nil && (p.tables == nil || p.unfinished != nil) {
		j.forget(x) // the next request may have more time
	}
	if given := x.settle(p); given != nil {
		t.ended(x, given)
	}
	if x.best == nil {
		close(x.some)
	}
	close(x.done)
}

// finished reports whether the result is there.
func (x *job) finished() bool { return closed(x.done) }

// leave says that a connection no longer waits for a job.
func (j *jobs) leave(x *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	x.waiters--
}

// forget takes a job off the list, so that it is begun anew when it is asked for again.
func (j *jobs) forget(x *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i := slices.Index(j.list, x); i >= 0 {
		j.list = slices.Delete(j.list, i, i+1)
	}
}

// forgetAll has everything worked on anew when it is asked for again.
func (j *jobs) forgetAll() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = nil
}

// wait waits until all work has ended.
func (j *jobs) wait() { j.group.Wait() }
