package watch

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/result"
)

// manager is a subnet manager as people and the host know it.
type manager struct {
	name    string
	process string // what its process is called, and what the names of its dumps begin with
	unit    string // as systemctl takes it
}

// managers is OpenSM, and the OpenSM of NVLink switches, which the Fabric Manager of NVIDIA starts.
var managers = [...]manager{
	{name: "OpenSM", process: "opensm", unit: "'opensm*'"},
	{name: "NVLSM", process: "nvlsm", unit: "nvidia-fabricmanager"},
}

// procFolder has a folder for each process. A process that this user may not see is as if it were not there.
const procFolder = "/proc"

// isProcess reports whether a process is one of a manager that may write the log at a path, or any if the path is empty: one
// whose command line names another log is of another fabric.
func (m *manager) isProcess(proc string, pid int, log string) bool {
	dir := filepath.Join(proc, strconv.Itoa(pid))
	name, err := ofProcess(filepath.Join(dir, "comm"))
	if err != nil || string(bytes.TrimSpace(name)) != m.process {
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

// logs is the manager that logs where its dumps were not seen yet, by the name of its log.
func logs(log string) *manager {
	for i, m := range managers {
		if strings.HasPrefix(filepath.Base(log), m.process) {
			return &managers[i]
		}
	}
	return &managers[0]
}

// ofProcess reads a file about a process.
func ofProcess(name string) ([]byte, error) {
	in, err := reading.OpenPlain(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return reading.ReadBytes(in, name, reading.MaxSettings)
}

// sameFile reports whether two names are of one file, which need not be there.
func sameFile(a, b string) bool {
	resolved := func(name string) string {
		if to, err := filepath.EvalSymlinks(name); err == nil {
			return to
		}
		return filepath.Clean(name)
	}
	return resolved(a) == resolved(b)
}

// find is the process of a manager that may write a log; 0: there is none.
func (m *manager) find(proc, log string) int {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && m.isProcess(proc, pid, log) {
			return pid
		}
	}
	return 0
}

// updated is what is known of the process of a manager now, was being what was known before; nil: none was seen ever. log
// is where it logs, or empty; written is when it dumped tables last: if that is after it went, it runs on another host
// now, whose files come here.
func (m *manager) updated(was *result.OpenSMProcess, proc, log string, written, now time.Time) *result.OpenSMProcess {
	if was != nil && was.Gone == nil && m.isProcess(proc, was.PID, log) {
		return was
	}
	if pid := m.find(proc, log); pid > 0 {
		return &result.OpenSMProcess{PID: pid}
	}
	switch {
	case was == nil:
		return nil
	case was.Gone == nil:
		gone := now.UTC()
		return &result.OpenSMProcess{PID: was.PID, Gone: &gone}
	case written.After(*was.Gone):
		return nil
	}
	return was
}

// hasOpenSM reports whether a log or dumps of an OpenSM are looked at.
func (s *settings) hasOpenSM(files []stamp) bool {
	return s.Ethernet == "" && (s.Log != "" || !dumped(files).IsZero())
}

// seeManager sets manager by whether OpenSM runs now, and says whether it went or came back.
func (r *running) seeManager() (news bool) {
	if !r.hasOpenSM(r.triedStamps) {
		return false
	}
	was := r.manager
	written, m := dumpedBy(r.triedStamps)
	r.managedBy = cmp.Or(m, r.managedBy)
	r.manager = r.managedBy.updated(was, r.proc, r.settings.Log, written, r.clock.Now())
	return (was != nil && was.Gone != nil) != (r.manager != nil && r.manager.Gone != nil)
}

// withManagerAlarm is alarms with OpenSMGone, OpenSMStandby and NotDumped in place of earlier ones, if OpenSM does not run
// any more, or not as master, or leaves the dumps as they are.
func (r *running) withManagerAlarm(all []result.Alarm) []result.Alarm {
	all = slices.DeleteFunc(slices.Clone(all), func(a result.Alarm) bool {
		return slices.Contains([]string{OpenSMGone, OpenSMStandby, NotDumped}, a.Kind)
	})
	m := r.manager
	gone := m != nil && m.Gone != nil
	if l := r.logState; l != nil && !l.Standby.IsZero() && !gone {
		all = append(all, result.Alarm{
			Kind: OpenSMStandby, What: fmt.Sprintf("%s went to standby, by its log: another routes, and the dumps that are judged here are of before", r.managedBy.name),
			Do: "look where the master runs, which sminfo names, by a weft watch there", Since: l.Standby,
		})
	}
	if !r.notDumped.IsZero() {
		all = append(all, result.Alarm{
			Kind: NotDumped, What: fmt.Sprintf("%s has swept at %s, by its log, and dumped nothing: what is judged here is of before", r.managedBy.name, r.notDumped.Format(time.DateTime)),
			Do: "log_flags 0x43 in opensm.conf, or opensm -D 0x43, has tables dumped at every sweep", Since: sinceWhen(r.status.Alarms, NotDumped, r.notDumped),
		})
	}
	if gone {
		all = append(all, result.Alarm{
			Kind: OpenSMGone, What: fmt.Sprintf("%s, which ran here as process %d, does not run any more: what goes or comes is not seen, and nothing is routed", r.managedBy.name, m.PID),
			Do: fmt.Sprintf("systemctl status %s; the end of %s's log may say why it ended", r.managedBy.unit, r.managedBy.name), Since: *m.Gone,
		})
	}
	return all
}
