package plugin_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/routing"
)

// boundary is a moment of a plan.
type boundary int

const (
	made   boundary = iota // the daemon has answered, and the plugin does not get it
	handed                 // the plugin has the answer, and OpenSM begins to write it
	asked                  // OpenSM has written it, and the plugin's next question is on its way
)

func (b boundary) String() string { return [...]string{"made", "handed over", "asked for the next"}[b] }

// between is between plugin and daemon: it hands on what they say, stops at boundaries, and has
// every moment judged.
type between struct {
	t      *testing.T
	socket string // of the daemon

	mu      sync.Mutex
	may     []adopted // tables of which the switches may have any part
	number  uint64    // of those handed over last
	sure    bool      // a question has said that they are in use
	last    *wire.Answer
	filled  []bool         // of the questions of an OpenSM without tables of ours: whether it says that switches are filled
	found   *fabric.Fabric // by the question of the answer handed over last
	changed time.Time      // when something was said last
	count   int            // boundaries since the last plan began
	stopAt  int            // of them, the one to stop at; -1: none
	stopped chan boundary
	goOn    chan struct{}
	older   bool                                                      // the plugin is one that knows nothing of orders, as far as the daemon can see
	spoil   func(q *wire.Request, a *wire.Answer, text []byte) []byte // what the plugin is given instead; nil: nothing is spoilt

	moments  int
	unproven []string // moments that are not proven
}

// adopted is tables that were handed over.
type adopted struct {
	number uint64
	tables *routing.Tables
}

// listen takes questions at a socket until the test ends.
func (b *between) listen(socket string) {
	l := listen(b.t, socket)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go b.serve(c)
		}
	}()
}

func (b *between) serve(c net.Conn) {
	defer c.Close()
	q, err := wire.ReadRequest(c)
	if err != nil {
		return
	}
	b.question(q)
	d, err := net.Dial("unix", b.socket)
	if err != nil {
		return // the daemon is not there
	}
	defer d.Close()
	gone := make(chan struct{})
	go func() { // a question that is dropped
		defer close(gone)
		_, _ = c.Read(make([]byte, 1)) // nothing comes but the end
		d.Close()
	}()
	b.mu.Lock()
	q.Stands = q.Stands && !b.older
	b.mu.Unlock()
	if err := q.Write(d); err != nil {
		return
	}
	text, err := io.ReadAll(d)
	if err != nil || len(text) == 0 {
		return
	}
	a, err := wire.ReadAnswer(bytes.NewReader(text), q)
	if err != nil {
		return
	}
	select {
	case <-gone:
		return
	default:
	}
	if a.Refusal == "" && b.stop(made) {
		return
	}
	if b.spoil != nil {
		if other := b.spoil(q, a, text); !bytes.Equal(other, text) {
			_, _ = c.Write(other) // the plugin may have heard enough
			return
		}
	}
	b.answer(q, a)
	_, err = c.Write(text)
	c.Close()
	if err == nil && a.Refusal == "" {
		b.stop(handed)
	}
}

// question notes what the plugin says that the switches have.
func (b *between) question(q *wire.Request) {
	b.mu.Lock()
	b.changed = time.Now()
	if i := slices.IndexFunc(b.may, func(x adopted) bool { return x.number == q.InUse }); i >= 0 && len(q.Blocks) == 0 {
		b.may, b.sure = b.may[i:i+1], true
	}
	again := q.Again
	if q.InUse == 0 {
		b.filled = append(b.filled, q.Filled)
	}
	b.mu.Unlock()
	if again {
		b.stop(asked)
	}
}

// answer has the moment judged in which OpenSM writes an answer.
func (b *between) answer(q *wire.Request, a *wire.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed, b.last = time.Now(), a
	if a.Refusal != "" {
		return
	}
	f := read(b.t, q)
	now, _ := tablesOf(f, q, a)
	if why := addTree(now, a); why != "" {
		b.t.Error(why)
	}
	all := []*routing.Tables{}
	for _, x := range b.may {
		if x.number == a.Number {
			continue
		}
		on, err := transition.On(f, x.tables, now)
		if err != nil {
			b.t.Error(err)
			return
		}
		all = append(all, on)
	}
	all = append(all, now)
	if a.NewTree || q.InUse == 0 || slices.ContainsFunc(all, func(t *routing.Tables) bool { return t.Multicast == nil }) {
		for i, t := range all { // nothing is said of multicast
			all[i] = &routing.Tables{Fabric: f, Forwarding: t.Forwarding, Lanes: t.Lanes}
		}
	}
	o := deadlock.Options{Contract: routing.Any, Scope: routing.HCA, Lost: -1}
	alone, err := deadlock.Verify(context.Background(), now, o)
	if err != nil || !alone.Free() {
		b.t.Errorf("tables with a loop are handed over (%v)", err)
		return
	}
	b.moments++
	if len(all) > 1 {
		v, err := deadlock.VerifyMixture(context.Background(), all, o)
		if err != nil || !v.Free() {
			b.unproven = append(b.unproven, fmt.Sprintf("%d tables may meet, a step: %v, in use: %x (%v)", len(all), a.Step, q.InUse, err))
		}
	}
	b.found = f
	b.sure = b.sure && b.number == a.Number
	b.may, b.number = append(slices.DeleteFunc(b.may, func(x adopted) bool { return x.number == a.Number }), adopted{a.Number, now}), a.Number
}

// instead notes an answer that the plugin is given in place of the daemon's, and may take: with that a
// plan may have ended if it cuts nobody. It asks again within a second where it does not take it.
func (b *between) instead(t *testing.T, q *wire.Request, a *wire.Answer) {
	tables, _ := tablesOf(read(t, q), q, a)
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: routing.Any, Scope: routing.HCA, Lost: -1})
	if err != nil || !v.Complete() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed, b.last = time.Now(), a
}

// fabric is the fabric that the tables handed over last are for.
func (b *between) fabric() *fabric.Fabric {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.found
}

// stop stops at a boundary if it is the one to stop at, until the test goes on.
func (b *between) stop(at boundary) bool {
	b.mu.Lock()
	here := b.count == b.stopAt
	b.count++
	b.changed = time.Now()
	if here {
		b.stopAt = -1
	}
	b.mu.Unlock()
	if here {
		b.stopped <- at
		<-b.goOn
	}
	return here
}

// plan begins: it stops at one of its boundaries.
func (b *between) plan(stopAt int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count, b.stopAt, b.last = 0, stopAt, nil
}

// ended reports whether the plan came to its end, and nothing was said for a while.
func (b *between) ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last != nil && time.Since(b.changed) > 1500*time.Millisecond && (b.last.Refusal != "" && strings.Contains(b.last.Refusal, "no better tables than those in use") || b.last.Refusal == "" && b.last.More == 0 && !b.last.SoFar)
}

// certain reports whether the switches have the tables handed over last, and no others.
func (b *between) certain() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sure && len(b.may) == 1 && b.may[0].number == b.number
}
