package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// process makes a process of a test.
func process(t *testing.T, proc string, pid int, name, state string, args ...string) {
	t.Helper()
	dir := filepath.Join(proc, strconv.Itoa(pid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	line := ""
	for _, arg := range args {
		line += arg + "\x00"
	}
	for file, text := range map[string]string{"comm": name + "\n", "stat": strconv.Itoa(pid) + " (" + name + ") " + state + " 1", "cmdline": line} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// An OpenSM that ran on this host and is dead is an alarm until one runs again, over a restart of the watch too. An OpenSM that
// never ran here is none, and one that writes another log is another's.
func TestOpenSMGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	proc, log := filepath.Join(dir, "proc"), filepath.Join(dir, "opensm.log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(log, log+".link"); err != nil {
		t.Fatal(err)
	}
	process(t, proc, 1, "init", "S")
	process(t, proc, 7, "opensm", "S", "opensm", "-f", filepath.Join(dir, "other.log"))
	process(t, proc, 8, "opensm", "S", "opensm", "-f"+filepath.Join(dir, "third.log"))
	s := newScene(t, Config{Log: log + ".link"})
	s.proc = proc
	looks := func(want bool) {
		t.Helper()
		s.show(&Snapshot{Tables: tablesBy(t, testnet.Build(t, "torus:3x3"), "updn", 1)})
		if got := hasKind(s.status.Alarms, OpenSMGone); got != want {
			t.Errorf("an alarm: %v, want %v; %+v", got, want, s.status.OpenSM)
		}
	}
	looks(false)
	process(t, proc, 12, "opensm", "S", "/usr/sbin/opensm", "-F", "/etc/opensm.conf", "--log_file", log)
	looks(false)
	if m := s.status.OpenSM; m == nil || m.PID != 12 {
		t.Fatalf("%+v", m)
	}
	process(t, proc, 12, "opensm", "Z")
	if !s.seeManager() || s.seeManager() {
		t.Error("that it died is no news, or twice")
	}
	looks(true)
	process(t, proc, 12, "bash", "S") // another has its number now
	looks(true)
	endWhole(s.running)
	again := begun(t, &Watcher{Config: s.Watcher.Config, Log: s.Watcher.Log, Read: s.read, proc: proc})
	s.running = again
	looks(true)
	process(t, proc, 13, "opensm", "S", "opensm") // whose log is not known
	looks(false)
	if i := slices.Index(Kinds, OpenSMGone); i < 0 {
		t.Error("it is no kind of alarm")
	}
	// One whose files come from elsewhere now is no alarm any more.
	gone := time.Unix(1000, 0)
	if m := managers[0].updated(&result.OpenSMProcess{PID: 12, Gone: &gone}, filepath.Join(dir, "none"), log, gone.Add(time.Second), gone.Add(time.Minute)); m != nil {
		t.Errorf("%+v", m)
	}
}

// Of NVLSM's dumps it is the process of NVLSM that counts, and its alarm names it; an OpenSM on the same host is another's.
func TestNVLSMGone(t *testing.T) {
	t.Parallel()
	proc := filepath.Join(t.TempDir(), "proc")
	process(t, proc, 7, "opensm", "S", "opensm")
	process(t, proc, 8, "nvlsm", "S", "nvlsm")
	s := newScene(t, Config{})
	s.proc = proc
	for name, text := range map[string]string{"nvlsm-subnet.lst": "not read", "nvlsm.fdbs": "not read"} {
		if err := os.WriteFile(filepath.Join(s.Folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.show(&Snapshot{Tables: tablesBy(t, testnet.Build(t, "torus:3x3"), "updn", 1)})
	if m := s.status.OpenSM; m == nil || m.PID != 8 {
		t.Fatalf("%+v", m)
	}
	process(t, proc, 8, "nvlsm", "Z")
	l := s.show(&Snapshot{Tables: tablesBy(t, testnet.Build(t, "torus:3x3"), "updn", 1)})
	i := slices.IndexFunc(s.status.Alarms, func(a result.Alarm) bool { return a.Kind == OpenSMGone })
	if i < 0 || !strings.Contains(s.status.Alarms[i].What, "NVLSM, which ran here as process 8,") || !strings.Contains(s.status.Alarms[i].Do, "nvidia-fabricmanager") {
		t.Errorf("%+v", s.status.Alarms)
	}
	for _, name := range []string{"nvlsm-subnet.lst", "nvlsm.fdbs"} {
		if !slices.ContainsFunc(l.Files, func(f result.LookFile) bool { return f.Name == name }) {
			t.Errorf("%s is not in the look: %v", name, l.Files)
		}
	}
	for log, want := range map[string]string{"/var/log/nvlsm.log": "NVLSM", "/var/log/opensm.0x1.log": "OpenSM", "/var/log/sm.log": "OpenSM", "": "OpenSM"} {
		if got := logs(log).name; got != want { // until dumps are there
			t.Errorf("%s is the log of %s, want %s", log, got, want)
		}
	}
}
