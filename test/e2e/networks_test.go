package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format/ibnet"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// network is a spec of package topology, or a dump of a real fabric.
type network struct {
	name string
	spec string // empty: a real dump
	dump string // file in the corpus
	tree bool   // shortest paths between adapters make no loop on one lane
}

// The networks of most tests. DGX is a tree too, but for the aggregation nodes
// on its spines, to which paths go down and up again.
var (
	dgx   = network{name: "dgx", dump: "topograph-ndr-dgx-2025"}
	stage = network{name: "stage", dump: "kalcher-stage-2014", tree: true}
	x5    = network{name: "x5", dump: "psmn-x5-2020", tree: true}

	computed = []network{
		{name: "ring", spec: "ring:7,hosts=2"},
		{name: "torus", spec: "torus:4x4,hosts=1"},
		{name: "dragonfly", spec: "dragonfly:p=2,a=4,h=1"},
		{name: "random", spec: "random:switches=14,links=24,hosts=2,seed=5"},
		{name: "karytree", spec: "karytree:k=3,n=3", tree: true},
	}
	networks = append(computed[:len(computed):len(computed)], x5, stage, dgx)
)

// fabric builds the network, or skips the test without the corpus.
func (n network) fabric(t testing.TB) *fabric.Fabric {
	t.Helper()
	if n.spec == "" {
		return testnet.Dump(t, n.dump)
	}
	return testnet.Build(t, n.spec)
}

// onEach runs a test on networks, side by side; a sample of many is a third of them, not the same for
// every test.
func onEach(t *testing.T, list []network, test func(t *testing.T, n network, f *fabric.Fabric)) {
	t.Helper()
	const third = 3
	turn := len(t.Name()) % third
	for i, n := range list {
		t.Run(n.name, func(t *testing.T) {
			if len(list) > third && i%third != turn {
				testnet.OnlyWhole(t)
			}
			t.Parallel()
			test(t, n, n.fabric(t))
		})
	}
}

// open opens a file until the test ends.
func open(t testing.TB, path ...string) io.Reader {
	t.Helper()
	r, err := reading.Open(t.Context(), filepath.Join(path...), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// written is a new file with what write writes.
func written(t testing.TB, name string, write func(io.Writer) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := write(file); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return path
}

// netFile is a fabric as a file for ibsim.
func netFile(t testing.TB, f *fabric.Fabric) string {
	return written(t, "net.ibnet", func(w io.Writer) error { return ibnet.Write(w, f) })
}

// route runs an engine with some lanes.
func route(t testing.TB, f *fabric.Fabric, e engines.Engine, vls int) *routing.Tables {
	t.Helper()
	return routeUnder(t, f, e, routing.Honored, vls)
}

// made is the tables of an engine.
type made struct {
	engine engines.Engine
	tables *routing.Tables
}

// byPaths routes a network with its engines. Those whose paths are the same are together:
// OpenSM, which takes the paths from one file and the lanes from others, is asked about
// them once.
func byPaths(t testing.TB, n network, f *fabric.Fabric) (groups [][]made) {
	t.Helper()
	o := engines.Options{}.Sharing()
	for _, e := range enginesFor(n) {
		tables, err := e.Route(t.Context(), f, o, routing.Budget{VLs: routing.DefaultVLs, Scope: routing.Adapters, Contract: routing.Honored}, nil)
		if refused := (*routing.Refusal)(nil); errors.As(err, &refused) {
			t.Logf("%s refuses: %v", e.Name, err)
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		i := slices.IndexFunc(groups, func(g []made) bool {
			return samePaths(f, g[0].tables.Forwarding, tables.Forwarding)
		})
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], made{e, tables})
	}
	return groups
}

// namesOf is the names of the engines of a group.
func namesOf(group []made) string {
	names := make([]string, len(group))
	for i, m := range group {
		names[i] = m.engine.Name
	}
	return strings.Join(names, ",")
}

func samePaths(f *fabric.Fabric, a, b *routing.Forwarding) bool {
	for lid := range f.LIDs() {
		if !bytes.Equal(a.Row(lid), b.Row(lid)) {
			return false
		}
	}
	return true
}

// routeUnder is route for clients that do as a contract says.
func routeUnder(t testing.TB, f *fabric.Fabric, e engines.Engine, c routing.Contract, vls int) *routing.Tables {
	t.Helper()
	tables, err := e.Route(t.Context(), f, engines.Options{}, routing.Budget{VLs: vls, Scope: routing.Adapters, Contract: c}, nil)
	if err != nil {
		if refused := (*routing.Refusal)(nil); errors.As(err, &refused) {
			t.Skipf("%s refuses: %v", e.Name, err)
		}
		t.Fatalf("%s: %v", e.Name, err)
	}
	return tables
}

// named is an engine of the table.
func named(t testing.TB, name string) engines.Engine {
	t.Helper()
	e, err := engines.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// enginesFor is the engines; on the real fabrics, which take
// OpenSM seconds, those of the main job.
func enginesFor(n network) []engines.Engine {
	main := []string{"minhop", "updn", "sssp", "dfsssp", "lash"}
	if n == dgx && os.Getenv("WEFT_THOROUGH") == "" {
		main = []string{"minhop", "dfsssp"} // OpenSM and ibdmchk take seconds for each
	}
	return slices.DeleteFunc(engines.All(), func(e engines.Engine) bool {
		return n.spec == "" && !slices.Contains(main, e.Name)
	})
}

// judged is our verdict.
func judged(t testing.TB, tables *routing.Tables, scope routing.Scope) *deadlock.Verdict {
	t.Helper()
	v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Directed, Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// differences is where two routings of a fabric send packets by different ports,
// a sentence each.
func differences(f *fabric.Fabric, want, got *routing.Forwarding) []string {
	var all []string
	for lid := range f.LIDs() {
		for s := range fabric.NodeID(f.Switches()) {
			if a, b := want.Port(s, lid), got.Port(s, lid); a != b {
				all = append(all, fmt.Sprintf("%s sends LID %d by port %d, want %d", f.Label(s), lid, b, a))
			}
		}
	}
	return all
}

// sameTables reports differences, the first few.
func sameTables(t testing.TB, f *fabric.Fabric, want, got *routing.Forwarding) {
	t.Helper()
	all := differences(f, want, got)
	for _, d := range all[:min(5, len(all))] {
		t.Error(d)
	}
	if len(all) > 5 {
		t.Errorf("%d differences in all", len(all))
	}
}

// diverted is a copy of a routing in which one switch sends one adapter's LID by
// another port with a cable, and what differences must say of it.
func diverted(t testing.TB, f *fabric.Fabric, paths *routing.Forwarding) (changed *routing.Forwarding, said string) {
	t.Helper()
	changed = routing.NewForwarding(f)
	for lid := range f.LIDs() {
		copy(changed.Row(lid), paths.Row(lid))
	}
	lid := f.Endpoint(fabric.EndpointID(len(f.Endpoints()) - 1)).LID
	first, end := f.TrunksFrom(0)
	for c := first; c < end; c++ {
		if port, old := f.Channel(c).FromPort, paths.Port(0, lid); port != old {
			changed.Row(lid)[0] = port
			return changed, fmt.Sprintf("%s sends LID %d by port %d, want %d", f.Label(0), lid, port, old)
		}
	}
	t.Fatal("the first switch has no other port")
	return nil, ""
}
