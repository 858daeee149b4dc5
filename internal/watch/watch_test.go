package watch

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// scene is a watch of a folder in which each look sees what a test shows.
type scene struct {
	t *testing.T
	*running
	shown map[string]*Snapshot // by the content of the file
}

func newScene(t *testing.T, c Config) *scene {
	t.Helper()
	s := &scene{t: t, shown: map[string]*Snapshot{}}
	c.Folder, c.Settle = t.TempDir(), 1
	if c.State == "" {
		c.State = filepath.Join(t.TempDir(), "state")
	}
	w := &Watcher{Config: c, Log: slog.New(slog.DiscardHandler), Version: "test", Read: s.read, proc: filepath.Join(c.Folder, "no processes")}
	s.running = begun(t, w)
	return s
}

// begun is a watch that ends with the test.
func begun(t *testing.T, w *Watcher) *running {
	t.Helper()
	var r *running
	var err error
	for range 100 { // a process that another test begins just now may have the lock of the watch before for a moment
		if r, err = w.begin(); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endWhole(r) })
	return r
}

// endWhole waits, unlike [running.end], until all events are written: tests read them, and their folder goes.
func endWhole(r *running) {
	r.events.Close(time.Minute)
	r.events = nil
	r.store.close()
}

func (s *scene) read(network, _ string, _ uint16) (*Snapshot, error) {
	name := filepath.Join(network, ibnetdiscover)
	if _, err := os.Stat(name); err != nil {
		name += ".gz"
	}
	in, err := reading.Open(context.Background(), name, nil)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	seen := s.shown[string(text)]
	if seen == nil {
		return nil, fmt.Errorf("%s: %q is no network", filepath.Join(network, ibnetdiscover), text)
	}
	return seen, nil
}

// write writes the file that the next look reads.
func (s *scene) write(text string) {
	if err := os.WriteFile(filepath.Join(s.Folder, ibnetdiscover), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	later := time.Now().Add(time.Duration(len(s.shown)) * time.Second) // whatever the clock of the file system is
	if err := os.Chtimes(filepath.Join(s.Folder, ibnetdiscover), later, later); err != nil {
		s.t.Fatal(err)
	}
}

// show looks at something new.
func (s *scene) show(now *Snapshot) *result.WatchLook {
	s.t.Helper()
	text := fmt.Sprintf("look %d", len(s.shown))
	s.shown[text] = now
	s.write(text)
	l, err := s.look(s.t.Context())
	if err != nil || l == nil {
		s.t.Fatalf("%v, %v", l, err)
	}
	return l
}

func kindsOf(alarms []result.Alarm) []string {
	var kinds []string
	for _, a := range alarms {
		kinds = append(kinds, a.Kind)
	}
	return kinds
}

func tablesBy(t *testing.T, f *fabric.Fabric, engine string, seed uint64) *routing.Tables {
	t.Helper()
	r := weft.Request{Engine: engine, ExactScope: true}
	r.Options.Seed = seed
	got, err := weft.Route(t.Context(), f, r)
	var loop *weft.CreditLoop
	if err != nil {
		if l, ok := err.(*weft.CreditLoop); ok { //nolint:errorlint // it is what Route returns
			loop = l
		}
		if loop == nil {
			t.Fatal(err)
		}
		return loop.Tables
	}
	return got.Tables
}

// A look that sees what the last one saw is none; one that cannot be read is an alarm until
// it can.
func TestSameAndUnreadable(t *testing.T) {
	t.Parallel()
	w := newScene(t, Config{})
	f := testnet.Build(t, "ring:n=5")
	good := &Snapshot{Tables: tablesBy(t, f, "updn", 1)}
	first := w.show(good)
	for range 2 {
		if l, err := w.look(t.Context()); l != nil || err != nil {
			t.Fatalf("%+v, %v", l, err)
		}
	}
	if w.status.Same != 2 || w.status.Look != 1 || first.Contract != "single:0" || first.Changed != nil {
		t.Errorf("%+v, %+v", w.status, first)
	}
	w.write("half a fi")
	for range 2 {
		if l, err := w.look(t.Context()); l != nil || err == nil || strings.Contains(err.Error(), gatherName) || !strings.Contains(err.Error(), w.Folder) {
			t.Fatalf("%+v, %v", l, err)
		}
	}
	if got := kindsOf(w.status.Alarms); !slices.Equal(got, []string{Unreadable}) || w.status.Failed != 2 || w.ready() == nil || w.healthy() != nil {
		t.Errorf("%v, %+v", got, w.status)
	}
	since := w.status.Alarms[0].Since
	if _, err := w.look(t.Context()); err == nil || !w.status.Alarms[0].Since.Equal(since) {
		t.Errorf("the alarm is there since %v, then since %v", since, w.status.Alarms[0].Since)
	}
	if l := w.show(good); len(w.status.Alarms) > 0 || l.Number != 2 || w.ready() != nil || l.Changed == nil || l.Changed.Entries != 0 {
		t.Errorf("%+v, %+v", w.status, l)
	}
}

// A watch that begins again continues from the last look that it kept.
func TestResume(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "torus:4x4")
	a, b := &Snapshot{Tables: tablesBy(t, f, "updn", 1)}, &Snapshot{Tables: tablesBy(t, f, "minhop", 1)}
	state := filepath.Join(t.TempDir(), "s")
	w := newScene(t, Config{State: state, Engine: "updn"})
	w.show(a)
	began := w.show(b).Alarms[0].Since
	endWhole(w.running)

	again := newScene(t, Config{State: state, Engine: "updn"})
	again.shown = map[string]*Snapshot{"look 1": b, "x": nil}
	again.before, again.last = nil, nil
	again.resume()
	if again.before != b || again.last.Number != 2 {
		t.Fatalf("%+v", again.last)
	}
	if l := again.show(b); l.Number != 3 || l.Changed.Entries != 0 || !l.Alarms[0].Since.Equal(began) {
		t.Errorf("%+v", l)
	}
	if _, err := takeStore(state); err == nil || !strings.Contains(err.Error(), "is in use: another weft (process ") {
		t.Errorf("two watches in one state folder: %v", err)
	}
}

// The last looks are kept, with their files and no others.
func TestStoreKeepsTheLast(t *testing.T) {
	t.Parallel()
	w := newScene(t, Config{Keep: 3})
	f := testnet.Build(t, "ring:n=4")
	for i := range 6 {
		w.show(&Snapshot{Tables: tablesBy(t, f, "updn", uint64(i+1))})
	}
	numbers, err := w.store.Numbers()
	if err != nil || !slices.Equal(numbers, []int{4, 5, 6}) {
		t.Fatalf("%v, %v", numbers, err)
	}
	files, err := os.ReadDir(filepath.Join(w.State, filesFolder))
	if err != nil || len(files) != 3 {
		t.Errorf("%v, %v", files, err)
	}
	for number, want := range map[int]int{0: 6, -1: 5, -2: 4, 4: 4} {
		if l, err := w.store.Look(number); err != nil || l.Number != want {
			t.Errorf("look %d: %+v, %v", number, l, err)
		}
	}
	for _, number := range []int{-3, 3, 7} {
		if l, err := w.store.Look(number); err == nil || !strings.Contains(err.Error(), "4 to 6 are kept") {
			t.Errorf("look %d: %+v, %v", number, l, err)
		}
	}
	into := t.TempDir()
	l, err := w.store.Look(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.Files(l, into); err != nil {
		t.Fatal(err)
	}
	if packed, err := os.ReadFile(filepath.Join(into, ibnetdiscover+".gz")); err != nil || len(packed) == 0 {
		t.Errorf("%v", err)
	}
}

// Files that change while they are copied are copied again, and not read half.
func TestFilesRest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := source{&settings{Config: Config{Folder: dir, Settle: 20 * time.Millisecond}}}
	path := filepath.Join(dir, "opensm-lfts.dump")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	text := ""
	write := func() {
		text += "0x0001 001\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write()
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for wait(ctx, 5*time.Millisecond) == nil {
			write()
		}
	}()
	for { // on a busy machine the writer itself may rest now and then
		_, err := s.gather(t.Context(), nil, t.TempDir())
		if err != nil && strings.Contains(err.Error(), "change all the time") {
			break
		}
		if err != nil || ctx.Err() != nil {
			t.Fatalf("a file that changes all the time: %v", err)
		}
	}
	cancel()
	<-ended
	g, err := s.gather(t.Context(), nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if g.files[0].Bytes != int64(len(text)) {
		t.Errorf("%d bytes of %d", g.files[0].Bytes, len(text))
	}
}
