package output

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/tablefiles"
)

// Where the folder of before cannot be removed, it is said that the new one is there, and where the old one is; one that
// belongs to it is there too.
func TestReplacedFolderThatCannotBeRemoved(t *testing.T) {
	final := filepath.Join(t.TempDir(), "tables")
	step := filepath.Join(final, "step-1")
	if err := os.MkdirAll(step, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", step, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	left := step
	t.Cleanup(func() { _ = syscall.Unmount(left, syscall.MNT_DETACH) })
	other := filepath.Join(t.TempDir(), "other")
	var folders []*Folder
	for _, name := range []string{final, other} {
		d, err := NewFolder(name, true)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Discard()
		if err := d.Write(t.Context(), files.File{Name: tablefiles.ForwardingFile, Write: hello}); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, d)
	}
	left = filepath.Join(folders[0].Path, "step-1")
	err := Commit(folders...)
	if !errors.Is(err, syscall.EBUSY) || !strings.HasPrefix(err.Error(), final+" is written, but what was there before cannot be removed, and is left as "+filepath.Dir(left)) {
		t.Error(err)
	}
	for _, name := range []string{final, other} {
		if text, err := os.ReadFile(filepath.Join(name, tablefiles.ForwardingFile)); err != nil || string(text) != "hello\n" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
