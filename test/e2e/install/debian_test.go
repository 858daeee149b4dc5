package install

import (
	"net"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/testnet"
)

// The Debian package through its life: installed, started, upgraded, removed and
// purged, and nothing is left of it.
func TestDebianPackage(t *testing.T) {
	testnet.OnlyWhole(t)
	t.Parallel()
	need(t, "dpkg", "dpkg-deb")
	m := newMachine(t)
	deb := func(args ...string) string {
		t.Helper()
		return path.Join("/mnt", strings.TrimPrefix(strings.TrimSpace(build(t, append([]string{"package"}, args...)...)), out))
	}
	first, second := deb("VERSION="+older), deb()
	const install = "dpkg --force-unsafe-io --install "

	m.run(t, install+first)
	if version, _ := versionOf(t, m.run(t, "weft version --json")); version != older {
		t.Errorf("weft says it is version %s", version)
	}
	if got := m.run(t, "id -nG weft; getent passwd weft | cut -d: -f6-"); got != "weft\n/var/lib/weft:/usr/sbin/nologin" {
		t.Errorf("user weft: %s", got)
	}
	m.run(t, "dpkg --verify weft && cd / && md5sum --status --check /var/lib/dpkg/info/weft.md5sums")
	linked := m.run(t, "ldconfig -p | grep libweft.so || true")
	if hasHeaders() && !strings.Contains(linked, "libweft.so") {
		t.Error("the linker does not know the plugin")
	}
	installed := map[string]string{}
	for name := range strings.FieldsSeq(m.run(t, "dpkg --listfiles weft")) {
		installed[name] = ""
	}
	for _, name := range []string{
		"/usr/share/man/man1/weft-serve.1.gz", "/usr/share/zsh/vendor-completions/_weft", "/usr/share/doc/weft/changelog.gz",
		"/usr/share/doc/weft/copyright", "/usr/share/doc/weft/docs/opensm.md", "/etc/weft/weft.yaml",
	} {
		if _, ok := installed[name]; !ok {
			t.Errorf("%s is not in the package", name)
		}
	}
	m.run(t, "man --warnings weft-serve >/dev/null; bash -c '. /usr/share/bash-completion/completions/weft'")
	if got := m.run(t, "! command -v systemd-analyze >/dev/null || systemd-analyze verify /lib/systemd/system/weft.service /lib/systemd/system/weft-watch.service 2>&1"); got != "" {
		t.Errorf("the unit: %s", got)
	}
	startAsTheUnitSays(t, m)
	routeByOpenSM(t, m)

	m.run(t, "echo '# mine' >>/etc/weft/weft.yaml")
	if got := m.run(t, install+second); strings.Contains(got, "downgrad") {
		t.Errorf("an upgrade: %s", got)
	}
	version, revision := versionOf(t, m.run(t, "weft version --json"))
	if got := m.run(t, "dpkg-query -W -f '${Version}' weft"); version != got {
		t.Errorf("weft says it is version %s, its package %s", version, got)
	}
	if git := revisionOf(t); revision != git {
		t.Errorf("weft says that its commit is %s, git %s", revision, git)
	}
	startAsTheUnitSays(t, m)
	m.run(t, "tail -n1 /etc/weft/weft.yaml | grep -qx '# mine'")

	m.run(t, "dpkg --remove weft")
	if got := m.run(t, "ldconfig -p | grep libweft.so || true"); got != "" {
		t.Errorf("after removal the linker still knows %s", got)
	}
	for _, name := range m.changed(t) {
		if strings.Contains(name, "weft") && (strings.HasPrefix(name, "/usr/") || strings.HasPrefix(name, "/lib/")) {
			t.Errorf("after removal there is still %s", name)
		}
	}
	m.run(t, "test -e /etc/weft/weft.yaml && test -d /var/lib/weft")
	m.run(t, "dpkg --purge weft")
	if left := m.leftovers(t); len(left) > 0 {
		t.Errorf("after purge: %s", strings.Join(left, " "))
	}
}

// revisionOf is the commit that make says the tree is of.
func revisionOf(t *testing.T) string {
	t.Helper()
	return run(t, root, "build/scripts/version.sh", "revision")
}

// startAsTheUnitSays starts the daemon as systemd would, waits until it says that
// it is ready, asks it, and stops it.
func startAsTheUnitSays(t *testing.T, m *machine) {
	t.Helper()
	unit := m.run(t, "cat /lib/systemd/system/weft.service")
	command := setting(t, unit, "ExecStart")
	if got := setting(t, unit, "User") + setting(t, unit, "RuntimeDirectory") + setting(t, unit, "StateDirectory"); got != "weftweftweft" {
		t.Errorf("the unit's user and folders: %s", got)
	}
	heard := hear(t)
	const script = `install -d -o weft -g weft -m 750 /run/weft /var/lib/weft
cd /
export NOTIFY_SOCKET=/mnt/notify
setpriv --reuid=weft --regid=weft --init-groups --no-new-privs --bounding-set=-all COMMAND 2>/tmp/weft.log & daemon=$!
for i in $(seq 600); do grep -q msg=ready /tmp/weft.log && break; sleep 0.1; done
weft status || true
stat -c %a:%U:%G /run/weft/opensm.sock
kill -TERM $daemon
wait $daemon && echo stopped || { echo "exit code $?"; cat /tmp/weft.log; }`
	got := m.run(t, strings.ReplaceAll(script, "COMMAND", command))
	if !strings.Contains(got, "OpenSM has not asked yet") || !strings.HasSuffix(got, ":weft:weft\nstopped") {
		t.Errorf("%s: %s", command, got)
	}
	select {
	case said := <-heard:
		if !strings.Contains(said, "READY=1") {
			t.Errorf("systemd heard %q", said)
		}
	case <-time.After(time.Minute):
		t.Error("systemd did not hear that the daemon is ready")
	}
}

// hear listens where systemd would, in the folder out.
func hear(t *testing.T) <-chan string {
	t.Helper()
	name := filepath.Join(out, "notify")
	_ = os.Remove(name)
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := os.Chmod(name, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(out, 0o755); err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	go func() {
		text := make([]byte, 1024)
		n, _ := c.Read(text)
		heard <- string(text[:n])
	}()
	return heard
}

// setting is the value of a key of a unit.
func setting(t *testing.T, unit, key string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + key + `=(.*)$`).FindStringSubmatch(unit)
	if found == nil {
		t.Fatalf("the unit has no %s:\n%s", key, unit)
	}
	return found[1]
}

// routeByOpenSM runs the example of the package: an OpenSM that finds the installed
// plugin by name, and it the installed daemon.
func routeByOpenSM(t *testing.T, m *machine) {
	t.Helper()
	if m.run(t, "for tool in opensm ibsim saquery smpquery; do command -v $tool >/dev/null || echo $tool; done") != "" || !hasHeaders() {
		t.Log("without OpenSM on ibsim: the installed plugin is not tried")
		return
	}
	got := m.run(t, "/usr/share/doc/weft/examples/opensm-on-ibsim.sh ring:n=4 2>&1")
	for _, line := range []string{"weft and its plugin are installed", "weft tables configured on all switches", "Done."} {
		if !strings.Contains(got, line) {
			t.Errorf("the installed example does not say %q:\n%s", line, got)
		}
	}
}
