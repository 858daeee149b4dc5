package ethernet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/ethernet/folder"
	"github.com/weft-fabric/weft/ethernet/judge"
	"github.com/weft-fabric/weft/internal/ethernet/bgp"
	"github.com/weft-fabric/weft/internal/ethernet/collect"
	"github.com/weft-fabric/weft/result"
)

// sshd has ssh reach the routers: a configuration of ssh that starts a server of OpenSSH inside a router's namespace
// for each session, which talks through pipes and listens nowhere.
func (l *lab) sshd() (config string) {
	l.t.Helper()
	server, err := exec.LookPath("sshd")
	if err != nil {
		server = "/usr/sbin/sshd"
	}
	if _, err := os.Stat(server); err != nil {
		l.t.Skip("no sshd: apt-get install openssh-server")
	}
	write := func(name, text string, mode os.FileMode) string {
		l.t.Helper()
		at := filepath.Join(l.dir, name)
		if err := os.WriteFile(at, []byte(text), mode); err != nil {
			l.t.Fatal(err)
		}
		return at
	}
	sh(l.t, fmt.Sprintf("mkdir -p /run/sshd; for k in user host; do ssh-keygen -q -t ed25519 -N '' -f %s/$k; done; cp %[1]s/user.pub %[1]s/authorized", l.dir))
	public, err := os.ReadFile(filepath.Join(l.dir, "host.pub"))
	if err != nil {
		l.t.Fatal(err)
	}
	var known strings.Builder
	for _, d := range slices.Concat(l.c.leaves, l.c.others) {
		at := filepath.Join(l.dir, d)
		// Routers of one machine have a folder each for their sockets.
		sh(l.t, "mkdir -p "+at+"/bin")
		write(d+"/bin/vtysh", "#!/bin/sh\nexec /usr/bin/vtysh --vty_socket "+at+" \"$@\" 2>/dev/null\n", 0o755)
		write(d+"/sshd_config", fmt.Sprintf("HostKey %[1]s/host\nAuthorizedKeysFile %[1]s/authorized\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin prohibit-password\nSetEnv PATH=%[2]s/bin:/usr/bin:/bin:/usr/sbin:/sbin\n", l.dir, at), 0o600)
		fmt.Fprintf(&known, "%s %s", d, public)
	}
	write("known", known.String(), 0o600)
	return write("ssh_config", fmt.Sprintf("Host *\n ProxyCommand ip netns exec %[1]s%%h %[2]s -i -f %[3]s/%%h/sshd_config\n User root\n IdentityFile %[3]s/user\n IdentitiesOnly yes\n", l.tag, server, l.dir), 0o600)
}

// What is collected over ssh from FRR's routers is what they say, and is judged; what does not answer is said, and asked
// again by the next run alone.
func TestCollect(t *testing.T) {
	if testing.Short() {
		t.Skip("starts routers")
	}
	requireFRR(t)
	t.Parallel()
	l := start(t, twoLevels(2, 2, bgp.SpinesAlike))
	o := collect.Options{Parallel: 4, Timeout: 30 * time.Second, Config: l.sshd(), KnownHosts: filepath.Join(l.dir, "known")}
	l.settle("before it is collected")
	// One leaf's key is not known.
	known, err := os.ReadFile(o.KnownHosts)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(known), "\n")
	if err := os.WriteFile(o.KnownHosts, []byte(strings.Join(lines[1:], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	var devices []collect.Device
	for _, name := range slices.Concat(l.c.leaves, l.c.others) {
		devices = append(devices, collect.Device{Name: name, Address: name})
	}
	dir := t.TempDir()
	run := func() []result.CollectDevice {
		t.Helper()
		records, err := collect.Run(context.Background(), dir, devices, o)
		if err != nil {
			t.Fatal(err)
		}
		return records
	}
	for i, r := range run() {
		if i > 0 && (r.Error != "" || !strings.HasPrefix(r.System, "FRR ")) || i == 0 && !strings.Contains(r.Error, "host key is not known") {
			t.Fatalf("%+v", r)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, devices[0].Name)); !os.IsNotExist(err) {
		t.Fatalf("a device that did not answer has a folder: %v", err)
	}
	if err := os.WriteFile(o.KnownHosts, known, 0o600); err != nil {
		t.Fatal(err)
	}
	o.Resume = true
	for i, r := range run() {
		if r.Error != "" || r.Kept != (i > 0) {
			t.Fatalf("%+v", r)
		}
	}
	n, err := folder.Read(context.Background(), dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := judge.Verify(context.Background(), n, judge.Options{})
	if err != nil || !v.Free() || !v.Complete() || n.Cables() != len(l.c.cables) || len(bgp.HostClasses(n)) != len(l.c.leaves) {
		t.Fatalf("%v: %d cables, %+v", err, n.Cables(), v)
	}
	for d, name := range n.Names {
		if n.AS[d] != l.as[name] {
			t.Errorf("%s: AS %d, want %d", name, n.AS[d], l.as[name])
		}
	}
}
