package output

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/tablefiles"
)

func hello(w io.Writer) error {
	_, err := io.WriteString(w, "hello\n")
	return err
}

// Where everybody may write, a link that another user put there is not followed; one's own is.
func TestLinksOfOthersAreNotFollowed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes links of other users")
	}
	c := &console.Console{Context: t.Context()}
	for _, other := range []bool{true, false} {
		dir := t.TempDir()
		ours, link := filepath.Join(t.TempDir(), "ours"), filepath.Join(dir, "out")
		if err := errors.Join(os.WriteFile(ours, []byte("old"), 0o600), os.Symlink(ours, link), os.Chmod(dir, 0o777|os.ModeSticky)); err != nil {
			t.Fatal(err)
		}
		if other {
			if err := os.Lchown(link, 12345, 12345); err != nil {
				t.Fatal(err)
			}
		}
		err := WriteFile(c, link, hello)
		text, readErr := os.ReadFile(ours)
		if readErr != nil {
			t.Fatal(readErr)
		}
		switch {
		case other && (err == nil || !strings.Contains(err.Error(), "is a symbolic link that user 12345 put into a folder where everybody may write") || string(text) != "old"):
			t.Errorf("the file of ours is %q: %v", text, err)
		case !other && (err != nil || string(text) != "hello\n"):
			t.Errorf("the file is %q: %v", text, err)
		}
	}
}

// A link that somebody puts into the unfinished folder is not written through, and one in place
// of the folder is replaced, not followed: what it leads to stays as it is.
func TestFoldersAreNotWrittenThroughLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	victim := filepath.Join(outside, tablefiles.ForwardingFile)
	if err := os.WriteFile(victim, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	final := filepath.Join(dir, "tables")
	for _, within := range []bool{true, false} {
		err := WriteFolder(final, true, func(d *Folder) error {
			if within {
				if err := os.Symlink(victim, d.At(tablefiles.ForwardingFile)); err != nil {
					return err
				}
			} else if err := os.Symlink(outside, final); err != nil {
				return err
			}
			return d.Write(context.Background(), files.File{Name: tablefiles.ForwardingFile, Write: hello})
		})
		if (err != nil) != within {
			t.Errorf("with a link within, %v: %v", within, err)
		}
		if text, err := os.ReadFile(victim); err != nil || string(text) != "old" {
			t.Errorf("written through a link: %q, %v", text, err)
		}
	}
	if info, err := os.Lstat(final); err != nil || !info.IsDir() {
		t.Errorf("the folder is %v, %v", info, err)
	}
}

// Where others can write beside an output folder, they may exchange it for a link while it is written:
// nothing appears where that leads, and no mode changes there.
func TestFoldersAreNotExchanged(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Chmod(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	exchange := func(path string) {
		t.Helper()
		if err := errors.Join(os.Rename(path, path+".away"), os.Symlink(outside, path)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := NewFolder(filepath.Join(dir, "tables"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Discard()
	exchange(d.Path)
	if err := d.Write(t.Context(), files.File{Name: tablefiles.ForwardingFile, Write: hello}); err != nil {
		t.Error(err)
	}
	step, err := d.Within("step-1")
	if err == nil {
		err = step.Write(t.Context(), files.File{Name: tablefiles.SL2VLFile, Write: hello})
	}
	if err != nil {
		t.Error(err)
	}
	for _, name := range []string{tablefiles.ForwardingFile, filepath.Join("step-1", tablefiles.SL2VLFile)} {
		if _, err := os.Stat(filepath.Join(d.Path+".away", name)); err != nil {
			t.Error(err)
		}
	}
	u, err := NewUnfinished(filepath.Join(dir, "other"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Discard()
	exchange(u.Path)
	if _, err := u.opened(); !errors.Is(err, errExchanged) {
		t.Errorf("the folder that was exchanged is opened: %v", err)
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) > 0 {
		t.Errorf("%v appeared outside, %v", entries, err)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
