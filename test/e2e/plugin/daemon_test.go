package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// answer is what a daemon does with a request. The connection is closed behind it.
type answer func(q *wire.Request, c net.Conn) error

// daemon answers at a socket as it is told, and can be told otherwise.
type daemon struct {
	socket string

	mu     sync.Mutex
	answer answer
	asked  []time.Time     // when there was a question
	over   bool            // the test has ended, and takes no word any more
	last   *routing.Tables // that it answered with
}

// serve starts a daemon in this process until the test ends.
func serve(t testing.TB, a answer) *daemon {
	d := &daemon{socket: filepath.Join(openDir(t), "opensm.sock"), answer: a}
	d.listen(t)
	return d
}

// serveRoutes starts a daemon that answers with an engine's tables, and returns that
// answer too, for when it has given others.
func serveRoutes(t testing.TB, engine string, contract routing.Contract) (*daemon, answer) {
	d := serve(t, nil)
	good := d.routes(engine, contract)
	d.become(good)
	return d, good
}

// listen opens a socket until the test ends.
func listen(t testing.TB, socket string) net.Listener {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// listen opens the socket; closing what it returns is the end of the daemon.
func (d *daemon) listen(t testing.TB) net.Listener {
	l := listen(t, d.socket)
	t.Cleanup(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.over = true
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go d.serve(t, c)
		}
	}()
	return l
}

func (d *daemon) serve(t testing.TB, c net.Conn) {
	defer c.Close()
	q, err := wire.ReadRequest(c)
	if errors.Is(err, io.EOF) { // the question was dropped before it was asked
		return
	}
	if err != nil {
		d.tell(t.Errorf, "the plugin's request: %v", err)
		return
	}
	d.mu.Lock()
	d.asked = append(d.asked, time.Now())
	a := d.answer
	d.mu.Unlock()
	if err := a(q, c); err != nil {
		d.tell(t.Logf, "answering sweep %d: %v", q.Sweep, err)
	}
}

// tell says something to the test, unless that has ended.
func (d *daemon) tell(say func(string, ...any), format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.over {
		say(format, args...)
	}
}

// requests is how many requests there were.
func (d *daemon) requests() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

// when is the time of the nth question.
func (d *daemon) when(n int) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked[n-1]
}

// wasAsked waits until there were so many requests.
func (d *daemon) wasAsked(t testing.TB, times int) {
	t.Helper()
	for end := time.Now().Add(soon); d.requests() < times; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the daemon was asked %d times, want %d", d.requests(), times)
		}
	}
}

// become changes what the daemon answers.
func (d *daemon) become(a answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer = a
}

// routes answers with an engine's tables, or with its refusal.
func (d *daemon) routes(engine string, contract routing.Contract) answer {
	return d.writes(engine, contract, wire.WriteTables)
}

// soFar answers with an engine's tables as the best so far.
func (d *daemon) soFar(engine string, contract routing.Contract) answer {
	return d.writes(engine, contract, wire.WriteSoFar)
}

func (d *daemon) writes(engine string, contract routing.Contract, write func(io.Writer, *wire.Request, string, *routing.Tables, *deadlock.Certificate) error) answer {
	return d.writesOf(engine, write, func(q *wire.Request) (*routing.Tables, *deadlock.Certificate, error) {
		return routed(q, engine, contract)
	})
}

// writesOf answers with the tables that route makes.
func (d *daemon) writesOf(engine string, write func(io.Writer, *wire.Request, string, *routing.Tables, *deadlock.Certificate) error,
	route func(*wire.Request) (*routing.Tables, *deadlock.Certificate, error),
) answer {
	return func(q *wire.Request, c net.Conn) error {
		tables, proof, err := route(q)
		if err != nil {
			return wire.WriteRefusal(c, q.Sweep, err.Error())
		}
		var whole bytes.Buffer
		if err := write(&whole, q, engine, tables, proof); err != nil {
			return wire.WriteRefusal(c, q.Sweep, err.Error())
		}
		d.mu.Lock()
		d.last = tables
		d.mu.Unlock()
		_, err = c.Write(whole.Bytes())
		return err
	}
}

// tables is what the daemon last answered with.
func (d *daemon) tables() *routing.Tables {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

// routed routes the fabric of a request and asks the judge.
func routed(q *wire.Request, engine string, contract routing.Contract) (*routing.Tables, *deadlock.Certificate, error) {
	f, err := q.Fabric()
	if err != nil {
		return nil, nil, err
	}
	e, err := engines.Named(engine)
	if err != nil {
		return nil, nil, err
	}
	ctx := context.Background()
	tables, err := e.Route(ctx, f, engines.Options{}, routing.Budget{VLs: q.Lanes(), Scope: routing.Adapters, Contract: contract}, nil)
	if err != nil {
		return nil, nil, err
	}
	v, err := deadlock.Verify(ctx, tables, deadlock.Options{Contract: contract, Scope: routing.Adapters})
	if err != nil {
		return nil, nil, err
	}
	if !v.Free() || !v.Complete() {
		return nil, nil, fmt.Errorf("%s: free of deadlock %v, complete %v", engine, v.Free(), v.Complete())
	}
	return tables, v.Certificate, nil
}
