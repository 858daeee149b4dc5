package plugin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	weftd "github.com/weft-fabric/weft/internal/opensm/daemon"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// keepProcess is this program as weft's daemon, with a configuration as in weft.yaml.
func keepProcess(config string) {
	s := &weftd.Server{
		Load: func() (weftd.Config, error) { return weftd.ReadConfig(strings.NewReader(config)) },
		Log:  slog.New(slog.NewTextHandler(os.Stderr, nil)), Version: "test", Ready: func() { fmt.Println("listening") },
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := s.Run(ctx, nil)
	stop()
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

// served is OpenSM with weft's daemon, which is a process of its own.
type served struct {
	*run
	f        *fabric.Fabric
	settings string // of weft.yaml, beside the socket and the state folder
	lifetime string
	option   string // of the plugin, beside others; empty: none
	state    string
	weft     *process
	log      string // of the daemon
	blocks   string // see tellsBlocks
}

// keeps starts both. OpenSM gives packets 67 ms in a switch, so that steps are quick.
func keeps(t *testing.T, f *fabric.Fabric, settings ...string) *served {
	t.Helper()
	return keepsFor(t, f, "0x0e", settings...)
}

// keepsFor is keeps with a packet_life_time of the caller's.
func keepsFor(t *testing.T, f *fabric.Fabric, lifetime string, settings ...string) *served {
	t.Helper()
	return started(t, f, lifetime, "", settings...)
}

// started is keepsFor with a further option of the plugin's.
func started(t *testing.T, f *fabric.Fabric, lifetime, option string, settings ...string) *served {
	t.Helper()
	live.Need(t)
	d := &daemon{socket: filepath.Join(openDir(t), "opensm.sock")}
	k := &served{f: f, settings: strings.Join(settings, "\n"), lifetime: lifetime, option: option, state: filepath.Join(t.TempDir(), "state"), log: filepath.Join(t.TempDir(), "weft.log"), blocks: tellsBlocks(t)}
	k.run = &run{daemon: d}
	k.serve(t)
	k.run = start(t, k.f, d, k.conf())
	k.Await(t, up, soon)
	return k
}

func (k *served) conf() map[string]string {
	c := conf(k.daemon, enough)
	c["routing_engine"], c["packet_life_time"], c["per_module_logging_file"] = "weft,no_fallback", k.lifetime, k.blocks
	c["event_plugin_options"] += "," + k.option
	return c
}

// serve starts the daemon, once more after it was killed.
func (k *served) serve(t *testing.T) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("WEFT_TEST_KEEP=socket: %s\nstate: %s\n%s\n", k.daemon.socket, k.state, k.settings))
	log, err := os.OpenFile(k.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k.weft = &process{cmd, bufio.NewReader(out)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be dead already
		_ = cmd.Wait()
	})
	k.weft.await(t, "listening")
}

// status is the daemon's.
func (k *served) status(t *testing.T) (s result.Status) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	text, err := wire.AskStatus(ctx, k.daemon.socket)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// logs is what both say, for when a test fails.
func (k *served) logs(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(k.log)
	t.Logf("weft: %v\n%s", err, text)
	text, err = os.ReadFile(k.Log)
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "weft: ") || strings.Contains(line, up) || strings.Contains(line, "REROUTE") {
			lines = append(lines, line)
		}
	}
	t.Logf("OpenSM: %v\n%s", err, strings.Join(lines, ""))
}

// change does something to the fabric, has OpenSM sweep, and waits until the daemon and
// OpenSM are done with it. It returns the blocks of forwarding tables that OpenSM wrote.
func (k *served) change(t *testing.T, commands ...string) (blocks int) {
	t.Helper()
	sweeps := k.status(t).Sweeps
	for _, c := range commands {
		k.Console(t, "%s", c)
	}
	k.Sweep(t)
	log := k.Await(t, up, soon)
	return strings.Count(log, ftBlock) + k.rest(t, sweeps)
}

// ftBlock is what OpenSM logs when it writes a block, of what tellsBlocks has it log.
const ftBlock = "Writing FT block"

// tellsBlocks is a per_module_logging_file with which OpenSM logs every block of a forwarding
// table that it writes. With debugging everywhere it would log every packet several times, which
// takes longer than the sweeps.
func tellsBlocks(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "modules.conf")
	if err := os.WriteFile(path, []byte("osm_ucast_mgr.c 0x08\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rest waits until nothing more is to come, after some sweeps, and returns the blocks.
func (k *served) rest(t *testing.T, sweeps int64) int {
	t.Helper()
	var all strings.Builder
	quiet := 0
	for end := time.Now().Add(2 * soon); quiet < 8; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			k.logs(t)
			t.Fatal("it does not come to rest")
		}
		s := k.status(t)
		fresh := k.Fresh(t)
		all.WriteString(fresh)
		if quiet++; fresh != "" || s.Sweeps <= sweeps || s.Plan != nil && s.Plan.Ended == nil || s.StateWaiting > 0 {
			quiet = 0
		}
	}
	if text := all.String(); strings.Contains(text, "ERR W0") {
		k.logs(t)
		t.Error("the plugin complains")
	}
	return strings.Count(all.String(), ftBlock)
}

// tables is the forwarding tables as OpenSM dumps them after one more sweep.
func (k *served) tables(t *testing.T) string {
	t.Helper()
	k.resweep(t)
	k.rest(t, 0)
	return k.dump(t)
}

// unplug and plug are the commands for one end of a cable.
func (k *served) unplug(c fabric.ChannelID) string { return k.end("Unlink", c) }

func (k *served) plug(c fabric.ChannelID) string { return k.end("ReLink", c) }

func (k *served) end(do string, c fabric.ChannelID) string {
	ch := k.f.Channel(c)
	return fmt.Sprintf(`%s "%s"[%d]`, do, nodeID(k.f, ch.From), ch.FromPort)
}

// all is the blocks of a switch. OpenSM writes all of them where a port came or went.
func (k *served) all() int { return int(k.f.TopLID())/64 + 1 }

// TestKeeps has hosts, cables and switches go and come back under the real daemon: what
// OpenSM writes is held against the least there is, the switches against the judge, and
// when all is back the tables are the first.
func TestKeeps(t *testing.T) {
	t.Parallel()
	for _, n := range []struct {
		spec, engine string
		thorough     bool
	}{
		{"dragonfly:p=2", "weave-any", false},
		{"xgft:m=4x4,w=2x4,hosts=2", "updn", false},
		{"torus:4x4,hosts=2", "weave-any", true},
		{"dragonfly:p=3", "weave-any", true},
		{"xgft:m=8x8,w=4x4,hosts=4", "updn", true},
		{"xgft:m=8x8,w=4x4,hosts=4", "weave-any", true},
		{"", "weave-any", true}, // the NDR fabric
	} {
		t.Run(n.spec+"/"+n.engine, func(t *testing.T) {
			if n.thorough && os.Getenv("WEFT_THOROUGH") == "" {
				t.Skip("WEFT_THOROUGH is not set")
			}
			if n.engine == "updn" {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			k := keeps(t, fabricOf(t, "topograph-ndr-dgx-2025", n.spec), "engine: "+n.engine)
			f := k.f
			first := k.tables(t)
			hosts := routing.HCA.Endpoints(f)
			host := f.Endpoint(hosts[len(hosts)/2])
			away, back := k.change(t, k.end("Unlink", host.Deliver)), k.change(t, k.end("ReLink", host.Deliver))
			if most := f.Switches() - 1 + k.all(); away > most || back > most {
				t.Errorf("a host leaves and is back: %d and %d blocks, %d had to be written", away, back, most)
			}
			if k.tables(t) != first {
				t.Error("a host is back, and the tables are others")
			}
			trunk := fabric.ChannelID(f.Trunks() / 3)
			less, err := f.Without([]fabric.ChannelID{trunk}, nil)
			if err != nil {
				t.Fatal(err)
			}
			least, entries := k.due(t, less, trunk), k.least(t, less).Entries
			blocks := k.change(t, k.unplug(trunk))
			s := k.status(t)
			t.Logf("a cable: %d blocks, at least %d; %d entries, at least %d, %d of them dead, %d steps", blocks, least, s.Plan.Entries, entries, s.Plan.Due, s.Plan.Steps)
			if blocks > 2*least || s.Plan.Entries > 2*entries {
				t.Errorf("a cable: %d blocks, at least %d; %d entries, at least %d", blocks, least, s.Plan.Entries, entries)
			}
			k.resweep(t)
			k.safe(t, &routing.Tables{Fabric: less, Lanes: routing.OneSL(less, nil)})
			for range 3 { // a bad plug
				k.Console(t, "%s", k.plug(trunk))
				k.Sweep(t)
				k.Console(t, "%s", k.unplug(trunk))
				k.Sweep(t)
			}
			k.change(t, k.plug(trunk))
			if k.tables(t) != first {
				k.logs(t)
				t.Error("the cable is back, and the tables are others")
			}
		})
	}
}

// TestHostsLikeMinHop has a host leave and come back under weft and under OpenSM's minhop:
// weft has OpenSM write no more.
func TestHostsLikeMinHop(t *testing.T) {
	likeMinHop(t, testnet.Build(t, "dragonfly:p=2"))
}

func likeMinHop(t *testing.T, f *fabric.Fabric) {
	t.Helper()
	live.Need(t)
	t.Parallel()
	k := keeps(t, f, "engine: weave-any")
	host := f.Endpoint(routing.HCA.Endpoints(f)[f.Switches()/2])
	c := k.conf()
	c["routing_engine"] = "minhop"
	m := start(t, f, k.daemon, c)
	m.Await(t, up, soon)
	for _, do := range []string{"Unlink", "ReLink"} {
		ours := k.change(t, k.end(do, host.Deliver))
		m.Console(t, "%s", k.end(do, host.Deliver))
		minhop := strings.Count(m.settle(t), ftBlock)
		if t.Logf("%s: %d blocks, minhop's %d", do, ours, minhop); minhop == 0 || ours*10 > minhop*11 {
			t.Errorf("%s: %d blocks, minhop's %d", do, ours, minhop)
		}
	}
}

// TestSecondFault has a cable die while packets of the tables before the last repair are
// about. The step is proven for these too, and OpenSM has it at once.
func TestSecondFault(t *testing.T) {
	t.Parallel()
	const step, lifetime = "a step, proven while it is written", 2.15                    // s, 2^0x13 times 4.096 us
	k := keepsFor(t, testnet.Build(t, "torus:4x4,hosts=2"), "0x13", "engine: weave-any") // 4 hops and more
	time.Sleep(16 * time.Second)                                                         // packets of the first tables are gone
	k.Console(t, "%s", k.unplug(0))
	k.Sweep(t)
	k.Await(t, step, soon)
	k.Await(t, up, soon)
	k.Console(t, "%s", k.unplug(21))
	k.Sweep(t)
	m := took.FindAllStringSubmatch(k.Await(t, step, soon), -1)
	if len(m) == 0 {
		k.logs(t)
		t.Fatal("nothing is said of the time")
	}
	if s, err := strconv.ParseFloat(m[len(m)-1][1], 64); err != nil || s > 3*lifetime {
		k.logs(t)
		t.Errorf("it takes %.1f s (%v)", s, err)
	}
}

// TestStepOfLiar has a daemon call tables a step that could deadlock while they are
// written: the plugin refuses them, and those in use stay.
func TestStepOfLiar(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d, good := serveRoutes(t, "updn", routing.Any)
	f := testnet.Build(t, "torus:4x4,hosts=1")
	r := start(t, f, d, conf(d, enough))
	r.Await(t, up, soon)
	before := r.dump(t)
	d.become(func(q *wire.Request, c net.Conn) error {
		if q.InUse == 0 {
			t.Error("the plugin says that no tables are in use")
		}
		tables, proof, err := routed(q, "weave-any", routing.Any)
		if err != nil {
			return err
		}
		return wire.WriteStep(c, q, "liar", tables, proof, wire.Step{})
	})
	says(t, r.resweep(t), "while tables are replaced", "ERR W003", "are proven for the fabric as it is and stay")
	if r.dump(t) != before {
		t.Error("the tables are others")
	}
	d.become(good)
	says(t, r.resweep(t), "engine updn, proven")
}

// TestStepWaits has a step follow tables at once: the plugin holds it back until the packets
// of the tables before those are gone.
func TestStepWaits(t *testing.T) {
	live.Need(t)
	t.Parallel()
	f := testnet.Build(t, "torus:4x4,hosts=1")
	d := serve(t, nil)
	d.become(d.routes("weave-any", routing.Any))
	c := conf(d, enough)
	c["packet_life_time"] = "0x12" // 1.07 s
	r := start(t, f, d, c)
	r.Await(t, up, soon)
	began := d.when(1) // OpenSM writes them after that
	hops := 0
	d.become(func(q *wire.Request, c net.Conn) error {
		was, _, err := routed(q, "weave-any", routing.Any)
		if err != nil {
			return err
		}
		less, err := was.Fabric.Without([]fabric.ChannelID{0}, nil)
		if err != nil {
			return err
		}
		plan, err := change.Remove(context.Background(), was, less, change.Options{Contract: routing.Any, Scope: routing.Adapters})
		if err != nil || len(plan.Steps) == 0 || q.Lifetime < time.Second || q.InUse != wire.Number(was) {
			return fmt.Errorf("%w, %d steps, lifetime %v, in use %x", err, len(plan.Steps), q.Lifetime, q.InUse)
		}
		hops = change.Hops(was)
		return wire.WriteStep(c, q, "step", plan.Steps[0].Tables, plan.Steps[0].Union.Certificate, wire.Step{})
	})
	says(t, r.resweep(t), "engine step, proven", "a step, proven while it is written")
	if took, least := time.Since(began), time.Duration(hops-1)*time.Second; took < least {
		t.Errorf("it comes after %v, earlier packets are gone after %v", took, least)
	}
}
