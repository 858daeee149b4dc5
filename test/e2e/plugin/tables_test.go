package plugin_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// TestEngines lets OpenSM run every engine on every network, one sweep each, and
// reads back what it did with the tables. In a sample every engine meets one of the networks.
func TestEngines(t *testing.T) {
	live.Need(t)
	t.Parallel()
	for i, n := range []struct {
		name  string
		spec  string   // empty: a real dump
		some  []string // engines to try, as OpenSM takes seconds over large fabrics; nil, or WEFT_THOROUGH: all
		judge []string // engines that ibdmchk judges as well, which takes it longer still; likewise
	}{
		{name: "ring", spec: "ring:5,hosts=2"},
		{name: "torus", spec: "torus:3x3,hosts=1"},
		{name: "dragonfly", spec: "dragonfly:p=2"},
		{name: "damaged fat tree", spec: "karytree:k=3,n=3"},
		{name: "psmn-x5-2020", some: []string{"updn", "ftree", "dfsssp", "df-dn", "weave"}, judge: []string{"dfsssp", "df-dn"}},
		{name: "topograph-ndr-dgx-2025", some: []string{"ftree", "dfsssp", "weave-any"}, judge: []string{"dfsssp"}},
	} {
		t.Run(n.name, func(t *testing.T) {
			t.Parallel()
			f := fabricOf(t, n.name, n.spec)
			d, _ := serveRoutes(t, "updn", routing.Any)
			r := start(t, f, d, directedToo(conf(d, enough)))
			r.Await(t, up, soon)
			among := func(names []string, e engines.Engine) bool {
				return names == nil || os.Getenv("WEFT_THOROUGH") != "" || slices.Contains(names, e.Name)
			}
			const computed = 4
			for j, e := range engines.All() {
				if !among(n.some, e) || !testnet.Whole() && (i < computed && j%computed != i || i >= computed && !among(n.judge, e)) {
					continue
				}
				t.Run(e.Name, func(t *testing.T) {
					r.routesBy(t, e, among(n.judge, e))
				})
			}
		})
	}
}

// fabricOf is a computed or a real fabric; the damaged one lacks two cables.
func fabricOf(t testing.TB, name, spec string) *fabric.Fabric {
	t.Helper()
	if spec == "" {
		return testnet.Dump(t, name)
	}
	f := testnet.Build(t, spec)
	if name != "damaged fat tree" {
		return f
	}
	f, err := f.Without([]fabric.ChannelID{0, fabric.ChannelID(f.Trunks() / 2)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// routesBy has the fabric routed by an engine and looks at everything, with
// ibdmchk or without.
func (r *run) routesBy(t *testing.T, e engines.Engine, ibdmchk bool) {
	r.daemon.become(r.daemon.routes(e.Name, e.Contract))
	before := r.daemon.tables()
	log := r.resweep(t)
	if !strings.Contains(log, "weft tables configured on all switches") {
		t.Fatal(log)
	}
	routed := strings.Contains(log, "engine "+e.Name+", proven")
	if !routed && strings.Contains(log, "the daemon refuses") { // else that is of the engine before, said when it was asked again
		if r.daemon.tables() != before || !strings.Contains(log, "ERR W003") {
			t.Errorf("a refusal, and not a word that the tables before stay\n%s", log)
		}
		_, refusal, _ := strings.Cut(log, "the daemon refuses: ")
		refusal, _, _ = strings.Cut(refusal, "\n")
		t.Skip(refusal)
	}
	if !routed || !strings.Contains(log, "contract "+e.Contract.String()+", endpoints ca") {
		t.Fatalf("not routed by %s under its contract\n%s", e.Name, log)
	}
	r.holds(t, r.daemon.tables())
	if !ibdmchk {
		return
	}
	if v, out := r.ibdmchk(t, r.daemon.tables()); v != live.NoLoop {
		t.Errorf("ibdmchk: %v\n%s", v, out[max(0, len(out)-600):])
	}
}

// resweep asks for a heavy sweep and returns the log of it. The dumps are then those of this
// sweep, or of one after it.
func (r *run) resweep(t testing.TB) string {
	t.Helper()
	return r.Resweep(t, soon)
}

// holds compares what OpenSM and the switches have with tables, entry by entry
// where there are dumps and by samples where there are queries.
func (r *run) holds(t *testing.T, tables *routing.Tables) {
	t.Helper()
	f := tables.Fabric
	dump := r.forwarding(t, f)
	for lid := range f.LIDs() {
		for s := range fabric.NodeID(f.Switches()) {
			if want, got := tables.Forwarding.Port(s, lid), dump.Port(s, lid); want != got {
				t.Fatalf("%s sends LID %d by port %d, want %d", f.Label(s), lid, got, want)
			}
		}
	}
	r.lanesHold(t, tables)
	chance := rand.New(rand.NewPCG(1, uint64(len(f.Endpoints()))))
	for range 2 {
		r.pairHolds(t, tables, chance)
	}
}

// forwarding is the tables of OpenSM's dump.
func (r *run) forwarding(t testing.TB, f *fabric.Fabric) *routing.Forwarding {
	t.Helper()
	d, err := lft.Read(open(t, r.Swept(t, soon).LFTs), "opensm-lfts.dump", f, lft.Join{})
	if err != nil {
		t.Fatal(err)
	}
	for lid, was := range d.LIDs {
		if was != 0 && int(was) != lid {
			t.Fatalf("LID %d is LID %d in the dump: the request has other LIDs", was, lid)
		}
	}
	return d.Forwarding
}

// lanesHold compares the lanes of OpenSM's dump for every pair of ports that a
// packet can take, and one port as the switch itself has it.
func (r *run) lanesHold(t *testing.T, tables *routing.Tables) {
	t.Helper()
	f := tables.Fabric
	got, err := slvl.Read(open(t, r.Swept(t, soon).SL2VL), "opensm-sl2vl.dump", f)
	if err != nil {
		t.Fatal(err)
	}
	for s := range fabric.NodeID(f.Switches()) {
		ports := uint8(f.Node(s).Ports)
		for in := range ports + 1 {
			for out := uint8(1); out <= ports; out++ {
				if in == out || in == 0 || f.Out(s, in) == fabric.None || f.Out(s, out) == fabric.None {
					continue
				}
				for sl := range uint8(routing.SLs) {
					if a, b := tables.Lanes.SL2VL.VL(s, in, out, sl), got.VL(s, in, out, sl); a != b {
						t.Fatalf("%s from port %d to %d: SL %d has lane %d, want %d", f.Label(s), in, out, sl, b, a)
					}
				}
			}
		}
	}
	trunk := f.Channel(fabric.ChannelID(f.Trunks() / 3))
	text := r.ask(t, f, "smpquery", "sl2vl", fmt.Sprint(f.Endpoint(fabric.EndpointID(trunk.From)).LID), fmt.Sprint(trunk.FromPort))
	rows := 0
	for _, m := range regexp.MustCompile(`in +(\d+), out +(\d+): \|(.*)\|`).FindAllStringSubmatch(text, -1) {
		in, _ := strconv.Atoi(m[1])
		if in == 0 || in == int(trunk.FromPort) || f.Out(trunk.From, uint8(in)) == fabric.None {
			continue
		}
		rows++
		for sl, cell := range strings.Split(m[3], "|") {
			if want := tables.Lanes.SL2VL.VL(trunk.From, uint8(in), trunk.FromPort, uint8(sl)); strings.TrimSpace(cell) != fmt.Sprint(want) {
				t.Errorf("%s itself, from port %d to %d: SL %d has lane %s, want %d", f.Label(trunk.From), in, trunk.FromPort, sl, cell, want)
			}
		}
	}
	if rows == 0 {
		t.Errorf("smpquery shows no lanes:\n%s", text)
	}
}

// ibdmchk judges OpenSM's own dumps, with the service levels of our tables.
func (r *run) ibdmchk(t testing.TB, tables *routing.Tables) (live.Verdict, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "psl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := psl.Write(file, tables, psl.Full); err != nil {
		t.Fatal(err)
	}
	d := r.Swept(t, soon)
	in := d.Input()
	in.PSL, in.SLVL = path, d.SL2VL
	return live.Check(t, in)
}

// pairHolds asks OpenSM for the path between two adapters, and follows it.
func (r *run) pairHolds(t *testing.T, tables *routing.Tables, chance *rand.Rand) {
	t.Helper()
	f := tables.Fabric
	hosts := routing.HCA.Endpoints(f)
	from, to := hosts[chance.IntN(len(hosts))], hosts[chance.IntN(len(hosts))]
	if from == to {
		return
	}
	slid, dlid := f.Endpoint(from).LID, f.Endpoint(to).LID
	if sl, want := r.pathSL(t, f, slid, dlid), int(tables.Lanes.SL(from, dlid)); sl != want {
		t.Errorf("from LID %d to %d OpenSM says SL %d, want %d", slid, dlid, sl, want)
	}
	var way []string
	for s := f.Endpoint(from).Switch; ; {
		out := tables.Forwarding.Port(s, dlid)
		way = append(way, fmt.Sprint(out))
		c := f.Out(s, out)
		if c == fabric.None || int(c) >= f.Trunks() {
			break
		}
		s = f.Channel(c).To
	}
	text := r.ask(t, f, "ibtracert", fmt.Sprint(slid), fmt.Sprint(dlid))
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\[(\d+)\] ->`).FindAllStringSubmatch(text, -1) {
		got = append(got, m[1])
	}
	// The first step is the adapter's own.
	if len(got) == 0 || !slices.Equal(got[1:], way) {
		t.Errorf("from LID %d to %d ibtracert goes by ports %v, want %v behind the adapter's\n%s", slid, dlid, got, way, text)
	}
}

// pathSL is the service level of OpenSM's path record, -1 if there is none.
func (r *run) pathSL(t testing.TB, f *fabric.Fabric, slid, dlid fabric.LID) int {
	t.Helper()
	return recordSL(t, r.ask(t, f, "saquery", "-p", "--src-to-dst", fmt.Sprintf("%d:%d", slid, dlid)))
}

// recordSL is the service level of a path record as saquery prints it, -1 if there
// is none.
func recordSL(t testing.TB, text string) int {
	t.Helper()
	m := regexp.MustCompile(`(?m)^\s*sl\.+0x(\w+)`).FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	sl, err := strconv.ParseUint(m[1], 16, 8)
	if err != nil {
		t.Fatal(err)
	}
	return int(sl)
}

// ask runs a tool on the last adapter of the fabric; OpenSM runs on the first.
func (r *run) ask(t testing.TB, f *fabric.Fabric, tool string, args ...string) string {
	t.Helper()
	last := f.Node(f.Endpoint(fabric.EndpointID(len(f.Endpoints()) - 1)).Node)
	out, err := r.Query(t, fmt.Sprintf("H-%016x", uint64(last.GUID)), tool, args...)
	if err != nil {
		t.Logf("%s %v: %v: %s", tool, args, err, out)
	}
	return out
}

// judged is our judge's verdict on the forwarding tables that OpenSM dumped, with
// the lanes of OpenSM's dump and the service levels of the tables.
func (r *run) judged(t testing.TB, tables *routing.Tables, contract routing.Contract) *deadlock.Verdict {
	t.Helper()
	lanes := *tables.Lanes
	maps, err := slvl.Read(open(t, r.Swept(t, soon).SL2VL), "opensm-sl2vl.dump", tables.Fabric)
	if err != nil {
		t.Fatal(err)
	}
	lanes.SL2VL = maps
	read := &routing.Tables{Fabric: tables.Fabric, Forwarding: r.forwarding(t, tables.Fabric), Lanes: &lanes}
	v, err := deadlock.Verify(t.Context(), read, deadlock.Options{Contract: contract, Scope: routing.Adapters})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// open opens a file until the test ends.
func open(t testing.TB, path string) io.Reader {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// Every port has four LIDs (LMC 2). An engine that keeps senders from using some
// of them is refused: OpenSM has no way to withhold a path record.
func TestSeveralAddresses(t *testing.T) {
	live.Need(t)
	t.Parallel()
	d, _ := serveRoutes(t, "updn", routing.Any)
	f, err := testnet.Build(t, "torus:3x3,hosts=1").WithLMC(2)
	if err != nil {
		t.Fatal(err)
	}
	c := directedToo(conf(d, enough))
	c["lmc"] = "2"
	r := start(t, f, d, c)
	r.Await(t, up, soon)
	for _, name := range []string{"mroots", "mp-lash", "dfsssp", "d-mroots"} {
		e, err := engines.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			r.daemon.become(r.daemon.routes(e.Name, e.Contract))
			log := r.resweep(t)
			if name == "d-mroots" {
				if !strings.Contains(log, "cannot withhold its path record") || !strings.Contains(log, "ERR W003") {
					t.Error(log)
				}
				return
			}
			if !strings.Contains(log, "engine "+e.Name+", proven") {
				t.Fatal(log)
			}
			tables := r.daemon.tables()
			if v := r.judged(t, tables, e.Contract); !v.Free() || !v.Complete() {
				t.Errorf("free %v, complete %v", v.Free(), v.Complete())
			}
		})
	}
}
