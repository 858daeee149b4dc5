package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
)

// What other commands print is shown, and the parts that it names are found.
func TestResults(t *testing.T) {
	n := NewNetwork("torus:4x4", testnet.Build(t, "torus:4x4"))
	guid := func(name string) string {
		for i, v := range n.Nodes.Name {
			if v == name {
				return n.Nodes.GUID[i]
			}
		}
		t.Fatalf("no node %s", name)
		return ""
	}
	text := `{"schema": "weft/what-if/1", "fabric": "torus:4x4", "tables": "updn", "pairs": 240, "pairs_cut_now": 30,
 "without": {"switch_nodes": [{"name": "sw-1-1", "guid": "` + guid("sw-1-1") + `"}], "host_nodes": [],
  "links": [{"from": "sw-0-0", "from_port": 3, "to": "sw-1-0", "to_port": 2, "from_node": {"guid": "` + guid("sw-0-0") + `", "port": 3}}]},
 "steps": [{"entries_mended": 5, "by_switch": [{"switch": {"guid": "` + guid("sw-2-2") + `"}, "entries": 5}]}, {"entries_mended": 2, "by_switch": [{"switch": {"guid": "` + guid("sw-2-2") + `"}, "entries": 2}]}],
 "bandwidth": {"before": 0.5, "after": 0.4}}`
	r, err := ReadResult([]byte(text), "w.json", []*result.ReportNetwork{n})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Marks
	if len(m.GoneNodes) != 1 || n.Nodes.Name[m.GoneNodes[0]] != "sw-1-1" {
		t.Errorf("gone nodes %v, want sw-1-1", m.GoneNodes)
	}
	if len(m.GoneCables) != 1 || n.Nodes.Name[n.Cables.A[m.GoneCables[0]]] != "sw-0-0" {
		t.Errorf("gone cables %v, want that at sw-0-0, port 3", m.GoneCables)
	}
	for s, entries := range m.BySwitch {
		want := int32(0)
		if n.Nodes.Name[s] == "sw-2-2" {
			want = 7
		}
		if entries != want {
			t.Errorf("%d entries change at %s, want %d", entries, n.Nodes.Name[s], want)
		}
	}
	if len(m.Steps) != 2 || slices.Max(m.Steps[0]) != 5 || slices.Max(m.Steps[1]) != 2 {
		t.Errorf("steps %v, want 5 entries and 2", m.Steps)
	}
	if len(r.Tables) != 2 || len(r.Tables[0].Rows) != 2 {
		t.Errorf("%d tables, want one of two steps and one of switches", len(r.Tables))
	}
	if rows := r.Tables[1].Rows; len(rows) != 2 || rows[0][0] != "repair 1" || rows[1][0] != "repair 2" {
		t.Errorf("a switch that changes in two steps has the rows %v, want one for each step", rows)
	}
	if r.Foreign != "" {
		t.Errorf("it is of this network, and said not to be: %s", r.Foreign)
	}
}

// A result of another fabric is told by what it says of it, not only by its name: files go by
// several names, and a fabric changes under one.
func TestResultsOfOtherFabrics(t *testing.T) {
	network := func(name, spec string) *result.ReportNetwork { return NewNetwork(name, testnet.Build(t, spec)) }
	torus, ring := network("torus.ibnetdiscover", "torus:4x4"), network("ring.ibnetdiscover", "ring:6")
	far := network("far.ibnetdiscover", "ring:12").Nodes.GUID[8] // a switch that neither ring:6 nor two others have
	compare := func(name string, switches, endpoints int) string {
		return fmt.Sprintf(`{"schema": "weft/compare/1", "fabric": {"name": %q, "switches": %d, "endpoints": %d}, "rows": [{"name": "updn"}]}`, name, switches, endpoints)
	}
	whatIf := func(name, guid string) string {
		return fmt.Sprintf(`{"schema": "weft/what-if/1", "fabric": %q, "without": {"switch_nodes": [{"guid": %q}]}}`, name, guid)
	}
	diff := func(from, to, guid string) string {
		return fmt.Sprintf(`{"schema": "weft/diff/1", "old": {"fabric": %q}, "new": {"fabric": %q}, "gone": {"switches": [{"guid": %q}]}}`, from, to, guid)
	}
	for _, c := range []struct {
		text     string
		networks []*result.ReportNetwork
		about    int
		foreign  string
	}{
		{compare("torus.ibnetdiscover", 16, 16), []*result.ReportNetwork{ring, torus}, 1, ""},
		{compare("/srv/torus.ibnetdiscover", 16, 16), []*result.ReportNetwork{ring, torus}, 1, ""},
		{compare("/srv/torus.ibnetdiscover", 16, 32), []*result.ReportNetwork{torus}, 0, ""}, // port 0 of switches too
		{compare("torus.ibnetdiscover", 15, 15), []*result.ReportNetwork{torus}, 0, "is not as it was then"},
		{compare("other", 6, 12), []*result.ReportNetwork{torus}, -1, "it is about other, which is none"},
		{compare("other", 16, 17), []*result.ReportNetwork{torus}, -1, "it is about other, which is none"},
		{compare("other", 6, 6), []*result.ReportNetwork{ring, network("again", "ring:6")}, -1, "it is about other, which is none"},
		{whatIf("other", far), []*result.ReportNetwork{ring}, -1, "it is about other, which is none"},
		{whatIf("other", far), []*result.ReportNetwork{torus}, 0, ""},
		{whatIf("ring.ibnetdiscover", far), []*result.ReportNetwork{ring}, 0, "is not as it was then"},
		{diff("was", "is", far), []*result.ReportNetwork{ring}, -1, "it is about was, which is none"},
		{diff("was", "is", far), []*result.ReportNetwork{torus}, 0, ""},
		{diff("was", "torus.ibnetdiscover", far), []*result.ReportNetwork{ring, torus}, 1, ""},
	} {
		r, err := ReadResult([]byte(c.text), "x.json", c.networks)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if r.Network != c.about || (c.foreign == "") != (r.Foreign == "") || !strings.Contains(r.Foreign, c.foreign) {
			t.Errorf("%s: about %d, %q; want %d, %q", c.text, r.Network, r.Foreign, c.about, c.foreign)
		}
		if told := len(r.Facts) > 0 && r.Facts[0].Text == r.Foreign; told != (c.foreign != "") {
			t.Errorf("%s: facts %v, want %q first", c.text, r.Facts, c.foreign)
		}
	}
}

// Files that are no such outputs are refused, and errors say where they are.
func TestResultsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\n!":                    "x.json: line 3: invalid character",
		`{"schema": "weft/info/1"}`: "x.json: it is weft/info/1; a report takes what weft compare",
		`{"fabric": 3}`:             "x.json: it does not say which output it is",
		"{\"schema\": \"weft/diff/1\",\n\"gone\": 7}": "x.json: line 2: json: cannot unmarshal",
		`[]`:                           "x.json: line 1: json: cannot unmarshal",
		`{"schema": "weft/compare/1"}`: "x.json: it names no fabric: is the file whole?",
		`{"schema": "weft/compare/1", "fabric": {"name": "a"}}`: "x.json: it names no engines: is the file whole?",
		`{"schema": "weft/packets/1"}`:                          "x.json: it names no fabric: is the file whole?",
		`{"schema": "weft/packets/1", "fabric": {"name": "a"}}`: "x.json: it names no runs: is the file whole?",
		`{"schema": "weft/diff/1", "old": {"fabric": "a"}}`:     "x.json: it names no fabric: is the file whole?",
		`{"schema": "weft/diff/1", "new": {"fabric": "a"}}`:     "x.json: it names no fabric: is the file whole?",
		`{"schema": "weft/what-if/1"}`:                          "x.json: it names no fabric: is the file whole?",
	} {
		if _, err := ReadResult([]byte(text), "x.json", nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A curve of one run, of none, and of figures that are all zero are drawn or left out.
func TestCharts(t *testing.T) {
	for _, c := range []result.ReportCurves{
		{Title: "one", Series: []result.ReportCurve{{Name: "a", X: []float64{0.5}, Y: []float64{3}}}},
		{Title: "zero", Series: []result.ReportCurve{{Name: "a", X: []float64{0, 1}, Y: []float64{0, 0}}}},
	} {
		if text := string(lineChart(&c)); !strings.Contains(text, "<circle") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: %s", c.Title, text)
		}
	}
	if text := lineChart(&result.ReportCurves{}); text != "" {
		t.Errorf("a chart of nothing: %s", text)
	}
	if text := string(barChart("zero", "x", "y", []bar{{"a", 0, ""}})); strings.Contains(text, "NaN") {
		t.Errorf("bars of nothing: %s", text)
	}
}
