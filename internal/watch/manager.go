package watch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/weft-fabric/weft/internal/reading"
)

// Manager is the OpenSM whose dumps or log are looked at, where it runs on this host. weft serve knows whether it lives as
// long as it does itself; its process is there for whoever looks.
type Manager struct {
	PID  int        `json:"pid"`            // of the process that was seen last
	Gone *time.Time `json:"gone,omitempty"` // since when there is none; nil: it runs
}

// managerName is what its process is called.
const managerName = "opensm"

// procFolder has a folder for each process. One that this user may not see is as if it were not there.
const procFolder = "/proc"

// runs says whether a process is an OpenSM that may write a log: one that says on its command line that it writes another
// is of another fabric.
func runs(proc string, pid int, log string) bool {
	dir := filepath.Join(proc, strconv.Itoa(pid))
	name, err := ofProcess(filepath.Join(dir, "comm"))
	if err != nil || string(bytes.TrimSpace(name)) != managerName {
		return false
	}
	stat, err := ofProcess(filepath.Join(dir, "stat"))
	if err != nil {
		return false
	}
	if _, after, ok := bytes.Cut(stat, []byte(") ")); ok && bytes.HasPrefix(after, []byte("Z")) {
		return false // it has ended, and nobody has noticed yet
	}
	line, err := ofProcess(filepath.Join(dir, "cmdline"))
	if err != nil || log == "" {
		return err == nil
	}
	args := bytes.Split(line, []byte{0})
	for i, arg := range args {
		at, found := bytes.CutPrefix(arg, []byte("--log_file="))
		if !found && len(arg) > 2 {
			at, found = bytes.CutPrefix(arg, []byte("-f"))
		}
		if (bytes.Equal(arg, []byte("-f")) || bytes.Equal(arg, []byte("--log_file"))) && i+1 < len(args) {
			at, found = args[i+1], true
		}
		if found && filepath.IsAbs(string(at)) {
			return sameFile(string(at), log)
		}
	}
	return true
}

// ofProcess reads a file about a process, in which a command line is words that end with a NUL.
func ofProcess(name string) ([]byte, error) {
	in, err := reading.OpenPlain(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return reading.ReadBytes(in, name, reading.MaxSettings)
}

// sameFile says whether two names are of one file, which need not be there.
func sameFile(a, b string) bool {
	resolved := func(name string) string {
		if to, err := filepath.EvalSymlinks(name); err == nil {
			return to
		}
		return filepath.Clean(name)
	}
	return resolved(a) == resolved(b)
}

// find is the process of an OpenSM that may write a log; 0: there is none.
func find(proc, log string) int {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && runs(proc, pid, log) {
			return pid
		}
	}
	return 0
}

// next is what is known of OpenSM now, after what was known; nil: none was seen ever. written is when it dumped tables
// last: if it has since it went, it is on another host now, whose files come here.
func (m *Manager) next(proc, log string, written, now time.Time) *Manager {
	if m != nil && m.Gone == nil && runs(proc, m.PID, log) {
		return m
	}
	if pid := find(proc, log); pid > 0 {
		return &Manager{PID: pid}
	}
	switch {
	case m == nil:
		return nil
	case m.Gone == nil:
		gone := now.UTC()
		return &Manager{PID: m.PID, Gone: &gone}
	case written.After(*m.Gone):
		return nil
	}
	return m
}

// watched says whether the files of an OpenSM are looked at.
func (s *settings) watched(files []stamp) bool {
	return s.Ethernet == "" && (s.Log != "" || !dumped(files).IsZero())
}

// seeManager looks whether OpenSM runs, and says whether that is news.
func (r *running) seeManager() (news bool) {
	if !r.watched(r.tried) {
		return false
	}
	was := r.manager
	r.manager = was.next(r.proc, r.settings.Log, dumped(r.tried), r.clock.Now())
	return (was != nil && was.Gone != nil) != (r.manager != nil && r.manager.Gone != nil)
}

// ofManager is alarms with that OpenSM is dead.
func (r *running) ofManager(all []Alarm) []Alarm {
	all = slices.DeleteFunc(slices.Clone(all), func(a Alarm) bool { return a.Kind == OpenSMGone })
	if m := r.manager; m != nil && m.Gone != nil {
		all = append(all, Alarm{
			OpenSMGone, fmt.Sprintf("OpenSM, which ran here as process %d, does not run any more: what goes or comes is not seen, and nothing is routed", m.PID),
			"systemctl status 'opensm*'; the end of OpenSM's log may say why it ended", *m.Gone,
		})
	}
	return all
}
