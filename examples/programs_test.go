// Package examples tests the programs below it: they do what README.md shows.
package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/internal/testnet"
)

// build builds programs of this module into a folder.
func build(t *testing.T, programs ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-o", dir}, programs...)...)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// run runs a program in the root of the repository, and returns what it printed and its
// exit code.
func run(t *testing.T, program string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

var shown = regexp.MustCompile("(?s)```\n\\$ go run \\./examples/(\\S+)([^\n]*)\n(.*?)```")

func TestProgramsPrintWhatIsShown(t *testing.T) {
	testnet.OnlyWhole(t)
	if testing.Short() {
		t.Skip("builds four programs")
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	bin := build(t, "./cmd/weft", "./examples/...")
	tables := filepath.Join(t.TempDir(), "tables")
	if out, code := run(t, filepath.Join(bin, "weft"), "route", "examples/cluster.ibnetdiscover", "--out", tables); code != 0 {
		t.Fatal(out)
	}
	blocks := shown.FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("README.md shows %d programs", len(blocks))
	}
	for _, b := range blocks {
		args := strings.Fields(strings.ReplaceAll(b[2], "tables/", tables+"/"))
		out, code := run(t, filepath.Join(bin, b[1]), args...)
		if d := cmp.Diff(b[3], out); d != "" || code != 0 {
			t.Errorf("%s: exit code %d\n%s", b[1], code, d)
		}
	}

	// What the gate is for: OpenSM's default on a network where it has a credit loop.
	unproven := filepath.Join(t.TempDir(), "unproven")
	if out, code := run(t, filepath.Join(bin, "weft"), "route", "examples/cluster.ibnetdiscover", "--engine", "minhop", "--write-unproven", "--out", unproven); code != 1 {
		t.Fatalf("%d: %s", code, out)
	}
	out, code := run(t, filepath.Join(bin, "judge"), "examples/cluster.ibnetdiscover", filepath.Join(unproven, "lfts.dump"))
	if code != 1 || !strings.Contains(out, "step 4 of the credit loop: ") {
		t.Errorf("a credit loop: exit code %d\n%s", code, out)
	}
	if out, code := run(t, filepath.Join(bin, "judge"), "examples/cluster.ibnetdiscover", "examples/README.md"); code != 3 || !strings.Contains(out, "examples/README.md:3: ") {
		t.Errorf("no tables: exit code %d\n%s", code, out)
	}
}
