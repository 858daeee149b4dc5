package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// A state folder that cannot be written is said to be that, not the files that are looked at;
// the watch goes on, and the next look is kept once it can be.
func TestStateCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newScene(t, Config{})
	files := filepath.Join(w.State, filesFolder)
	if err := os.Remove(files); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files, nil, 0o600); err != nil { // in place of the folder: root may write everywhere
		t.Fatal(err)
	}
	w.shown["look"] = &Snapshot{Tables: tablesBy(t, testnet.Build(t, "ring:n=5"), "updn", 1)}
	w.write("look")
	if l, err := w.look(t.Context()); err == nil || l != nil {
		t.Fatalf("%+v, %v", l, err)
	}
	if a := w.status.Alarms; len(a) != 1 || a[0].Kind != Unreadable || !strings.HasPrefix(a[0].Do, "see that the state folder can be written") {
		t.Errorf("%+v", a)
	}
	// What is wrong with the fabric is said all the same.
	w.shown["loop"] = &Snapshot{Tables: tablesBy(t, testnet.Build(t, "ring:n=5"), "minhop", 1)}
	w.write("loop")
	if l, err := w.look(t.Context()); err == nil || l != nil {
		t.Fatalf("%+v, %v", l, err)
	}
	began := slices.Clone(w.status.Alarms)
	if kinds := kindsOf(began); !slices.Equal(kinds, []string{CreditLoop, Unreadable}) {
		t.Errorf("alarms %v", kinds)
	}
	// Alarms of looks that cannot be kept are there since the first of them, and so they are kept when they can.
	if _, err := w.look(t.Context()); err == nil {
		t.Fatal("it was kept")
	}
	for i, a := range w.status.Alarms {
		if !a.Since.Equal(began[i].Since) {
			t.Errorf("%s is there since %v, then since %v", a.Kind, began[i].Since, a.Since)
		}
	}
	if err := os.Remove(files); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(files, 0o700); err != nil {
		t.Fatal(err)
	}
	if l, err := w.look(t.Context()); err != nil || l == nil || !l.Alarms[0].Since.Equal(began[0].Since) {
		t.Errorf("%+v, %v; the alarm began %v", l, err, began[0].Since)
	}
	w.write("look")
	if l, err := w.look(t.Context()); err != nil || l == nil || len(w.status.Alarms) > 0 {
		t.Errorf("%+v, %v, %+v", l, err, w.status.Alarms)
	}
}

// A state folder that was taken away, or emptied, is made again; the next look is kept in it though it sees nothing new, and what
// comes is compared with what was there before.
func TestStateTakenAway(t *testing.T) {
	t.Parallel()
	for how, take := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+"-away") },
		"another": func(dir string) error { return errors.Join(os.Rename(dir, dir+"-away"), os.Mkdir(dir, 0o750)) },
		"emptied": func(dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, looksFolder)), os.RemoveAll(filepath.Join(dir, filesFolder)), os.Remove(filepath.Join(dir, statusName)))
		},
	} {
		w := newScene(t, Config{})
		f := testnet.Build(t, "ring:n=5")
		w.show(&Snapshot{Tables: tablesBy(t, f, "updn", 1)})
		if err := take(w.State); err != nil {
			t.Fatal(err)
		}
		if l, err := w.look(t.Context()); err != nil || l == nil || l.Number != 2 || l.Changed == nil || l.Changed.Entries > 0 {
			t.Errorf("%s: %+v, %v", how, l, err)
		}
		if l, err := w.look(t.Context()); err != nil || l != nil {
			t.Errorf("%s, then the same: %+v, %v", how, l, err)
		}
		if l := w.show(&Snapshot{Tables: tablesBy(t, f, "minhop", 1)}); l.Changed.Entries == 0 {
			t.Errorf("%s: nothing changed", how)
		}
		s, err := OpenStore(w.State)
		if err != nil {
			t.Fatal(err)
		}
		numbers, err := s.Numbers()
		status, statusErr := s.Health()
		if err := errors.Join(err, statusErr); err != nil || !slices.Equal(numbers, []int{2, 3}) || status == nil || status.Look != 3 {
			t.Errorf("%s: looks %v, %+v, %v", how, numbers, status, err)
		}
	}
	// Where it cannot be made again, the look says why, and goes on once it can.
	w := newScene(t, Config{})
	w.show(&Snapshot{Tables: tablesBy(t, testnet.Build(t, "ring:n=5"), "updn", 1)})
	if err := errors.Join(os.Rename(w.State, w.State+"-away"), os.WriteFile(w.State, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := w.look(t.Context()); err == nil || !strings.Contains(w.status.Error, "not a directory") || !strings.HasPrefix(w.status.Alarms[0].Do, "see that the state folder can be written") {
			t.Errorf("%v, %+v", err, w.status)
		}
	}
	if err := os.Remove(w.State); err != nil {
		t.Fatal(err)
	}
	if l, err := w.look(t.Context()); err != nil || l == nil || len(l.Alarms) > 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

// Ports that lead elsewhere do since the first look that saw it, though it could not be kept; those that do
// so at another time do since then.
func TestSinceOfRecabled(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(0, 0).Add(time.Duration(minutes) * time.Minute) }
	kept := &result.WatchLook{At: at(1)}
	for _, c := range []struct{ there, want int }{{1, 3}, {2, 2}} {
		l := &result.WatchLook{At: at(3), Alarms: []result.Alarm{{Kind: Recabled}}}
		carrySince(l, kept, []result.Alarm{{Kind: Recabled, Since: at(c.there)}})
		if !l.Alarms[0].Since.Equal(at(c.want)) {
			t.Errorf("the last look that was kept at 1, one recabled at %d: since %v", c.there, l.Alarms[0].Since)
		}
	}
}

// Why a look fails is logged once, again when it changes, and when it is over.
func TestFailuresAreToldOnce(t *testing.T) {
	var log strings.Builder
	w := newScene(t, Config{})
	w.Log = slog.New(slog.NewTextHandler(&log, nil))
	for _, err := range []error{nil, errors.New("one"), errors.New("one"), errors.New("two"), nil, nil, errors.New("two")} {
		w.tellFailure(err)
	}
	var said []string
	for line := range strings.Lines(log.String()) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), "msg=")
		said = append(said, text)
	}
	if want := []string{"look error=one", "look error=two", `"looks work again"`, "look error=two"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// What cannot be copied into the state folder is its disk's fault, not that of the files.
func TestRemedyGoesByWhereItFailed(t *testing.T) {
	r := newScene(t, Config{}).running
	for _, c := range []struct{ path, want string }{
		{filepath.Join(r.State, gatherName, "opensm.fdbs"), "see that the state folder"},
		{filepath.Join(r.Folder, "opensm.fdbs"), "see that the files are there"},
	} {
		err := fmt.Errorf("look: %w", &fs.PathError{Op: "write", Path: c.path, Err: syscall.ENOSPC})
		if got := r.remedy(err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", c.path, got)
		}
	}
}
