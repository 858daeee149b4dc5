package install

import (
	"path/filepath"
	"strings"
	"testing"
)

// The packages of weft-proof hold a program that runs by itself, with its manual and what it proves.
func TestProofPackages(t *testing.T) {
	t.Parallel()
	need(t, "ocamlopt", "dpkg-deb", "rpmbuild", "rpm")
	deb := filepath.Join(out, filepath.Base(strings.TrimSpace(build(t, "package-proof"))))
	rpm := filepath.Join(out, filepath.Base(strings.TrimSpace(build(t, "rpm-proof"))))
	dest := t.TempDir()
	run(t, "", "dpkg-deb", "--extract", deb, dest)
	if got := run(t, "", filepath.Join(dest, "usr/bin/weft-proof"), "--help"); !strings.HasPrefix(got, "usage: weft-proof ") {
		t.Errorf("weft-proof --help: %s", got)
	}
	for _, file := range []string{"/usr/bin/weft-proof", "/usr/share/doc/weft-proof/proof.md", "/usr/share/man/man1/weft-proof.1"} {
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
}
