package install

import (
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
)

// The packages of weft-proof hold a program that runs by itself, with its manual and what it proves.
func TestProofPackages(t *testing.T) {
	testnet.OnlyWhole(t)
	t.Parallel()
	need(t, "ocamlopt", "dpkg-deb", "rpmbuild", "rpm")
	deb := filepath.Join(out, filepath.Base(strings.TrimSpace(build(t, "package-proof"))))
	rpm := filepath.Join(out, filepath.Base(strings.TrimSpace(build(t, "rpm-proof"))))
	dest := t.TempDir()
	run(t, "", "dpkg-deb", "--extract", deb, dest)
	if got := run(t, "", filepath.Join(dest, "usr/bin/weft-proof"), "--help"); !strings.HasPrefix(got, "usage: weft-proof ") {
		t.Errorf("weft-proof --help: %s", got)
	}
	for _, file := range []string{"/usr/bin/weft-proof", "/usr/share/doc/weft-proof/proof.md", "/usr/share/doc/weft-proof/LICENSE", "/usr/share/man/man1/weft-proof.1"} {
		if listed := run(t, "", "rpm", "-qlp", rpm); !strings.Contains(listed, file) {
			t.Errorf("the RPM package has no %s", file)
		}
		if listed := run(t, "", "dpkg-deb", "--contents", deb); !strings.Contains(listed, file) {
			t.Errorf("the Debian package has no %s", file)
		}
	}
	if got := run(t, "", "rpm", "-qp", "--qf", "%{NAME}", rpm); got != "weft-proof" {
		t.Errorf("the RPM package is %s", got)
	}

	// It runs where the C library is older than here, or another.
	ownLibraries(t, filepath.Join(dest, "usr/bin/weft-proof"))
	if got := run(t, "", "dpkg-deb", "--field", deb, "Depends"); got != "" {
		t.Errorf("the Debian package depends on %s", got)
	}
	for line := range strings.Lines(run(t, "", "rpm", "-qp", "--requires", rpm)) {
		if !strings.HasPrefix(line, "rpmlib(") {
			t.Errorf("the RPM package requires %s", line)
		}
	}
}

// ownLibraries demands of a program that it takes none of the system's libraries.
func ownLibraries(t *testing.T, program string) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if used, _ := f.ImportedLibraries(); len(used) > 0 {
		t.Errorf("%s takes %s", program, used)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s has to be loaded by another program", program)
		}
	}
}

// A program that has the C library in itself may ask the system for no names of users or hosts: that takes
// parts of the library from the system. build.sh passes over the linker's warnings of it for this reason.
func TestProofLooksNothingUp(t *testing.T) {
	testnet.OnlyWhole(t)
	t.Parallel()
	files, err := filepath.Glob("../../../proof/checker/*.ml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	harmless := []string{"close", "error_message", "fstat", "in_channel_of_descr", "lstat", "openfile"}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "open Unix") {
			t.Errorf("%s opens Unix: what it calls there does not show", file)
		}
		for _, called := range regexp.MustCompile(`\bUnix\.([a-z]\w*)`).FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(harmless, called[1]) && called[1] != "st_kind" {
				t.Errorf("%s calls Unix.%s, of which it is not known whether it looks up names", file, called[1])
			}
		}
	}
}
