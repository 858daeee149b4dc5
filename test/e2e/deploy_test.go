package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/live"
	"github.com/weft-fabric/weft/internal/opensm/check"
	"github.com/weft-fabric/weft/internal/opensm/conf"
	"github.com/weft-fabric/weft/internal/opensm/deploy"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// planned is an engine's routing as files for a stock OpenSM express it: with a service
// level for each destination, which for nue holds under directed only.
func planned(t testing.TB, f *fabric.Fabric, e engines.Engine, vls int) *deploy.Plan {
	t.Helper()
	p, err := deploy.Express(routeUnder(t, f, e, routing.Directed, vls), routing.Adapters)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// deployed writes the files for a stock OpenSM on ibsim, and returns the folder.
func deployed(t testing.TB, p *deploy.Plan, vls int) string {
	t.Helper()
	dir := t.TempDir()
	files, err := p.Files(deploy.Options{Dir: dir, GUIDs: lft.NodePlusPort, VLs: vls, Engine: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		out, err := os.Create(filepath.Join(dir, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Write(out); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// options is the opensm.conf of a folder, as OpenSM reads it.
func options(t testing.TB, dir string) map[string]string {
	t.Helper()
	c, err := conf.Read(open(t, dir, deploy.Conf), deploy.Conf)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, o := range c.Options {
		all[o.Key] = o.Value
	}
	return all
}

// A stock OpenSM takes the files of weft deploy as they are: our forwarding
// tables, our SL2VL map at every port, and no word of complaint about the policy.
func TestStockOpenSMTakesTheFiles(t *testing.T) {
	live.Need(t)
	t.Parallel()
	onEach(t, networks, func(t *testing.T, _ network, f *fabric.Fabric) {
		net := netFile(t, f)
		for _, name := range []string{"updn", "nue"} {
			t.Run(name, func(t *testing.T) {
				plan := planned(t, f, named(t, name), 4)
				if v := judged(t, plan.Tables, routing.Adapters); !v.Free() {
					t.Fatal("the tables that OpenSM shall have are not proven")
				}
				d := live.OpenSM(t, net, options(t, deployed(t, plan, 4)), nil)
				tookTheFile(t, d)
				sameTables(t, f, plan.Tables.Forwarding, tablesOf(t, f, d, d.LFTs).Forwarding)
				if name == "nue" {
					sameMaps(t, f, plan, d.SL2VL)
				}
			})
		}
	})
}

// Classes of traffic in a stock OpenSM: with the files of weft deploy --classes every service
// level n rides lane n mod 3 at every port, whatever it was asked for, and what OpenSM
// installed is proven for all service levels together.
func TestStockOpenSMTakesClasses(t *testing.T) {
	live.Need(t)
	t.Parallel()
	const classes = 3
	onEach(t, computed, func(t *testing.T, _ network, f *fabric.Fabric) {
		alone := routeUnder(t, f, named(t, "updn"), routing.Any, 1)
		tables, err := alone.InClasses(classes)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := deploy.Express(tables, routing.Adapters)
		if err != nil {
			t.Fatal(err)
		}
		d := live.OpenSM(t, netFile(t, f), options(t, deployed(t, plan, classes)), nil)
		tookTheFile(t, d)
		got := &routing.Tables{Fabric: f, Forwarding: tablesOf(t, f, d, d.LFTs).Forwarding, Lanes: plan.Tables.Lanes}
		sameTables(t, f, tables.Forwarding, got.Forwarding)
		sameMaps(t, f, plan, d.SL2VL)
		for sl, lane := range plan.Lane {
			if int(lane) != sl%classes {
				t.Errorf("SL %d rides VL %d of %d classes", sl, lane, classes)
			}
		}
		v, err := deadlock.Verify(t.Context(), got, deadlock.Options{Contract: routing.Any, Scope: routing.Adapters})
		if err != nil || !v.Free() || v.VLs != classes {
			t.Errorf("what OpenSM installed: %+v, %v; it is proven on %d lanes", v, err, classes)
		}
	})
}

// sameMaps compares the SL2VL tables that OpenSM dumped with the plan's.
func sameMaps(t *testing.T, f *fabric.Fabric, p *deploy.Plan, dump string) {
	t.Helper()
	m, err := slvl.Read(open(t, dump), dump, f)
	if err != nil {
		t.Fatal(err)
	}
	for s := range fabric.NodeID(f.Switches()) {
		for in := range f.Node(s).Ports + 1 {
			for out := 1; out <= f.Node(s).Ports; out++ {
				if in == 0 || in == out || f.Out(s, uint8(in)) == fabric.None || f.Out(s, uint8(out)) == fabric.None {
					continue
				}
				for sl, want := range p.Lane {
					if got := m.VL(s, uint8(in), uint8(out), uint8(sl)); got != want {
						t.Fatalf("%s, port %d to %d: SL %d rides VL %d, want %d", f.Label(s), in, out, sl, got, want)
					}
				}
			}
		}
	}
}

// With the roots that weft names OpenSM's own updn routes without falling back.
// That does not make its tables safe: on a Dragonfly they have a credit loop, which
// ibdmchk finds too.
func TestOpenSMsUpdnWithOurRoots(t *testing.T) {
	live.Need(t)
	t.Parallel()
	onEach(t, computed, func(t *testing.T, _ network, f *fabric.Fabric) {
		plan := planned(t, f, engines.All()[0], 1)
		own := options(t, deployed(t, plan, 1))
		own["routing_engine"] = "updn,no_fallback"
		delete(own, "lfts_file")
		d := live.OpenSM(t, netFile(t, f), own, nil)
		if d.Engine != "updn" {
			t.Fatalf("the tables are by %q", d.Engine)
		}
		tables := &routing.Tables{Fabric: f, Forwarding: tablesOf(t, f, d, d.LFTs).Forwarding, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
		v, err := deadlock.Verify(t.Context(), tables, deadlock.Options{Contract: routing.Any, Scope: routing.Adapters})
		if err != nil {
			t.Fatal(err)
		}
		theirs := live.NoLoop
		if !v.Free() {
			theirs = live.Loop
		}
		if got, out := live.Check(t, d.Input()); got != theirs {
			t.Errorf("ibdmchk: %v, the judge: %v\n%s", got, theirs, out)
		}
	})
}

// What check says OpenSM's updn will find is what it finds.
func TestUpdnFindsTheRootsThatCheckSays(t *testing.T) {
	live.Need(t)
	t.Parallel()
	onEach(t, networks, func(t *testing.T, _ network, f *fabric.Fabric) {
		d := live.OpenSM(t, netFile(t, f), map[string]string{"routing_engine": "updn"}, nil)
		if roots := check.SeenRoots(f); (len(roots) > 0) != (d.Engine == "updn") {
			t.Errorf("check sees %d roots, and the tables are by %s", len(roots), d.Engine)
		}
	})
}

// The PathRecords of a stock OpenSM with the policy that weft wrote carry the
// service levels of the plan.
func TestStockOpenSMAnswersOurServiceLevels(t *testing.T) {
	live.Need(t)
	t.Parallel()
	level := regexp.MustCompile(`(?m)^\s*sl\.+0x(\w+)`)
	onEach(t, computed[1:3], func(t *testing.T, _ network, f *fabric.Fabric) {
		plan := planned(t, f, named(t, "nue"), 4)
		s := live.Simulate(t, netFile(t, f))
		m := s.Manage(t, "", t.TempDir(), options(t, deployed(t, plan, 4)))
		m.Await(t, live.Up, soon)
		d, theirs := m.Swept(t, soon), map[fabric.LID]fabric.LID{} // by ours
		for lid, ours := range tablesOf(t, f, d, d.LFTs).LIDs {
			theirs[ours] = fabric.LID(lid)
		}
		seen := map[uint64]bool{}
		hosts := routing.HCA.Endpoints(f)
		last := f.Node(f.Endpoint(hosts[len(hosts)-1]).Node).GUID
		for i, to := range hosts {
			from := hosts[(i+3)%len(hosts)]
			a, b := theirs[f.Endpoint(from).LID], theirs[f.Endpoint(to).LID]
			out, err := s.Query(t, fmt.Sprintf("H-%016x", uint64(last)), "saquery", "-p", "--src-to-dst", fmt.Sprintf("%d:%d", a, b))
			found := level.FindStringSubmatch(out)
			if err != nil || found == nil {
				t.Fatalf("saquery: %v\n%s", err, out)
			}
			sl, err := strconv.ParseUint(found[1], 16, 8)
			if err != nil || sl != uint64(plan.SL[to]) {
				t.Errorf("to %s: SL %s, want %d", f.Label(f.Endpoint(to).Node), found[1], plan.SL[to])
			}
			seen[sl] = true
		}
		if len(seen) < 2 {
			t.Errorf("only the service levels %v were seen", seen)
		}
	})
}

// The configuration that OpenSM writes of itself (-c) is read as OpenSM means it.
func TestCheckReadsWhatOpenSMWrites(t *testing.T) {
	live.Need(t)
	t.Parallel()
	path := filepath.Join(t.TempDir(), "opensm.conf")
	tool, err := exec.LookPath("opensm")
	if err != nil {
		tool = "/usr/sbin/opensm"
	}
	// Its status says nothing: it goes on to look for hardware.
	out, _ := exec.CommandContext(t.Context(), "timeout", "20", tool, "-c", path).CombinedOutput()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("this OpenSM writes no configuration: %s", out)
	}
	c, err := conf.Read(open(t, path), path)
	if err != nil {
		t.Fatal(err)
	}
	if names, no := c.Engines(); len(names) != 0 || no {
		t.Errorf("engines %q, no_fallback %v", names, no)
	}
	if vls, ok := c.Int("max_op_vls"); c.Bool("qos", true) || !c.Bool("sweep_on_trap", false) || vls != 5 || !ok {
		t.Error("options are not those that OpenSM starts with")
	}
	r, err := check.Run(t.Context(), check.Input{Conf: c})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || r.Findings[0].Code != check.SilentFallback || r.Lanes != routing.DefaultVLs {
		t.Errorf("%+v", r)
	}
}
