package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// handedOver has a daemon hand over tables for a fabric and end, and returns its
// state folder and its answer.
func handedOver(t *testing.T, c Config, spec string) (dir string, a *wire.Answer) {
	t.Helper()
	c.State = t.TempDir()
	r := start(t, c)
	return c.State, r.handOver(spec)
}

// interrupted is the same for a daemon whose search goes on when it ends.
func interrupted(t *testing.T, c Config, spec, engine string) (dir string, a *wire.Answer) {
	t.Helper()
	dir = t.TempDir()
	r, g := restarted(t, c, dir)
	g <- engine
	return dir, r.handOver(spec)
}

// handOver has it hand over tables and end.
func (r *running) handOver(spec string) *wire.Answer {
	r.t.Helper()
	q := request(r.t, spec, 1)
	q.Improves = true
	a := r.ask(q)
	if a.Refusal != "" {
		r.t.Fatal(a.Refusal)
	}
	r.after(1)
	r.until(func(result.Status) bool {
		_, err := os.Stat(filepath.Join(r.config.State, lastGood, sweepName))
		return err == nil
	})
	r.end()
	return a
}

// restarted is a daemon on a state folder, whose search finds nothing before the test
// says so, and which answers as soon as there is something.
func restarted(t *testing.T, c Config, dir string) (*running, gated) {
	t.Helper()
	c.State = dir
	r := start(t, c)
	g := gated(make(chan string, 2))
	r.instead(g.route)
	r.Server.mu.Lock()
	r.Server.settings.first = 0
	r.Server.mu.Unlock()
	return r, g
}

// After a restart in the midst of a search OpenSM gets the tables it had, proven again, while
// the search goes on; what the search finds before its end is not handed over in their place.
func TestRestart(t *testing.T) {
	t.Parallel()
	for spec, c := range map[string]Config{
		"torus:3x4,hosts=2": {}, "dragonfly:p=2": {Contract: "honored", Engine: Names{"weave", "auto"}, Keep: "never"}, "torus:4x4,hosts=2": {Contract: "directed", Engine: Names{"dfsssp", "auto"}},
	} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			dir, before := interrupted(t, c, spec, "weave-any")
			r, g := restarted(t, c, dir)
			q := request(t, spec, 7)
			q.Improves = true
			a := r.ask(q)
			if a.Engine != before.Engine || !a.SoFar || !bytes.Equal(a.OutPorts, before.OutPorts) || !bytes.Equal(a.SLs, before.SLs) || len(a.Maps) != len(before.Maps) || a.Lanes != before.Lanes {
				t.Errorf("%q, so far %v, %q", a.Engine, a.SoFar, a.Refusal)
			}
			if l := r.after(1).Last; !l.Restored || !l.SoFar || l.VLsNeeded == 0 || l.Key == "" || l.ChangedEntries != 0 {
				t.Errorf("%+v", l)
			}
			g <- "updn"
			if a := r.ask(q); a.Engine != before.Engine || !a.SoFar {
				t.Errorf("before the search has ended its tables are %s's", a.Engine)
			}
			g <- before.Engine
			close(g)
			if a := r.ask(again(q)); a.Refusal != errNoBetter.Error() {
				t.Errorf("the same tables again: %q, engine %q", a.Refusal, a.Engine)
			}
			if s := r.Status(); s.Search == nil || s.Search.Better || s.Refused != 0 {
				t.Errorf("%+v", s.Search)
			}
		})
	}
}

// After a restart when the search had ended, nothing is searched for: the same tables, and no
// entry of them is called changed.
func TestQuickRestart(t *testing.T) {
	t.Parallel()
	for _, keep := range []string{"least", "never"} {
		c := Config{Engine: Names{"updn"}, Keep: keep}
		dir, before := handedOver(t, c, "ring:n=6")
		r, _ := restarted(t, c, dir)
		a := r.ask(request(t, "ring:n=6", 1))
		if !bytes.Equal(a.OutPorts, before.OutPorts) {
			t.Error("other tables")
		}
		if l := r.after(1).Last; !l.Restored || l.SoFar || l.ChangedEntries != 0 || l.ChangedSLs != 0 {
			t.Errorf("%+v", l)
		}
	}
}

// A search that ends otherwise, or breaks.
func TestRestartWithOtherTables(t *testing.T) {
	t.Parallel()
	spec := "torus:3x4,hosts=2"
	q := request(t, spec, 7)
	q.Improves = true
	for engine, want := range map[string]string{"updn": "updn", "broken": ""} {
		dir, before := interrupted(t, Config{}, spec, "weave-any")
		r, g := restarted(t, Config{}, dir)
		if a := r.ask(q); a.Engine != before.Engine {
			t.Fatalf("%q, %q", a.Engine, a.Refusal)
		}
		g <- engine
		close(g)
		if a := r.ask(again(q)); a.Engine != want || (want == "") != (a.Refusal == errNoBetter.Error()) {
			t.Errorf("%s: %q, %q", engine, a.Engine, a.Refusal)
		}
		r.end()
	}
}

// rewritten puts another snapshot in the place of the newest, with whatever checksum it then has.
func rewritten(t *testing.T, dir string, change func(*handed)) {
	t.Helper()
	path := newest(t, dir)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := readSnapshot(b)
	if err != nil {
		t.Fatal(err)
	}
	change(h)
	var other bytes.Buffer
	if err := errors.Join(h.snapshot(&other), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(filepath.Dir(path), "000000000099-"+hexadecimal(h.number)+".snapshot")
	if err := os.WriteFile(path, other.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newest is the path of the newest snapshot.
func newest(t *testing.T, dir string) string {
	t.Helper()
	all := names(t, filepath.Join(dir, snapshots))
	if len(all) == 0 {
		t.Fatal("there is no snapshot")
	}
	return filepath.Join(dir, snapshots, all[len(all)-1])
}

// Snapshots that somebody made, or that are for another fabric or for other settings, are not
// handed over.
func TestNothingSavedIsBelieved(t *testing.T) {
	t.Parallel()
	spec := "ring:n=7,hosts=2"
	for name, c := range map[string]struct {
		spoil  func(t *testing.T, h *handed)
		spec   string
		config Config
		logged string
	}{
		"a loop": {spoil: func(t *testing.T, h *handed) {
			// The tables of minhop, which has a credit loop on a ring.
			tables, err := honest(t, t.Context(), h.tables.Fabric, "minhop", 1)
			if err != nil {
				t.Fatal(err)
			}
			h.tables.Forwarding = tables.Forwarding
			h.number = wire.Number(h.tables)
		}, logged: "passes through a credit loop"},
		"an entry less": {spoil: func(_ *testing.T, h *handed) {
			h.tables.Forwarding.Row(h.tables.Fabric.TopLID())[2] = routing.NoPort
			h.number = wire.Number(h.tables)
		}, logged: "pairs stay cut that cables join"},
		"another number": {spoil: func(_ *testing.T, h *handed) { h.number++ }, logged: "the tables are not those of number"},
		"another fabric": {spec: "ring:n=7,hosts=3", config: Config{Keep: "never"}, logged: "the settings say keep: never"},
		"other settings": {config: Config{VLs: 3}, logged: "the tables in use are from other settings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := handedOver(t, Config{}, spec)
			if c.spoil != nil {
				rewritten(t, dir, func(h *handed) { c.spoil(t, h) })
			}
			r, g := restarted(t, c.config, dir)
			if c.spec == "" {
				c.spec = spec
			}
			g <- "updn"
			a := r.ask(request(t, c.spec, 7))
			if a.Engine != "updn" {
				t.Errorf("%q, %q", a.Engine, a.Refusal)
			}
			close(g)
			if l := r.after(1).Last; l.Restored || !strings.Contains(r.log.String(), c.logged) {
				t.Errorf("%+v\n%s", l, r.log)
			}
		})
	}
}

// What is written of a sweep is enough to read it back.
func TestSweepIsWhole(t *testing.T) {
	t.Parallel()
	dir, a := handedOver(t, Config{}, "ring:n=4")
	text, err := os.ReadFile(filepath.Join(dir, lastGood, sweepName))
	if err != nil {
		t.Fatal(err)
	}
	var s result.StatusSweep
	if err := json.Unmarshal(text, &s); err != nil || len(s.Key) != 64 || s.Engine != a.Engine || s.VLsNeeded == 0 {
		t.Errorf("%v, %+v", err, s)
	}
}

// A search that ended without better tables is not begun again after a restart, by which the engine
// would be another on a fabric that changed meanwhile.
func TestEndOfSearchIsKept(t *testing.T) {
	t.Parallel()
	dir, spec := t.TempDir(), "torus:3x4,hosts=2"
	q := request(t, spec, 7)
	q.Improves = true
	r, g := restarted(t, Config{}, dir)
	g <- "updn"
	if a := r.ask(q); !a.SoFar {
		t.Fatalf("%q, %q", a.Engine, a.Refusal)
	}
	close(g)
	if a := r.ask(again(q)); a.Refusal != errNoBetter.Error() {
		t.Fatalf("%q, %q", a.Engine, a.Refusal)
	}
	r.end()
	r, _ = restarted(t, Config{}, dir)
	if a := r.ask(q); a.Engine != "updn" || a.SoFar {
		t.Errorf("%q, so far %v, %q", a.Engine, a.SoFar, a.Refusal)
	}
	if s := r.Status(); s.Search != nil {
		t.Errorf("%+v", s.Search)
	}
}

// Where nothing is known of the tables in use, as after an upgrade, but the same are made once more,
// nothing has changed.
func TestSameTablesOnceMore(t *testing.T) {
	t.Parallel()
	c := Config{Engine: Names{"updn"}, State: stateDir(t)}
	o := openSM(start(t, c))
	f := testnet.Build(t, "torus:3x3,hosts=1")
	o.settles(f)
	before := o.ports
	o.after(1)
	o.end()
	asBefore(t, c.State)
	o.running = start(t, c)
	o.settles(f)
	if l := o.after(1).Last; l.Change != nil || l.Restored || !bytes.Equal(before, o.ports) || !strings.Contains(o.log.String(), errOtherVersion.Error()) {
		t.Errorf("%+v\n%s", l, o.log)
	}
	if a := o.asks(less(t, f, []fabric.ChannelID{0}), false); !a.Step {
		t.Errorf("%q\n%s", a.Refusal, o.log)
	}
}
