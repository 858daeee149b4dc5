package watch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// Where the clock is set back, or was wrong when the machine began, alarms are there since the look that
// sees them at the latest, looks go on being kept in their order, and files from the future are read.
func TestClockIsSetBack(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=5")
	w := newScene(t, Config{})
	loop := &Snapshot{Tables: tablesBy(t, f, "minhop", 1)}
	first := w.show(loop)
	if len(first.Alarms) == 0 {
		t.Fatal("no alarm")
	}
	years := 5 * 365 * 24 * time.Hour
	first.At = first.At.Add(years)
	for i := range first.Alarms {
		first.Alarms[i].Since = first.Alarms[i].Since.Add(years)
		w.status.Alarms[i].Since = first.Alarms[i].Since
	}
	w.status.Alarms = append(w.status.Alarms, result.Alarm{Kind: Unreadable, Since: time.Now().Add(years)})
	if since := sinceWhen(w.status.Alarms, Unreadable, time.Now()); since.After(time.Now()) {
		t.Errorf("the folder cannot be read since %v", since)
	}
	again := w.show(loop) // its file is newer again
	if again.Number != first.Number+1 || again.Alarms[0].Since.After(time.Now()) {
		t.Errorf("look %d, alarm since %v", again.Number, again.Alarms[0].Since)
	}
	if numbers, err := w.store.Numbers(); err != nil || len(numbers) != 2 {
		t.Errorf("%v, looks %v", err, numbers)
	}
}

// A watch that hangs is told from one that looks, whatever the clock was set to since its last look.
func TestHealthWhenTheClockIsSet(t *testing.T) {
	t.Parallel()
	w := newScene(t, Config{})
	for _, set := range []time.Duration{-time.Hour, 5 * 365 * 24 * time.Hour} {
		w.begun, w.status.At = time.Now(), time.Now().Add(-set).UTC()
		if err := w.healthy(); err != nil {
			t.Errorf("it looked just now, the clock set by %v: %v", set, err)
		}
		w.begun = time.Now().Add(-w.patience() - time.Minute)
		if w.healthy() == nil {
			t.Errorf("it hangs, the clock set by %v: it is called healthy", set)
		}
	}
}

// A watch whose commands all take as long as they may is no watch that hangs, also where tables are others at
// each try of a look; nor is one that had no look before.
func TestHealthWhileCommandsAreSlow(t *testing.T) {
	t.Parallel()
	f := testnet.Build(t, "ring:n=5")
	ours, others := &Snapshot{Tables: tablesBy(t, f, "updn", 1)}, &Snapshot{Tables: tablesBy(t, f, "minhop", 1)}
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	slow := func(file string) command {
		return command{file: file, args: []string{"/bin/sh", "-c", "echo >> " + ran + "; wc -l < " + ran}} // tells of other tables each time
	}
	expect := filepath.Join(dir, "expected")
	if err := os.Mkdir(expect, 0o700); err != nil {
		t.Fatal(err)
	}
	w := newScene(t, Config{Expect: expect, Timeout: time.Hour, Every: 1})
	during := 0
	w.Read = func(_, tables string, _ uint16) (*Snapshot, error) {
		during++
		if err := w.healthy(); err != nil || w.begun.IsZero() {
			t.Errorf("in a look that began at %v: %v", w.begun, err)
		}
		if tables == expect {
			return ours, nil
		}
		return others, nil
	}
	w.Folder, w.commands, w.counterCommands = "", []command{slow(ibnetdiscover), slow("lfts.dump")}, []command{slow("counters")}
	if _, err := w.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(ran)
	if err != nil {
		t.Fatal(err)
	}
	runs := len(text)
	if runs != tries*len(w.commands)+1 || during == 0 {
		t.Errorf("%d commands, %d times tables were read: the case tests nothing", runs, during)
	}
	w.begun = time.Now().Add(-time.Duration(runs) * w.Timeout)
	if err := w.healthy(); err != nil {
		t.Errorf("%d commands took %v each: %v", runs, w.Timeout, err)
	}
}

// A log that was last written to before the clock was set back says nothing of tables written after it, also
// once the clock has come so far again, until it is written to again.
func TestLogFromBeforeTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "opensm.log")
	s := newScene(t, Config{Engine: "lash", Log: log})
	tables := &Snapshot{Tables: tablesBy(t, testnet.Build(t, "torus:4x4"), "lash", 1), Maps: true}
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		now, dumped, logged time.Duration // by noon
		stale               bool
	}{
		{time.Hour, 59 * time.Minute, time.Hour, false},
		{time.Minute, 0, time.Hour, true},                                // set back by an hour
		{2 * time.Hour, 30 * time.Minute, time.Hour, true},               // it has come so far again
		{2 * time.Hour, 31 * time.Minute, 90 * time.Minute, false},       // OpenSM wrote to its log
		{-time.Hour, 10 * time.Hour, 10*time.Hour + time.Minute, false},  // both are from the future: of a file server, say
		{-time.Hour, 11 * time.Hour, 10*time.Hour + 2*time.Minute, true}, // the log ends before
	} {
		s.clock = func() time.Time { return noon.Add(c.now) }
		for path, at := range map[string]time.Duration{filepath.Join(s.Folder, "opensm-lfts.dump"): c.dumped, log: c.logged} {
			if err := errors.Join(os.WriteFile(path, []byte(lashWorks), 0o600), os.Chtimes(path, noon.Add(at), noon.Add(at))); err != nil {
				t.Fatal(err)
			}
		}
		if l := s.show(tables); l.LogStale != c.stale || (l.Made != nil) == c.stale {
			t.Errorf("%d: stale %v, %+v", i, l.LogStale, l.Made)
		}
	}
}
