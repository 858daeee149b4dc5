package e2e

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/internal/live"
)

// Exit codes of weft: all is well, and something was found.
const (
	proven  = 0
	finding = 1
)

// The way of an administrator: route a network, prove it, let OpenSM load the
// file, and judge what OpenSM dumped, with the lanes and the proof of before.
// OpenSM's own tables for the same network have a loop.
func TestTheCommandWithOpenSM(t *testing.T) {
	live.Need(t)
	t.Parallel()
	weft := built(t)
	net := filepath.Join(t.TempDir(), "net.ibnet")
	weft(proven, "generate", "torus:4x4", "-o", net)
	tables := filepath.Join(t.TempDir(), "tables")
	weft(proven, "route", net, "--engine", "lash", "--endpoints", "ca", "--out", tables)
	in := func(name string) string { return filepath.Join(tables, name) }

	ours := live.OpenSM(t, net, map[string]string{"routing_engine": "file", "lfts_file": in("lfts.dump")}, nil)
	tookTheFile(t, ours)
	deployed := []string{"verify", net, "--tables", ours.LFTs, "--lst", ours.Subnet, "--endpoints", "ca"}
	weft(proven, slices.Concat(deployed, []string{"--psl", in("paths.psl"), "--sl2vl", in("sl2vl.dump"), "--certificate", in("certificate")})...)
	weft(finding, deployed...) // without the lanes
	asked := ours.Input()
	asked.PSL, asked.SLVL = in("paths.psl"), in("sl2vl.dump")
	if got, out := live.Check(t, asked); got != live.NoLoop {
		t.Errorf("ibdmchk on the folder that weft wrote: %v\n%s", got, out)
	}

	// Tables that name a file of groups are loaded as well: their static ports.
	wide := filepath.Join(t.TempDir(), "wide")
	weft(proven, "route", net, "--engine", "weave-any", "--adaptive", "minimal", "--out", wide)
	tookTheFile(t, live.OpenSM(t, net, map[string]string{"routing_engine": "file", "lfts_file": filepath.Join(wide, "lfts.dump")}, nil))

	theirs := live.OpenSM(t, net, map[string]string{"routing_engine": "minhop"}, nil)
	weft(finding, "verify", net, "--tables", theirs.LFTs, "--lst", theirs.Subnet, "--endpoints", "ca")
}

// built builds the command, and returns a function that runs it and wants an
// exit code.
func built(t *testing.T) func(code int, args ...string) {
	t.Helper()
	return runs(t, live.Weft(t))
}

// runs is a function that runs the command and wants an exit code.
func runs(t *testing.T, weft string) func(code int, args ...string) {
	return func(code int, args ...string) {
		t.Helper()
		got := 0
		out, err := exec.CommandContext(t.Context(), weft, args...).CombinedOutput()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			got = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if got != code {
			t.Fatalf("weft %q: exit code %d, want %d\n%s", args, got, code, out)
		}
	}
}
