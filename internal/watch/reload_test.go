package watch

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/testnet"
)

// Settings that are read again take hold at the next look; wrong ones, and those that need a
// restart, leave the old ones and say so.
func TestReload(t *testing.T) {
	t.Parallel()
	w := newScene(t, Config{})
	f := testnet.Build(t, "torus:4x4")
	w.show(&Snapshot{Tables: tablesBy(t, f, "dor", 1)}) // VL 0 alone
	if w.last.Contract != "single:0" || w.status.ReloadError != "" {
		t.Fatalf("%+v", w.last)
	}
	now, fails := w.settings.Config, error(nil)
	w.Load = func() (Config, error) { return now, fails }
	refused := func(want string) {
		t.Helper()
		was := w.settings
		w.reload()
		if w.settings != was || !strings.Contains(w.status.ReloadError, want) {
			t.Errorf("%q, want %q", w.status.ReloadError, want)
		}
	}
	fails = errors.New("watch.yaml: line 3: no such key")
	refused("line 3")
	fails = nil
	now.Contract = "nonsense"
	refused("contract")
	now = w.settings.Config
	now.State = filepath.Join(t.TempDir(), "other")
	refused("which needs a restart")
	now = w.settings.Config
	now.Contract, now.Every = "any", time.Hour
	w.reload()
	if w.status.ReloadError != "" || w.status.Every != "1h0m0s" {
		t.Errorf("%+v", w.status)
	}
	l, err := w.look(t.Context())
	if err != nil || l == nil || l.Contract != "any" || l.Number != 2 {
		t.Errorf("the same files under another contract: %+v, %v", l, err)
	}
}

// A signal ends the rest between two looks.
func TestReloadSignal(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c := Config{Folder: folder, State: filepath.Join(t.TempDir(), "state"), Every: time.Hour}
	loaded := make(chan struct{})
	w := &Watcher{
		Config: c, Log: slog.New(slog.DiscardHandler),
		Read: func(string, string, uint16) (*Snapshot, error) { return nil, errors.New("nothing") },
		Load: func() (Config, error) { close(loaded); return c, nil },
	}
	ctx, cancel := context.WithCancel(t.Context())
	signals, ended := make(chan os.Signal, 1), make(chan error)
	go func() { ended <- w.Run(ctx, signals) }()
	signals <- syscall.SIGHUP
	select {
	case <-loaded:
	case <-time.After(time.Minute):
		t.Error("no reload within a minute")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Before a watch begins it is said which place it could not have; one that has them already is told.
func TestTryPlaces(t *testing.T) {
	t.Parallel()
	w := newScene(t, Config{})
	if runs, err := w.Watcher.Config.TryPlaces(t.Context()); err != nil || runs == nil || runs.PID != os.Getpid() {
		t.Errorf("%v, %v", runs, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		c    Config
		want string
	}{
		{Config{State: filepath.Join(t.TempDir(), "state")}, ""},
		{Config{State: file}, "state: " + file + " is a file"},
		{Config{State: filepath.Join(file, "state")}, "cannot be made"},
		{Config{State: t.TempDir(), Metrics: l.Addr().String()}, "metrics: " + l.Addr().String() + " is in use"},
	} {
		runs, err := c.c.TryPlaces(t.Context())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || runs != nil {
			t.Errorf("%+v: %v, %v", c.c, runs, err)
		}
	}
}
