package install

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/internal/testnet"
)

// The RPM package of this tree holds what make install installs, and comes and goes
// without a trace.
func TestRPMPackage(t *testing.T) {
	testnet.OnlyWhole(t)
	t.Parallel()
	need(t, "rpmbuild", "rpm")
	file := strings.TrimSpace(build(t, "rpm"))
	name := filepath.Join(out, filepath.Base(file))
	where := strings.Fields(run(t, "", "rpm", "--eval", "%{_libdir} %{?_unitdir}%{!?_unitdir:/usr/lib/systemd/system}"))
	dest := t.TempDir()
	build(t, "install", "DESTDIR="+dest, "PREFIX=/usr", "SYSCONFDIR=/etc", "LIBDIR="+where[0], "UNITDIR="+where[1])

	var listed []string
	packed := regexp.MustCompile(`(/man1/.*)\.gz$`) // brp-compress, where it works
	for line := range strings.Lines(run(t, "", "rpm", "-qp", "--qf", `[%{FILEMODES:perms} %{FILENAMES}\n]`, name)) {
		if perms, path, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(perms, "d") {
			listed = append(listed, packed.ReplaceAllString(path, "$1"))
		}
	}
	if diff := cmp.Diff(plain(files(t, dest)), listed); diff != "" {
		t.Errorf("make install (-) and the package (+):\n%s", diff)
	}
	if got := run(t, "", "rpm", "-qpc", name); got != "/etc/weft/watch.yaml\n/etc/weft/weft.yaml" {
		t.Errorf("configuration files: %s", got)
	}

	m := newMachine(t)
	m.run(t, "rpm --install --nodeps "+path.Join("/mnt", filepath.Base(file)))
	version, revision := versionOf(t, m.run(t, "weft version --json"))
	if got := m.run(t, "rpm -q --qf '%{VERSION}' weft"); version != got {
		t.Errorf("weft says it is version %s, its package %s", version, got)
	}
	if git := revisionOf(t); revision != git {
		t.Errorf("weft says that its commit is %s, git %s", revision, git)
	}
	m.run(t, "rpm --verify --nodeps weft && id weft >/dev/null")
	m.run(t, "rpm --erase weft")
	if left := m.leftovers(t); len(left) > 0 {
		t.Errorf("after removal: %s", strings.Join(left, " "))
	}
}
