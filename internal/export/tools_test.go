package export

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// Slurm's controller reads topology.conf, and sees the tree that is meant.
func TestSlurmReadsTopology(t *testing.T) {
	for _, spec := range []string{"xgft:m=4x2,w=2x2,hosts=4", "dragonfly:p=2", "two parts"} {
		n := twoParts(t)
		if spec != n.Name {
			n = networkOf(t, spec, testnet.Build(t, spec))
		}
		all, _, err := tree(n)
		if err != nil {
			t.Fatal(err)
		}
		var hosts []string
		want := map[string]string{}
		for _, b := range all {
			hosts = append(hosts, b.hosts...)
			want[b.name] = HostList(b.children)
			if b.hosts != nil {
				want[b.name] = HostList(b.hosts)
			}
		}
		got, log := slurmctld(t, HostList(hosts), written(t, "slurm", n))
		if len(got) != len(want) {
			t.Fatalf("%s: Slurm has %d switches, want %d:\n%s", spec, len(got), len(want), log)
		}
		for name, below := range want {
			if got[name] != below {
				t.Errorf("%s: below %s Slurm has %q, want %q", spec, name, got[name], below)
			}
		}
	}
	if got, log := slurmctld(t, "a[1-2]", "SwitchName=s Nodes=a[1-2]\nSwitchName=top Switches=s,other\n"); len(got) > 0 {
		t.Errorf("Slurm took a switch that does not exist:\n%s", log)
	}
}

var slurmSwitch = regexp.MustCompile(`Switch level:(\d+) name:(\S+) nodes:(\S+) switches:(\S+)`)

// slurmctld starts Slurm's controller on a free loopback port, lets it read a topology.conf,
// and ends it. It returns what is below every switch: nodes below a leaf, else switches.
func slurmctld(t *testing.T, hosts, topology string) (below map[string]string, log string) {
	t.Helper()
	program, err := exec.LookPath("slurmctld")
	if err != nil {
		program = "/usr/sbin/slurmctld"
		if _, err := os.Stat(program); err != nil {
			t.Skip("slurmctld is missing: make test installs it as root on Debian")
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	dir := t.TempDir()
	conf := filepath.Join(dir, "slurm.conf")
	for path, text := range map[string]string{
		filepath.Join(dir, "topology.conf"): topology,
		conf: fmt.Sprintf(`ClusterName=one
SlurmctldHost=%s(127.0.0.1)
CommunicationParameters=NoCtldInAddrAny
SlurmctldPort=%d
AuthType=auth/none
CredType=cred/none
SlurmUser=%s
StateSaveLocation=%s
SlurmctldPidFile=%s/pid
SlurmctldDebug=debug
ProctrackType=proctrack/linuxproc
MpiDefault=none
TopologyPlugin=topology/tree
NodeName=%s NodeAddr=127.0.0.1
PartitionName=main Nodes=ALL Default=YES
`, host, port, me.Username, dir, dir, hosts),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-D", "-f", conf)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it starts a process of its own
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	below = map[string]string{}
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if m := slurmSwitch.FindStringSubmatch(lines.Text()); m != nil {
			below[m[2]] = m[4]
			if m[1] == "0" {
				below[m[2]] = m[3]
			}
		} else if len(below) > 0 || strings.Contains(lines.Text(), "fatal") {
			break // all switches are listed at once
		}
	}
	if ctx.Err() != nil {
		t.Fatalf("slurmctld has not read its topology in a minute:\n%s", text.String())
	}
	cancel()
	_ = cmd.Wait() // it was killed, or refused
	if len(below) == 0 && !strings.Contains(text.String(), "fatal") {
		t.Fatalf("slurmctld ended without a word on its topology:\n%s", text.String())
	}
	return below, text.String()
}

// NetworkX reads the JSON and the GraphML, with every node and cable.
func TestNetworkX(t *testing.T) {
	if err := exec.Command("python3", "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('networkx') is None)").Run(); err != nil {
		t.Skip("networkx for python3 is missing: make test installs it as root on Debian")
	}
	// Releases before 3.4 have no argument for the name of the list of links, later ones call
	// it edges unless told.
	scripts := map[string]string{"json": `
import json, sys, networkx
data = json.load(sys.stdin)
try:
    g = networkx.node_link_graph(data, edges="links")
except TypeError:
    g = networkx.node_link_graph(data)
print(g.number_of_nodes(), g.number_of_edges())`, "graphml": `
import sys, networkx
g = networkx.parse_graphml(sys.stdin.buffer.read().decode())
print(g.number_of_nodes(), g.number_of_edges())`}
	for _, n := range testnet.First([]*result.ReportNetwork{odd(t), networkOf(t, "torus:4x4", testnet.Build(t, "torus:4x4"))}, 1) {
		want := fmt.Sprintf("%d %d", len(n.Nodes.Name), len(n.Cables.A))
		for form, script := range scripts {
			if got := strings.TrimSpace(tool(t, written(t, form, n), "python3", "-c", script)); got != want {
				t.Errorf("%s: NetworkX has %s nodes and edges, want %s", form, got, want)
			}
		}
	}
}
