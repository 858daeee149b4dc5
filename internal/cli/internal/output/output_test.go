package output

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/tablefiles"
)

// Writing ends with the context, however much is still to be written.
func TestWriteFileInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	line := []byte(strings.Repeat("x", 1<<16))
	err := WriteFile(&console.Console{Context: ctx}, filepath.Join(dir, "file"), func(w io.Writer) error {
		for {
			if _, err := w.Write(line); err != nil {
				return err
			}
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// A folder that does not get its place leaves the old one in its own.
func TestCommitFails(t *testing.T) {
	dir := t.TempDir()
	final := filepath.Join(dir, "tables")
	if err := os.Mkdir(final, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(final, tablefiles.ForwardingFile), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := NewFolder(final, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(d.Path); err != nil { // somebody else tidied up
		t.Fatal(err)
	}
	if err := d.Commit(); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), final+" cannot be written") {
		t.Error(err)
	}
	d.Discard()
	if text, err := os.ReadFile(filepath.Join(final, tablefiles.ForwardingFile)); err != nil || string(text) != "old" {
		t.Errorf("%q, %v", text, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Error(left, err)
	}
}

// A folder that takes the place of another does so in one step: whoever looks, and whenever the run is killed, one of the
// two is there.
func TestFolderIsAlwaysThere(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := errors.Join(os.Mkdir(a, 0o755), os.Mkdir(b, 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := exchange(a, b); err != nil {
		t.Skipf("folders cannot change names here: %v", err)
	}
	final := filepath.Join(dir, "tables")
	write := func() error {
		return WriteFolder(final, true, func(d *Folder) error {
			return d.Write(t.Context(), files.File{Name: tablefiles.ForwardingFile, Write: hello})
		})
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for range 60 {
			err = errors.Join(err, write())
		}
		done <- err
	}()
	for looks, gone := 0, 0; ; looks++ {
		if _, err := os.Lstat(final); err != nil {
			gone++
		}
		select {
		case err := <-done:
			if err != nil || gone > 0 {
				t.Errorf("%d of %d looks found no folder; %v", gone, looks, err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
				t.Error(left, err)
			}
			return
		default:
		}
	}
}

// Of folders that belong together, such as the way out and the way back, all get their names or none does.
func TestFoldersTogether(t *testing.T) {
	for _, there := range []bool{false, true} {
		dir := t.TempDir()
		finals := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
		before := filepath.Join(finals[0], tablefiles.ForwardingFile)
		if there {
			if err := errors.Join(os.Mkdir(finals[0], 0o755), os.WriteFile(before, []byte("before\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		var folders []*Folder
		for _, final := range finals {
			d, err := NewFolder(final, true)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Discard()
			if err := d.Write(t.Context(), files.File{Name: tablefiles.ForwardingFile, Write: hello}); err != nil {
				t.Fatal(err)
			}
			folders = append(folders, d)
		}
		notes := filepath.Join(finals[1], "notes") // somebody else's, meanwhile
		if err := errors.Join(os.Mkdir(finals[1], 0o755), os.WriteFile(notes, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := Commit(folders...); err == nil || !strings.Contains(err.Error(), "notes, which weft did not write") {
			t.Error(err)
		}
		text, err := os.ReadFile(before)
		if there && string(text) != "before\n" || !there && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("there was one before: %v; %q, %v", there, text, err)
		}
		if err := errors.Join(os.Remove(notes), Commit(folders...)); err != nil {
			t.Error(err)
		}
		for _, final := range finals {
			if text, err := os.ReadFile(filepath.Join(final, tablefiles.ForwardingFile)); err != nil || string(text) != "hello\n" {
				t.Errorf("%q, %v", text, err)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
			t.Error(left, err)
		}
	}
}

// Who writes into a pipe waits for its reader, and writes all of it; where nobody reads, or reads no more, the wait ends
// with the context.
func TestPipeThatNobodyReads(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	text := strings.Repeat("x", 1<<20)
	write := func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	written := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() { done <- WriteFile(&console.Console{Context: ctx}, pipe, write) }()
		return done
	}
	all := written(t.Context())
	time.Sleep(100 * time.Millisecond)
	got, err := os.ReadFile(pipe)
	if err := errors.Join(err, <-all); err != nil || string(got) != text {
		t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
	}
	for _, reads := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		done := written(ctx)
		if reads { // a little of it
			f, err := os.Open(pipe)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(100 * time.Millisecond)
		cancel()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("read: %v: it was written", reads)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("read: %v: it waits still", reads)
		}
	}
}

// A socket, which nobody can open, is not waited for.
func TestSocketAsOutput(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // the name of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := WriteFile(&console.Console{Context: ctx}, socket, hello); !errors.Is(err, syscall.ENXIO) {
		t.Error(err)
	}
}

// modeless is a file on a file system that has no modes, such as FAT.
type modeless struct{ err error }

func (f modeless) Chmod(mode fs.FileMode) error {
	return &fs.PathError{Op: "chmod", Path: "file", Err: f.err}
}

// Outputs are written where files have no modes too.
func TestFileSystemWithoutModes(t *testing.T) {
	for _, err := range []error{syscall.EPERM, syscall.ENOTSUP, syscall.ENOSYS} {
		if err := readable(modeless{err}, 0o644); err != nil {
			t.Error(err)
		}
	}
	if err := readable(modeless{syscall.EIO}, 0o644); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}
