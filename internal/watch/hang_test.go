package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
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

// isRunning says whether a process is there and has not ended; in a container nobody may have
// collected it yet.
func isRunning(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
