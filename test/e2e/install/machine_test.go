package install

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// machine is a copy of this system that can be changed: an overlay over its root
// folder, without systemd. The folder out is at /mnt.
type machine struct{ dir string }

func newMachine(t *testing.T) *machine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("packages are installed by root only")
	}
	need(t, "unshare", "chroot", "mount")
	m := &machine{t.TempDir()}
	for _, dir := range []string{"upper", "work", "root"} {
		if err := os.Mkdir(filepath.Join(m.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The index of all manual pages would take longest.
	if text, err := m.command(t, "rm -f /var/lib/man-db/auto-update").CombinedOutput(); err != nil {
		t.Skipf("no overlay over the root folder can be made here: %v: %s", err, text)
	}
	return m
}

// command is a command on the machine, in a mount namespace of its own: all mounts
// go with it.
func (m *machine) command(t *testing.T, script string) *exec.Cmd {
	const mount = `set -e
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --bind /dev "$1/root/dev"
mount --bind "$2" "$1/root/mnt"
exec chroot "$1/root" bash -ec "$3"`
	cmd := exec.CommandContext(t.Context(), "timeout", "--kill-after=10", "600",
		"unshare", "--mount", "--propagation", "private", "bash", "-c", mount, "bash", m.dir, out, script)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "HOME=/root"}
	return cmd
}

// run runs a script on the machine and returns what it prints.
func (m *machine) run(t *testing.T, script string) string {
	t.Helper()
	text, err := m.command(t, script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, text)
	}
	return strings.TrimSpace(string(text))
}

// changed is what is on the machine and not on this system, or differs: files, and
// folders that are new.
func (m *machine) changed(t *testing.T) []string {
	t.Helper()
	upper := filepath.Join(m.dir, "upper")
	var all []string
	err := filepath.WalkDir(upper, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, upper)
		if entry.IsDir() {
			if _, err := os.Lstat("/" + name); err == nil {
				return nil
			}
			name += "/"
		}
		all = append(all, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// leftovers is what a purged package left: all that is changed but what the system
// notes about users, packages, libraries and manual pages, and logs.
func (m *machine) leftovers(t *testing.T) []string {
	t.Helper()
	notes := []string{
		"/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/subuid", "/etc/subgid", "/etc/.pwd.lock",
		"/etc/ld.so.cache", "/var/lib/dpkg/", "/var/lib/rpm/", "/var/lib/man-db/", "/var/cache/", "/var/log/", "/run/", "/tmp/", "/root/.rpmdb/",
	}
	return slices.DeleteFunc(m.changed(t), func(name string) bool {
		return slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(name, n) })
	})
}
