package whole

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// What is wrong with the disk is said once.
func TestFullDiskIsSaidOnce(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 2 << 20} { // written at the end, and before
		err := buffered(fullDisk{}, func(w io.Writer) error { _, err := w.Write(make([]byte, size)); return err })
		if !errors.Is(err, syscall.ENOSPC) || strings.Count(err.Error(), "no space") != 1 {
			t.Errorf("%d bytes: %q", size, err)
		}
	}
}

// A file that cannot be finished leaves the one that was there, and nothing else.
func TestWriteWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.WriteFile(Unfinished, []byte("of a killed run"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, wrote := io.WriteString(w, text)
			return errors.Join(wrote, err)
		}
	}
	if err := Write(root, "f", 0o640, text("first", nil)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := Write(root, "f", 0o640, text("sec", broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	got, err := root.ReadFile("f")
	if err != nil || string(got) != "first" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := root.Stat(Unfinished); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what is not whole is still there: %v", err)
	}
	if info, err := root.Stat("f"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
}

// What is wrong with a full disk is said with how much was wanted and how much is left.
func TestFullDiskSaysHowMuch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tried := 0
	err = Write(root, "tables", 0o640, func(w io.Writer) error {
		if tried++; tried == 1 {
			return syscall.ENOSPC
		}
		_, err := w.Write(make([]byte, 5<<10))
		return err
	})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "tables takes 5 KiB, and ") || !strings.Contains(err.Error(), " can still be written in "+dir) {
		t.Errorf("%v", err)
	}
	for _, err := range []error{Full(syscall.EDQUOT, dir, "it", 5<<10), FullOf(syscall.EDQUOT, dir)} { // there is room on the disk, for others
		if !errors.Is(err, syscall.EDQUOT) || strings.Contains(err.Error(), "can still be written") {
			t.Error(err)
		}
	}
	if err := Full(io.EOF, dir, "it", 1); !errors.Is(err, io.EOF) || err.Error() != "EOF" {
		t.Errorf("%v", err)
	}
	if n := sizeOf(func(w io.Writer) error { // however long it is
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return err
			}
		}
	}); n != mostCounted {
		t.Errorf("%d bytes are counted", n)
	}
}
