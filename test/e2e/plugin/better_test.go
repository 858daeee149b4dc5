package plugin_test

import (
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// hangs answers nothing until the plugin hangs up.
func hangs(_ *wire.Request, c net.Conn) error {
	_, err := c.Read(make([]byte, 1))
	return err
}

// TestBetter asks for better tables than the best so far; a sweep meanwhile is
// answered at once, and the better ones are there for the sweep after them.
// ThreadSanitizer and AddressSanitizer watch.
func TestBetter(t *testing.T) {
	t.Parallel()
	q := wire.Of(testnet.Build(t, "ring:5,hosts=2"), 1)
	q.Improves = true
	want := []string{"so far", "proven", "so far", "proven", "late: tables", "final", "proven"}
	for _, flags := range []string{"-fsanitize=thread", asan} {
		var sweeps atomic.Int32
		d := serve(t, nil)
		d.become(func(q *wire.Request, c net.Conn) error {
			switch {
			case !q.Again:
				sweeps.Add(1)
				return d.soFar("updn", routing.Any)(q, c)
			case q.Deadline < 10*time.Minute:
				t.Errorf("the plugin waits %v for better tables", q.Deadline)
			}
			if sweeps.Load() == 1 {
				return hangs(q, c)
			}
			time.Sleep(200 * time.Millisecond)
			return d.routes("df-dn", routing.Honored)(q, c)
		})
		if out := core(t, flags, "better", q, nil, d.socket); !slices.Equal(out, want) {
			t.Errorf("%s: %q, want %q", flags, out, want)
		}
	}
}

// TestImproves has OpenSM route by the best so far, and once more, of itself, when
// there are better tables; that there are none is no error, and OpenSM rests.
func TestImproves(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d := serve(t, nil)
	first, better := d.soFar("updn", routing.Any), d.routes("df-dn", routing.Honored)
	ready := make(chan struct{})
	d.become(func(q *wire.Request, c net.Conn) error {
		if !q.Again {
			return first(q, c)
		}
		<-ready
		return better(q, c)
	})
	f := testnet.Build(t, "torus:4x4,hosts=1")
	settings := conf(d, enough) // which never sweeps by itself
	r := start(t, f, d, settings)
	says(t, r.Await(t, up, soon), "engine updn, proven", "; better tables may follow", "weft tables configured")
	before := d.tables()
	r.holds(t, before)
	d.wasAsked(t, 2)
	close(ready)
	log := r.rerouted(t, before)
	says(t, log, "better tables for sweep 1 came after", "OpenSM routes again", "engine df-dn, proven")
	if strings.Contains(log, "ERR") {
		t.Error(log)
	}
	r.queriesHold(t, d.tables())
	if n := d.requests(); n != 2 {
		t.Errorf("the daemon was asked %d times", n)
	}

	swept := make(chan struct{})
	d.become(func(q *wire.Request, c net.Conn) error {
		if !q.Again {
			return first(q, c)
		}
		<-swept
		return wire.WriteRefusal(c, q.Sweep, "there are no better tables than those in use")
	})
	says(t, r.resweep(t), "engine updn, proven")
	close(swept)
	log = r.Await(t, "no better tables after", soon)
	says(t, log, "the daemon refuses: there are no better tables than those in use")
	if strings.Contains(log, "ERR") {
		t.Error(log)
	}
}
