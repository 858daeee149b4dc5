package live

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Subnet is a simulated fabric that runs until the test ends. Managers and tools run on
// it, and its cables can be removed.
type Subnet struct {
	net    *netFile
	socket string // of ibsim
	input  io.Writer
}

// Simulate simulates the fabric of a net file until the test ends.
func Simulate(t testing.TB, net string) *Subnet {
	t.Helper()
	Need(t)
	n, err := readNetFile(net)
	if err != nil {
		t.Fatal(err)
	}
	s := &Subnet{net: n, socket: fmt.Sprintf("weft-%d-%d", os.Getpid(), sweeps.Add(1))}
	console, input, err := os.Pipe()
	if err != nil {
		t.Fatalf("live: %v", err)
	}
	t.Cleanup(func() {
		input.Close()
		console.Close()
	})
	startSim(t, n, s.socket, console)
	s.input = input
	return s
}

// Console hands ibsim a command, such as Unlink "S-…"[1].
func (s *Subnet) Console(t testing.TB, format string, args ...any) {
	t.Helper()
	if _, err := fmt.Fprintf(s.input, format+"\n", args...); err != nil {
		t.Fatalf("live: ibsim's console: %v", err)
	}
}

// env is the environment that connects a program to the simulator; host is the node id
// of the adapter that it runs on; empty: the first.
func (s *Subnet) env(host string) []string {
	tools, _ := find()
	if host == "" {
		host = s.net.host
	}
	return []string{"IBSIM_SOCKNAME=" + s.socket, "LD_PRELOAD=" + tools.umad2sim, "SIM_HOST=" + host}
}

// Query runs a tool of infiniband-diags on a host other than the managers' and
// returns what it prints. Each asks once and waits for a second: where the question or the answer
// got lost, as they do while switches have no tables and on a busy machine, it is asked again.
func (s *Subnet) Query(t testing.TB, host, tool string, args ...string) (string, error) {
	t.Helper()
	dir := inMemory(t)
	for end := time.Now().Add(asksFor); ; time.Sleep(100 * time.Millisecond) {
		// Not by way of timeout(1) and env(1), which take about as long to start as the tool takes.
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := ended(exec.CommandContext(ctx, tool, args...), dir)
		cmd.Env = append(os.Environ(), s.env(host)...)
		out, err := cmd.CombinedOutput()
		cancel()
		if !unanswered(string(out), err) || time.Now().After(end) {
			return string(out), err
		}
	}
}

// asksFor is how long Query asks for an answer.
const asksFor = time.Minute

// unanswered reports whether a tool has ended without an answer, be it a bad one: saquery says that time
// is up, and crashes at times; the others say that a packet came to nothing.
func unanswered(out string, err error) bool {
	exit := (*exec.ExitError)(nil)
	if !errors.As(err, &exit) {
		return false
	}
	code := exit.ExitCode()
	return code == int(syscall.ETIMEDOUT) || code < 0 ||
		strings.Contains(out, "_do_madrpc failed") || strings.Contains(out, "No SM/SA found")
}

// Manager is an OpenSM that keeps running.
type Manager struct {
	Dir string // its dumps
	Log string // osm.log

	pid  int
	done chan struct{} // closed when it has ended
	end  error         // how it ended, once done is closed
	said Text          // what it printed, beside its log
	stop context.CancelFunc

	seen  int64           // bytes of the log that have been read
	fresh strings.Builder // of them, what nobody was given yet
}

// LogIn is the log of the OpenSM that was started last with a directory as its own: a link, which is there before any
// tables of that OpenSM are.
func LogIn(dir string) string { return filepath.Join(dir, "osm.log") }

// What OpenSM logs when a heavy sweep begins, and when one has ended and its tables are dumped.
// That it is up it says a second time in a box of its own.
const (
	begins = "INITIATING HEAVY SWEEP"
	Up     = "-> SUBNET UP"
)

// Manage starts OpenSM on a host, with lines of opensm.conf and of its environment,
// until the test ends or it is stopped. Without log_flags it logs errors and what it
// informs of, and dumps its tables; it always logs when sweeps begin. A manager that is
// started with the directory of an earlier one takes over its LIDs.
func (s *Subnet) Manage(t testing.TB, host, dir string, conf map[string]string, env ...string) *Manager {
	t.Helper()
	tools, _ := find()
	m := &Manager{Dir: dir, Log: filepath.Join(dir, fmt.Sprintf("osm-%d.log", sweeps.Add(1))), done: make(chan struct{})}
	linked := LogIn(dir)
	if err := errors.Join(os.Symlink(m.Log, linked+".new"), os.Rename(linked+".new", linked)); err != nil {
		t.Fatalf("live: %v", err)
	}
	flags := cmp.Or(conf["log_flags"], "0x43")
	conf = maps.Clone(conf)
	conf["per_module_logging_file"] = tellsSweeps(t, dir, flags, conf["per_module_logging_file"])
	conf["force_log_flush"] = cmp.Or(conf["force_log_flush"], "TRUE")
	write(t, filepath.Join(dir, "opensm.conf"), configuration(conf))
	var ctx context.Context
	ctx, m.stop = context.WithCancel(context.Background())
	env = append(append(s.env(host), "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir), env...)
	pidFile := filepath.Join(dir, "pid")
	// The shell is replaced by OpenSM, so that its process number is OpenSM's: timeout(1)
	// would take a SIGHUP for the end.
	cmd := command(ctx, inMemory(t), nil, "sh", append([]string{"-c", `echo $$ >"$0" && exec env "$@"`, pidFile},
		append(env, tools.opensm, "-F", filepath.Join(dir, "opensm.conf"), "-f", m.Log, "-D", flags)...)...)
	cmd.Stdout, cmd.Stderr = &m.said, &m.said
	if err := cmd.Start(); err != nil {
		m.stop()
		t.Fatalf("live: opensm: %v", err)
	}
	go func() {
		m.end = cmd.Wait()
		close(m.done)
	}()
	t.Cleanup(m.Stop)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(pidFile); err == nil {
			line, whole := strings.CutSuffix(string(text), "\n")
			if m.pid, err = strconv.Atoi(line); err == nil && whole {
				if err := os.Remove(pidFile); err != nil {
					t.Fatalf("live: %v", err)
				}
				return m
			}
		}
	}
	t.Fatalf("live: opensm did not start: %s", lastLines(m.said.String()))
	return nil
}

// tellsSweeps is a per_module_logging_file with which OpenSM says what its sweeps do, and what a file
// of the caller's has it say besides.
func tellsSweeps(t testing.TB, dir, flags, more string) string {
	t.Helper()
	const verbose = 0x04
	level, err := strconv.ParseUint(flags, 0, 8)
	if err != nil {
		t.Fatalf("live: log_flags: %v", err)
	}
	modules := fmt.Sprintf("osm_state_mgr.c %#x\n", level|verbose)
	if more != "" {
		text, err := os.ReadFile(more)
		if err != nil {
			t.Fatalf("live: %v", err)
		}
		modules += string(text)
	}
	path := filepath.Join(dir, "modules.conf")
	write(t, path, modules)
	return path
}

// Stop ends OpenSM as an administrator would.
func (m *Manager) Stop() {
	m.stop()
	<-m.done
}

// Quit asks OpenSM to end, and returns how it did and what it printed.
func (m *Manager) Quit(t testing.TB) (string, error) {
	t.Helper()
	m.signal(t, syscall.SIGTERM)
	<-m.done
	return m.said.String(), m.end
}

// Kill ends OpenSM at once.
func (m *Manager) Kill(t testing.TB) {
	t.Helper()
	m.signal(t, syscall.SIGKILL)
	<-m.done
}

// Sweep asks for a heavy sweep. If OpenSM is about to begin one of its own accord, or has
// begun and still looks for switches, that is the one.
func (m *Manager) Sweep(t testing.TB) {
	t.Helper()
	m.signal(t, syscall.SIGHUP)
}

// Resweep asks for a heavy sweep, and returns what OpenSM has logged since it was waited for
// before, once a sweep is done that began after the call.
func (m *Manager) Resweep(t testing.TB, patience time.Duration) string {
	t.Helper()
	before := m.Fresh(t)
	m.Sweep(t)
	return before + m.Await(t, begins, patience) + m.Await(t, Up, patience)
}

func (m *Manager) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(m.pid, s); err != nil {
		t.Fatalf("live: opensm %d: %v", m.pid, err)
	}
}

// Alive reports whether OpenSM still runs.
func (m *Manager) Alive() bool {
	select {
	case <-m.done:
		return false
	default:
		return true
	}
}

// Await waits for a phrase in the log, past what it has waited for before, and
// returns the log from there to the end of the line with the phrase.
func (m *Manager) Await(t testing.TB, phrase string, patience time.Duration) string {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		alive := m.Alive()
		m.readOn(t)
		fresh := m.fresh.String()
		if i := strings.Index(fresh, phrase); i >= 0 {
			if j := strings.IndexByte(fresh[i:], '\n'); j >= 0 {
				m.fresh.Reset()
				m.fresh.WriteString(fresh[i+j+1:])
				return fresh[:i+j+1]
			}
		}
		if !alive || time.Now().After(end) {
			t.Fatalf("live: no %q in OpenSM's log (alive: %v)\n%s\n%s", phrase, alive, tailOf(m.Log), lastLines(m.said.String()))
		}
	}
}

// readOn adds to fresh what the log has grown by: it comes to megabytes, and is looked at
// many times a second.
func (m *Manager) readOn(t testing.TB) (more bool) {
	t.Helper()
	file, err := os.Open(m.Log)
	if errors.Is(err, os.ErrNotExist) {
		return false // OpenSM has only just started
	}
	if err != nil {
		t.Fatalf("live: %v", err)
	}
	defer file.Close()
	n, err := io.Copy(&m.fresh, io.NewSectionReader(file, m.seen, math.MaxInt64-m.seen))
	if err != nil {
		t.Fatalf("live: %v", err)
	}
	m.seen += n
	return n > 0
}

// Settle asks for a heavy sweep as Resweep does, and waits then until the log has not grown for a
// while, because traps start further sweeps. It returns all that was logged.
func (m *Manager) Settle(t testing.TB, patience time.Duration) string {
	t.Helper()
	const still = 500 * time.Millisecond
	text := m.Resweep(t, patience)
	for end := time.Now().Add(patience); time.Now().Before(end); {
		time.Sleep(still)
		if !m.readOn(t) && m.fresh.Len() == 0 {
			return text
		}
		text += m.Fresh(t)
	}
	t.Fatalf("live: OpenSM's log does not come to rest\n%s", tailOf(m.Log))
	return ""
}

// Dumps is the files that the manager writes, those of the last heavy sweep. While it is under
// way they may be half written.
func (m *Manager) Dumps() Dumps { return dumpsIn(m.Dir, m.Log) }

// Swept is copies of what one heavy sweep has dumped, the last. If another is under way, it
// waits for its end.
func (m *Manager) Swept(t testing.TB, patience time.Duration) Dumps {
	t.Helper()
	dir := t.TempDir()
	end := time.Now().Add(patience)
	for ; ; time.Sleep(20 * time.Millisecond) {
		before := m.sweeps(t)
		if before.begun <= before.up {
			for _, from := range m.Dumps().files() {
				copyFile(t, filepath.Join(dir, filepath.Base(from)), from)
			}
			if m.sweeps(t) == before {
				return dumpsIn(dir, m.Log)
			}
		}
		if !m.Alive() || time.Now().After(end) {
			t.Fatalf("live: the last sweep has not ended (alive: %v)\n%s\n%s", m.Alive(), tailOf(m.Log), lastLines(m.said.String()))
		}
	}
}

// sweeps is where in the log the last sweep began, and where OpenSM last said that it was up.
func (m *Manager) sweeps(t testing.TB) (at struct{ begun, up int }) {
	t.Helper()
	log, err := os.ReadFile(m.Log)
	if err != nil {
		t.Fatalf("live: %v", err)
	}
	at.begun, at.up = bytes.LastIndex(log, []byte(begins)), bytes.LastIndex(log, []byte(Up))
	return at
}

// copyFile copies a file, if there is one.
func copyFile(t testing.TB, to, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatalf("live: %v", err)
	}
}

// Fresh is what OpenSM has logged since the last call, or since what Await returned.
func (m *Manager) Fresh(t testing.TB) string {
	t.Helper()
	m.readOn(t)
	fresh := m.fresh.String()
	m.fresh.Reset()
	return fresh
}
