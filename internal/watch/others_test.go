package watch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A state folder in which others can write is not taken, and nothing is done through a link of theirs.
func TestStateOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(dir, outside string) error
		want  string
	}{
		"for all":        {func(dir, _ string) error { return os.Chmod(dir, 0o777) }, "chmod go-w"},
		"for a group":    {func(dir, _ string) error { return os.Chmod(dir, 0o770) }, "chmod go-w"},
		"looks for all":  {func(dir, _ string) error { return os.Chmod(filepath.Join(dir, looksFolder), 0o777) }, "chmod go-w"},
		"parent for all": {func(dir, _ string) error { return os.Chmod(filepath.Dir(dir), 0o777) }, "put another folder in place of"},
		"files is a link": {func(dir, outside string) error {
			return errors.Join(os.Remove(filepath.Join(dir, filesFolder)), os.Symlink(outside, filepath.Join(dir, filesFolder)))
		}, "a symbolic link"},
		"of another user": {func(dir, _ string) error {
			if os.Getuid() != 0 {
				return os.Chmod(dir, 0o777)
			}
			return os.Chown(dir, 64998, -1)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, outside := filepath.Join(t.TempDir(), "above", "state"), t.TempDir()
			s, err := takeStore(dir)
			if err != nil {
				t.Fatal(err)
			}
			s.close()
			other := filepath.Join(outside, "of-no-look.gz")
			if err := errors.Join(os.WriteFile(other, nil, 0o600), c.spoil(dir, outside)); err != nil {
				t.Fatal(err)
			}
			if _, err := takeStore(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := os.Stat(other); err != nil {
				t.Error(err)
			}
		})
	}
}
