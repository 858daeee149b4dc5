package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
)

// A command that does not end is ended, and with it what it has started, whoever holds the pipe.
func TestCommandsEndWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	c := command{file: "lfts.dump", args: []string{"/bin/sh", "-c", "sleep 1000 & echo $! > " + pid + "; sleep 1000"}}
	if _, err := c.run(t.Context(), 5*time.Second, dir); err == nil || !strings.Contains(err.Error(), "did not end within 5s") {
		t.Fatalf("a command that does not end: %v", err)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for tries := 0; isRunning(child); tries++ {
		if tries > 600 {
			_ = syscall.Kill(child, syscall.SIGKILL)
			t.Fatal("what the command has started is running a minute later")
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// A command that does not end is given up in time, also where it has closed its output, or a process that left its
// group, as daemons do, has it.
func TestCommandsEndThoughOthersHaveTheirOutput(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	stay := filepath.Join(dir, "stay") // until this is gone
	if err := os.WriteFile(stay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(stay)
	silent := command{file: "fabric", args: []string{"/bin/sh", "-c", "exec >&-; sleep 1000"}}
	if _, err := silent.run(t.Context(), time.Second, dir); err == nil || !strings.Contains(err.Error(), "did not end within 1s") {
		t.Errorf("a command that closed its output: %v", err)
	}
	c := command{file: "lfts.dump", args: []string{"/bin/sh", "-c", "setsid /bin/sh -c 'while test -e " + stay + "; do sleep 0.1; done' & sleep 1000"}}
	done := make(chan error, 1)
	go func() {
		_, err := c.run(t.Context(), time.Second, dir)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "did not end within 1s") {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it is waited for a minute later")
	}
}

// A command whose output cannot be kept is ended at once, and the reason is told.
func TestCommandsEndWhereOutputCannotBeKept(t *testing.T) {
	t.Parallel()
	c := command{file: "lfts.dump", args: []string{"/bin/sh", "-c", "yes"}}
	begun := time.Now()
	_, err := c.run(t.Context(), time.Minute, filepath.Join(t.TempDir(), "gone"))
	if !errors.Is(err, fs.ErrNotExist) || time.Since(begun) > 30*time.Second {
		t.Fatalf("after %v: %v", time.Since(begun), err)
	}
}

// A disk that fails after a command's time is over is told, and not that the command was slow.
func TestWhyCommandsFail(t *testing.T) {
	t.Parallel()
	broken := &fs.PathError{Op: "write", Path: "lfts.dump", Err: syscall.EIO}
	closed := &fs.PathError{Op: "read", Path: "|0", Err: os.ErrClosed}
	killed := errors.New("signal: killed")
	for _, c := range []struct {
		keeping, late, end error
		want               string
	}{
		{nil, nil, nil, ""},
		{broken, nil, killed, broken.Error()},
		{broken, context.DeadlineExceeded, killed, broken.Error()},
		{closed, context.DeadlineExceeded, killed, "it did not end within 1s"},
		{nil, context.DeadlineExceeded, killed, "it did not end within 1s"},
		{closed, context.Canceled, killed, closed.Error()},
		{nil, nil, killed, "signal: killed: no device"},
	} {
		got := ""
		if err := whyFailed(c.keeping, c.late, c.end, time.Second, ": no device"); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v, %v, %v: %q, want %q", c.keeping, c.late, c.end, got, c.want)
		}
	}
}

// isRunning reports whether a process is there and has not ended; in a container nobody may have
// collected it yet.
func isRunning(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// A pipe in place of a file about cables is said, and keeps no look waiting.
func TestPipesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	folder := newScene(t, Config{})
	if err := os.Symlink(pipe, filepath.Join(folder.Folder, counterFiles[0])); err != nil {
		t.Fatal(err)
	}
	for of, w := range map[string]*scene{
		"counters: " + pipe: newScene(t, Config{Counters: []string{pipe}}),
		"cabling: " + pipe:  newScene(t, Config{Cabling: pipe}),
		"counters: " + filepath.Join(folder.Folder, counterFiles[0]): folder,
	} {
		w.ReadFabric = func(file string) (*fabric.Fabric, error) { return nil, fmt.Errorf("%s was read", file) }
		looked := make(chan struct{})
		go func() {
			defer close(looked)
			w.show(&Snapshot{Tables: tablesBy(t, testnet.Build(t, "ring:n=5"), "updn", 1)})
		}()
		select {
		case <-looked:
		case <-time.After(time.Minute):
			t.Fatalf("%s is waited for", of)
		}
		if failed := w.cables.failed; len(failed) != 1 || failed[0] != of+" is not a plain file but a named pipe: remove it, or put a file in its place" {
			t.Errorf("%s: %q", of, failed)
		}
	}
}
