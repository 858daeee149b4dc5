package events

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/result"
)

// logged is what was logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) await(t *testing.T, text string) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(time.Millisecond) {
		l.mu.Lock()
		found := strings.Contains(l.text.String(), text)
		l.mu.Unlock()
		if found {
			return
		}
	}
	t.Fatalf("no %q in 20 s", text)
}

// What a full disk does not take is kept when there is room again, and nothing of it is there half.
func TestLogOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,mode=755"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(dir, "full")
	_ = os.WriteFile(full, make([]byte, 512<<10), 0o600) // as far as it goes
	if err := os.Truncate(full, 248<<10); err != nil {
		t.Fatal(err)
	}
	var said logged
	l := New("watch")
	l.To(root, slog.New(slog.NewTextHandler(&said, nil)))
	for i := range 5 {
		l.Add(result.Event{What: Alarm, Text: fmt.Sprint(i, strings.Repeat(" ", 5000))})
	}
	said.await(t, "events cannot be kept, and wait")
	if all, damaged, err := Read(dir); err != nil || len(all) != 1 || damaged > 0 {
		t.Errorf("on the full disk %d events, %d damaged, %v", len(all), damaged, err)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	said.await(t, "events are kept again")
	l.Close(time.Minute)
	all, damaged, err := Read(dir)
	if err != nil || len(all) != 5 || damaged > 0 || l.Failed() != nil {
		t.Errorf("with room again %d events, %d damaged, %v, %v", len(all), damaged, err, l.Failed())
	}
}

// Events go on in the folder that was made in place of one that was taken away.
func TestLogInAFolderMadeAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	l := New("serve")
	l.To(root, slog.New(slog.DiscardHandler))
	l.Add(result.Event{What: Begin})
	for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(time.Millisecond) {
		if all, _, err := Read(dir); err == nil && len(all) == 1 {
			break
		}
	}
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l.Add(result.Event{What: End})
	l.Close(time.Minute)
	if all, _, err := Read(dir); err != nil || len(all) != 1 || all[0].What != End {
		t.Errorf("%v, %v", all, err)
	}
}
