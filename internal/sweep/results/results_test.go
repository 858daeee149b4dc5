package results_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/internal/sweep/results"
)

func ptr(v float64) *float64 { return &v }

func row(point, measure string, value float64) results.Row {
	return results.Row{
		Point: point, Network: "torus:4x4,seed=1", Parameters: "n=4,m=4", Seed: 1, Switches: 16, Hosts: 16, Cables: 32, Engine: "lash",
		Measure: measure, Value: ptr(value), Unit: "routes", Status: results.OK, Verdict: "deadlock-free", Seconds: 0.25, RoutingSeconds: 0.5, Memory: 12.5,
		Version: "v1", Machine: "a machine",
	}
}

func open(t *testing.T, dir string) *results.Log {
	t.Helper()
	l, err := results.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Whatever byte a killed process stopped at, all whole points before it are there, and the
// next are appended behind them.
func TestLogIsWholeAfterAnyCut(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	for _, id := range []string{"a", "b", "c"} {
		if err := l.Append([]results.Row{row(id, "lanes", 1), row(id, "load", 2)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, results.LogFile))
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 {
		if near := strings.Contains(string(whole[max(0, cut-2):min(len(whole), cut+2)]), "\n"); !near && cut%61 != 0 {
			continue
		}
		at := t.TempDir()
		if err := os.WriteFile(filepath.Join(at, results.LogFile), whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		want := 2 * max(0, strings.Count(string(whole[:cut]), "\n")-1)
		l := open(t, at)
		if len(l.Rows) != want {
			t.Fatalf("cut at %d of %d bytes: %d rows, want %d", cut, len(whole), len(l.Rows), want)
		}
		if err := errors.Join(l.Append([]results.Row{row("d", "lanes", 4)}), l.Close()); err != nil {
			t.Fatal(err)
		}
		rows, err := results.Of(t.Context(), at)
		if err != nil || len(rows) != want+1 || rows[want].Point != "d" {
			t.Fatalf("cut at %d and gone on: %d rows (%v), want %d", cut, len(rows), err, want+1)
		}
	}
}

func TestLogSaysWhatIsDamaged(t *testing.T) {
	for name, text := range map[string]string{
		"points.jsonl:1: this is no log of weft sweep":                   "{\"schema\":\"weft/other/1\"}\n",
		"points.jsonl:1: an earlier weft reproduce kept its points here": "{\"weft\":\"x\",\"machine\":\"y\"}\n",
		"points.jsonl:2: row 2, lanes of point a: its status is ok, and": "{\"schema\":\"weft/sweep-log/1\"}\n{\"rows\":[{\"point\":\"b\"},{\"point\":\"a\",\"measure\":\"lanes\",\"status\":\"ok\"}]}\n",
		"points.jsonl:2: row 1, stops of point a: it has a count":        "{\"schema\":\"weft/sweep-log/1\"}\n{\"rows\":[{\"point\":\"a\",\"measure\":\"stops\",\"status\":\"ok\",\"value\":2,\"high\":3,\"count\":2}]}\n",
		"points.jsonl:2: this line is damaged":                           "{\"schema\":\"weft/sweep-log/1\"}\n{\"rows\":[{\"point\":\n{\"rows\":[]}\n",
		"points.jsonl:3: this line is damaged":                           "{\"schema\":\"weft/sweep-log/1\"}\n{\"rows\":[{\"point\":\"a\"}]}\n{\"rows\":[]}\n",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, results.LogFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := results.Open(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, results.LogFile)); string(after) != text {
			t.Errorf("a damaged log was changed: %q", after)
		}
	}
}

func TestLogIsOfOneProcess(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	var busy *results.Busy
	if _, err := results.Open(dir); !errors.As(err, &busy) {
		t.Errorf("a second process got the log: %v", err)
	}
}

func TestParquetComesBackAsItWent(t *testing.T) {
	rows := []results.Row{row("a", "lanes", 1), row("b", "load", 1e300)}
	rows[1].Value, rows[1].Error, rows[1].Status, rows[1].Reason = nil, ptr(0), results.Refused, "ünïcode\nlines"
	name := filepath.Join(t.TempDir(), "x.parquet")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(results.WriteParquet(f, rows, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
	back, err := results.Of(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(rows, back); d != "" {
		t.Error(d)
	}
}

// Rows that lack what others take for granted are refused in Parquet as in a log.
func TestParquetSaysWhatRowsLack(t *testing.T) {
	rows := []results.Row{row("a", "lanes", 1), row("b", "stops", 2)}
	rows[1].Count, rows[1].Low = 2, ptr(1)
	name := filepath.Join(t.TempDir(), "x.parquet")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(results.WriteParquet(f, rows, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := results.ReadParquet(t.Context(), name); err == nil || !strings.Contains(err.Error(), name+": row 2, stops of point b: it has a count") {
		t.Errorf("got %v", err)
	}
}

// No damaged file brings the reader down.
func TestDamagedParquetIsAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.parquet")
	var b strings.Builder
	if err := results.WriteParquet(&b, []results.Row{row("a", "lanes", 1), row("b", "lanes", 2)}, nil); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for cut := 0; cut < len(text); cut += 211 {
		for _, damaged := range []string{text[:cut], text[:cut] + "\xff\xff\xff\xff" + text[min(len(text), cut+4):]} {
			if err := os.WriteFile(name, []byte(damaged), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := results.ReadParquet(t.Context(), name); err != nil && !strings.HasPrefix(err.Error(), name) {
				t.Errorf("cut at %d: the error does not name the file: %v", cut, err)
			}
		}
	}
}

func TestMergeHasEveryRowOnce(t *testing.T) {
	a := []results.Row{row("p2", "lanes", 2), row("p1", "lanes", 1)}
	b := []results.Row{row("p1", "lanes", 1), row("p1", "load", 5), row("p3", "time", 1)}
	c := []results.Row{row("p3", "time", 2)}
	rows, differ := results.Merge(a, b, c)
	var got []string
	for _, r := range rows {
		got = append(got, r.Point+" "+r.Measure)
	}
	if d := cmp.Diff([]string{"p1 lanes", "p1 load", "p2 lanes", "p3 time"}, got); d != "" || len(differ) > 0 {
		t.Errorf("%s, differences %v", d, differ)
	}
	again, _ := results.Merge(c, b, a)
	if len(again) != len(rows) || again[0].Point != "p1" {
		t.Errorf("in another order: %v", again)
	}
}

func TestMergeSaysWhatDiffers(t *testing.T) {
	broken := row("p", "lanes", 0)
	broken.Value, broken.Status = nil, results.Broken
	for _, c := range []struct {
		name          string
		first, second results.Row
		differ        int
		want          float64
	}{
		{"values", row("p", "lanes", 1), row("p", "lanes", 2), 1, 2},
		{"times", row("p", "time", 1), row("p", "time", 2), 0, 2},
		{"broken, then mended", broken, row("p", "lanes", 2), 0, 2},
		{"broken elsewhere", row("p", "lanes", 1), broken, 0, 1},
	} {
		rows, differ := results.Merge([]results.Row{c.first}, []results.Row{c.second})
		if len(rows) != 1 || *rows[0].Value != c.want || len(differ) != c.differ {
			t.Errorf("%s: %v, differences %v", c.name, rows, differ)
		}
	}
}

func TestSortCountsNumbers(t *testing.T) {
	var rows []results.Row
	for _, network := range []string{"torus:10x2", "torus:9x3", "torus:9x20", "torus"} {
		r := row(network, "lanes", 1)
		r.Network = network
		rows = append(rows, r)
	}
	results.Sort(rows)
	var got []string
	for _, r := range rows {
		got = append(got, r.Network)
	}
	if d := cmp.Diff([]string{"torus", "torus:9x3", "torus:9x20", "torus:10x2"}, got); d != "" {
		t.Error(d)
	}
}

func TestParameter(t *testing.T) {
	r := row("p", "lanes", 1)
	if v, ok := r.Parameter("m"); v != "4" || !ok {
		t.Errorf("m is %q", v)
	}
	if _, ok := r.Parameter("k"); ok {
		t.Error("there is a k")
	}
}
