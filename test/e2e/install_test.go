package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/live"
)

// advice is what weft route --json says of installing.
type advice struct {
	Install struct {
		By    string
		Lines []string
	}
}

// advised routes a network into a folder and returns what is advised, as options.
func advised(t *testing.T, weft, net, engine, dir string) (by string, options map[string]string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), weft, "route", net, "--engine", engine, "--endpoints", "ca", "--out", dir, "--json").Output()
	var a advice
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	options = map[string]string{}
	for _, line := range a.Install.Lines {
		key, value, _ := strings.Cut(line, " ")
		options[key] = value
	}
	return a.Install.By, options
}

// What weft route advises, a stock OpenSM installs without a credit loop, though an
// earlier manager left other lanes in the ports, which an OpenSM without QoS does
// not write. What it advises against has one.
func TestAdviceInOpenSM(t *testing.T) {
	live.Need(t)
	t.Parallel()
	weft := live.Weft(t)
	run := runs(t, weft)
	f := computed[2].fabric(t)
	net := netFile(t, f)

	by, plugin := advised(t, weft, net, "weave-any", filepath.Join(t.TempDir(), "t"))
	if by != "plugin" || plugin["routing_engine"] != "weft,no_fallback" || plugin["qos"] != "TRUE" {
		t.Errorf("weave-any: by %s, %v", by, plugin)
	}
	tables := filepath.Join(t.TempDir(), "t")
	advised(t, weft, net, "weave-any", tables)
	alone := live.OpenSM(t, net, map[string]string{"routing_engine": "file,no_fallback", "lfts_file": filepath.Join(tables, "lfts.dump")}, nil)
	tookTheFile(t, alone)
	run(finding, "verify", net, "--tables", alone.LFTs, "--lst", alone.Subnet, "--endpoints", "ca", "--contract", "any")
	if got, out := live.Check(t, alone.Input()); got != live.Loop {
		t.Errorf("ibdmchk on the file alone of weave-any: %v, want %v\n%s", got, live.Loop, out)
	}

	by, file := advised(t, weft, net, "updn", filepath.Join(t.TempDir(), "u"))
	if by != "file" {
		t.Fatalf("updn: by %s", by)
	}
	s := live.Simulate(t, net)
	before := s.Manage(t, "", t.TempDir(), map[string]string{"routing_engine": "minhop", "qos": "TRUE", "qos_sl2vl": leftLanes})
	before.Await(t, live.Up, soon)
	before.Stop()
	m := s.Manage(t, "", before.Dir, file)
	if log := m.Await(t, live.Up, soon); !strings.Contains(log, "file tables configured") {
		t.Errorf("OpenSM does not use the file:\n%s", log)
	}
	d, trunk := m.Swept(t, soon), f.Channel(0)
	host := fmt.Sprintf("H-%016x", uint64(f.Node(f.Endpoint(fabric.EndpointID(len(f.Endpoints())-1)).Node).GUID))
	out, err := s.Query(t, host, "smpquery", "sl2vl", fmt.Sprint(lidOf(t, f, d, trunk.From)), fmt.Sprint(trunk.FromPort))
	if err != nil || !regexp.MustCompile(`ports: in +\d+, out +\d+: \| 3\| 2\| 1\| 0\|`).MatchString(out) {
		t.Errorf("the lanes that were there did not stay: %v\n%s", err, out)
	}
	run(proven, "verify", net, "--tables", d.LFTs, "--lst", d.Subnet, "--endpoints", "ca", "--contract", "any")
	if got, out := live.Check(t, d.Input()); got != live.NoLoop {
		t.Errorf("ibdmchk on updn: %v\n%s", got, out)
	}
}

// lidOf is the LID that OpenSM gave a switch.
func lidOf(t *testing.T, f *fabric.Fabric, d live.Dumps, s fabric.NodeID) int {
	t.Helper()
	for theirs, ours := range tablesOf(t, f, d, d.LFTs).LIDs {
		if ours != 0 && f.Owner(ours) == fabric.EndpointID(s) {
			return theirs
		}
	}
	t.Fatalf("OpenSM gave %s no LID", f.Label(s))
	return 0
}

// leftLanes is a map that is not OpenSM's own.
const leftLanes = "3,2,1,0,3,2,1,0,3,2,1,0,3,2,1,0"
