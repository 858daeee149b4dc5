package daemon

import (
	"errors"
	"fmt"
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

// So is one on which no more files can be made, whatever room there is in it.
func TestRoomForFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m,nr_inodes=40,mode=755"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := room(s); err != nil {
		t.Error(err)
	}
	for i := 0; ; i++ {
		if err := os.Mkdir(filepath.Join(dir, fmt.Sprint(i)), 0o700); err != nil {
			break
		}
	}
	if err := room(s); !errors.Is(err, errFull) || !strings.Contains(err.Error(), "0 files can still be made in "+dir) {
		t.Errorf("of a disk without inodes: %v", err)
	}
	if err := s.drained(nil); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no file can be made in "+dir+" any more") {
		t.Errorf("written to it: %v", err)
	}
}
