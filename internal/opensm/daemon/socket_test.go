package daemon

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/opensm/wire"
)

func TestSocketIsOfOneGroup(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Group: "0"})
	info, err := os.Stat(r.config.Socket)
	if err != nil || info.Mode().Type() != os.ModeSocket || info.Mode().Perm() != 0o660 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	r.end()
	if _, err := os.Lstat(r.config.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
	if left := names(t, r.dir); !slices.Equal(left, []string{"s.lock"}) {
		t.Errorf("left behind: %q", left)
	}
}

func TestTwoDaemonsRefuse(t *testing.T) {
	t.Parallel()
	r := start(t, Config{})
	err := newRunning(t, r.config).refused()
	if err == nil || !strings.Contains(err.Error(), "is in use: another weft (process ") {
		t.Errorf("a second daemon: %v", err)
	}
	if a := r.ask(request(t, "ring:n=3", 1)); a.Refusal != "" {
		t.Error(a.Refusal)
	}
}

// The socket of a daemon that was killed is taken away; what is none, is not.
func TestStaleSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if err := newRunning(t, Config{Socket: path}).refused(); err == nil || !strings.Contains(err.Error(), "something else answers") {
		t.Errorf("beside a stranger: %v", err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	killed, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "t"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	killed.SetUnlinkOnClose(false)
	killed.Close()
	if err := errors.Join(os.Mkdir(path+".new", 0o700), os.Rename(filepath.Join(dir, "t"), filepath.Join(path+".new", "s"))); err != nil {
		t.Fatal(err)
	}
	r := newRunning(t, Config{Socket: path})
	r.run()
	if left := names(t, dir); !slices.Equal(left, []string{"s", "s.lock"}) {
		t.Errorf("left behind: %q", left)
	}
	if a := r.ask(request(t, "ring:n=3", 1)); a.Refusal != "" {
		t.Error(a.Refusal)
	}
	r.end()
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := newRunning(t, Config{Socket: path}).refused(); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("over a file: %v", err)
	}
}

// The kernel says who we are, and others are turned away without an answer.
func TestCredentials(t *testing.T) {
	t.Parallel()
	r := start(t, Config{})
	if a := r.ask(request(t, "ring:n=3", 1)); a.Refusal != "" {
		t.Error(a.Refusal)
	}
	stranger := newRunning(t, Config{Socket: filepath.Join(r.dir, "t"), Group: "64999"})
	var seen credentials
	stranger.peer = func(c *net.UnixConn) (credentials, error) {
		var err error
		seen, err = peerOf(c)
		return credentials{pid: seen.pid, uid: 64998, gid: 64998}, err
	}
	if os.Getuid() != 0 {
		stranger.config.Group = "" // only root gives a socket to any group
	}
	stranger.run()
	if a, err := wire.Ask(t.Context(), stranger.config.Socket, request(t, "ring:n=3", 1)); err == nil {
		t.Errorf("a stranger is answered: %+v", a)
	}
	if _, err := wire.AskStatus(t.Context(), stranger.config.Socket); err == nil {
		t.Error("a stranger is told the status")
	}
	stranger.end()
	if seen.pid != os.Getpid() || int(seen.uid) != os.Getuid() || int(seen.gid) != os.Getgid() {
		t.Errorf("the kernel says %v", seen)
	}
	if !strings.Contains(stranger.log.String(), "turned away") {
		t.Errorf("not logged:\n%s", stranger.log)
	}
	for _, c := range []struct {
		who  credentials
		want bool
	}{
		{credentials{uid: 0, gid: 5}, true},
		{credentials{uid: uint32(os.Getuid()), gid: 64998}, true},
		{credentials{uid: 64998, gid: 64997}, true},
		{credentials{uid: 64998, gid: 64996}, false},
	} {
		if err := c.who.permitted(64997); (err == nil) != c.want {
			t.Errorf("%v: %v", c.who, err)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: Names{"updn"}})
	r.ask(request(t, "ring:n=3", 1))
	r.after(1)
	text, err := wire.AskStatus(t.Context(), r.config.Socket)
	if err != nil || !strings.Contains(string(text), `"engine":"updn"`) {
		t.Errorf("%v: %s", err, text)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Engine: Names{"minhop", "dfsssp"}, Contract: "directed", Metrics: "127.0.0.1:0"})
	r.ask(request(t, "ring:n=7,hosts=2", 1))
	r.ask(request(t, "ring:n=7,hosts=2", 2))
	q := request(t, "ring:n=7,hosts=2", 3)
	q.QoS = false
	r.ask(q)
	r.after(3)
	text := r.metricsText()
	for _, line := range []string{
		`weft_sweeps_total{verdict="deadlock-free"} 2`,
		`weft_sweeps_total{verdict="refused"} 1`,
		`weft_sweeps_cached_total 1`,
		`weft_engine_info{used="none",wanted="minhop,dfsssp"} 1`,
		`weft_proven 0`,
		`weft_lanes_needed 2`,
		`weft_lanes_used 8`,
		`weft_lanes_available 1`,
		`weft_credit_loops_found_total 2`,
		`weft_lft_entries_changed_total 147`,
		`weft_stage_seconds_count{stage="route"} 2`,
		`weft_stage_seconds_count{stage="total"} 3`,
	} {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("there is no %s", line)
		}
	}
	if t.Failed() {
		t.Logf("%s", text)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	c, err := ReadConfig(strings.NewReader("socket: /run/s\ngroup: opensm\nengine: dfsssp, updn\nvls: 4\nlimit: 90s\ncontract: single:2\n"))
	if err != nil || c.Engine.String() != "dfsssp,updn" || c.Limit != 90*time.Second || c.Group != "opensm" {
		t.Fatalf("%+v, %v", c, err)
	}
	if c, err = ReadConfig(strings.NewReader("engine: [lash, nue]\n")); err != nil || c.Engine.String() != "lash,nue" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = ReadConfig(strings.NewReader("")); err != nil || c.Socket != "" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{"sokket: /x\n", "vls: many\n", "vls: 1\nvls: 2\n", "a: b\n---\nc: d\n", "- 1\n", "limit: 5\n", "\tx"} {
		if c, err := ReadConfig(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is %+v", bad, c)
		}
	}
	for _, bad := range []Config{
		{Socket: "relative"}, {Socket: "/s", VLs: 16}, {Socket: "/s", Endpoints: "some"}, {Socket: "/s", Limit: -1},
		{Socket: "/s", Engine: Names{"updn", "updn"}}, {Socket: "/s", Engine: Names{"a-lash"}}, {Socket: "/s", State: "x"},
		{Socket: "/s", SLs: 17}, {Socket: "/s", SLs: -1}, {Socket: "/s", Budget: -1}, {Socket: "/s", Aim: "fun"}, {Socket: "/s", Weight: Names{"x"}},
		{Socket: "/s", Weight: Names{"x=101"}}, {Socket: "/s", Engine: Names{"ftree"}, Roots: Names{"x"}}, {Socket: "/s", Engine: Names{"nue"}, Aim: "alltoall"},
		{Socket: "/s", Engine: Names{"nue"}, Weight: Names{"x=1"}}, {Socket: "/s", Engine: Names{"nue"}, Budget: 1},
		{Socket: "/s", Metrics: "192.0.2.1:9"}, {Socket: "/s", Metrics: ":9"}, {Socket: "/s", Metrics: "example.org:9"}, {Socket: "/s", Metrics: "9"},
	} {
		if s, err := bad.check(); err == nil {
			t.Errorf("%+v is taken: %+v", bad, s)
		}
	}
	if s, err := (Config{Socket: "/s", Metrics: "[::1]:9"}).check(); err != nil || s.Engine.String() != DefaultEngines.String() || s.limit != defaultLimit {
		t.Errorf("%+v, %v", s, err)
	}
}
