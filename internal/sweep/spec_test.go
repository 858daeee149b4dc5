package sweep_test

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/sweep"
)

// noFiles is for a SPEC that names none.
func noFiles(name string) (string, string, error) {
	return "", "", errors.New(name + ": no such file")
}

func read(t *testing.T, text string) *sweep.Spec {
	t.Helper()
	s, err := sweep.Read(strings.NewReader(text), "SPEC.yaml", noFiles)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const tori = `
name: tori
networks: [{spec: "torus:{n}x{n},hosts=2", n: [3, 4], seeds: [1, 2]}]
engines: [dfsssp, {engine: [lash, "sssp+break-cycles-plain"], vls: [4, 8], contract: directed}]
measures: [lanes, {measure: bandwidth, patterns: [10, 100]}]
`

func TestSpecIsMultipliedOut(t *testing.T) {
	s := read(t, tori)
	if want := 2 * 2 * (1 + 2*2); s.Name != "tori" || len(s.Points) != want {
		t.Fatalf("%q has %d points, want %d", s.Name, len(s.Points), want)
	}
	seen := map[string]bool{}
	for _, p := range s.Points {
		seen[fmt.Sprint(p.Network.Spec, " ", p.Seed, " ", p.Engine.Name, " ", p.Engine.Options())] = true
		if len(p.Measures) != 3 || p.Measures[0].Name != "lanes" || p.Measures[1].Setting("patterns") != "10" || p.Measures[2].Setting("patterns") != "100" {
			t.Fatalf("measures of a point: %v", p.Measures)
		}
	}
	if len(seen) != len(s.Points) || !seen["torus:4x4,hosts=2 2 sssp+break-cycles-plain vls=8,contract=directed"] {
		t.Errorf("points are %v", seen)
	}
}

// An ID is kept for ever: results of years ago are found by it.
func TestIDsStayAsTheyAre(t *testing.T) {
	s := read(t, tori)
	for i, want := range map[int]string{0: "60bc5cf622a0afbc", len(s.Points) - 1: "ce6a7e459a48d491"} {
		if got := s.Points[i].ID; got != want {
			t.Errorf("point %d has the ID %s, want %s", i, got, want)
		}
	}
}

// A SPEC may grow on all sides and be put in another order: a point keeps its ID, and
// points that are described twice are one.
func TestIDsDoNotDependOnTheRest(t *testing.T) {
	ids := map[string]string{}
	for _, p := range read(t, tori).Points {
		ids[fmt.Sprint(p.Network.Spec, p.Seed, p.Engine)] = p.ID
	}
	grown := read(t, `
measures: [loops, lanes, time]
engines: [minhop, {engine: [dfsssp, lash], vls: 8, contract: directed}, dfsssp]
networks: [odin, {spec: "torus:{size},hosts=2", size: [5x5, 4x4, 3x3], seeds: 1..3}, "torus:4x4,hosts=2"]
`)
	found := 0
	for _, p := range grown.Points {
		if id, ok := ids[fmt.Sprint(p.Network.Spec, p.Seed, p.Engine)]; ok {
			found++
			if p.ID != id {
				t.Errorf("%s has another ID", p.Network.Spec)
			}
		}
	}
	if want := 2 * 2 * 2; found != want {
		t.Errorf("%d points are in both, want %d", found, want)
	}
	if want := 4 + 3*3*4; len(grown.Points) != want {
		t.Errorf("%d points, want %d: those described twice are one", len(grown.Points), want)
	}
}

func TestIDsDependOnWhatIsMeasured(t *testing.T) {
	base := `{networks: [{spec: "torus:4x4"}], engines: [lash], measures: [lanes]}`
	ids := map[string]string{read(t, base).Points[0].ID: base}
	for _, other := range []string{
		`{networks: [{spec: "torus:4x5"}], engines: [lash], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4", seeds: 2}], engines: [lash], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4", damage: {cables: 1}}], engines: [lash], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4", damage: {cables: 1%}}], engines: [lash], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4", damage: {switches: 1}}], engines: [lash], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [dfsssp], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [{engine: lash, vls: 4}], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [{engine: lash, sls: 4}], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [{engine: lash, contract: directed}], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [{engine: lash, endpoints: all}], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [{engine: lash, order: shuffled}], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [{engine: weave, aim: shifts}], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [{engine: weave, prefer: lanes}], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [{engine: lash, lmc: 1}], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [{engine: lash, lanes-of: lash}], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [{engine: lash, exact: yes}], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4", ports: shuffled}], engines: [lash], measures: [lanes]}`,
		`{networks: [{spec: "torus:4x4"}], engines: [none], measures: [ports]}`,
	} {
		id := read(t, other).Points[0].ID
		if same, ok := ids[id]; ok {
			t.Errorf("these have one ID:\n%s\n%s", same, other)
		}
		ids[id] = other
	}
}

// A file is known by what is in it.
func TestFilesAreKnownByTheirDigest(t *testing.T) {
	at := func(path, digest string) string {
		s, err := sweep.Read(strings.NewReader(`{networks: [{file: x}], engines: [lash], measures: [lanes]}`), "SPEC.yaml",
			func(string) (string, string, error) { return path, digest, nil })
		if err != nil {
			t.Fatal(err)
		}
		return s.Points[0].ID
	}
	if at("a/x", "1") != at("b/x", "1") || at("a/x", "1") == at("a/x", "2") {
		t.Error("the ID of a file goes by its path, or not by its digest")
	}
}

func TestSpecErrorsSayWhereAndWhat(t *testing.T) {
	const good = "networks: [torus:4x4]\nengines: [lash]\nmeasures: [lanes]\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "SPEC.yaml:1: the file is empty"},
		{"no YAML", "networks: [a\nengines: b", "SPEC.yaml:"},
		{"a list", "- a", "SPEC.yaml:1: a SPEC is lines of the form key: value"},
		{"more documents", good + "---\na: b\n", "there is more behind it"},
		{"an alias", "networks: &n [torus:4x4]\nengines:\n  - *n\nmeasures: [lanes]\n", "SPEC.yaml:3: *n: a SPEC has no aliases"},
		{"unknown key", good + "meassures: 1\n", `SPEC.yaml:4: a SPEC has no key "meassures"; nearest is "measures"`},
		{"twice", good + "engines: [lash]\n", "SPEC.yaml:4: engines is given twice"},
		{"nothing", "engines: [lash]\nmeasures: [lanes]", "SPEC.yaml:1: networks: is missing"},
		{"no list", "networks: torus:4x4\nengines: [lash]\nmeasures: [lanes]", "SPEC.yaml:1: networks: is missing, or no list"},
		{"family", "networks:\n- tours:4x4\nengines: [lash]\nmeasures: [lanes]", `SPEC.yaml:2: no family "tours"; nearest is "torus"`},
		{"too large", "networks: [torus:99999x99999]\nengines: [lash]\nmeasures: [lanes]", "SPEC.yaml:1: torus"},
		{"parameter without place", "networks: [{spec: torus:4x4, m: 3}]\nengines: [lash]\nmeasures: [lanes]", `its spec no {m}`},
		{"place without parameter", "networks: [{spec: 'torus:{m}x4'}]\nengines: [lash]\nmeasures: [lanes]", `there is no line m: with its values`},
		{"parameter of two values", "networks: [{spec: 'torus:{m}', m: '4x4,hosts=2'}]\nengines: [lash]\nmeasures: [lanes]", `a parameter is one value`},
		{"spec and file", "networks: [{spec: torus:4x4, file: x}]\nengines: [lash]\nmeasures: [lanes]", "either spec: or file:"},
		{"no such file", "networks: [{file: x.ibnetdiscover}]\nengines: [lash]\nmeasures: [lanes]", "SPEC.yaml:1: x.ibnetdiscover: no such file"},
		{"seed", "networks: [{spec: torus:4x4, seeds: 0}]\nengines: [lash]\nmeasures: [lanes]", `"0" is no seed`},
		{"range", "networks: [{spec: torus:4x4, seeds: 9..1}]\nengines: [lash]\nmeasures: [lanes]", `"9..1" is no range`},
		{"huge range", "networks: [{spec: torus:4x4, seeds: 1..99999999999}]\nengines: [lash]\nmeasures: [lanes]", `is no range`},
		{"too many", "networks: [{spec: 'torus:{a}x{b}', a: 3..3000, b: 3..3000}]\nengines: [lash]\nmeasures: [lanes]", `more than 5000000 combinations`},
		{"damage", "networks: [{spec: torus:4x4, damage: {cables: x}}]\nengines: [lash]\nmeasures: [lanes]", `"x" is neither a number`},
		{"all gone", "networks: [{spec: torus:4x4, damage: {cables: 100%}}]\nengines: [lash]\nmeasures: [lanes]", `"100%" is no share`},
		{"damage of what", "networks: [{spec: torus:4x4, damage: {hosts: 1}}]\nengines: [lash]\nmeasures: [lanes]", `damage has no key "hosts"`},
		{"engine", "networks: [torus:4x4]\nengines: [dfsspp]\nmeasures: [lanes]", `SPEC.yaml:2: no engine is called "dfsspp"; nearest is "dfsssp"`},
		{"adaptive engine", "networks: [torus:4x4]\nengines: [a-lash]\nmeasures: [lanes]", `SPEC.yaml:3: lanes is a measure of tables, and a-lash has none`},
		{"key of an engine", "networks: [torus:4x4]\nengines: [{engine: lash, lanes: 4}]\nmeasures: [lanes]", `an engine has no key "lanes"`},
		{"vls", "networks: [torus:4x4]\nengines: [{engine: lash, vls: 16}]\nmeasures: [lanes]", `vls: "16" is not from 1 to 15`},
		{"contract", "networks: [torus:4x4]\nengines: [{engine: lash, contract: none}]\nmeasures: [lanes]", "contract"},
		{"word", "networks: [torus:4x4]\nengines: [{engine: lash, order: upwards}]\nmeasures: [lanes]", "upwards"},
		{"unused option", "networks: [torus:4x4]\nengines: [{engine: updn, aim: shifts}]\nmeasures: [lanes]", "updn does not look at it"},
		{"measure", "networks: [torus:4x4]\nengines: [lash]\nmeasures: [bandwidths]", `SPEC.yaml:3: no measure is called "bandwidths"; nearest is "bandwidth"`},
		{"setting", "networks: [torus:4x4]\nengines: [lash]\nmeasures: [{measure: bandwidth, runs: 3}]", `bandwidth has no setting "runs"`},
		{"setting of nothing", "networks: [torus:4x4]\nengines: [lash]\nmeasures: [{measure: lanes, runs: 3}]", `lanes has no settings`},
		{"value of a setting", "networks: [torus:4x4]\nengines: [lash]\nmeasures: [{measure: bandwidth, pattern: bisekt}]", "pattern: "},
		{"load", "networks: [torus:4x4]\nengines: [lash]\nmeasures: [{measure: accepted, load: 1.5}]", `load: "1.5" is no load`},
		{"ports", "networks: [{spec: torus:4x4, ports: sorted}]\nengines: [lash]\nmeasures: [lanes]", `ports: "sorted"; it is shuffled`},
		{"nothing routed", "networks: [torus:4x4]\nengines: [updn, none]\nmeasures: [ports, lanes]", `SPEC.yaml:3: lanes is a measure of routes, and engine none makes none`},
		{"telling nobody", "networks: [torus:4x4]\nengines: [{engine: none, vls: 3}]\nmeasures: [ports]", `SPEC.yaml:2: vls: engine none routes nothing`},
		{"telling an engine without tables", "networks: [torus:4x4]\nengines: [{engine: escape, vls: 3, contract: any}]\nmeasures: [accepted]", `contract: engine escape has no tables`},
		{"exact", "networks: [torus:4x4]\nengines: [{engine: nue, exact: maybe}]\nmeasures: [lanes]", `exact: "maybe"; it is yes`},
		{"lanes of nobody", "networks: [torus:4x4]\nengines: [{engine: nue, lanes-of: lahs}]\nmeasures: [accepted]", `lanes-of: "lahs"; nearest is "lash"`},
		{"lanes twice", "networks: [torus:4x4]\nengines: [{engine: nue, lanes-of: lash, vls: 2}]\nmeasures: [accepted]", `either vls: or lanes-of:`},
		{"hosts drawn anew for packets", "networks: [torus:4x4]\nengines: [lash]\nmeasures: [{measure: accepted, ranks: 'anew:4'}]", `"anew:4" is no order of ranks`},
		{"no hosts", "networks: [torus:4x4]\nengines: [lash]\nmeasures: [{measure: bandwidth, ranks: 'apart:0'}]", `"0" is no number`},
		{"part without measures", "engines: [lash]\nparts:\n- networks: [torus:4x4]\n", `SPEC.yaml:3: measures: is missing`},
		{"no parts", good + "parts: []\n", `SPEC.yaml:4: parts: is no list`},
		{"key of a part", good + "parts: [{sets: [a]}]\n", `a part has no key "sets"`},
		{"nothing where a word is", "networks: [torus:4x4]\nengines: [{engine: }]\nmeasures: [lanes]", "a single value is wanted here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sweep.Read(strings.NewReader(c.text), "SPEC.yaml", noFiles)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "SPEC.yaml:") {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

const twoSets = `
sets: [quick, full]
seeds: {quick: 1..2, full: 1..5}
networks:
  - spec: random:switches=16,links={links},seed={seed}
    links: [20, {full: [30, 40]}]
  - full: torus:4x4
engines: [lash, {full: dfsssp}]
measures: [{measure: bandwidth, patterns: {quick: 10, full: 100}}]
`

// A SPEC with sets is as many SPECs, of which the last is meant if none is named.
func TestSets(t *testing.T) {
	for set, want := range map[string]int{"quick": 2, "full": (2*5 + 5 + 5) * 2, "": (2*5 + 5 + 5) * 2} {
		s, err := sweep.ReadSet(strings.NewReader(twoSets), "SPEC.yaml", noFiles, set)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Points) != want || s.Set != cmp.Or(set, "full") {
			t.Errorf("%q is read as %s with %d points, want %d", set, s.Set, len(s.Points), want)
		}
		if patterns := s.Points[0].Measures[0].Setting("patterns"); (patterns == "10") != (set == "quick") {
			t.Errorf("%q: %s patterns", set, patterns)
		}
	}
	for text, want := range map[string]string{
		twoSets:                      `there is no set "quikc"; nearest is "quick" (sets: quick, full)`,
		"networks: [torus:4x4]\n":    "this SPEC has no line sets:",
		"sets: {a: b}\nnetworks: []": "a single value is wanted here",
	} {
		if _, err := sweep.ReadSet(strings.NewReader(text), "SPEC.yaml", noFiles, "quikc"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// What a SPEC with sets leaves open is an error with its line, and never a guess.
func TestSetsAreRefused(t *testing.T) {
	const rest = "\nengines: [lash]\nmeasures: [lanes]\n"
	const two = "sets: [quick, full]\n"
	for text, want := range map[string]string{
		"sets: [quick, quick]\nnetworks: [torus:4x4]" + rest:                                     "SPEC.yaml:1: sets: quick is named twice",
		"sets: [spec, engine]\nnetworks: [torus:4x4]" + rest:                                     "SPEC.yaml:1: sets: spec is a key of SPECs",
		"sets: [patterns]\nnetworks: [torus:4x4]" + rest:                                         "SPEC.yaml:1: sets: patterns is a key of SPECs",
		"sets: [cables]\nnetworks: [torus:4x4]" + rest:                                           "SPEC.yaml:1: sets: cables is a key of SPECs",
		two + "networks:\n- {full: 'torus:4x4', full: 'torus:5x5'}" + rest:                       "SPEC.yaml:3: full is given twice",
		two + "seeds: {quick: 1..20}\nnetworks: ['torus:4x4']" + rest:                            "SPEC.yaml:2: seeds: this does not say what it is in the set full",
		two + "networks: ['torus:4x4']\nengines: {quick: [lash]}\nmeasures: [lanes]":             "SPEC.yaml:3: engines: this does not say what it is in the set full",
		two + "networks:\n- 'torus:4x4'\n- {quik: 'ring:4'}" + rest:                              `SPEC.yaml:4: there is no set "quik"; nearest is "quick" (sets: quick, full)`,
		two + "networks:\n- 'torus:4x4'\n- {full: 'ring:4', other: 'ring:5'}" + rest:             `SPEC.yaml:4: there is no set "other" (sets: quick, full)`,
		two + "networks: ['torus:4x4']\nengines: [lash]\nmeasures: [{measure: lanes, quick: 1}]": `quick`,
	} {
		if _, err := sweep.Read(strings.NewReader(text), "SPEC.yaml", noFiles); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v\nwant %s", text, err, want)
		}
	}
}

// A parameter of a spec may be called like a set.
func TestParameterCalledLikeASet(t *testing.T) {
	s := read(t, "sets: [quick, full]\nnetworks: [{spec: 'torus:{full}', full: [4x4, 5x5]}]\nengines: [lash]\nmeasures: [lanes]\n")
	if len(s.Points) != 2 {
		t.Errorf("%d points", len(s.Points))
	}
}

// Parts have networks, engines and measures of their own, or those at the top; what two of
// them say of a point is measured of it.
func TestParts(t *testing.T) {
	s := read(t, `
engines: [lash, updn]
measures: [lanes]
parts:
  - name: all
    networks: [torus:4x4, torus:5x5]
  - name: more of one
    networks: [torus:5x5]
    engines: [updn]
    measures: [{measure: [load, hops]}, lanes]
`)
	if len(s.Parts) != 2 || s.Parts[1].Name != "more of one" || len(s.Parts[0].Points) != 4 || len(s.Parts[1].Points) != 1 || len(s.Points) != 4 {
		t.Fatalf("%+v", s)
	}
	var all []string
	for _, m := range s.Points[3].Measures {
		all = append(all, m.Name)
	}
	if got := strings.Join(all, " "); got != "lanes load hops" || len(s.Points[2].Measures) != 1 {
		t.Errorf("the point of both parts has the measures %s", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(tori)
	f.Add(strings.ReplaceAll(twoSets, "..", ", "))
	f.Add("networks: [{spec: 'random:switches=8,links={l},seed={seed}', l: 8..12, damage: [{cables: [0, 5%]}, {switches: 1}]}]\nengines: [auto]\nmeasures: [{measure: accepted, load: [0.1, 0.2]}]")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "..") || len(text) > 1000 {
			return // millions of points are as they should be
		}
		s, err := sweep.Read(strings.NewReader(text), "SPEC.yaml", noFiles)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "SPEC.yaml:") {
				t.Errorf("the error does not say where: %v", err)
			}
			return
		}
		for _, p := range s.Points {
			if len(p.ID) != 16 || len(p.Measures) == 0 {
				t.Errorf("a point without ID or measures: %+v", p)
			}
		}
	})
}
