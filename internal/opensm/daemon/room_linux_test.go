package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A disk that is full is told before something has to be written on it.
func TestRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s := &state{dir: dir}
	if err := room(s); err != nil {
		t.Error(err)
	}
	full := filepath.Join(dir, "full")
	_ = os.WriteFile(full, make([]byte, 4<<20), 0o600) // as far as it goes
	if err := room(s); !errors.Is(err, errFull) || !strings.Contains(err.Error(), "0 bytes can still be written in "+dir+", and at least 256 KiB are wanted") {
		t.Errorf("of a full disk: %v", err)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	if err := room(s); err != nil {
		t.Error(err)
	}
}
