package meter_test

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/sweep/meter"
	"github.com/weft-fabric/weft/internal/sweep/results"
)

// points is the points of a SPEC.
func points(t *testing.T, spec string) []sweep.Point {
	t.Helper()
	s, err := sweep.Read(strings.NewReader(spec), "SPEC.yaml", func(name string) (string, string, error) { return name, "digest", nil })
	if err != nil {
		t.Fatal(err)
	}
	return s.Points
}

func newMeter() *meter.Meter {
	return &meter.Meter{
		Open:    func(name string) (*fabric.Fabric, error) { return nil, errors.New(name + " cannot be read") },
		Version: "v", Machine: "m",
	}
}

func take(t *testing.T, m *meter.Meter, p *sweep.Point) map[string]results.Row {
	t.Helper()
	rows, err := m.Take(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]results.Row{}
	for _, r := range rows {
		by[r.Measure] = r
	}
	return by
}

func TestEveryMeasureHasAValue(t *testing.T) {
	spec := "networks: ['torus:3x3,hosts=1']\nengines: [{engine: dfsssp, contract: directed}]\nmeasures:\n"
	for _, k := range measures.Kinds() {
		spec += "- " + k.Name + "\n"
	}
	p := points(t, spec)[0]
	rows := take(t, newMeter(), &p)
	for _, k := range measures.Kinds() {
		r := rows[k.Name]
		if k.Name == "stops" {
			if r.Status != results.Refused || !strings.Contains(r.Reason, "the tables use lane") {
				t.Errorf("several lanes are none: %+v", r)
			}
			continue
		}
		if r.Status != results.OK || r.Value == nil || *r.Value < 0 || r.Unit != k.Unit || r.Verdict != "deadlock-free" || r.Switches != 9 || r.Hosts != 9 || r.Cables != 18 {
			t.Errorf("%s: %+v", k.Name, r)
		}
	}
	if v := *rows["hops"].Value; v < 1.1 || v > 2 {
		t.Errorf("mean hops of a torus of nine switches: %g", v)
	}
	if low, high := *rows["accepted"].Value, *rows["throughput"].Value; low < 0.3 || high < low-0.1 || high > 1 {
		t.Errorf("accepted %g at a load of 0.5, throughput %g", low, high)
	}
}

// What is measured of a network alone needs no routes.
func TestMeasuresOfNetworks(t *testing.T) {
	p := points(t, "networks: ['torus:3x3,hosts=2']\nengines: [none]\nmeasures: [layers, {measure: layers, of: a-lash}, rounds, ports]")[0]
	for measure, r := range take(t, newMeter(), &p) {
		if r.Status != results.OK || r.Value == nil || *r.Value < 1 || r.Verdict != "" || r.Engine != "none" {
			t.Errorf("%s: %+v", measure, r)
		}
		if measure == "ports" && *r.Value != 6 {
			t.Errorf("four links and two hosts are %g ports", *r.Value)
		}
	}
}

// The latency of no packets is none, and not 0.
func TestNothingArrives(t *testing.T) {
	p := points(t, "networks: ['torus:3x3,hosts=1']\nengines: [{engine: updn}]\n"+
		"measures: [{measure: settled-latency, load: 0.001, window: 1}, {measure: latency, load: 0.001, time: 1}, {measure: delivered-latency, window: 1}]")[0]
	for name, r := range take(t, newMeter(), &p) {
		if r.Status != results.Refused || r.Value != nil || !strings.Contains(r.Reason, "nothing arrived in the window") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Hosts on one switch have no paths between switches, which does not keep other measures from
// being taken.
func TestOneSwitch(t *testing.T) {
	m := newMeter()
	m.Open = func(string) (*fabric.Fabric, error) {
		var b fabric.Builder
		s := b.Node(fabric.Node{GUID: 1, Ports: 4}, "")
		for i := range 3 {
			b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(i + 2), Kind: fabric.Adapter, Ports: 1}, ""), 1, s, uint8(i+1), fabric.Rate{})
		}
		return b.Build()
	}
	p := points(t, "networks: [{file: one}]\nengines: [updn]\nmeasures: [disjoint, hops, bandwidth, risk]")[0]
	for name, r := range take(t, m, &p) {
		refused := name == "disjoint"
		if (r.Status == results.Refused) != refused || (r.Value == nil) != refused || refused && !strings.Contains(r.Reason, "on different switches") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Engines without tables send packets, on as many lanes as another needs.
func TestEnginesWithoutTables(t *testing.T) {
	var names []string
	for _, e := range sweep.SimulatedEngines() {
		names = append(names, e.Name)
	}
	p := points(t, "networks: ['random:switches=12,links=24,hosts=1,seed=3']\nengines: [{engine: ["+strings.Join(names, ", ")+", weave-any], lanes-of: mp-lash}]\n"+
		"measures: [{measure: settled, load: 0.1, window: 20000}, {measure: settled-latency, load: 0.1, window: 20000}]")
	for i := range p {
		rows := take(t, newMeter(), &p[i])
		if r, l := rows["settled"], rows["settled-latency"]; r.Value == nil || *r.Value < 0.08 || *r.Value > 0.12 || l.Value == nil || *l.Value < 32 || r.Verdict != "deadlock-free" {
			t.Errorf("%s: %+v, latency %+v", p[i].Engine.Name, r, l)
		}
	}
	p = points(t, "networks: ['random:switches=12,links=18,hosts=1,seed=3']\nengines: [{engine: updn-tables, vls: 3}]\nmeasures: [{measure: delivered, window: 20000}, {measure: delivered-latency, window: 20000}, ports]")
	if r := take(t, newMeter(), &p[0]); *r["delivered"].Value < 0.1 || *r["delivered"].Value > 0.9 || *r["delivered-latency"].Value < 32 || r["ports"].Value == nil {
		t.Errorf("%+v", r)
	}
}

// Networks that stop do so after a time that is known, with the least and the most of runs.
func TestTimeUntilANetworkStops(t *testing.T) {
	p := points(t, "networks: ['torus:5x5,hosts=2']\nengines: [sssp]\nmeasures: [{measure: stops, repeats: 4}]")
	r := take(t, newMeter(), &p[0])["stops"]
	if r.Value == nil || r.Verdict != "credit-loop" || r.Count < 1 || r.Low == nil || *r.Low > *r.Value || *r.High < *r.Value || *r.Low <= 0 {
		t.Errorf("%+v", r)
	}
	p = points(t, "networks: ['karytree:k=2,n=2']\nengines: [sssp]\nmeasures: [{measure: stops, repeats: 4}]")
	if r := take(t, newMeter(), &p[0])["stops"]; r.Status != results.Refused || r.Reason != measures.NeverStopped || r.Verdict != "deadlock-free" {
		t.Errorf("a tree: %+v", r)
	}
}

// What is sent once has arrived when the links have carried it: three that send to one
// share its link. A network that stops is never done.
func TestTimeUntilAllHasArrived(t *testing.T) {
	const carried = 65536 / 25e3 // µs, of 64 KiB at 200 Gb/s
	p := points(t, "networks: ['karytree:k=4,n=1']\nengines: [updn]\nmeasures: [{measure: completion, pattern: ['shift:k=1', gather, tree]}, {measure: completion, pattern: 'shift:k=1', message: 131072}]")
	rows, err := newMeter().Take(t.Context(), &p[0])
	if err != nil || len(rows) != 4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, times := range []float64{1, 3, 2, 2} {
		if r := &rows[i]; r.Value == nil || *r.Value < carried*times || *r.Value > carried*times*1.3 || r.Unit != "µs" {
			t.Errorf("%+v, want about %g", r, carried*times)
		}
	}
	p = points(t, "networks: ['ring:8,hosts=2']\nengines: [sssp]\nmeasures: [{measure: completion, pattern: 'shift:k=6', message: 1000000}]")
	if r := take(t, newMeter(), &p[0])["completion"]; r.Value != nil || !strings.Contains(r.Reason, "deadlocked") {
		t.Errorf("a ring: %+v", r)
	}
}

// Ports are shuffled by the seed, and the network is otherwise the same.
func TestShuffledPorts(t *testing.T) {
	value := map[float64]bool{}
	for _, p := range points(t, "networks: [{spec: 'torus:6x6,hosts=1', seeds: 1..3, ports: shuffled}, 'torus:6x6,hosts=1']\nengines: [shortest-lowest+first-fit]\nmeasures: [load]") {
		r := take(t, newMeter(), &p)["load"]
		if r.Value == nil || r.Cables != 72 || r.Ports != p.Network.Ports {
			t.Fatalf("%+v", r)
		}
		value[*r.Value] = true
	}
	if len(value) < 2 {
		t.Errorf("three ways to plug cables in and the usual one have the loads %v", value)
	}
}

// Jobs on part of a machine: on hosts drawn anew for every pattern, far apart, side by side.
func TestJobs(t *testing.T) {
	p := points(t, "networks: ['torus:4x4,hosts=4']\nengines: [sssp]\nmeasures: [{measure: bandwidth, patterns: 50, ranks: ['anew:16', 'apart:16', 'guid:16', guid, 'anew:99', 'apart:99']}, "+
		"{measure: bandwidth, pattern: shifts, ranks: 'anew:16'}]")[0]
	m := newMeter()
	rows, err := m.Take(t.Context(), &p)
	if err != nil {
		t.Fatal(err)
	}
	value := map[float64]bool{}
	for _, r := range rows {
		why := ""
		switch {
		case strings.Contains(r.Settings, ":99"):
			why = "64 hosts"
		case strings.Contains(r.Settings, "shifts"):
			why = "nothing to draw hosts anew for"
		}
		if why != "" {
			if r.Status != results.Refused || !strings.Contains(r.Reason, why) {
				t.Errorf("%s: %+v", r.Settings, r)
			}
			continue
		}
		value[*r.Value] = true
	}
	if len(value) != 4 {
		t.Errorf("four kinds of jobs have %d different bandwidths", len(value))
	}
}

// What an engine or a network does not allow is a result with the reason.
func TestRefusalsAreResults(t *testing.T) {
	for _, c := range []struct{ name, spec, want string }{
		{"rule", "networks: ['random:switches=9,links=20']\nengines: [ftree]", "joins two leaves"},
		{"lanes", "networks: ['random:switches=60,links=90,seed=1']\nengines: [{engine: lash, vls: 1, contract: directed}]", "lanes"},
		{"damage", "networks: [{spec: 'torus:3x3', damage: {cables: 17}}]\nengines: [updn]", "falls apart"},
		{"file", "networks: [{file: nowhere}]\nengines: [updn]", "nowhere cannot be read"},
	} {
		p := points(t, c.spec+"\nmeasures: [lanes, load]")[0]
		for measure, r := range take(t, newMeter(), &p) {
			if r.Status != results.Refused || r.Value != nil || !strings.Contains(r.Reason, c.want) {
				t.Errorf("%s, %s: %+v, want %q", c.name, measure, r, c.want)
			}
		}
	}
	p := points(t, "networks: ['torus:3x3']\nengines: [updn]\nmeasures: [lanes, {measure: bandwidth, ranks: 'switch:99'}]")[0]
	rows := take(t, newMeter(), &p)
	if r := rows["bandwidth"]; r.Status != results.Refused || rows["lanes"].Status != results.OK {
		t.Errorf("a measure that cannot be: %+v, and beside it %+v", r, rows["lanes"])
	}
}

func TestCreditLoopsAreMeasuredAndSaid(t *testing.T) {
	p := points(t, "networks: ['torus:5x5']\nengines: [minhop]\nmeasures: [loops, load]")[0]
	rows := take(t, newMeter(), &p)
	if r := rows["loops"]; r.Value == nil || *r.Value != 1 || r.Verdict != "credit-loop" || rows["load"].Value == nil {
		t.Errorf("%+v", rows)
	}
}

// A panic spoils one point, and its rows have what is needed to see it again.
func TestPanicsAreResults(t *testing.T) {
	m := newMeter()
	m.Open = func(string) (*fabric.Fabric, error) { panic("a defect") }
	p := points(t, "networks: [{file: x, seeds: 7}]\nengines: [updn]\nmeasures: [lanes, load]")[0]
	for _, r := range take(t, m, &p) {
		if r.Status != results.Broken || r.Seed != 7 || !strings.Contains(r.Reason, "panic: a defect") || !strings.Contains(r.Reason, "meter_test.go") {
			t.Errorf("%+v", r)
		}
	}
	good := points(t, "networks: ['torus:3x3']\nengines: [updn]\nmeasures: [lanes]")[0]
	if r := take(t, m, &good)["lanes"]; r.Status != results.OK {
		t.Errorf("the point behind it: %+v", r)
	}
}

func TestSeedsAndDamageCount(t *testing.T) {
	value := map[float64]bool{}
	for _, p := range points(t, "networks: [{spec: 'torus:6x6,hosts=1', seeds: [1, 2], damage: {cables: 10%, switches: 2}}]\nengines: [updn]\nmeasures: [hops]") {
		r := take(t, newMeter(), &p)["hops"]
		if r.MissingCables != 7 || r.MissingSwitches != 2 || r.Switches != 34 || r.Value == nil {
			t.Fatalf("%+v", r)
		}
		value[*r.Value] = true
	}
	if len(value) != 2 {
		t.Error("two seeds have the same hops")
	}
}

func TestEnginesThatChooseByChanceGetTheSeed(t *testing.T) {
	value := map[float64]bool{}
	for _, p := range points(t, "networks: [{spec: 'torus:6x6,hosts=1', seeds: 1..8}]\nengines: [shortest-random+first-fit]\nmeasures: [load]") {
		if r := take(t, newMeter(), &p)["load"]; r.Value != nil {
			value[*r.Value] = true
		}
	}
	if len(value) < 2 {
		t.Errorf("eight seeds have the loads %v", value)
	}
}

// Several addresses are several paths, and engines for them need them.
func TestAddressesOfAnEngine(t *testing.T) {
	p := points(t, "networks: ['slimfly:q=5']\nengines: [{engine: fatpaths, lmc: [1, 2]}, sssp]\nmeasures: [disjoint, lanes]")
	var found []float64
	for i := range p {
		found = append(found, *take(t, newMeter(), &p[i])["disjoint"].Value)
	}
	if len(found) != 3 || !(found[1] > found[0] && found[0] > 1.5 && found[2] == 1) {
		t.Errorf("disjoint paths with two addresses, four, and one of sssp: %v", found)
	}
	p = points(t, "networks: ['hyperx:4x4']\nengines: [parx]\nmeasures: [lanes]")
	if r := take(t, newMeter(), &p[0])["lanes"]; r.Status != results.Refused || !strings.Contains(r.Reason, "four addresses") {
		t.Errorf("parx without addresses: %+v", r)
	}
}

func TestInterruptedPointIsNone(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	p := points(t, "networks: ['torus:6x6']\nengines: [dfsssp]\nmeasures: [lanes]")[0]
	if rows, err := newMeter().Take(ctx, &p); err == nil {
		t.Errorf("an interrupted point has rows: %v", rows)
	}
}

func TestMemoryIsOfThePoint(t *testing.T) {
	if _, err := os.Stat("/proc/self/clear_refs"); err != nil {
		t.Skip("this kernel does not tell")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // what other tests left would hide the difference
	debug.FreeOSMemory()
	m := newMeter()
	small := points(t, "networks: ['torus:3x3']\nengines: [updn]\nmeasures: [lanes]")[0]
	large := points(t, "networks: ['xgft:m=12x24,w=12x12,hosts=12']\nengines: [updn]\nmeasures: [lanes]")[0]
	before, after := take(t, m, &small)["lanes"].Memory, take(t, m, &large)["lanes"].Memory
	if before <= 1 || after < before+10 {
		t.Errorf("a small point had %g MiB at its peak, a large one %g", before, after)
	}
}
