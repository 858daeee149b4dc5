package reproduce

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
)

// What a full disk does not take whole is not there at all.
func TestFileOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	r := &Run{Options: Options{Dir: dir}}
	if err := r.file("a.csv", func(w io.Writer) error { _, err := w.Write(make([]byte, 64<<10)); return err }); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
