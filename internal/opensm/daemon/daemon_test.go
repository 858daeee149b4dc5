package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// busy is what other programs may add to whatever is timed.
const busy = 30 * time.Second

// running is a daemon of a test.
type running struct {
	*Server
	t      *testing.T
	dir    string
	log    *live.Text
	reload chan os.Signal
	stop   context.CancelFunc
	ended  chan error

	mu     sync.Mutex
	config Config
	bad    error
}

// start starts a daemon in a folder of its own; it ends with the test.
func start(t *testing.T, c Config) *running {
	t.Helper()
	r := newRunning(t, c)
	r.dir = r.socketDir()
	if c.Socket == "" {
		r.config.Socket = filepath.Join(r.dir, "s")
	}
	r.run()
	return r
}

// socketDir is a folder for a socket: a short one, since its path has 107 letters.
func (r *running) socketDir() string {
	r.t.Helper()
	dir, err := os.MkdirTemp("", "weft")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// stateDir is a folder to be made, in which only its owner writes whatever the umask.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "weft-state-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := os.RemoveAll(dir)
		for end := time.Now().Add(busy); err != nil && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			err = os.RemoveAll(dir) // a daemon that has ended waits only so long for what it writes
		}
		if err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "state")
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err := errors.Join(err, json.Unmarshal(text, v)); err != nil {
		t.Fatal(err)
	}
}

func newRunning(t *testing.T, c Config) *running {
	r := &running{t: t, log: &live.Text{}, reload: make(chan os.Signal), ended: make(chan error, 1), config: c}
	r.Server = &Server{Version: "test", Log: slog.New(slog.NewTextHandler(r.log, nil)), Load: func() (Config, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.config, r.bad
	}}
	return r
}

func (r *running) run() {
	r.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready := make(chan struct{})
	r.stop, r.Ready = stop, func() { close(ready) }
	go func() { r.ended <- r.Run(ctx, r.reload) }()
	select {
	case <-ready:
	case err := <-r.ended:
		stop()
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		stop()
		if err := <-r.ended; err != nil {
			r.t.Error(err)
		}
		r.ended <- nil
	})
}

// refused is why a daemon does not start; nil if it does.
func (r *running) refused() error {
	ctx, stop := context.WithCancel(r.t.Context())
	r.Ready = stop
	return r.Run(ctx, nil)
}

// end ends the daemon before the test does, and waits until it has let go of the state folder: that may take longer on a
// busy machine than a daemon waits for it (grace), and the process of a real one takes the lock with it.
func (r *running) end() {
	r.endAtOnce()
	if r.writer != nil {
		<-r.writer.ended
	}
}

// endAtOnce is end where the state folder hangs.
func (r *running) endAtOnce() {
	r.stop()
	err := <-r.ended
	r.ended <- err
}

func (r *running) ask(q *wire.Request) *wire.Answer {
	r.t.Helper()
	a, err := wire.Ask(r.t.Context(), r.config.Socket, q)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, r.log)
	}
	return a
}

// after waits until the daemon has reported so many sweeps and written what it
// keeps: it answers first.
func (r *running) after(sweeps int64) result.Status {
	r.t.Helper()
	return r.until(func(s result.Status) bool { return s.Sweeps >= sweeps && s.StateWaiting == 0 })
}

func (r *running) until(what func(result.Status) bool) result.Status {
	r.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if s := r.Status(); what(s) {
			return s
		}
	}
	r.t.Fatalf("it does not come to pass\n%s", r.log)
	return result.Status{}
}

func request(t *testing.T, spec string, sweep uint64) *wire.Request {
	q := wire.Of(testnet.Build(t, spec), sweep)
	q.OpenSM, q.Deadline = "OpenSM 3.3.23", time.Minute
	return q
}

func TestSweeps(t *testing.T) {
	t.Parallel()
	state := stateDir(t)
	r := start(t, Config{Engine: Names{"dfsssp"}, Contract: "directed", State: state, Keep: "never"})
	q := request(t, "torus:3x3,hosts=2", 1)
	first := r.ask(q)
	if first.Refusal != "" || first.Engine != "dfsssp" || first.Lanes < 2 {
		t.Fatalf("engine %q, %d lanes, refusal %q", first.Engine, first.Lanes, first.Refusal)
	}
	one := r.after(1)
	if l := one.Last; l.Verdict != deadlockFree || l.Cached || l.ChangedEntries != 9*27 || l.VLsNeeded < 2 || l.VLsAvailable != 8 || l.MaxLoad == 0 {
		t.Errorf("%+v", l)
	}
	// The same fabric with its nodes in another order, as another sweep may find it.
	again := r.ask(request(t, "torus:3x3,hosts=2", 2))
	if !bytes.Equal(first.OutPorts, again.OutPorts) || !bytes.Equal(first.SLs, again.SLs) {
		t.Error("the same fabric has other tables")
	}
	two := r.after(2)
	if l := two.Last; !l.Cached || l.ChangedEntries != 0 || l.ChangedSLs != 0 || l.Seconds.Route != 0 {
		t.Errorf("%+v", l)
	}
	for _, name := range []string{"lfts.dump", "sl2vl.dump", "paths.psl", "certificate", "fabric.ibnetdiscover", "sweep.json"} {
		if info, err := os.Stat(filepath.Join(state, lastGood, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Another fabric, and back: from memory, and the entries change.
	r.ask(request(t, "torus:3x4,hosts=2", 3))
	r.ask(q)
	if l := r.after(4).Last; !l.Cached || l.ChangedEntries == 0 {
		t.Errorf("%+v", l)
	}
	folders, err := filepath.Glob(filepath.Join(state, tablesPrefix+"*"))
	if err != nil || len(folders) != 2 { // the last, and those before
		t.Errorf("folders %q, %v", folders, err)
	}
	if n := strings.Count(r.log.String(), "msg=proven"); n != 4 {
		t.Errorf("%d lines for 4 sweeps\n%s", n, r.log)
	}
}

// narrowTrunk has one end of a cable between switches, and all cables to hosts, run one lane.
func narrowTrunk(q *wire.Request) {
	done := false
	for _, n := range q.Nodes {
		for p := range n.Has {
			switch peer := n.Has[p].Peer; {
			case peer < 0:
			case q.Nodes[peer].Kind != fabric.Switch:
				n.Has[p].VLs = 1
			case n.Kind == fabric.Switch && !done:
				n.Has[p].VLs, done = 1, true
			}
		}
	}
}

// Tables in which senders must not use some address are proven for clients that do not, which
// OpenSM cannot see to: the daemon hands none over, whatever clients do.
func TestNoWithheldAddresses(t *testing.T) {
	t.Parallel()
	f, err := testnet.Build(t, "torus:4x4").WithLMC(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{
		{Engine: Names{"d-mroots"}, Contract: "honored"}, {Engine: Names{"d-mroots"}, Contract: "directed"},
		{Engine: Names{"mp-lash"}, Contract: "honored"}, {Engine: Names{"mp-lash"}, Contract: "directed", VLs: 2},
	} {
		q := wire.Of(f, 1)
		q.Deadline = time.Minute
		a := start(t, c).ask(q)
		if !strings.Contains(a.Refusal, "must not use LID") || !strings.Contains(a.Refusal, "OpenSM cannot withhold its path record") || a.OutPorts != nil {
			t.Errorf("%v, %s: engine %q, refusal %q", c.Engine, c.Contract, a.Engine, a.Refusal)
		}
	}
}

// What is not proven is refused, with the reasons of all engines, and the next
// engine of a list is asked.
func TestRefusals(t *testing.T) {
	t.Parallel()
	ring := "ring:n=7,hosts=2"
	for _, c := range []struct {
		name   string
		config Config
		spoil  func(*wire.Request)
		engine string
		want   string
	}{
		{"a loop", Config{Engine: Names{"minhop"}}, nil, "", "minhop: a credit loop"},
		{"the next engine", Config{Engine: Names{"minhop", "updn"}}, nil, "updn", ""},
		{"lanes", Config{Engine: Names{"dfsssp"}, Contract: "directed", VLs: 1}, nil, "", "1 is available"},
		{"no QoS", Config{Engine: Names{"dfsssp"}}, func(q *wire.Request) { q.QoS = false }, "", "1 is available"},
		{"no QoS, one lane", Config{Engine: Names{"dfsssp", "updn"}}, func(q *wire.Request) { q.QoS = false }, "updn", ""},
		{"one cable with few lanes", Config{Engine: Names{"dfsssp"}}, narrowTrunk, "", "available: the cable sw-0, port 3 → sw-1, port 4 runs 1"},
		{"one cable with few lanes, for another engine", Config{Engine: Names{"dfsssp", "updn"}}, narrowTrunk, "updn", ""},
		{"contract", Config{Engine: Names{"dfsssp"}, Contract: "any"}, nil, "", "credit loop"},
		{"the best", Config{}, nil, "weave-any", ""},
		{"single", Config{Engine: Names{"lash", "updn"}, Contract: "single:3"}, nil, "updn", ""},
		{"no tree", Config{Engine: Names{"ftree"}}, nil, "", "ftree"},
		{"no node", Config{}, func(q *wire.Request) { q.Nodes = nil }, "", "nothing to route"},
		{"no LID", Config{}, func(q *wire.Request) { q.Nodes[0].Has[0].LID = 0xC001 }, "", "not valid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.config.State = stateDir(t)
			r := start(t, c.config)
			q := request(t, ring, 5)
			if c.spoil != nil {
				c.spoil(q)
			}
			a := r.ask(q)
			if a.Engine != c.engine || !strings.Contains(a.Refusal, c.want) || (a.Refusal == "") != (c.engine != "") {
				t.Errorf("engine %q, refusal %q", a.Engine, a.Refusal)
			}
			s := r.after(1)
			files, err := filepath.Glob(filepath.Join(c.config.State, refusals, "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			if c.engine != "" {
				if len(files) != 0 || s.Refused != 0 {
					t.Errorf("refusals %q", files)
				}
				return
			}
			if len(files) != 1 || s.Refused != 1 || s.LastGood != nil {
				t.Fatalf("files %q, %+v", files, s)
			}
			var got result.StatusSweep
			if readJSON(t, files[0], &got); got.Refusal != a.Refusal {
				t.Errorf("refusal %q", got.Refusal)
			}
			if _, err := os.Lstat(filepath.Join(c.config.State, lastGood)); err == nil {
				t.Error("there are tables that are not proven")
			}
		})
	}
}

// A plugin that does not wait is refused in time, and the next sweep finds the
// tables ready.
func TestNoTime(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: Names{"dfsssp"}, Contract: "directed"})
	q := request(t, "dragonfly:p=4", 1)
	q.Deadline = time.Millisecond
	begin := time.Now()
	if a := r.ask(q); !strings.Contains(a.Refusal, "no time left") {
		t.Skipf("too quick to be too slow: %q", a.Refusal)
	}
	if d := time.Since(begin); d > 30*time.Second {
		t.Errorf("a refusal for want of time took %v", d)
	}
	q.Deadline = time.Minute
	if a := r.ask(q); a.Refusal != "" {
		t.Error(a.Refusal)
	}
	if s := r.after(2); s.Refused != 1 || s.Last.Verdict != deadlockFree {
		t.Errorf("%+v", s)
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: Names{"updn"}})
	set := func(c Config, bad error) {
		r.mu.Lock()
		if c.Socket == "" {
			c.Socket = r.config.Socket
		}
		r.config, r.bad = c, bad
		r.mu.Unlock()
		r.reload <- syscall.SIGHUP
	}
	socket := r.config.Socket
	for name, bad := range map[string]struct {
		c   Config
		err error
	}{
		"unreadable": {Config{}, errors.New("line 3: nonsense")},
		"engine":     {Config{Engine: Names{"nosuch"}}, nil},
		"twice":      {Config{Engine: Names{"auto", "auto"}}, nil},
		"contract":   {Config{Contract: "whatever"}, nil},
		"socket":     {Config{Socket: socket + "2"}, nil},
		"metrics":    {Config{Metrics: "0.0.0.0:1"}, nil},
		"state":      {Config{State: "/elsewhere"}, nil},
	} {
		set(bad.c, bad.err)
		s := r.until(func(s result.Status) bool { return s.ReloadError != "" })
		if len(s.Engines) != 1 || s.Engines[0] != "updn" || s.Socket != socket {
			t.Errorf("%s: %+v", name, s)
		}
		set(Config{Engine: Names{"updn"}, Socket: socket}, nil)
		r.until(func(s result.Status) bool { return s.ReloadError == "" })
	}
	if a, err := wire.Ask(t.Context(), socket, request(t, "ring:n=5", 1)); err != nil || a.Engine != "updn" {
		t.Fatalf("%v, %+v", err, a)
	}
	set(Config{Engine: Names{"lash"}, Contract: "directed", VLs: 3, Socket: socket}, nil)
	r.until(func(s result.Status) bool { return s.VLs == 3 })
	if a := r.ask(request(t, "ring:n=5", 2)); a.Engine != "lash" || a.Lanes > 3 {
		t.Errorf("%q, %d lanes", a.Engine, a.Lanes)
	}
}

// What is not a request ends the connection, and nothing else.
func TestBadClients(t *testing.T) {
	t.Parallel()
	r := start(t, Config{})
	var whole bytes.Buffer
	if err := request(t, "ring:n=4", 1).Write(&whole); err != nil {
		t.Fatal(err)
	}
	promise := append([]byte{'W', 'E', 'F', 'T', wire.Version, 0, 1, 0}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)
	for name, text := range map[string][]byte{
		"nothing":       nil,
		"garbage":       []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"half a header": whole.Bytes()[:7],
		"half a body":   whole.Bytes()[:whole.Len()/2],
		"promise":       promise,
	} {
		c, err := net.Dial("unix", r.config.Socket)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := c.(*net.UnixConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(c); len(got) != 0 {
			t.Errorf("%s is answered with %q, %v", name, got, err)
		}
		c.Close()
	}
	if n := strings.Count(r.log.String(), "bad client"); n < 5 {
		t.Errorf("%d bad clients in the log of 5\n%s", n, r.log)
	}
}
