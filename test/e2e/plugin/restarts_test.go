package plugin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
)

// restart is a way to start daemon or OpenSM anew.
type restart struct {
	name    string
	daemon  syscall.Signal // 0: it stays
	manager bool
}

// interruptible is a subnet whose plans are interrupted.
type interruptible struct {
	*served
	between *between
	library string
	kills   int
}

func (k *interruptible) conf() map[string]string {
	c := k.served.conf()
	c["event_plugin_options"] = strings.ReplaceAll(c["event_plugin_options"], k.daemon.socket, k.daemon.socket+".between")
	return c
}

// interrupts starts OpenSM and the daemon, and waits for the first tables.
func interrupts(t *testing.T, f *fabric.Fabric, settings ...string) *interruptible {
	t.Helper()
	live.Need(t)
	d := &daemon{socket: filepath.Join(openDir(t), "opensm.sock")}
	k := &interruptible{
		served:  &served{f: f, settings: strings.Join(settings, "\n"), lifetime: "0x0c", state: filepath.Join(t.TempDir(), "state"), log: filepath.Join(t.TempDir(), "weft.log"), blocks: tellsBlocks(t)},
		between: &between{t: t, socket: d.socket, stopAt: -1, stopped: make(chan boundary), goOn: make(chan struct{})},
		library: "LD_LIBRARY_PATH=" + live.Plugin(t, "libweft.so", ""),
	}
	k.run = &run{daemon: d}
	k.serve(t)
	k.between.listen(d.socket + ".between")
	k.run = start(t, f, d, k.conf())
	k.Await(t, up, soon)
	k.follow(t, restart{})
	return k
}

// follow waits for the end of a plan, and does a restart where it stops. It says where that was.
func (k *interruptible) follow(t *testing.T, r restart) (at string) {
	t.Helper()
	for end := time.Now().Add(4 * soon); !k.between.ended(); {
		if time.Now().After(end) {
			k.logs(t)
			t.Fatal("the plan does not end")
		}
		select {
		case b := <-k.between.stopped:
			at = b.String()
			k.restart(t, r)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return at
}

// restart starts anew what it says. OpenSM is asked to end, or killed a few times: then the next
// is on another host, since ibsim goes on sending to the one before, and does not take many.
func (k *interruptible) restart(t *testing.T, r restart) {
	t.Helper()
	k.begin(t, r, func() { k.between.goOn <- struct{}{} })
}

// begin is restart, with what is to be done before OpenSM begins anew.
func (k *interruptible) begin(t *testing.T, r restart, between func()) {
	t.Helper()
	if r.daemon != 0 {
		if err := k.weft.cmd.Process.Signal(r.daemon); err != nil {
			t.Fatal(err)
		}
		_ = k.weft.cmd.Wait() // it says how it ended, which is known
		k.daemon.remove(t)
	}
	host := ""
	if r.manager {
		if k.kills < 3 {
			k.kills++
			k.Kill(t)
		} else {
			k.quit(t)
		}
		if k.kills > 0 {
			host = nodeID(k.f, k.f.Endpoint(fabric.EndpointID(len(k.f.Endpoints())-1-k.kills)).Node)
		}
	}
	if r.daemon != 0 {
		k.serve(t)
	}
	between()
	if r.manager {
		k.Manager = k.Manage(t, host, k.Dir, k.conf(), k.library)
		k.Await(t, up, soon)
	}
}

// quit asks OpenSM to end. An OpenSM that is asked while answers of switches are on their way waits
// for its own lock at times, for ever: then it is killed.
func (k *interruptible) quit(t *testing.T) {
	t.Helper()
	killed := time.AfterFunc(30*time.Second, func() { k.Kill(t) })
	if out, err := k.Quit(t); err != nil && killed.Stop() {
		t.Errorf("OpenSM ends with %v\n%s", err, out)
	}
	killed.Stop()
}

// through has a plan begin, stops at one of its boundaries for a restart, and returns where that
// was and the forwarding tables at the end, as OpenSM and a switch have them.
func (k *interruptible) through(t *testing.T, command string, stopAt int, r restart) (at, dump string) {
	t.Helper()
	k.between.plan(stopAt)
	k.Console(t, "%s", command)
	k.Sweep(t)
	at = k.follow(t, r)
	k.between.plan(-1)
	return at, k.swept(t)
}

// swept is the forwarding tables as OpenSM dumps them once it says that the tables handed over
// last are in use.
func (k *interruptible) swept(t *testing.T) string {
	t.Helper()
	sweep := func() string {
		k.resweep(t)
		return k.dump(t)
	}
	for end := time.Now().Add(2 * soon); !k.between.certain(); sweep() {
		if time.Now().After(end) {
			k.logs(t)
			t.Fatal("the last tables do not get into use")
		}
	}
	sweep()
	return sweep()
}

// one compares the table of a switch, as it says itself, with OpenSM's dump.
func (k *interruptible) one(t *testing.T, s fabric.NodeID) {
	t.Helper()
	want := k.forwarding(t, k.f)
	entries := 0
	for line := range strings.Lines(k.ask(t, k.f, "ibroute", fmt.Sprint(k.f.Endpoint(fabric.EndpointID(s)).LID))) {
		lid, rest, found := strings.Cut(line, " ")
		n, err := strconv.ParseUint(strings.TrimPrefix(lid, "0x"), 16, 16)
		if !found || err != nil || !strings.HasPrefix(lid, "0x") {
			continue
		}
		port, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil || uint8(port) != want.Port(s, fabric.LID(n)) {
			t.Errorf("switch %d has port %d for LID %d, OpenSM's dump %d (%v)", s, port, n, want.Port(s, fabric.LID(n)), err)
		}
		entries++
	}
	if entries == 0 {
		t.Errorf("switch %d says nothing", s)
	}
}

// TestRestartAtEveryBoundary has daemon, OpenSM or both end at every boundary of plans of several
// steps, one of a repair and one back, and begin again: the plan ends as without, and at any moment
// every mixture of the tables that the switches may have is free of loops: after an OpenSM that ended
// while it wrote a step which leaves pairs cut, too, whose next begins with that step.
func TestRestartAtEveryBoundary(t *testing.T) {
	t.Parallel()
	thorough := os.Getenv("WEFT_THOROUGH") != ""
	for _, n := range []struct {
		spec     string
		cable    fabric.ChannelID
		settings []string
		thorough bool
	}{
		{"torus:5x5,hosts=1", 0, []string{"engine: weave-any", "max_entries_per_change: 20"}, false},
		{"fattree:ports=8,levels=3", 300, []string{"engine: auto", "max_entries_per_change: 60"}, true},
	} {
		for _, r := range []restart{{"SIGTERM", syscall.SIGTERM, false}, {"SIGKILL", syscall.SIGKILL, false}, {"OpenSM", 0, true}, {"both", syscall.SIGKILL, true}} {
			t.Run(n.spec+"/"+r.name, func(t *testing.T) {
				if n.thorough && !thorough {
					t.Skip("WEFT_THOROUGH is not set")
				}
				if r.manager != (r.daemon > 0) {
					testnet.OnlyWhole(t) // a sample takes that of both
				}
				t.Parallel()
				k := interrupts(t, testnet.Build(t, n.spec), n.settings...)
				first := k.swept(t)
				_, mended := k.through(t, k.unplug(n.cable), -1, r)
				steps := k.status(t).Plan.Steps
				if _, back := k.through(t, k.plug(n.cable), -1, r); back != first || steps < 2 {
					t.Fatalf("%d steps, and without a restart the cable is back with other tables", steps)
				}
				where, runs := map[string]int{}, 0
				for stopAt := range 1000 {
					if !thorough && stopAt%3 != 1 {
						continue
					}
					before := len(k.between.unproven)
					away, there := k.through(t, k.unplug(n.cable), stopAt, r)
					if there != mended {
						k.logs(t)
						t.Fatalf("a restart at boundary %d of the repair (%s): it does not end as planned", stopAt, away)
					}
					back, again := k.through(t, k.plug(n.cable), stopAt, r)
					if again != first {
						k.logs(t)
						t.Fatalf("a restart at boundary %d of the way back (%s): it does not end as planned", stopAt, back)
					}
					k.one(t, fabric.NodeID(stopAt%k.f.Switches()))
					if len(k.between.unproven) > before {
						t.Errorf("a restart at boundary %d (%s, %s): not proven: %q", stopAt, away, back, k.between.unproven[before:])
					}
					for _, at := range []string{away, back} {
						if at != "" {
							where[at]++
							runs++
						}
					}
					if away+back == "" || !thorough && stopAt > 3 {
						break
					}
				}
				told := strings.Count(k.said(t), "proven_meanwhile=false")
				t.Logf("%d plans with a restart by %s: %v; %d moments, %d of them not proven, %d said so", runs, r.name, where, k.between.moments, len(k.between.unproven), told)
				if len(k.between.unproven) > 0 || told > 0 || runs == 0 {
					k.logs(t)
					t.Errorf("not proven: %q, said: %d", k.between.unproven, told)
				}
			})
		}
	}
}

// TestFilledAtFirst has OpenSM say what it finds in the switches: nothing at first, when it begins anew
// the tables of before, and once another engine has written tables nothing that the daemon could know.
func TestFilledAtFirst(t *testing.T) {
	t.Parallel()
	k := interrupts(t, testnet.Build(t, "ring:5,hosts=2"), "engine: updn")
	if err := k.weft.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = k.weft.cmd.Wait() // it says that it was killed
	k.daemon.remove(t)
	k.quit(t)
	k.between.mu.Lock()
	begun := len(k.between.filled)
	k.between.mu.Unlock()
	c := k.conf()
	c["routing_engine"] = "weft,nue"
	k.Manager = k.Manage(t, "", k.Dir, c, k.library)
	k.Await(t, "nue tables configured", soon)
	k.serve(t)
	k.Await(t, "weft tables configured", soon)
	k.between.mu.Lock()
	defer k.between.mu.Unlock()
	if f := k.between.filled; begun == 0 || f[0] || len(f) <= begun || !f[begun] || f[len(f)-1] {
		t.Errorf("%v, of which %d before it began anew", f, begun)
	}
}
