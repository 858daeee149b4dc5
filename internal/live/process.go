package live

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long one program may run: what hangs ends then, and an OpenSM is there as
// long as its test. The largest fabric in the tests, 16,512 adapters, takes ibsim ten seconds
// to read; thorough tests have OpenSM sweep thousands of them on a busy machine.
const patience = 25 * time.Minute

// timedOut is the status of timeout(1) when patience is over.
const timedOut = 124

// command is a program that ends after patience, when the test does, or when its
// context is cancelled. timeout(1) hands the signal on to the program and kills
// it five seconds later, and outlives the test binary.
func command(ctx context.Context, dir string, env []string, program string, args ...string) *exec.Cmd {
	tools, _ := find()
	argv := []string{"--kill-after=5", fmt.Sprint(int(patience.Seconds()))}
	if len(env) > 0 { // it is set behind timeout: LD_PRELOAD is not meant for it
		argv = append(append(argv, "env"), env...)
	}
	return ended(exec.CommandContext(ctx, tools.timeout, append(append(argv, program), args...)...), dir)
}

// ended is a program that gets a signal to end when its context is over, and runs in a folder.
func ended(cmd *exec.Cmd, dir string) *exec.Cmd {
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// inMemory is a folder to run a program in that uses ibsim. The library that connects them
// makes hundreds of files there, in the place of /sys, every time that a program starts; on
// a disk this takes longer than what most of the programs do. It is an ordinary folder
// where the system has none in memory.
func inMemory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "weft-live-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// startSim runs ibsim on a net file until the test ends or stop is called, and
// returns when it is ready for clients. A nil console: it has none.
func startSim(t testing.TB, n *netFile, socket string, console *os.File) (stop func()) {
	t.Helper()
	tools, _ := find()
	ctx, cancel := context.WithCancel(context.Background())
	// Room to spare beyond what the file says: ibsim counts unconnected ports too.
	args := []string{
		"-s",
		"-N", fmt.Sprint(n.nodes + 8), "-S", fmt.Sprint(n.switches + 8), "-P", fmt.Sprint(n.ports + 64),
		"-L", "49151", n.path,
	}
	if console == nil {
		args = append([]string{"-n"}, args...)
	}
	cmd := command(ctx, t.TempDir(), []string{"IBSIM_SOCKNAME=" + socket}, tools.ibsim, args...)
	if console != nil {
		cmd.Stdin = console
	}
	out := &watch{phrase: "Network simulator ready", seen: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatalf("ibsim: %v", err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		close(ended)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended //nolint:errcheck // killed, as asked
	})
	t.Cleanup(stop)
	select {
	case <-out.seen:
	case err := <-ended:
		t.Fatalf("ibsim could not simulate %s: %v\n%s", n.path, err, lastLines(out.String()))
	}
	return stop
}

// watch keeps what a program prints and tells when a phrase appears.
type watch struct {
	Text
	phrase string
	seen   chan struct{} // closed once the phrase has appeared
	once   sync.Once
}

func (w *watch) Write(p []byte) (int, error) {
	n, err := w.Text.Write(p)
	if strings.Contains(w.String(), w.phrase) {
		w.once.Do(func() { close(w.seen) })
	}
	return n, err
}

// lastLines is the end of a text, enough to see what went wrong.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// tailOf is the end of a file, or why it cannot be read.
func tailOf(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return lastLines(string(text))
}
