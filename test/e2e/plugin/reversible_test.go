package plugin_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// TestReversible asks OpenSM for the path records of both directions, which is what
// the two sides of a connection have to choose from: they are the tables', and with
// WEFT_THOROUGH all that was read back of one engine is proven both ways.
func TestReversible(t *testing.T) {
	live.Need(t)
	t.Parallel()
	for i, c := range []struct {
		spec string
		all  string // the engine whose path records are all asked for
	}{{"torus:5x5,hosts=1", "dfsssp"}, {"dragonfly:p=2", ""}} {
		t.Run(c.spec, func(t *testing.T) {
			t.Parallel()
			f := testnet.Build(t, c.spec)
			d, _ := serveRoutes(t, "updn", routing.Any)
			r := start(t, f, d, conf(d, enough))
			r.Await(t, up, soon)
			for j, e := range engines.All() {
				if e.Contract == routing.Any || !testnet.Whole() && j%2 != i {
					continue
				}
				t.Run(e.Name, func(t *testing.T) {
					d.become(d.routes(e.Name, routing.Honored))
					if log := r.resweep(t); !strings.Contains(log, "engine "+e.Name+", proven") {
						_, why, refused := strings.Cut(log, "the daemon refuses: ")
						if !refused {
							t.Fatal(log)
						}
						why, _, _ = strings.Cut(why, "\n")
						t.Skip(why)
					}
					if e.Name == c.all && os.Getenv("WEFT_THOROUGH") != "" { // a minute
						r.provenBack(t, f)
					}
					r.bothWays(t, d.tables())
				})
			}
		})
	}
}

// bothWays compares the path records of some pairs, both ways, with the tables.
func (r *run) bothWays(t *testing.T, tables *routing.Tables) {
	t.Helper()
	f := tables.Fabric
	hosts := routing.HCA.Endpoints(f)
	chance := rand.New(rand.NewPCG(4, uint64(len(hosts))))
	differ := 0
	const pairs = 5
	for range pairs {
		a, b := hosts[chance.IntN(len(hosts))], hosts[chance.IntN(len(hosts))]
		if a == b {
			continue
		}
		there, back := r.pathSL(t, f, f.Endpoint(a).LID, f.Endpoint(b).LID), r.pathSL(t, f, f.Endpoint(b).LID, f.Endpoint(a).LID)
		if want := int(tables.Lanes.SL(a, f.Endpoint(b).LID)); there != want {
			t.Errorf("%s to %s has SL %d, want %d", f.Label(f.Endpoint(a).Node), f.Label(f.Endpoint(b).Node), there, want)
		}
		if want := int(tables.Lanes.SL(b, f.Endpoint(a).LID)); back != want {
			t.Errorf("%s to %s has SL %d, want %d", f.Label(f.Endpoint(b).Node), f.Label(f.Endpoint(a).Node), back, want)
		}
		if there != back {
			differ++
		}
	}
	t.Logf("%d of %d pairs have another service level on the way back", differ, pairs)
}

// provenBack reads everything back and has the judge prove it both ways.
func (r *run) provenBack(t *testing.T, f *fabric.Fabric) {
	t.Helper()
	v, err := deadlock.Verify(t.Context(), r.readBack(t, f), deadlock.Options{})
	if err != nil || !v.Free() || !v.Complete() || v.SLs < 2 {
		t.Errorf("what OpenSM has: %v, free %v, complete %v, %d service levels", err, v.Free(), v.Complete(), v.SLs)
	}
}

// readBack is what OpenSM has: the tables of its dumps, and the service levels of its
// path records between all hosts, of which there is one on each switch.
func (r *run) readBack(t *testing.T, f *fabric.Fabric) *routing.Tables {
	t.Helper()
	maps, err := slvl.Read(open(t, r.Swept(t, soon).SL2VL), "opensm-sl2vl.dump", f)
	if err != nil {
		t.Fatal(err)
	}
	read := &routing.Tables{Fabric: f, Forwarding: r.forwarding(t, f), Lanes: routing.NewLanes(f, maps)}
	hosts := routing.HCA.Endpoints(f)
	var several sync.WaitGroup
	for first := range 4 { // at a time
		several.Go(func() {
			for i := first; i < len(hosts); i += 4 {
				for _, b := range hosts {
					if hosts[i] == b {
						continue
					}
					from, to := f.Endpoint(hosts[i]), f.Endpoint(b)
					sl := r.pathSL(t, f, from.LID, to.LID)
					if sl < 0 {
						sl = r.pathSL(t, f, from.LID, to.LID) // saquery crashes at times
					}
					if sl < 0 {
						t.Errorf("no path record from LID %d to %d", from.LID, to.LID)
						return
					}
					read.Lanes.SLRow(to.LID)[read.Lanes.Row[hosts[i]]] = uint8(sl)
				}
			}
		})
	}
	several.Wait()
	return read
}

// TestOpenSMsOwn reads back what OpenSM's own dfsssp made of a torus, path records and
// all. The tables hold if each side of a connection keeps to its own path record, as
// the paper on DFSSSP takes for granted. They have a credit loop if one side answers
// on the service level of the other, which the records allow; and a network that is
// sent just these packets stops.
func TestOpenSMsOwn(t *testing.T) {
	live.Need(t)
	t.Parallel()
	f := testnet.Build(t, "torus:4x4,hosts=1")
	net := netFile(t, f)
	s, dir := live.Simulate(t, net), t.TempDir()
	live.Pin(t, dir, f)
	r := &run{Subnet: s, Manager: s.Manage(t, "", dir, map[string]string{"routing_engine": "dfsssp,no_fallback", "qos": "TRUE"})}
	says(t, r.Await(t, up, soon), "dfsssp tables configured on all switches")
	tables := r.readBack(t, f)
	hosts := routing.HCA.Endpoints(f)
	pairs, differ := 0, 0
	for i, a := range hosts {
		for _, b := range hosts[i+1:] {
			pairs++
			if tables.Lanes.SL(a, f.Endpoint(b).LID) != tables.Lanes.SL(b, f.Endpoint(a).LID) {
				differ++
			}
		}
	}
	t.Logf("%d of %d pairs have another service level on the way back", differ, pairs)
	if record := r.ask(t, f, "saquery", "-p", "--src-to-dst", "17:18"); !strings.Contains(record, "num_path_revers.........0x8") {
		t.Errorf("OpenSM does not mark its path records reversible\n%s", record)
	}

	for contract, loop := range map[routing.Contract]bool{routing.Directed: false, routing.Honored: true} {
		v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: contract})
		if err != nil {
			t.Fatal(err)
		}
		if !v.Complete() || v.Free() == loop {
			t.Errorf("under contract %s: complete %v, free of deadlock %v", contract, v.Complete(), v.Free())
		}
		answers := 0
		for _, step := range v.Cycle {
			if step.Answer {
				answers++
			}
		}
		if loop && answers == 0 {
			t.Error("no step of the loop is an answer")
		}
	}

	paths, lfts := filepath.Join(t.TempDir(), "paths.psl"), filepath.Join(t.TempDir(), "lfts.dump")
	write(t, paths, func(w io.Writer) error { return psl.Write(w, tables, psl.Full) })
	write(t, lfts, func(w io.Writer) error { return lft.Write(w, f, tables.Forwarding, lft.PortGUIDs) })
	files := []string{net, "--tables", lfts, "--psl", paths, "--sl2vl", r.Swept(t, soon).SL2VL}
	for _, c := range []struct {
		args []string
		exit int
		says string
	}{
		{[]string{"verify", "--contract", "directed"}, 0, "deadlock-free (contract directed"},
		{[]string{"verify", "--contract", "honored"}, 1, "credit-loop (contract honored"},
		{[]string{"packets", "--contract", "honored", "--replay-cycle"}, 1, "deadlock"},
	} {
		out, exit := weft(t, append(c.args[:len(c.args):len(c.args)], files...)...)
		if exit != c.exit || !strings.Contains(out, c.says) {
			t.Errorf("weft %s: exit code %d, want %d and %q\n%s", strings.Join(c.args, " "), exit, c.exit, c.says, out)
		}
		t.Logf("weft %s:\n%s", strings.Join(c.args, " "), out)
	}
}

// write writes a file.
func write(t *testing.T, path string, how func(io.Writer) error) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(how(file), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// weft runs the command and returns what it prints and its exit code.
func weft(t *testing.T, args ...string) (string, int) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), live.Weft(t), args...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}
