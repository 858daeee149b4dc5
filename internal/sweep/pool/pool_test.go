package pool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/sweep/pool"
	"github.com/weft-fabric/weft/internal/sweep/results"
)

// The test binary is its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := pool.Serve(context.Background(), os.Stdin, os.Stdout, answerOf); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// answerOf does what a point's engine is called: the worker's part in the tests.
func answerOf(_ context.Context, p *sweep.Point) ([]results.Row, error) {
	switch p.Engine.Name {
	case "dies":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // nothing comes after it
	case "panics":
		go func() { panic("nobody catches this") }()
		select {}
	case "lies":
		return nil, errors.New("an engine was caught in a lie")
	case "dies once":
		if f, err := os.OpenFile(p.Network.File, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
			f.Close()
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // nothing comes after it
		}
	}
	rows := make([]results.Row, len(p.Measures))
	for i := range rows {
		rows[i] = results.Row{Point: p.ID, Measure: p.Measures[i].Name, Machine: fmt.Sprintf("%d %s", os.Getpid(), os.Getenv("GOMAXPROCS"))}
	}
	return rows, nil
}

type worker = pool.Worker[sweep.Point, []results.Row]

type job = pool.Job[sweep.Point]

type options = pool.Options[sweep.Point, []results.Row]

func start(cores int) (worker, error) {
	return pool.Start[sweep.Point, []results.Row](cores, os.Args[0], "worker")
}

func lost(p *sweep.Point, why string) ([]results.Row, error) {
	return []results.Row{{Point: p.ID, Status: results.Broken, Reason: why}}, nil
}

func point(id, engine string, names ...string) *sweep.Point {
	p := &sweep.Point{ID: id, Engine: sweep.Engine{Name: engine}}
	for _, m := range names {
		p.Measures = append(p.Measures, measures.Measure{Name: m})
	}
	return p
}

func run(t *testing.T, jobs []job, workers int) map[string][]results.Row {
	t.Helper()
	got := map[string][]results.Row{}
	err := pool.Run(t.Context(), jobs, options{Workers: workers, Cores: 2, Start: start, Lost: lost, Keep: func(_ *sweep.Point, rows []results.Row) error {
		got[rows[0].Point] = append(got[rows[0].Point], rows...)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestPointsThatEndTheirProcessBreakNothingElse(t *testing.T) {
	once := point("once", "dies once", "lanes")
	once.Network.File = t.TempDir() + "/here"
	jobs := []job{{Point: point("bad", "dies", "lanes")}, {Point: point("panic", "panics", "lanes")}, {Point: once}}
	for i := range 20 {
		jobs = append(jobs, job{Point: point(fmt.Sprint(i), "good", "lanes", "load")})
	}
	got := run(t, jobs, 2)
	if len(got) != len(jobs) {
		t.Fatalf("%d points came back, want %d", len(got), len(jobs))
	}
	for id, want := range map[string]string{"bad": "signal: killed", "panic": "nobody catches this"} {
		if r := got[id][0]; r.Status != results.Broken || !strings.Contains(r.Reason, want) {
			t.Errorf("%s: %s, %q", id, r.Status, r.Reason)
		}
	}
	if r := got["once"]; len(r) != 1 || r[0].Status == results.Broken {
		t.Errorf("a point whose process was killed once: %v", r)
	}
	for i := range 20 {
		if r := got[fmt.Sprint(i)]; len(r) != 2 {
			t.Errorf("point %d has %d rows", i, len(r))
		}
	}
}

// Measures that need the machine alone are taken each in a process of its own, on all
// cores; others on one core; large points on all.
func TestRounds(t *testing.T) {
	got := run(t, []job{
		{Point: point("a", "good", "time", "memory"), Alone: true}, {Point: point("b", "good", "memory"), Alone: true},
		{Point: point("a", "good", "lanes")}, {Point: point("c", "good", "lanes")},
		{Point: point("d", "good", "lanes"), Large: true},
	}, 1)
	process := func(id, measure string) string {
		for _, r := range got[id] {
			if r.Measure == measure {
				return r.Machine
			}
		}
		t.Fatalf("%s has no %s: %v", id, measure, got[id])
		return ""
	}
	a, b := process("a", "memory"), process("b", "memory")
	if a != process("a", "time") || a == b || a == process("a", "lanes") || process("a", "lanes") != process("c", "lanes") {
		t.Errorf("processes and cores: %v", got)
	}
	for _, c := range []struct{ at, cores string }{{a, "2"}, {process("a", "lanes"), "1"}, {process("d", "lanes"), "2"}} {
		if !strings.HasSuffix(c.at, " "+c.cores) {
			t.Errorf("%s of %s cores", c.at, c.cores)
		}
	}
}

// inProcess is a worker that counts how many are at it.
type inProcess struct {
	at, most *atomic.Int32
	order    *[]string
	mu       *sync.Mutex
}

func (w *inProcess) Take(_ context.Context, p *sweep.Point) ([]results.Row, error) {
	n := w.at.Add(1)
	defer w.at.Add(-1)
	for old := w.most.Load(); n > old && !w.most.CompareAndSwap(old, n); old = w.most.Load() {
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.order = append(*w.order, p.ID)
	return []results.Row{{Point: p.ID}}, nil
}

func (*inProcess) Close() error { return nil }

func TestLongestFirstAndNoMoreThanWorkers(t *testing.T) {
	var at, most atomic.Int32
	var order []string
	w := &inProcess{&at, &most, &order, &sync.Mutex{}}
	jobs := []job{
		{Point: point("short", "e", "lanes"), Cost: 0.1}, {Point: point("short too", "e", "lanes"), Cost: 0.2},
		{Point: point("long", "e", "lanes"), Cost: 100}, {Point: point("middle", "e", "lanes"), Cost: 3},
	}
	o := options{Workers: 1, Cores: 1, Start: func(int) (worker, error) { return w, nil }, Keep: func(*sweep.Point, []results.Row) error { return nil }}
	if err := pool.Run(t.Context(), jobs, o); err != nil {
		t.Fatal(err)
	}
	if want := []string{"long", "middle", "short", "short too"}; !slices.Equal(order, want) || most.Load() != 1 {
		t.Errorf("%v, %d at a time", order, most.Load())
	}
}

func TestErrorsEndTheRun(t *testing.T) {
	full := errors.New("the disk is full")
	jobs := []job{{Point: point("a", "good", "lanes")}, {Point: point("b", "good", "lanes")}}
	err := pool.Run(t.Context(), jobs, options{Workers: 2, Cores: 1, Start: start, Lost: lost, Keep: func(*sweep.Point, []results.Row) error { return full }})
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	lies := []job{{Point: point("a", "good", "lanes")}, {Point: point("b", "lies", "lanes")}}
	err = pool.Run(t.Context(), lies, options{Workers: 1, Cores: 1, Start: start, Lost: lost, Keep: func(*sweep.Point, []results.Row) error { return nil }})
	if err == nil || err.Error() != "an engine was caught in a lie" {
		t.Errorf("got %v", err)
	}
	err = pool.Run(t.Context(), jobs, options{Workers: 2, Cores: 1, Start: func(int) (worker, error) { return nil, full }, Lost: lost})
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

func TestInterruptedRunKeepsNothingMore(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	err := pool.Run(ctx, []job{{Point: point("a", "good", "lanes")}, {Point: point("b", "good", "lanes")}, {Point: point("c", "good", "lanes")}}, options{
		Workers: 1, Cores: 1, Start: start, Lost: lost, Keep: func(*sweep.Point, []results.Row) error { n++; stop(); return nil },
	})
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%v after %d points", err, n)
	}
}
