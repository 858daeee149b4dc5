package e2e

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/psl"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/routing"
)

// files is a routing as ibdmchk and weft verify take it: what OpenSM dumped, and
// our service levels and lanes.
type files struct {
	dumps     live.Dumps
	psl, slvl string // empty: SL 0, and lane n for SL n
}

// withLanes is OpenSM's tables with the lanes of ours, which is what is deployed.
func withLanes(t testing.TB, d live.Dumps, tables *routing.Tables, form slvl.Form) files {
	t.Helper()
	return files{
		dumps: d,
		psl:   written(t, "psl", func(w io.Writer) error { return psl.Write(w, tables, psl.Full) }),
		slvl:  written(t, "slvl", func(w io.Writer) error { return slvl.Write(w, tables.Fabric, tables.Lanes.SL2VL, form) }),
	}
}

// read reads all of the files.
func (in files) read(t testing.TB, f *fabric.Fabric) *routing.Tables {
	t.Helper()
	dump := tablesOf(t, f, in.dumps, in.dumps.FDBs)
	tables := &routing.Tables{Fabric: f, Forwarding: dump.Forwarding}
	if in.psl == "" {
		tables.Lanes = routing.OneSL(f, routing.LanePerSL(routing.DefaultVLs))
		return tables
	}
	lanes, err := slvl.Read(open(t, in.slvl), in.slvl, f)
	if err != nil {
		t.Fatal(err)
	}
	if tables.Lanes, err = psl.Read(open(t, in.psl), in.psl, f, lanes, dump.LIDs); err != nil {
		t.Fatal(err)
	}
	return tables
}

// ours is our verdict on the files, in ibdmchk's words.
func (in files) ours(t testing.TB, f *fabric.Fabric, scope routing.Scope) live.Verdict {
	t.Helper()
	switch v := judged(t, in.read(t, f), scope); {
	case !v.Complete():
		return live.Undecided
	case v.Free():
		return live.NoLoop
	}
	return live.Loop
}

// theirs is ibdmchk's.
func (in files) theirs(t testing.TB, scope routing.Scope) (live.Verdict, string) {
	t.Helper()
	asked := in.dumps.Input()
	asked.PSL, asked.SLVL, asked.Switches = in.psl, in.slvl, scope == routing.All
	v, out := live.Check(t, asked)
	return v, out[max(0, len(out)-600):]
}

// agreed is the verdict of both, and an error where there are two.
func (in files) agreed(t testing.TB, f *fabric.Fabric, scope routing.Scope) live.Verdict {
	t.Helper()
	ours := in.ours(t, f, scope)
	if theirs, out := in.theirs(t, scope); ours != theirs {
		t.Errorf("scope %s: weft finds %v, ibdmchk %v\n%s", scope, ours, theirs, out)
	}
	return ours
}

// onFewerLanes is tables whose service levels share so many lanes, so that layers
// which must be apart are not. The service levels from DefaultVLs on, which no
// engine assigns here, still name all lanes: ibdmchk counts lanes by the map, and
// a source with a service level beyond the count makes it crash.
func onFewerLanes(tables *routing.Tables, vls int) *routing.Tables {
	var lane [routing.SLs]uint8
	for sl := range lane {
		lane[sl] = uint8(sl % routing.DefaultVLs)
		if sl < routing.DefaultVLs {
			lane[sl] = uint8(sl % vls)
		}
	}
	lanes := *tables.Lanes
	lanes.SL2VL = routing.UniformSL2VL(lane)
	return &routing.Tables{Fabric: tables.Fabric, Forwarding: tables.Forwarding, Lanes: &lanes}
}

// For every engine on every network weft and ibdmchk come to one verdict: on the
// lanes that the engine assigned, and on fewer than it needs.
func TestIbdmchkAgrees(t *testing.T) {
	live.Need(t)
	t.Parallel()
	onEach(t, networks, func(t *testing.T, n network, f *fabric.Fabric) {
		net := netFile(t, f)
		for _, group := range byPaths(t, n, f) {
			t.Run(namesOf(group), func(t *testing.T) {
				d := loaded(t, net, f, group[0].tables.Forwarding, true)
				tookTheFile(t, d)
				said := verdicts{}
				for _, m := range group {
					t.Run(m.engine.Name, func(t *testing.T) { m.agreed(t, n, f, d, said) })
				}
			})
		}
	})
}

// verdicts is what both judges said of one dump with service levels and lanes, by what these files
// say: engines with the same paths often have the same lanes as well.
type verdicts map[[sha256.Size]byte]live.Verdict

// agreed is files.agreed, asked once.
func (v verdicts) agreed(t testing.TB, in files, f *fabric.Fabric, scope routing.Scope) live.Verdict {
	t.Helper()
	h := sha256.New()
	fmt.Fprintln(h, scope)
	for _, name := range []string{in.psl, in.slvl} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(h, len(text))
		h.Write(text)
	}
	key := [sha256.Size]byte(h.Sum(nil))
	got, ok := v[key]
	if !ok {
		got = in.agreed(t, f, scope)
		v[key] = got
	}
	return got
}

// agreed has both judges look at what OpenSM made of the paths of an engine, with its lanes.
func (m made) agreed(t *testing.T, n network, f *fabric.Fabric, d live.Dumps, said verdicts) {
	e, tables := m.engine, m.tables
	in := withLanes(t, d, tables, slvl.Lines)
	sameRouting(t, tables, in.read(t, f))
	switch got := said.agreed(t, in, f, routing.Adapters); {
	case (e.Safe || n.tree) && got != live.NoLoop:
		t.Errorf("%v, want none", got)
	case !n.tree && (e.Name == "minhop" || e.Name == "sssp") && got != live.Loop:
		t.Errorf("%v, want a loop", got)
	}
	if n.spec == "" {
		return // for time: the real fabrics are the large ones
	}
	if _, uniform := tables.Lanes.SL2VL.Uniform(); uniform {
		said.agreed(t, in, f, routing.All) // ibdmchk does not look at the lanes of in-port 0
	}
	for vls := 1; vls <= 2; vls++ {
		fewer := withLanes(t, d, onFewerLanes(tables, vls), slvl.Lines)
		got := said.agreed(t, fewer, f, routing.Adapters)
		if needed := tables.Lanes.Needed; vls == 1 && needed > 1 && got != live.Loop && e.Contract == routing.Honored && (e.Lanes == "first-fit" || e.Lanes == "break-cycles") {
			t.Errorf("needs %d lanes, but on one: %v", needed, got)
		}
		said.agreed(t, fewer, f, routing.All)
	}
}

// sameRouting reports where tables that went through files differ from what they
// were: two judges of one wrong file agree.
func sameRouting(t testing.TB, want, got *routing.Tables) {
	t.Helper()
	f := want.Fabric
	sameTables(t, f, want.Forwarding, got.Forwarding)
	for lid, owner := range f.LIDs() {
		for e := range f.Endpoints() {
			src := fabric.EndpointID(e)
			if f.Endpoint(src).Switch == fabric.None || src == owner {
				continue
			}
			if a, b := want.Lanes.SL(src, lid), got.Lanes.SL(src, lid); a != b {
				t.Fatalf("from %s to LID %d: SL %d, want %d", f.Label(f.Endpoint(src).Node), lid, b, a)
			}
		}
	}
	for s := range fabric.NodeID(f.Switches()) {
		ports := uint8(f.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				// What comes in by a cable goes out by another.
				if in == out || f.Out(s, in) == fabric.None || f.Out(s, out) == fabric.None {
					continue
				}
				for sl := range uint8(routing.SLs) {
					if a, b := want.Lanes.SL2VL.VL(s, in, out, sl), got.Lanes.SL2VL.VL(s, in, out, sl); a != b {
						t.Fatalf("%s, from port %d to port %d: SL %d on lane %d, want %d", f.Label(s), in, out, sl, b, a)
					}
				}
			}
		}
	}
}

// OpenSM's own engines that need one lane, where it has no service levels to
// tell: aggregation nodes on the spines of the DGX fabric close a loop.
func TestIbdmchkAgreesOnOpenSMsEngines(t *testing.T) {
	live.Need(t)
	t.Parallel()
	onEach(t, networks, func(t *testing.T, n network, f *fabric.Fabric) {
		net := netFile(t, f)
		theirs := []string{"minhop", "updn", "dnup", "dor", "sssp", "nue"}
		if n.name == dgx.name {
			theirs = []string{"minhop"}
		}
		for _, engine := range theirs {
			d := live.OpenSM(t, net, map[string]string{"routing_engine": engine}, nil)
			got := files{dumps: d}.agreed(t, f, routing.Adapters)
			if n.name == dgx.name || n.name == "ring" && d.Engine == "minhop" {
				if got != live.Loop {
					t.Errorf("OpenSM's %s: %v, want %v", d.Engine, got, live.Loop)
				}
			}
			if t.Failed() {
				t.Fatalf("with OpenSM's %s (asked for %s)", d.Engine, engine)
			}
		}
	})
}

// Lanes set in OpenSM's own configuration come back in its dump of them, which
// both judges take as it is; and what we write in the form of that dump is to
// both what the lines are.
func TestLanesInTheFormOfOpenSM(t *testing.T) {
	live.Need(t)
	t.Parallel()
	lash := named(t, "lash")
	onEach(t, []network{computed[0], computed[1], x5}, func(t *testing.T, _ network, f *fabric.Fabric) {
		net := netFile(t, f)
		tables := route(t, f, lash, routing.DefaultVLs)
		lfts := written(t, "lfts.dump", func(w io.Writer) error { return lft.Write(w, f, tables.Forwarding, lft.NodePlusPort) })
		for _, vls := range []int{1, routing.DefaultVLs} {
			wanted := onFewerLanes(tables, vls)
			d := live.OpenSM(t, net, map[string]string{
				"routing_engine": "file", "lfts_file": lfts, "qos": "TRUE", "qos_sl2vl": commas(wanted.Lanes.SL2VL),
			}, f)
			in := withLanes(t, d, wanted, slvl.Dump)
			lines, own := in, in
			lines.slvl = withLanes(t, d, wanted, slvl.Lines).slvl
			own.slvl = d.SL2VL
			want := live.NoLoop
			if vls < tables.Lanes.Needed {
				want = live.Loop
			}
			for name, in := range map[string]files{"our dump": in, "our lines": lines, "OpenSM's dump": own} {
				sameRouting(t, wanted, in.read(t, f))
				if got := in.agreed(t, f, routing.Adapters); got != want {
					t.Errorf("%d lanes, %s: %v, want %v", vls, name, got, want)
				}
			}
		}
	})
}

// commas is a uniform map as opensm.conf has it.
func commas(m *routing.SL2VL) string {
	lane, _ := m.Uniform()
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(lane)), ","), "[]")
}
