package page

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// judged routes a fabric by an engine and asks the judge with the engine's contract.
func judged(t *testing.T, f *fabric.Fabric, engine string) (*routing.Tables, *deadlock.Verdict) {
	t.Helper()
	e, err := engines.Named(engine)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(context.Background(), f, engines.Options{Seed: 1}, routing.Budget{Contract: e.Contract}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{Contract: e.Contract})
	if err != nil {
		t.Fatal(err)
	}
	return tables, v
}

// routed is a network with the tables of an engine.
func routed(t *testing.T, f *fabric.Fabric, engine string) *result.ReportNetwork {
	t.Helper()
	tables, v := judged(t, f, engine)
	n := NewNetwork("x", f)
	if err := Add(context.Background(), n, &Given{Name: engine, Tables: tables, Verdict: v}, Options{Seed: 1, Precision: 0.02}); err != nil {
		t.Fatal(err)
	}
	return n
}

// Columns of figures stand on the right, GUIDs and verdicts are told apart from them.
func TestResultTables(t *testing.T) {
	got := tableViews([]result.ReportTable{{
		Title: "T", Columns: []string{"name", "hops", "bandwidth", "mixed", "GUID", "verdict", "none"},
		Rows: [][]string{
			{"a", "2.06", "0.734 (+2 %)", "3", "0x0002c90100000a00", result.DeadlockFree, ""},
			{"b", "1,204", "-0.5", "3, 4 at most", "0x0002c90100000b00", result.CreditLoop + ", 3 pairs", ""},
		},
	}})[0]
	var heads []bool
	for _, h := range got.Heads {
		heads = append(heads, h.Numeric)
	}
	if want := []bool{false, true, true, false, false, false, true}; !slices.Equal(heads, want) {
		t.Errorf("columns of figures: %v, want %v", heads, want)
	}
	want := []cell{{"a", ""}, {"2.06", "num"}, {"0.734 (+2 %)", "num"}, {"3", ""}, {"0x0002c90100000a00", "guid"}, {result.DeadlockFree, "word good"}, {"", "num"}}
	if d := cmp.Diff(want, got.Cells[0]); d != "" {
		t.Error(d)
	}
	if c := got.Cells[1][5].Class; c != "word bad" {
		t.Errorf("a credit loop is %q", c)
	}
	if v := tableViews([]result.ReportTable{{Columns: []string{"a"}}})[0]; v.Heads[0].Numeric {
		t.Error("a table without rows has figures")
	}
}

// The channels of a Dragonfly are within groups or between them, on the page as on the map.
func TestGroupTiers(t *testing.T) {
	n := routed(t, testnet.Build(t, "dragonfly:p=2"), "weave")
	tiers := n.Tables[0].Tiers
	if len(tiers) != 2 || tiers[0].Name != "within groups" || tiers[1].Name != "between groups" {
		t.Fatalf("tiers %+v", tiers)
	}
	if tiers[0].Trunks != 2*9*6 || tiers[1].Trunks != 2*36 { // 9 groups of 4, all joined
		t.Errorf("%d and %d channels, want 108 and 72", tiers[0].Trunks, tiers[1].Trunks)
	}
	load := &n.Tables[0].Load
	var all []uint32
	for i := range load.There {
		if n.Nodes.Group[n.Cables.A[i]] != n.Nodes.Group[n.Cables.B[i]] {
			all = append(all, load.There[i], load.Back[i])
		}
	}
	sum, counted := 0.0, 0
	for _, r := range all {
		sum += float64(r)
	}
	for _, c := range tiers[1].Loads {
		counted += c
	}
	if tiers[1].Least != slices.Min(all) || tiers[1].Most != slices.Max(all) || tiers[1].Mean != sum/float64(len(all)) || counted != len(all) {
		t.Errorf("between groups: %+v, want %d to %d, mean %g", tiers[1], slices.Min(all), slices.Max(all), sum/float64(len(all)))
	}
	if tree := routed(t, testnet.Build(t, "fattree:ports=4"), "updn").Tables[0].Tiers; len(tree) != 2 || tree[0].Name != "up, level 0 to 1" {
		t.Errorf("tiers of a tree: %+v", tree)
	}
}

// Bars of loads have the colours that the map gives those loads.
func TestBarsHaveTheColoursOfTheMap(t *testing.T) {
	fills := func(end, scale uint32) []string {
		return regexp.MustCompile(`fill-\d`).FindAllString(string(smallBars(make([]int, 4), "x", end, scale)), -1)
	}
	if got, want := fills(80, 80), []string{"fill-1", "fill-3", "fill-5", "fill-7"}; !slices.Equal(got, want) {
		t.Errorf("to the last colour: %v, want %v", got, want)
	}
	if got, want := fills(80, 160), []string{"fill-0", "fill-1", "fill-2", "fill-3"}; !slices.Equal(got, want) {
		t.Errorf("to half of the colours: %v, want %v", got, want)
	}
}

// The name of an axis that stands upright has room beside its chart.
func TestNamesOfAxesFit(t *testing.T) {
	n := routed(t, testnet.Build(t, "dragonfly:p=2"), "dfsssp")
	upright := regexp.MustCompile(`rotate\(-90\)" text-anchor="middle">([^<]*)<`)
	all := charts(&result.ReportNetwork{}, n.Tables[0])
	if len(all) < 7 {
		t.Errorf("%d charts, want loads, congestion, bandwidth, hops, two of lanes and one of service levels", len(all))
	}
	for _, c := range all {
		name := upright.FindStringSubmatch(string(c))[1]
		if wide := 5.6 * float64(utf8.RuneCountInString(name)); wide > chartInsideHigh { // letters of 10.5 units
			t.Errorf("%q takes %.0f units of %.0f", name, wide, chartInsideHigh)
		}
	}
}

// What a drawing shows is said below it.
func TestKey(t *testing.T) {
	loop := routed(t, testnet.Build(t, "torus:5x5"), "minhop")
	key := string(drawKey(loop, loop.Tables[0]))
	for _, want := range []string{"Routes over a channel, ", "switches with hosts", "credit loop"} {
		if !strings.Contains(key, want) {
			t.Errorf("no %q in %s", want, key)
		}
	}
	if strings.Contains(key, "more cables") || strings.Contains(key, "missing") {
		t.Errorf("a torus has neither trunks nor missing cables: %s", key)
	}
	tree := routed(t, testnet.Dump(t, "topograph-ndr-dgx-2025"), "updn")
	key = string(drawKey(tree, tree.Tables[0]))
	for _, want := range []string{"wider lines: more cables", "cables missing", "switches of level 1"} {
		if !strings.Contains(key, want) {
			t.Errorf("no %q in %s", want, key)
		}
	}
	if drawing := string(drawMap(tree, tree.Tables[0], "m")); strings.Count(drawing, `class="name"`) < 9 {
		t.Errorf("a drawing of 40 switches has %d names", strings.Count(drawing, `class="name"`))
	}
}

// One cable is one cable.
func TestMapInWords(t *testing.T) {
	for spec, want := range map[string]string{
		"ring:6":                            "6 pairs of switches are joined, each by 1 cable.",
		"fattree:ports=16,leaves=8,hosts=8": "32 pairs of switches are joined, each by 2 cables.",
	} {
		if text := inWords(NewNetwork("x", testnet.Build(t, spec))); !slices.Contains(text, want) {
			t.Errorf("%s: %q, want %q", spec, text, want)
		}
	}
}

// Where the page has paths to some destinations only, it says so.
func TestPartOfThePaths(t *testing.T) {
	f := testnet.Build(t, "dragonfly:p=2")
	whole := routed(t, f, "weave")
	tables, v := judged(t, f, "updn")
	part := NewNetwork("x", f)
	if err := Add(context.Background(), part, &Given{Tables: tables, Verdict: v}, Options{Seed: 1, Precision: 0.02, PathBytes: 500}); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[*result.ReportNetwork]bool{whole: false, part: true} {
		var b strings.Builder
		if err := Write(&b, &result.Report{Networks: []*result.ReportNetwork{n}}); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(b.String(), "Paths on this page: to "); said != want {
			t.Errorf("%d of %d LIDs: says that some are missing: %v", len(n.Tables[0].Paths.LIDs), n.Tables[0].Paths.Of, said)
		}
	}
}
