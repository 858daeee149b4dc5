package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// daemonProcess is weft serve as it is installed.
type daemonProcess struct {
	weft, socket, state string
	cmd                 *exec.Cmd
	log                 bytes.Buffer
}

func startDaemon(t *testing.T, flags ...string) *daemonProcess {
	t.Helper()
	dir, err := os.MkdirTemp("", "weft") // short: the path of a socket has 107 letters
	if err != nil {
		t.Fatal(err)
	}
	p := &daemonProcess{weft: live.Weft(t), socket: filepath.Join(dir, "s"), state: filepath.Join(dir, "state")}
	p.cmd = exec.Command(p.weft, append([]string{"serve", "--socket", p.socket, "--state", p.state}, flags...)...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.end(t)
		os.RemoveAll(dir)
	})
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(p.socket); err == nil {
			return p
		}
	}
	t.Fatalf("no socket after %v", soon)
	return nil
}

// end has the daemon finish, and returns the time of all cores that it took.
func (p *daemonProcess) end(t *testing.T) time.Duration {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("weft serve: %v\n%s", err, &p.log)
		}
	}
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// status is what weft status says.
func (p *daemonProcess) status(t *testing.T) (s result.Status) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), p.weft, "status", "--socket", p.socket, "--json").Output()
	if err != nil {
		t.Fatalf("weft status: %v\n%s", err, out)
	}
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// settled is the status of a daemon once no better tables are to come and all are written.
func settled(t *testing.T, status func() result.Status) result.Status {
	t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(50 * time.Millisecond) {
		s := status()
		ended := s.Search == nil || s.Search.Ended != nil
		handed := s.Last != nil && (!s.Last.SoFar || ended && !s.Search.Better)
		if ended && handed && s.StateWaiting == 0 {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("the daemon does not come to rest: %+v", s)
		}
	}
}

// sweptAgain has OpenSM sweep until a sweep is answered with the tables of before, and is the status
// of the daemon then.
func sweptAgain(t *testing.T, m *live.Manager, status func() result.Status) result.Status {
	t.Helper()
	s := settled(t, status)
	before := s.Cached
	for end := time.Now().Add(soon); s.Cached == before; s = settled(t, status) {
		if time.Now().After(end) {
			t.Fatalf("no sweep is answered with the tables of before: %+v", s)
		}
		m.Resweep(t, soon) // the first may use better tables that have just come, and ask for none
	}
	return s
}

// The whole way with auto on a grown fabric: an unpatched OpenSM on ibsim, the plugin,
// weft serve. The first proven tables come soon, better ones behind, and what OpenSM
// dumped in the end is what the daemon proved, entry by entry. By itself on the large
// fabric it is for WEFT_THOROUGH.
func TestAutoOnAGrownFabric(t *testing.T) {
	live.Need(t)
	spec := testnet.Small
	if os.Getenv("WEFT_THOROUGH") != "" {
		spec = testnet.Grown
	}
	f := testnet.Build(t, spec)
	library := live.Plugin(t, "libweft.so", "")
	p := startDaemon(t, "--engine", "auto", "--contract", "any")
	dir := t.TempDir()
	live.Pin(t, dir, f)
	began := time.Now()
	m := live.Simulate(t, netFile(t, f)).Manage(t, "", dir, map[string]string{
		"event_plugin_name": "weft", "event_plugin_options": fmt.Sprintf("weft.socket=%s,weft.owner=%d", p.socket, os.Getuid()),
		"routing_engine": "weft,no_fallback", "qos": "TRUE",
	}, "LD_LIBRARY_PATH="+library)
	log := m.Await(t, live.Up, soon)
	t.Logf("%s: OpenSM up after %.1f s\n%s", spec, time.Since(began).Seconds(), linesOf(log, "weft"))
	if !strings.Contains(log, "weft tables configured") || !strings.Contains(log, "proven") {
		t.Fatalf("OpenSM does not use our tables:\n%s", log)
	}
	s := settled(t, func() result.Status { return p.status(t) })
	if s.Search != nil && s.Search.Better {
		log := m.Await(t, "weft tables configured", soon)
		t.Logf("better tables: %s\n%s", s.Search.Engine, linesOf(log, "weft"))
	}
	s = sweptAgain(t, m, func() result.Status { return p.status(t) }) // after which there are dumps: there are none when OpenSM only routes
	dumps := m.Swept(t, soon)
	m.Stop()
	if s.Refused != 0 || s.StateError != "" || s.Last == nil || s.Last.ChangedEntries != 0 {
		t.Errorf("%+v, last %+v", s, s.Last)
	}
	t.Logf("the daemon:\n%s", linesOf(p.log.String(), "msg="))
	t.Logf("in use: %s, lanes %d, largest load %d; weft serve took %.1f s of all cores", s.LastGood.Engine, s.LastGood.LanesUsed, s.LastGood.MaxLoad, p.end(t).Seconds())
	sameAsProven(t, f, dumps, filepath.Join(p.state, "last-good"))
}

// sameAsProven compares OpenSM's dumps with the tables that the daemon keeps, and has
// the judge prove them.
func sameAsProven(t *testing.T, f *fabric.Fabric, d live.Dumps, good string) {
	t.Helper()
	got := tablesOf(t, f, d, d.LFTs)
	want, err := lft.Read(open(t, good, "lfts.dump"), "lfts.dump", f, lft.Join{})
	if err != nil {
		t.Fatal(err)
	}
	if d := differences(f, want.Forwarding, got.Forwarding); len(d) > 0 {
		t.Errorf("%d forwarding entries differ: %s", len(d), d[0])
	}
	maps, err := slvl.Read(open(t, d.SL2VL), "sl2vl", f)
	if err != nil {
		t.Fatal(err)
	}
	lanes, err := psl.Read(open(t, good, "paths.psl"), "paths.psl", f, maps, got.LIDs)
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(t.Context(), &routing.Tables{Fabric: f, Forwarding: got.Forwarding, Lanes: lanes}, deadlock.Options{Contract: routing.Any})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Free() || !v.Complete() {
		t.Errorf("what OpenSM has is not proven: free %v, complete %v", v.Free(), v.Complete())
	}
	t.Logf("OpenSM's dump holds on %d pairs, %d dependencies", v.Pairs, v.Dependencies)
}

// linesOf is the lines of a text with a word in them.
func linesOf(text, word string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			b.WriteString(line)
		}
	}
	return b.String()
}
