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

// Where the folder of before cannot be removed, it is said that the new one is there, and where the old one is.
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
	err := WriteFolder(final, true, func(d *Folder) error {
		left = filepath.Join(d.Path, "step-1")
		return d.Write(t.Context(), files.File{Name: tablefiles.ForwardingFile, Write: hello})
	})
	if !errors.Is(err, syscall.EBUSY) || !strings.HasPrefix(err.Error(), final+" is written, but what was there before cannot be removed, and is left as "+filepath.Dir(left)) {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(final, tablefiles.ForwardingFile)); err != nil || string(text) != "hello\n" {
		t.Errorf("%q, %v", text, err)
	}
}
