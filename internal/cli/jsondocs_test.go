package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
)

// update writes the page anew: fields that are not on it get a row to fill in.
var update = flag.Bool("update", false, "write docs/json.md with the fields that there are")

// object is a JSON object as docs/json.md has it: its fields with their types, those
// that may be absent marked with a question mark.
type object struct {
	fields map[string]string
	order  []string
	rest   map[string]string // of the page: what it is, and what programs may rely on
}

// objectName is what docs/json.md calls a type.
func objectName(t reflect.Type, parent, field string) string {
	name := t.Name()
	if name == "" {
		return parent + "." + field
	}
	name = strings.TrimSuffix(name, "Summary")
	return strings.ToLower(name[:1]) + name[1:]
}

// forms collects the objects of the schemas.
type forms struct {
	objects map[string]*object
	types   map[string]reflect.Type
}

// typeText is how docs/json.md writes a type.
func (f *forms) typeText(t *testing.T, v reflect.Type, parent, field string) string {
	t.Helper()
	if v == reflect.TypeOf(time.Time{}) {
		return "time"
	}
	switch v.Kind() {
	case reflect.Pointer:
		return f.typeText(t, v.Elem(), parent, field)
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		if v == reflect.TypeOf([]byte{}) {
			return "string" // base64
		}
		return "list of " + f.typeText(t, v.Elem(), parent, field)
	case reflect.Map:
		return "map of " + f.typeText(t, v.Elem(), parent, field)
	case reflect.Struct:
		name := objectName(v, parent, field)
		f.add(t, v, name)
		return "[" + name + "](#" + strings.ToLower(strings.ReplaceAll(name, ".", "")) + ")"
	}
	if v.Kind() >= reflect.Int && v.Kind() <= reflect.Uint64 {
		return "integer"
	}
	t.Fatalf("%s.%s: what is a %s in JSON?", parent, field, v)
	return ""
}

// add adds an object and all it is made of.
func (f *forms) add(t *testing.T, v reflect.Type, name string) {
	t.Helper()
	if old, ok := f.types[name]; ok {
		if old != v {
			t.Fatalf("%s and %s would both be called %s", old, v, name)
		}
		return
	}
	f.types[name] = v
	o := &object{fields: map[string]string{}}
	f.objects[name] = o
	f.addFields(t, o, v, name)
}

func (f *forms) addFields(t *testing.T, o *object, v reflect.Type, name string) {
	t.Helper()
	for i := range v.NumField() {
		field := v.Field(i)
		key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case key == "-" || !field.IsExported() && !field.Anonymous:
			continue
		case key == "" && field.Anonymous:
			f.addFields(t, o, field.Type, name)
			continue
		case key == "":
			t.Fatalf("%s.%s has no name in JSON", v, field.Name)
		}
		text := f.typeText(t, field.Type, name, key)
		if strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
			text += "?"
		}
		o.fields[key], o.order = text, append(o.order, key)
	}
}

// allForms is the objects of all schemas, and the name of each schema's own.
func allForms(t *testing.T) (*forms, map[string]string) {
	t.Helper()
	f := &forms{map[string]*object{}, map[string]reflect.Type{}}
	roots := map[string]string{}
	for _, s := range schemas {
		v := reflect.TypeOf(s.Form)
		if v.Kind() == reflect.Slice {
			v = v.Elem()
		}
		roots[s.Schema] = objectName(v, "", "")
		f.add(t, v, roots[s.Schema])
	}
	return f, roots
}

var (
	sectionLine = regexp.MustCompile("^### ([A-Za-z.]+)$")
	fieldLine   = regexp.MustCompile("^\\| `([a-z0-9_]+)` \\| ([^|]+) \\| ([^|]+) \\| (stable|text|run) \\|$")
	outputLine  = regexp.MustCompile("^\\| `(weft/[a-z-]+/\\d+)` \\| (.+) \\| \\[([A-Za-z.]+)\\]\\(#([a-z]+)\\) \\|$")
)

// toFillIn is what a new row says until somebody does.
const toFillIn = "?"

// writePage writes docs/json.md: the head as it is, what rows say as far as the page
// has it.
func writePage(t *testing.T, f *forms, roots map[string]string) {
	t.Helper()
	const file = "../../docs/json.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	old, _ := readPage(t)
	head, _, _ := strings.Cut(string(page), "## Outputs\n")
	var b strings.Builder
	b.WriteString(head + "## Outputs\n\n| schema | printed by | object |\n|---|---|---|\n")
	for _, s := range schemas {
		fmt.Fprintf(&b, "| `%s` | %s | [%s](#%s) |\n", s.Schema, s.Command, roots[s.Schema], strings.ToLower(roots[s.Schema]))
	}
	b.WriteString("\n## Objects\n")
	written := map[string]bool{}
	var write func(name string)
	write = func(name string) {
		if written[name] {
			return
		}
		written[name] = true
		o := f.objects[name]
		fmt.Fprintf(&b, "\n### %s\n\n| field | type | what, unit | |\n|---|---|---|---|\n", name)
		for _, key := range o.order {
			rest := toFillIn + " | stable"
			if old[name] != nil && old[name].rest[key] != "" {
				rest = old[name].rest[key]
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, o.fields[key], rest)
		}
		for _, key := range o.order {
			if m := linked.FindStringSubmatch(o.fields[key]); m != nil {
				write(m[1])
			}
		}
	}
	for _, s := range schemas {
		write(roots[s.Schema])
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// readPage reads docs/json.md.
func readPage(t *testing.T) (objects map[string]*object, outputs map[string][2]string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	objects, outputs = map[string]*object{}, map[string][2]string{}
	var at *object
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSuffix(line, "\n")
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			at = &object{fields: map[string]string{}, rest: map[string]string{}}
			objects[m[1]] = at
		} else if m := fieldLine.FindStringSubmatch(line); m != nil && at != nil {
			at.fields[m[1]], at.order = m[2], append(at.order, m[1])
			at.rest[m[1]] = m[3] + " | " + m[4]
			if m[3] == toFillIn {
				t.Errorf("docs/json.md does not say what %s is", m[1])
			}
		} else if m := outputLine.FindStringSubmatch(line); m != nil {
			outputs[m[1]] = [2]string{m[2], m[3]}
		} else if strings.HasPrefix(line, "| `") && at != nil {
			t.Errorf("docs/json.md: no row of a field, what it is, its unit, and stable, text or run: %s", line)
		}
	}
	return objects, outputs
}

// Every field of every JSON output is on docs/json.md with its type, and nothing
// else is. go test ./internal/cli -run TestJSONPage -update adds and removes rows.
func TestJSONPage(t *testing.T) {
	f, roots := allForms(t)
	if *update {
		writePage(t, f, roots)
	}
	objects, outputs := readPage(t)
	want := map[string][2]string{}
	for _, s := range schemas {
		want[s.Schema] = [2]string{s.Command, roots[s.Schema]}
	}
	if diff := cmp.Diff(want, outputs); diff != "" {
		t.Errorf("docs/json.md, outputs: %s", diff)
	}
	for _, name := range slices.Sorted(maps.Keys(f.objects)) {
		on, ok := objects[name]
		if !ok {
			t.Errorf("docs/json.md has no section ### %s with %v", name, f.objects[name].order)
			continue
		}
		if diff := cmp.Diff(f.objects[name].fields, on.fields); diff != "" {
			t.Errorf("docs/json.md, ### %s (go test ./internal/cli -run TestJSONPage -update adds and removes rows): %s", name, diff)
		}
	}
	for name := range objects {
		if f.objects[name] == nil {
			t.Errorf("docs/json.md: no output has ### %s", name)
		}
	}
}

// Every output is a value of package result.
func TestOutputsAreResults(t *testing.T) {
	for _, s := range schemas {
		v := reflect.TypeOf(s.Form)
		if v.Kind() == reflect.Slice {
			v = v.Elem()
		}
		if v.PkgPath() != "github.com/weft-fabric/weft/result" {
			t.Errorf("%s is %s", s.Schema, v)
		}
	}
}

// What commands print says which schema it is, and has no field that the page does
// not have.
func TestJSONOutputs(t *testing.T) {
	objects, outputs := readPage(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	conf := in("opensm.conf")
	if err := os.WriteFile(conf, []byte("routing_engine minhop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	watching := in("watch.yaml")
	text := fmt.Sprintf("folder: %s\nfabric: %s\nsettle: 1ms\nengine: updn\nstate: %s\n", in("t4"), in("less"), in("looks"))
	if err := os.WriteFile(watching, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := in("spec.yaml")
	if err := os.WriteFile(spec, []byte("name: n\nnetworks: [{spec: 'torus:3x3', damage: {cables: 1, switches: 1}}]\nengines: [{engine: lash, vls: 4}, ftree]\nmeasures: [lanes, bandwidth]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range []struct{ schema, args string }{
		{"weft/route/1", "route torus:5x5 --engine minhop"},
		{"weft/route/1", "route ring:5 --out " + in("t")},
		{"weft/route-adaptive/1", "route torus:4x4 --engine a-lash"},
		{"weft/refusal/1", "route torus:5x5 --engine lash --vls 1"},
		{"weft/verify/1", "verify ring:5 --tables " + in("t")},
		{"weft/verify/1", "verify ring:6 --tables " + in("t")},
		{"weft/verify-certificate/1", "verify ring:5 --tables " + in("t") + " --certificate " + in("none-of-it")},
		{"weft/compare/1", "compare ring:5 --engine updn,lash,auto,a-lash,ftree --tables now=" + in("t")},
		{"weft/place/1", "place torus:4x4 --engine updn --pattern ring --allocation random:8"},
		{"weft/simulate/1", "simulate torus:4x4 --engine updn --runs 5"},
		{"weft/packets/1", "packets ring:5 --load 0.1 --time 20us"},
		{"weft/packets/1", "packets ring:6 --engine sssp --pattern shift:k=2 --load 0.95 --buffer 2112"},
		{"weft/replay/1", "packets torus:5x5 --engine minhop --replay-cycle"},
		{"weft/explain/1", "explain torus:4x4 --engine ftree"},
		{"weft/bound/1", "bound random:switches=6,links=9,hosts=4,seed=1"},
		{"weft/lanes/1", "lanes torus:4x4 --engine lash --exact --all-paths"},
		{"weft/info/1", "info " + in("odd")},
		{"weft/degrade/1", "degrade torus:4x4 --cables 2 --switches 1 -o " + in("less")},
		{"weft/route/1", "route torus:4x4 --engine sssp --write-unproven --out " + in("t4")},
		{"weft/route/1", "route " + in("less") + " --engine updn --out " + in("t4less")},
		{"weft/route/1", "route torus:4x4 --engine updn --out " + in("t4up")},
		{"weft/deploy-files/1", "deploy files ring:5 --engine updn --out " + in("files")},
		{"weft/deploy-refusal/1", "deploy files torus:4x4 --engine lash --contract directed --out " + in("refused")},
		{"weft/deploy-check/1", "deploy check --conf " + conf},
		{"weft/engines/1", "engines"},
		{"weft/topologies/1", "topologies"},
		{"weft/experiments/1", "reproduce --list"},
		{"weft/reproduce-plan/1", "reproduce all --dry-run"},
		{"weft/what-if/1", "what-if torus:4x4,hosts=2 --engine weave-any --cable sw-0-0:3 --switch sw-1-1 --host host-9"},
		{"weft/diff/1", "diff ring:5 " + in("less")},
		{"weft/diff/1", "diff torus:4x4 " + in("less") + " --tables old=" + in("t4") + " --tables new=" + in("t4less")},
		{"weft/route/1", "repair " + in("less") + " --tables " + in("t4up") + " --steps " + in("steps")},
		{"weft/route/1", "route xgft:m=3x3,w=1x1,hosts=2 --engine updn --out " + in("thin")},
		{"weft/drain/1", "drain xgft:m=3x3,w=1x1,hosts=2 --tables " + in("thin") + " --cable sw-l0-0-0:3"},
		{"weft/route/1", "route xgft:m=4x4,w=2x2 --engine updn --out " + in("tree")},
		{"weft/drain/1", "drain xgft:m=4x4,w=2x2 --tables " + in("tree") + " --switch sw-l1-0-1"},
		{"weft/what-if/1", "what-if mesh:3x3,hosts=2 --engine weave-any --cable sw-0-1:3"},
		{"weft/report/1", "report torus:4x4,hosts=2 --engine weave --job few=host-[1-6]"},
		{"weft/report/1", "report torus:4x4 --tables " + in("t4") + " --engine updn"},
		{"weft/report/1", "report torus:4x4,hosts=2 --engine updn --with " + filepath.Join("testdata", "what-if.json")},
		{"weft/verify-ethernet/1", "verify ../../examples/ethernet/clos-two-links-down"},
		{"weft/priorities/1", "priorities ../../examples/ethernet/clos-two-links-down --bounces 1"},
		{"weft/pins/1", "route fattree:ports=4 --routes bgp --as per-leaf --pin"},
		{"weft/collect/1", "collect --inventory " + in("hosts.yaml") + " -o " + in("collected")},
		{"weft/info-ethernet/1", "info ../../examples/ethernet/clos-two-links-down"},
		{"weft/diff-ethernet/1", "diff ../../examples/ethernet/clos-healthy ../../examples/ethernet/clos-two-links-down"},
		{"weft/what-if-ethernet/1", "what-if ../../examples/ethernet/clos-healthy --cable lf1:lf1-sp1"},
		{"weft/explain-ethernet/1", "explain ../../examples/ethernet/clos-two-links-down --to 10.1.2.7"},
		{"weft/simulate-ethernet/1", "simulate ../../examples/ethernet/clos-healthy --runs 2"},
		{"weft/compare-ethernet/1", "compare ../../examples/ethernet/clos-healthy --engine ftree,dor"},
		{"weft/replay-ethernet/1", "packets ../../examples/ethernet/clos-two-links-down --replay-cycle"},
		{"weft/verify-failures/1", "verify xgft:m=2x4,w=1x2,hosts=1 --routes bgp --failures 2-links"},
		{"weft/watch-look/1", "watch --once --config " + watching},
		{"weft/watch-log/1", "watch log --config " + watching},
		{"weft/events/1", "events --state " + in("looks")},
		{"weft/sweep-plan/1", "sweep " + spec + " --dry-run --shard 1/2"},
		{"weft/sweep/1", "sweep " + spec + " --out " + in("swept")},
		{"weft/sweep/1", "sweep " + spec + " --shard 1/2 --out " + in("shard")},
		{"weft/sweep-merge/1", "sweep merge " + in("swept") + " --out " + in("merged")},
		{"weft/version/1", "version"},
	} {
		if strings.HasPrefix(c.args, "collect") { // nobody answers there
			if err := os.WriteFile(in("hosts.yaml"), []byte("hosts: {leaf1: {address: 127.0.0.1, port: 1}}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if strings.HasPrefix(c.args, "info") {
			writeOdd(t, in("odd"))
		}
		if c.schema == "weft/verify-certificate/1" {
			spoilCertificate(t, in("t/certificate"), in("none-of-it"))
		}
		var out, errs bytes.Buffer
		if code := run(t.Context(), append(strings.Fields(c.args), "--json"), nil, &out, &errs); code > exit.Found {
			t.Errorf("%s: exit code %d: %s", c.args, code, errs.String())
			continue
		}
		checkOutput(t, c.args, c.schema, out.Bytes(), objects, outputs[c.schema][1])
		seen[c.schema] = true
	}
	if code, _, errs := runWeft("priorities", "../../examples/ethernet/clos-two-links-down", "--bounces", "1", "--out", in("rules")); code != exit.OK {
		t.Fatal(errs)
	}
	for file, schema := range map[string]string{
		"steps/plan.json": "weft/plan/1", "steps/step-1/summary.json": "weft/route/1", "rules/summary.json": "weft/priorities/1",
	} {
		text, err := os.ReadFile(in(file))
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, file, schema, text, objects, outputs[schema][1])
		seen[schema] = true
	}
	// weave-any is proven wherever it was tried, so auto does not fail.
	var out bytes.Buffer
	if err := nothingProven(t, &out); err == nil {
		t.Error("auto that finds nothing is a finding")
	}
	checkOutput(t, "auto", "weft/none-proven/1", out.Bytes(), objects, outputs["weft/none-proven/1"][1])
	seen["weft/none-proven/1"] = true
	for _, s := range schemas {
		if !seen[s.Schema] && s.Schema != "weft/status/1" && s.Schema != "weft/drain-live/1" && s.Schema != "weft/reproduce/1" { // a daemon's, and minutes of work
			t.Errorf("nothing was run that prints %s", s.Schema)
		}
	}
}

// checkOutput holds an output against the page.
func checkOutput(t *testing.T, args, schema string, text []byte, objects map[string]*object, root string) {
	t.Helper()
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Errorf("%s: %v", args, err)
		return
	}
	if top, ok := doc.(map[string]any); ok {
		if top["schema"] != schema || top["version"] == nil {
			t.Errorf("%s: schema %v, version %v; want %s", args, top["schema"], top["version"], schema)
		}
		delete(top, "schema")
		if root != "version" && root != "status" {
			delete(top, "version")
		}
	}
	checkValue(t, args+": "+root, doc, "["+root+"]", objects)
}

var linked = regexp.MustCompile(`\[([A-Za-z.]+)\]`)

func checkValue(t *testing.T, where string, v any, form string, objects map[string]*object) {
	t.Helper()
	name := ""
	if m := linked.FindStringSubmatch(form); m != nil {
		name = m[1]
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			checkValue(t, where, e, form, objects)
		}
	case map[string]any:
		if strings.Contains(form, "map of") {
			for _, e := range v {
				checkValue(t, where, e, strings.Replace(form, "map of", "", 1), objects)
			}
			return
		}
		o := objects[name]
		if o == nil {
			t.Errorf("%s: the page says it is %s, and it is an object", where, form)
			return
		}
		for key, e := range v {
			if _, ok := o.fields[key]; !ok {
				t.Errorf("%s has a field %s that docs/json.md does not have", where, key)
				continue
			}
			checkValue(t, where+"."+key, e, o.fields[key], objects)
		}
	}
}

// writeOdd writes a fabric with something odd of most kinds.
func writeOdd(t *testing.T, file string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), strings.Fields("degrade xgft:m=4x4,w=2x2 --cable sw-l0-0-0:5 -o -"), nil, &out, &errs); code != exit.OK {
		t.Fatal(errs.String())
	}
	text := strings.Replace(out.String(), `"host-3" lid`, `"host-2" lid`, 1)
	text = strings.Replace(text, `"host-9" lid 38 4xHDR`, `"host-9" lid 38 1xHDR`, 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// spoilCertificate writes a proof in which all ranks are alike.
func spoilCertificate(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := regexp.MustCompile(`(?m)^(0x\S+ \d+ \d+) \d+$`).ReplaceAll(text, []byte("$1 1"))
	if err := os.WriteFile(to, spoilt, 0o600); err != nil {
		t.Fatal(err)
	}
}
