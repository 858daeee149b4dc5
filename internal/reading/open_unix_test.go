//go:build unix

package reading

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func mkfifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A named pipe that the user gives is waited for: for a writer, and for what it writes.
func TestPipeIsWaitedFor(t *testing.T) {
	name := mkfifo(t)
	go func() {
		w, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err == nil {
			for _, part := range []string{"one\n", "two\n"} {
				time.Sleep(20 * time.Millisecond)
				_, err = w.WriteString(part)
			}
			err = errors.Join(err, w.Close())
		}
		if err != nil {
			t.Error(err)
		}
	}()
	r, err := Open(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// Waiting ends with the context: for a writer, for what it writes, and in the middle of a
// file. Nothing else is told then.
func TestOpeningAndReadingEndWithTheContext(t *testing.T) {
	silent := mkfifo(t)
	held, err := os.OpenFile(silent, os.O_RDWR, 0) // a writer that writes nothing
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, gzipped(t, strings.Repeat("line\n", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _ := io.Pipe()
	for what, tc := range map[string]struct {
		name  string
		stdin io.Reader
	}{
		"a pipe without a writer": {name: mkfifo(t)},
		"a pipe that is silent":   {name: silent},
		"standard input":          {"-", r},
		"a file":                  {name: large},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if what != "a file" {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
		in, err := Open(ctx, tc.name, tc.stdin)
		if err == nil {
			if what == "a file" {
				var some [10]byte
				if _, err := io.ReadFull(in, some[:]); err != nil {
					t.Fatal(err)
				}
				cancel()
			}
			lines := NewLines(in, "f")
			for lines.Next() {
			}
			err = errors.Join(lines.Err(), in.Close())
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
		cancel()
	}
}

// What was found in a folder and is no plain file is refused at once, by its name.
func TestOnlyPlainFilesInFolders(t *testing.T) {
	pipe := mkfifo(t)
	link := filepath.Join(filepath.Dir(pipe), "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Dir(pipe))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, found := OpenFound(t.Context(), pipe)
	_, linked := OpenFound(t.Context(), link)
	_, within := OpenIn(root, "pipe")
	_, device := OpenPlain("/dev/null")
	for err, want := range map[error]string{
		found: pipe + " is not a plain file but a named pipe", linked: link + " is not a plain file but a named pipe",
		within: "pipe is not a plain file but a named pipe", device: "/dev/null is not a plain file but a device",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := OpenPlain(filepath.Dir(pipe)); err == nil || !strings.HasSuffix(err.Error(), "is a directory") {
		t.Error(err)
	}
}
