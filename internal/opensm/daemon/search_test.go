package daemon

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// find is what a search finds after a time.
type find struct {
	after  time.Duration
	engine string // empty: it only goes on
}

// finds is a search that takes its time, by the clock of the test. One that ends with
// an engine called broken panics.
type finds []find

func (all finds) route(ctx context.Context, f *fabric.Fabric, q weft.Request) (*weft.Result, error) {
	var last *weft.Result
	for _, x := range all {
		select {
		case <-time.After(x.after):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch x.engine {
		case "":
			continue
		case "broken":
			panic("out of ideas")
		}
		r, err := chosen(ctx, f, q, x.engine)
		if err != nil {
			return nil, err
		}
		last = r
		q.Found(r)
	}
	return last, nil
}

// chosen is an engine's tables as if they had been chosen.
func chosen(ctx context.Context, f *fabric.Fabric, q weft.Request, engine string) (*weft.Result, error) {
	q.Engine, q.Stages = engine, nil
	return weft.Route(ctx, f, q)
}

// bench is a daemon without a socket, on a clock of the test's own.
type bench struct {
	*testing.T
	*Server
	set   *settings
	place *place
	began time.Time
}

// asked is what is said to a request, and when.
type asked struct {
	engine  string
	refusal string
	soFar   bool
	after   time.Duration // since the beginning
}

func onBench(t *testing.T, what finds, do func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set, err := Config{Socket: "/s"}.check()
		if err != nil {
			t.Fatal(err)
		}
		set.route = what.route
		b := &bench{T: t, set: set, place: &place{lost: make(chan struct{})}, began: time.Now()}
		b.Server = &Server{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), jobs: newJobs(), keeper: newKeeper()}
		do(b)
		b.jobs.wait()
	})
}

func (b *bench) ask(q *wire.Request) asked {
	b.Helper()
	f, err := q.Fabric()
	if err != nil {
		b.Fatal(err)
	}
	r := b.Server.ask(b.Context(), b.place, keyOf(f, b.set, q.Lanes()), f, b.set, q, time.Now())
	return asked{r.engine, r.refusal, r.soFar, time.Since(b.began)}
}

func (b *bench) want(what string, got, want asked) {
	b.Helper()
	if got != want {
		b.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func again(q *wire.Request) *wire.Request {
	c := *q
	c.Improves, c.Again = true, true
	return &c
}

// The best so far is handed over some seconds after the work began, or as soon as
// there is something; what is found later is told to who waits for it.
func TestBestSoFar(t *testing.T) {
	q := request(t, "torus:3x4", 1)
	search := finds{{time.Second, "updn"}, {10 * time.Second, "weave-any"}, {9 * time.Second, ""}}
	onBench(t, search, func(b *bench) {
		b.want("first", b.ask(q), asked{"updn", "", true, firstAnswer})
		if s := b.Status().Search; s == nil || s.Ended != nil || s.Given != "updn" {
			b.Errorf("status: %+v", s)
		}
		time.Sleep(2 * time.Second)
		b.want("meanwhile", b.ask(q), asked{"updn", "", true, firstAnswer + 2*time.Second})
		b.want("better", b.ask(again(q)), asked{"weave-any", "", false, 20 * time.Second})
		synctest.Wait()
		if s := b.Status().Search; s.Ended == nil || s.Given != "updn" || s.Engine != "weave-any" || !s.Better || !s.Awaited {
			b.Errorf("status: %+v", s)
		}
		b.want("from memory", b.ask(q), asked{"weave-any", "", false, 20 * time.Second})
	})
	onBench(t, search, func(b *bench) {
		b.want("first", b.ask(q), asked{"updn", "", true, firstAnswer})
		time.Sleep(time.Minute)
		if s := b.Status().Search; s.Ended == nil || s.Awaited {
			b.Errorf("nobody waits, and the status says %+v", s)
		}
		b.want("late", b.ask(again(q)), asked{"weave-any", "", false, firstAnswer + time.Minute})
	})
	onBench(t, finds{{8 * time.Second, "updn"}, {time.Minute, ""}}, func(b *bench) {
		b.want("as soon as there is something", b.ask(q), asked{"updn", "", true, 8 * time.Second})
		b.want("nothing better yet", b.ask(again(q)), asked{"", errNotYet.Error(), false, 62 * time.Second})
	})
	onBench(t, finds{{time.Second, "updn"}, {2 * time.Second, "weave-any"}}, func(b *bench) {
		b.want("all of it in time", b.ask(q), asked{"weave-any", "", false, 3 * time.Second})
		if s := b.Status().Search; s != nil {
			b.Errorf("nothing went on, and the status says %+v", s)
		}
	})
}

// A plugin that waits for less than that gets what there is in its time.
func TestBestWithinDeadline(t *testing.T) {
	q := request(t, "torus:3x4", 1)
	q.Deadline = 2 * time.Second
	onBench(t, finds{{time.Second, "updn"}, {time.Minute, "weave-any"}}, func(b *bench) {
		b.want("in its time", b.ask(q), asked{"updn", "", true, 1800 * time.Millisecond})
		b.want("no better yet", b.ask(again(q)), asked{"", errNotYet.Error(), false, 3600 * time.Millisecond})
	})
	onBench(t, finds{{4 * time.Second, "updn"}, {time.Minute, "weave-any"}}, func(b *bench) {
		b.want("nothing", b.ask(q), asked{"", errNoTime.Error(), false, 1800 * time.Millisecond})
		b.want("nothing", b.ask(q), asked{"", errNoTime.Error(), false, 3600 * time.Millisecond})
		b.want("the work went on", b.ask(q), asked{"updn", "", true, firstAnswer})
	})
}

// Who waits for better tables is told when there are none.
func TestNothingBetter(t *testing.T) {
	q := request(t, "torus:3x4", 1)
	q.Deadline = time.Hour
	onBench(t, finds{{time.Second, "updn"}, {29 * time.Second, ""}}, func(b *bench) {
		b.want("first", b.ask(q), asked{"updn", "", true, firstAnswer})
		b.want("no better", b.ask(again(q)), asked{"", errNoBetter.Error(), false, 30 * time.Second})
		synctest.Wait()
		if s := b.Status().Search; s.Ended == nil || s.Better || s.Engine != "updn" {
			b.Errorf("status: %+v", s)
		}
	})
	// An engine that breaks, and a limit, take nothing away of what was found.
	onBench(t, finds{{time.Second, "updn"}, {time.Minute, "broken"}}, func(b *bench) {
		b.want("first", b.ask(q), asked{"updn", "", true, firstAnswer})
		b.want("no better", b.ask(again(q)), asked{"", errNoBetter.Error(), false, 61 * time.Second})
		synctest.Wait()
		if s := b.Status().Search; !strings.Contains(s.Unfinished, "out of ideas") || strings.Contains(s.Unfinished, "\n") {
			b.Errorf("status: %+v", s)
		}
		b.want("from memory", b.ask(q), asked{"updn", "", false, 61 * time.Second})
	})
	onBench(t, finds{{time.Second, "updn"}, {time.Hour, "weave-any"}}, func(b *bench) {
		b.set.limit = time.Minute
		b.want("first", b.ask(q), asked{"updn", "", true, firstAnswer})
		b.want("no better", b.ask(again(q)), asked{"", errNoBetter.Error(), false, time.Minute})
		b.want("begun again", b.ask(q), asked{"updn", "", true, time.Minute + firstAnswer})
		time.Sleep(time.Hour)
	})
}

// Who waits for better tables of a fabric that is no more keeps no other waiting.
func TestAnotherFabricWhileWaiting(t *testing.T) {
	old, now := request(t, "torus:3x4", 1), request(t, "torus:3x3", 2)
	onBench(t, finds{{time.Second, "updn"}, {time.Minute, "weave-any"}}, func(b *bench) {
		b.want("first", b.ask(old), asked{"updn", "", true, firstAnswer})
		waits := make(chan asked)
		go func() { waits <- b.ask(again(old)) }()
		synctest.Wait()
		b.want("the new one", b.ask(now), asked{"updn", "", true, 2 * firstAnswer})
		b.want("the old one", <-waits, asked{"", errNoBetter.Error(), false, firstAnswer})
		time.Sleep(time.Hour)
	})
}

// gated is a search that goes on when the test says so, by the names of engines, one
// after another; closed at the end.
type gated chan string

func (gate gated) route(ctx context.Context, f *fabric.Fabric, q weft.Request) (*weft.Result, error) {
	var last *weft.Result
	for {
		select {
		case engine, more := <-gate:
			if !more {
				return last, ctx.Err()
			}
			r, err := chosen(ctx, f, q, engine)
			if err != nil {
				return nil, err
			}
			last = r
			q.Found(r)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// The same over the socket, in the log and in the status.
func TestBetterTablesFollow(t *testing.T) {
	t.Parallel()
	r := start(t, Config{})
	g := make(gated, 2)
	r.instead(g.route)
	r.Server.mu.Lock()
	r.Server.settings.first = 0
	r.Server.mu.Unlock()
	g <- "updn"
	q := request(t, "torus:3x4", 1)
	q.Improves = true
	if a := r.ask(q); a.Engine != "updn" || !a.SoFar {
		t.Fatalf("%q, so far %v, %q", a.Engine, a.SoFar, a.Refusal)
	}
	if l := r.after(1).Last; !l.SoFar || l.Again {
		t.Errorf("%+v", l)
	}
	answers := make(chan *wire.Answer)
	go func() {
		q := again(q)
		q.Sweep = 2
		a, err := wire.Ask(context.Background(), r.config.Socket, q)
		if err != nil {
			t.Error(err)
		}
		answers <- a
	}()
	r.until(func(result.Status) bool {
		j := r.jobs
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.list[0].isAwaited()
	})
	g <- "weave-any"
	close(g)
	if a := <-answers; a == nil || a.Engine != "weave-any" || a.SoFar {
		t.Fatalf("%+v", a)
	}
	s := r.after(2)
	if l := s.Last; l.Engine != "weave-any" || l.SoFar || !l.Again || l.ChangedEntries == 0 {
		t.Errorf("%+v", l)
	}
	if s.Search == nil || s.Search.Ended == nil || !s.Search.Better || !s.Search.Awaited {
		t.Errorf("%+v", s.Search)
	}
	if text := r.log.String(); !strings.Contains(text, "so_far=true") || !strings.Contains(text, `msg="search ended" given=updn best=weave-any better=true awaited=true`) {
		t.Errorf("log:\n%s", text)
	}
	// That there is nothing better than those is no finding.
	if a := r.ask(again(q)); a.Refusal != errNoBetter.Error() {
		t.Errorf("%q", a.Refusal)
	}
	if s := r.Status(); s.Refused != 0 || s.Sweeps != 2 {
		t.Errorf("%d refused", s.Refused)
	}
}

// judged is the judge's verdict on tables, whatever clients do.
func judged(t *testing.T, tables *routing.Tables) *deadlock.Verdict {
	t.Helper()
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
