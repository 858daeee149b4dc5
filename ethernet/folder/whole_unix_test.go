//go:build unix

package folder

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe is not waited for.
func TestPipe(t *testing.T) {
	dir := ring().write(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "s9.route.json"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Read(t.Context(), dir, Options{}); err == nil || !strings.Contains(err.Error(), "s9.route.json is not a plain file but a named pipe") {
		t.Fatal(err)
	}
}
