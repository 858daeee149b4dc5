package watch

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/testnet"
)

// An OpenSM that goes to standby leaves its dumps as they are: what is judged by them is said to be of before, until it is
// master again, also where the log was rotated meanwhile or the watch was begun anew.
func TestOpenSMOnStandby(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "opensm.log")
	s := newScene(t, Config{Log: log})
	dump := filepath.Join(s.Folder, "opensm-lfts.dump")
	start := time.Now().Add(-time.Hour).Truncate(time.Second)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	line := func(minutes int, text string) string {
		return at(minutes).Format(time.Stamp) + " 471133 [F2AB6C0] 0x80 -> " + text + "\n"
	}
	write := func(name, text string, minutes int) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at(minutes), at(minutes)); err != nil {
			t.Fatal(err)
		}
	}
	looks := func(what string, want bool) {
		t.Helper()
		if _, err := s.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := hasKind(s.status.Alarms, OpenSMStandby); got != want {
			t.Errorf("%s: an alarm: %v, want %v; %+v", what, got, want, s.status.Log)
		}
	}
	master := line(1, "Entering MASTER state")
	write(log, master, 1)
	write(dump, "not read", 1)
	s.show(&Snapshot{Tables: tablesBy(t, testnet.Build(t, "torus:3x3"), "updn", 1)})
	looks("master", false)
	standby := master + line(5, "Entering STANDBY state")
	write(log, standby, 5)
	looks("standby", true)
	if a := s.status.Alarms; len(a) != 1 || !a[0].Since.Equal(at(5)) {
		t.Errorf("%+v, want it since %v", a, at(5))
	}
	write(log, line(6, "log rotated"), 6)
	looks("rotated", true)
	endWhole(s.running)
	s.running = begun(t, &Watcher{Config: s.Watcher.Config, Log: s.Watcher.Log, Read: s.read, proc: s.proc})
	looks("begun anew", true)
	write(dump, "dumped since", 8)
	looks("its dumps are new", false)
	write(log, standby+line(9, "Entering DISCOVERING state")+line(9, "Entering MASTER state"), 9)
	looks("master again", false)
}

// An OpenSM that was begun again without the flags that have it dump its tables routes, and its dumps are of before: that
// is an alarm. A log whose last line is of before the clock was set back is none.
func TestSweptWithoutADump(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-time.Hour).Truncate(time.Second)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	line := func(seconds int) string {
		return at(seconds).Format(time.Stamp) + " 013008 [31D486C0] 0x02 -> SUBNET UP\n"
	}
	name := filepath.Join(t.TempDir(), "opensm.log")
	for _, c := range []struct {
		text    string
		written int
		ahead   bool
		want    bool
	}{
		{line(1), 1, false, false},
		{line(1) + line(30), 1, false, false}, // the dumps of a large network take a while
		{line(1) + line(90), 1, false, true},
		{line(1) + line(90), 85, false, false},
		{line(90), 1, true, false},
		{"nothing of the kind\n", 1, false, false},
	} {
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := readLog(name)
		if err != nil {
			t.Fatal(err)
		}
		said.ahead = c.ahead
		if got := said.sweptSince(at(c.written)); got.IsZero() == c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	s := newScene(t, Config{Log: name})
	dump := filepath.Join(s.Folder, "opensm-lfts.dump")
	for i, c := range []struct {
		swept, written int
		want           bool
	}{{1, 1, false}, {600, 1, true}, {600, 600, false}} {
		if i == 0 {
			s.show(&Snapshot{Tables: tablesBy(t, testnet.Build(t, "torus:3x3"), "updn", 1)})
		}
		if err := os.WriteFile(name, []byte(line(c.swept)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dump, []byte("not read"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dump, at(c.written), at(c.written)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := hasKind(s.status.Alarms, NotDumped); got != c.want {
			t.Errorf("%+v: an alarm: %v", c, got)
		}
	}
}

// A log that is not there, such as that of Debian's unit by another name, is told once, and again when it went once more.
func TestLogThatIsNotThere(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "opensm.log")
	s := newScene(t, Config{Log: name})
	var said bytes.Buffer
	s.Watcher.Log = slog.New(slog.NewTextHandler(&said, nil))
	s.show(&Snapshot{Tables: tablesBy(t, testnet.Build(t, "torus:3x3"), "updn", 1)})
	for i, want := range []int{1, 1, 2} {
		if i > 0 {
			if _, err := s.look(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Count(said.String(), "OpenSM's log is not there"); got != want {
			t.Errorf("it is said %d times, want %d: %s", got, want, &said)
		}
		if i == 0 {
			continue
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
