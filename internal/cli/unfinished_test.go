package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/tablefiles"
)

// fillWith makes files, with the folders they are in.
func fillWith(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func entriesOf(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// What killed runs left of an output goes when it is written again. What a run
// that lives works on stays, as does what a link leads to and what is another's.
func TestUnfinishedOfKilledRuns(t *testing.T) {
	for name, args := range map[string][]string{
		"folder": {"route", "ring:3", "--engine", "updn", "--out"},
		"file":   {"generate", "ring:3", "-o"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			fillWith(t, outside, tablefiles.ForwardingFile)
			fillWith(t, dir, ".t.weft-1/"+tablefiles.ForwardingFile, ".t.weft-2", ".t.weft-3.old/"+tablefiles.ForwardingFile, ".t.123/mine", ".tt.weft-5")
			if err := os.Symlink(outside, filepath.Join(dir, ".t.weft-4")); err != nil {
				t.Fatal(err)
			}
			final := filepath.Join(dir, "t")
			alive, err := output.NewUnfinished(final, name == "folder")
			if err != nil {
				t.Fatal(err)
			}
			want := []string{".t.123", ".t.weft-4", filepath.Base(alive.Path), ".tt.weft-5", "t"}
			slices.Sort(want)
			if name == "folder" { // put aside by a run that was killed before it put its own there
				code, _, stderr := runWeft(append(args, final)...)
				if code != exit.BadUsage || !strings.Contains(stderr, "--force replaces it") {
					t.Fatalf("exit code %d: %s", code, stderr)
				}
				if got := entriesOf(t, dir); !slices.Equal(got, want) {
					t.Errorf("after a killed run: %q, want %q", got, want)
				}
				args = append(args, final, "--force")
			} else {
				if err := os.RemoveAll(filepath.Join(dir, ".t.weft-3.old")); err != nil {
					t.Fatal(err)
				}
				args = append(args, final)
			}
			if code, _, stderr := runWeft(args...); code != exit.OK {
				t.Fatal(stderr)
			}
			if got := entriesOf(t, dir); !slices.Equal(got, want) {
				t.Errorf("left: %q, want %q", got, want)
			}
			if got := entriesOf(t, outside); !slices.Equal(got, []string{tablefiles.ForwardingFile}) {
				t.Errorf("behind the link: %q", got)
			}
			alive.Discard()
			if got := entriesOf(t, dir); len(got) != len(want)-1 {
				t.Errorf("the other run leaves %q", got)
			}
		})
	}
}
