package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/weft-fabric/weft/fabric"
)

// kept is how many fabrics the daemon remembers the tables of.
const kept = 4

// key names a fabric under settings.
type key [sha256.Size]byte

// keyOf is the same for fabrics that are alike: nodes and ports by GUID, cables,
// rates, LIDs, lanes. Names of nodes are left out.
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

// job is work on one fabric.
type job struct {
	key     key
	done    chan struct{} // closed when result is there
	result  *proven
	waiters int // connections that still want it
	cancel  context.CancelFunc
}

// jobs works on one fabric at a time and remembers the last few.
type jobs struct {
	mu    sync.Mutex
	list  []*job // the one asked for last is at the end
	turn  chan struct{}
	group sync.WaitGroup
}

func newJobs() *jobs { return &jobs{turn: make(chan struct{}, 1)} }

// ask returns the job for a key, and starts it if there is none; known says that
// it was finished already. Whoever asks must leave. Jobs that nobody waits for any
// more make room for a new one.
func (j *jobs) ask(ctx context.Context, s *settings, k key, work func(context.Context) *proven) (x *job, known bool) {
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
	work1, cancel := context.WithTimeout(ctx, s.limit)
	x = &job{key: k, done: make(chan struct{}), waiters: 1, cancel: cancel}
	j.list = append(j.list, x)
	if len(j.list) > kept {
		if i := slices.IndexFunc(j.list, func(x *job) bool { return x.waiters == 0 }); i >= 0 {
			j.list[i].cancel()
			j.list = slices.Delete(j.list, i, i+1)
		}
	}
	j.group.Go(func() {
		defer cancel()
		select {
		case j.turn <- struct{}{}:
			x.result = work(work1)
			<-j.turn
		case <-work1.Done():
			x.result = &proven{refusal: "daemon: " + work1.Err().Error()}
		}
		if work1.Err() != nil && x.result.tables == nil {
			j.forget(x) // it may do better with more time
		}
		close(x.done)
	})
	return x, false
}

func (x *job) finished() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// leave says that a connection does not wait for a job any more.
func (j *jobs) leave(x *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	x.waiters--
}

func (j *jobs) forget(x *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i := slices.Index(j.list, x); i >= 0 {
		j.list = slices.Delete(j.list, i, i+1)
	}
}

// wait waits until all work has ended.
func (j *jobs) wait() { j.group.Wait() }
