package results_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/internal/sweep/results"
)

// Another implementation of Parquet, hyparquet in Node, reads what was written: the same
// rows, with units and meanings in the metadata.
func TestAnotherReaderReadsTheSame(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: build/scripts/test-deps.sh installs it")
	}
	if _, err := os.Stat("testdata/reader/node_modules/hyparquet"); err != nil {
		t.Skip("no hyparquet: build/scripts/test-deps.sh installs it (cd internal/sweep/results/testdata/reader && npm ci)")
	}
	rows := []results.Row{row("a", "lanes", 3), row("b", "bandwidth", 0.1)}
	rows[0].Error, rows[0].Reason = ptr(1e-300), "über\n\"alles\""
	rows[1].Value, rows[1].Status, rows[1].MissingCables = nil, results.Refused, 1<<40
	for range 1 << 17 { // more than one group of rows
		rows = append(rows, row("many", "load", 7))
	}
	name := filepath.Join(t.TempDir(), "x.parquet")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	measures := []results.Measured{{Name: "bandwidth", Unit: "fraction of full", What: "of flows"}}
	if err := errors.Join(results.WriteParquet(f, rows, measures), f.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), node, "testdata/reader/read.mjs", name, "0", "1", "2", "131072", "131073").Output()
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Count int
		Rows  map[int]map[string]any
		About map[string]string
	}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if back.Count != len(rows) || len(back.Rows) != 5 {
		t.Fatalf("%d rows, want %d", back.Count, len(rows))
	}
	for i := range back.Rows {
		if d := cmp.Diff(asJSON(t, &rows[i]), back.Rows[i]); d != "" {
			t.Errorf("row %d: %s", i, d)
		}
	}
	for key, want := range map[string]string{
		"weft.schema": "weft/sweep/1", "unit.seconds": "s", "unit.memory": "MiB", "unit.value.bandwidth": "fraction of full", "about.value.bandwidth": "of flows",
	} {
		if back.About[key] != want {
			t.Errorf("%s is %q, want %q", key, back.About[key], want)
		}
	}
	for _, c := range results.Columns() {
		if back.About["about."+c.Name] == "" {
			t.Errorf("the metadata does not say what %s is", c.Name)
		}
	}
}

// asJSON is a row as the other reader prints it.
func asJSON(t *testing.T, r *results.Row) map[string]any {
	t.Helper()
	fields := map[string]any{}
	v := reflect.ValueOf(r).Elem()
	for i, c := range results.Columns() {
		fields[c.Name] = v.Field(i).Interface()
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var plain map[string]any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

// Columns are the fields, in their order.
func TestColumnsAreTheFields(t *testing.T) {
	fields := reflect.TypeFor[results.Row]()
	columns := results.Columns()
	if fields.NumField() != len(columns) {
		t.Fatalf("%d columns, %d fields", len(columns), fields.NumField())
	}
	for i, c := range columns {
		name, _, _ := strings.Cut(fields.Field(i).Tag.Get("parquet"), ",")
		inLog, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		if name != c.Name || inLog != c.Name || c.What == "" {
			t.Errorf("field %d is %s in Parquet, %s in the log and %s among the columns", i, name, inLog, c.Name)
		}
	}
}

func TestCSV(t *testing.T) {
	rows := []results.Row{row("a", "lanes", 2.5), row("b", "load", 1)}
	rows[1].Value, rows[1].Status, rows[1].Reason = nil, results.Refused, "a, \"b\""
	var b strings.Builder
	if err := results.WriteCSV(&b, rows); err != nil {
		t.Fatal(err)
	}
	want := `point,network,digest,parameters,missing_cables,missing_switches,ports,seed,switches,hosts,cables,engine,options,measure,settings,value,error,low,high,count,unit,status,reason,verdict,seconds,routing_seconds,memory,version,machine
a,"torus:4x4,seed=1",,"n=4,m=4",0,0,,1,16,16,32,lash,,lanes,,2.5,,,,0,routes,ok,,deadlock-free,0.25,0.5,12.5,v1,a machine
b,"torus:4x4,seed=1",,"n=4,m=4",0,0,,1,16,16,32,lash,,load,,,,,,0,routes,refused,"a, ""b""",deadlock-free,0.25,0.5,12.5,v1,a machine
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}
