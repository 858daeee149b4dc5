package cli

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/daemon"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/testnet"
)

// named is a question about a ring whose nodes, and whose OpenSM, have names of others. from is the
// first of them, since a ring has fewer nodes.
func named(t *testing.T, from int) *wire.Request {
	t.Helper()
	q := wire.Of(testnet.Build(t, "ring:6,hosts=3"), uint64(from+1))
	q.Deadline, q.OpenSM = time.Minute, "OpenSM \x1b[2J\nmsg=proven\u202e %s"
	for i := range q.Nodes {
		name := hostileNames[(from+i)%len(hostileNames)]
		q.Nodes[i].Name = name[:min(len(name), 64)] // as a node's description has
	}
	return q
}

// No name that the daemon is told over the wire reaches its log, status, metrics, page or files raw:
// neither of sweeps that are proven, nor of those that are refused with names in the reason.
func TestHostileNamesAtTheDaemon(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "weft")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := daemon.Config{
		Socket: filepath.Join(dir, "s"), State: filepath.Join(dir, "state"), Metrics: "127.0.0.1:0", Engine: daemon.Names{"minhop", "dfsssp"}, Contract: "honored",
	}
	log, ready := &live.Text{}, make(chan struct{})
	s := &daemon.Server{
		Version: "test", Log: slog.New(slog.NewTextHandler(log, nil)), Load: func() (daemon.Config, error) { return c, nil },
		Ready: func() { close(ready) },
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, nil) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	look := func(what string, text []byte) {
		t.Helper()
		if wrong := raw(text); wrong != "" {
			t.Errorf("%s: %s", what, wrong)
		}
	}
	shown := 0
	sees := func(what string, args ...string) {
		t.Helper()
		_, out, errs := runWeft(append(args, "--socket", c.Socket)...)
		look(what, []byte(out+errs))
		if strings.Contains(out, "cmd|") || strings.Contains(out, `[2J`) {
			shown++
		}
	}
	_, address, _ := strings.Cut(log.String(), "address=")
	address, _, _ = strings.Cut(address, "\n")
	get := func(path string) []byte {
		t.Helper()
		a, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	answers, refusals := 0, 0
	for from := range hostileNames {
		q := named(t, from)
		switch from % 3 {
		case 1: // refusals that name what is too narrow, and what disagrees
			for i := range q.Nodes {
				for p := range q.Nodes[i].Has {
					q.Nodes[i].Has[p].VLs = 1
				}
			}
		case 2:
			for i := range q.Nodes {
				for p := range q.Nodes[i].Has {
					if q.Nodes[i].Kind == fabric.Switch && q.Nodes[i].Has[p].Peer >= 0 && q.Nodes[q.Nodes[i].Has[p].Peer].Kind == fabric.Switch {
						q.Nodes[i].Has[p].PeerPort++
					}
				}
			}
		}
		a, err := wire.Ask(t.Context(), c.Socket, q)
		switch {
		case err != nil || a.Refusal != "":
			refusals++
			if a != nil {
				look("refusal", []byte(a.Refusal))
			}
		default:
			answers++
		}
		sees("status", "status")
		sees("status --json", "status", "--json")
		look("metrics", get("/metrics"))
		if page := get("/report"); from%3 == 0 {
			look("page", page)
			if err := wellFormed("x.html", page); err != nil {
				t.Error(err)
			}
		}
		for line := range strings.Lines(string(get("/metrics"))) {
			if !regexp.MustCompile(`^(# .*|weft_\w+(\{[^"{}]*("[\w .:,+-]*"[^"{}]*)*\})? \S+)\n$|^(go|process|promhttp)_`).MatchString(line) {
				t.Fatalf("a metric: %q", line)
			}
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	look("log", []byte(log.String()))
	for line := range strings.Lines(log.String()) {
		if !strings.HasPrefix(line, "time=") {
			t.Errorf("a line of the log: %q", line)
		}
	}
	files := 0
	if err := filepath.WalkDir(c.State, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".snapshot") || filepath.Base(path) == "fabric.request" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		look(path, text)
		if err := wellFormed(path, bytes.Clone(text)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	t.Logf("%d answers, %d refusals, %d times a name was shown, %d files", answers, refusals, shown, files)
	if answers == 0 || refusals == 0 || shown == 0 || files < 5 {
		t.Error("too few")
	}
}
