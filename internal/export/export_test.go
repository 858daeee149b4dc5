package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/page"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// networkOf is a fabric routed by updn.
func networkOf(t *testing.T, name string, f *fabric.Fabric) *result.ReportNetwork {
	t.Helper()
	e, err := engines.Named("updn")
	if err != nil {
		t.Fatal(err)
	}
	tables, err := e.Route(context.Background(), f, engines.Options{Seed: 1}, routing.Budget{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(context.Background(), tables, deadlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := page.NewNetwork(name, f)
	if err := page.Add(context.Background(), n, &page.Given{Name: "updn", Tables: tables, Verdict: v}, page.Options{Seed: 1, Precision: 0.02}); err != nil {
		t.Fatal(err)
	}
	return n
}

func written(t *testing.T, form string, n *result.ReportNetwork) string {
	t.Helper()
	for _, f := range Formats {
		if f.Name == form {
			var b bytes.Buffer
			if err := f.Write(&b, n); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
	}
	t.Fatalf("no form %s", form)
	return ""
}

// odd is a network with names that every form has to quote.
func odd(t *testing.T) *result.ReportNetwork {
	t.Helper()
	var b fabric.Builder
	name := "a \"b\" \\n <c> & 'd', {e}\x01 🦊"
	s := []fabric.Ref{b.Node(fabric.Node{GUID: 1, Kind: fabric.Switch, Ports: 4, Name: name}, ""), b.Node(fabric.Node{GUID: 2, Kind: fabric.Switch, Ports: 4, Name: name}, "")}
	for i, r := range s {
		b.Cable(r, 2, b.Node(fabric.Node{GUID: fabric.GUID(11 + i), Kind: fabric.Adapter, Ports: 1, Name: name}, ""), 1, fabric.Rate{})
	}
	b.Cable(s[0], 1, s[1], 1, fabric.Rate{})
	b.Cable(s[0], 3, s[1], 3, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return networkOf(t, name, f)
}

// What is written can be read, and has every node and cable.
func TestGraphsAreWhole(t *testing.T) {
	for _, n := range []*result.ReportNetwork{odd(t), networkOf(t, "torus:4x4", testnet.Build(t, "torus:4x4"))} {
		var link struct {
			Nodes []struct {
				ID    int    `json:"id"`
				Label string `json:"label"`
				GUID  string `json:"guid"`
			} `json:"nodes"`
			Links []struct {
				Source int `json:"source"`
				Target int `json:"target"`
			} `json:"links"`
		}
		if err := json.Unmarshal([]byte(written(t, "json", n)), &link); err != nil {
			t.Fatal(err)
		}
		if len(link.Nodes) != len(n.Nodes.Name) || len(link.Links) != len(n.Cables.A) {
			t.Errorf("json: %d nodes and %d links, want %d and %d", len(link.Nodes), len(link.Links), len(n.Nodes.Name), len(n.Cables.A))
		}
		for i, v := range link.Nodes {
			if v.ID != i || v.Label != n.Nodes.Name[i] || v.GUID != n.Nodes.GUID[i] {
				t.Errorf("json: node %d is %+v", i, v)
			}
		}
		elements := map[string]int{}
		for d := xml.NewDecoder(strings.NewReader(written(t, "graphml", n))); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := token.(xml.StartElement); ok {
				elements[e.Name.Local]++
			}
		}
		if elements["node"] != len(n.Nodes.Name) || elements["edge"] != len(n.Cables.A) {
			t.Errorf("graphml: %v", elements)
		}
		lines, err := csv.NewReader(strings.NewReader(written(t, "csv", n))).ReadAll()
		if err != nil || len(lines) != 1+n.Cables.Trunks || lines[1][0] != n.Nodes.Name[n.Cables.A[0]] {
			t.Errorf("csv: %d lines, want %d: %v", len(lines), 1+n.Cables.Trunks, err)
		}
	}
}

// tool runs a program on a text, or skips the test where it is missing.
func tool(t *testing.T, text, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is missing: make test installs it as root on Debian", name)
	}
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	return string(out)
}

// Graphviz reads the graph, and sees the same nodes and edges.
func TestDot(t *testing.T) {
	for _, n := range []*result.ReportNetwork{odd(t), networkOf(t, "torus:3x3", testnet.Build(t, "torus:3x3"))} {
		plain := tool(t, written(t, "dot", n), "dot", "-Tplain")
		nodes, edges := strings.Count(plain, "\nnode "), strings.Count(plain, "\nedge ")
		if nodes != len(n.Nodes.Name) || edges != len(n.Cables.A) {
			t.Errorf("%s: %d nodes and %d edges, want %d and %d", n.Name, nodes, edges, len(n.Nodes.Name), len(n.Cables.A))
		}
	}
}

// neato keeps the places of all nodes, as the help of weft export has it; hosts stand round
// their switches, and no two nodes in one place.
func TestDotPlaces(t *testing.T) {
	alone := page.NewNetwork("alone", func() *fabric.Fabric {
		var b fabric.Builder
		for i := range 2 {
			b.Node(fabric.Node{GUID: fabric.GUID(1 + i), Kind: fabric.Switch, Ports: 4}, "")
			b.Node(fabric.Node{GUID: fabric.GUID(11 + i), Kind: fabric.Adapter, Ports: 1}, "")
		}
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}())
	for _, n := range []*result.ReportNetwork{odd(t), alone, page.NewNetwork("wide", testnet.Build(t, "mesh:2x2,hosts=60"))} {
		x, y := places(n)
		seen := map[[2]float64]int{}
		for i := range x {
			at := [2]float64{math.Round(1000 * x[i]), math.Round(1000 * y[i])}
			if o, ok := seen[at]; ok {
				t.Errorf("%s: nodes %d and %d are both at %v", n.Name, o, i, at)
			}
			seen[at] = i
		}
		for e, node := range n.Ports.Node {
			if s := n.Ports.Switch[e]; s >= 0 && math.Hypot(x[node]-x[s], y[node]-y[s]) > 0.6 {
				t.Errorf("%s: node %d is far from its switch", n.Name, node)
			}
		}
		plain := tool(t, written(t, "dot", n), "neato", "-n", "-Tplain")
		if nodes := strings.Count(plain, "\nnode "); nodes != len(n.Nodes.Name) {
			t.Errorf("%s: neato -n has %d nodes, want %d", n.Name, nodes, len(n.Nodes.Name))
		}
	}
}

// promtool accepts the findings.
func TestPrometheus(t *testing.T) {
	for _, n := range []*result.ReportNetwork{odd(t), networkOf(t, "torus:3x3", testnet.Build(t, "torus:3x3"))} {
		text := written(t, "prometheus", n)
		if out := tool(t, text, "promtool", "check", "metrics"); strings.TrimSpace(out) != "" {
			t.Errorf("promtool says %s of %s", out, text)
		}
	}
}

// slurmTree is a tree as written: hosts and children by switch.
type slurmTree struct{ hosts, children map[string][]string }

func expand(t *testing.T, list string) []string {
	t.Helper()
	var all []string
	for _, item := range names.SplitList(list) {
		one, err := names.Expand(item)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one...)
	}
	return all
}

func readSlurm(t *testing.T, text string) slurmTree {
	t.Helper()
	s := slurmTree{map[string][]string{}, map[string][]string{}}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name := ""
		for _, word := range strings.Fields(line) {
			switch key, value, _ := strings.Cut(word, "="); key {
			case "SwitchName":
				name = value
			case "Nodes":
				s.hosts[name] = expand(t, value)
			case "Switches":
				s.children[name] = expand(t, value)
			default:
				t.Errorf("what is %s?", word)
			}
		}
	}
	return s
}

// slurmTopology is a topology of Slurm 25.05's topology.yaml, as its manual page has it, with
// what we write of it.
type slurmTopology struct {
	Topology       string `yaml:"topology"`
	ClusterDefault bool   `yaml:"cluster_default"`
	Tree           struct {
		Switches []struct {
			Switch   string `yaml:"switch"`
			Nodes    string `yaml:"nodes"`
			Children string `yaml:"children"`
		} `yaml:"switches"`
	} `yaml:"tree"`
}

// readSlurmYAML reads a topology.yaml and takes nothing that the manual page does not have.
// Debian 12 has Slurm 22.05, which reads topology.conf only.
func readSlurmYAML(t *testing.T, text string) []slurmTopology {
	t.Helper()
	var doc []slurmTopology
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if len(doc) != 1 || doc[0].Topology == "" || !doc[0].ClusterDefault {
		t.Fatalf("want one topology with a name, the default of the cluster: %+v", doc)
	}
	named := map[string]bool{}
	for _, v := range doc[0].Tree.Switches {
		if v.Switch == "" || named[v.Switch] || (v.Nodes == "") == (v.Children == "") {
			t.Errorf("a switch has a name of its own, and either nodes or children: %+v", v)
		}
		named[v.Switch] = true
	}
	for _, v := range doc[0].Tree.Switches {
		if v.Children == "" {
			continue
		}
		for _, child := range expand(t, v.Children) {
			if !named[child] {
				t.Errorf("below %s: no switch is called %s", v.Switch, child)
			}
		}
	}
	return doc
}

// Slurm's tree is one: a single root, every host and every other switch in one place. The
// YAML says the same.
func TestSlurm(t *testing.T) {
	for _, c := range []struct {
		n       *result.ReportNetwork
		hosts   int
		inner   int // branches that join others
		largest int // children of a branch
	}{
		{page.NewNetwork("dgx", testnet.Dump(t, "topograph-ndr-dgx-2025")), 122, 1, 0},
		{page.NewNetwork("kalcher", testnet.Dump(t, "kalcher-stage-2014")), 144, 1, 0},
		{page.NewNetwork("tree", testnet.Build(t, "fattree:ports=4,levels=3")), 16, 5, 4},
		{page.NewNetwork("dragonfly", testnet.Build(t, "dragonfly:p=2")), 72, 10, 9},
		{page.NewNetwork("torus", testnet.Build(t, "torus:4x4,hosts=2")), 32, 1, 16},
	} {
		s := readSlurm(t, written(t, "slurm", c.n))
		hosts, parents := map[string]int{}, map[string]int{}
		for _, list := range s.hosts {
			for _, h := range list {
				hosts[h]++
			}
		}
		for _, list := range s.children {
			for _, child := range list {
				parents[child]++
				if s.hosts[child] == nil && s.children[child] == nil {
					t.Errorf("%s: no switch is called %s", c.n.Name, child)
				}
			}
			if c.largest > 0 && len(list) > c.largest {
				t.Errorf("%s: a branch has %d children", c.n.Name, len(list))
			}
		}
		for h, times := range hosts {
			if times != 1 {
				t.Errorf("%s: %s is in %d places", c.n.Name, h, times)
			}
		}
		roots := 0
		for _, part := range []map[string][]string{s.hosts, s.children} {
			for name := range part {
				switch parents[name] {
				case 0:
					roots++
				case 1:
				default:
					t.Errorf("%s: %s has %d parents", c.n.Name, name, parents[name])
				}
			}
		}
		if len(hosts) != c.hosts || roots != 1 || len(s.children) != c.inner {
			t.Errorf("%s: %d hosts, %d roots, %d branches that join others, want %d, 1, %d", c.n.Name, len(hosts), roots, len(s.children), c.hosts, c.inner)
		}
		doc := readSlurmYAML(t, written(t, "slurm-yaml", c.n))
		if len(doc[0].Tree.Switches) != len(s.hosts)+len(s.children) {
			t.Errorf("%s: %d switches in YAML, want %d", c.n.Name, len(doc[0].Tree.Switches), len(s.hosts)+len(s.children))
		}
		for _, v := range doc[0].Tree.Switches {
			if v.Nodes != "" && !slices.Equal(expand(t, v.Nodes), s.hosts[v.Switch]) || v.Children != "" && !slices.Equal(expand(t, v.Children), s.children[v.Switch]) {
				t.Errorf("%s: %s differs in YAML", c.n.Name, v.Switch)
			}
		}
	}
}

// twoParts is two switches that no cable joins, each between two leaves with a host, and
// adapters that name no host.
func twoParts(t *testing.T) *result.ReportNetwork {
	t.Helper()
	var b fabric.Builder
	guid := fabric.GUID(0)
	add := func(kind fabric.Kind, name string) fabric.Ref {
		guid++
		return b.Node(fabric.Node{GUID: guid, Kind: kind, Ports: 4, Name: name}, "")
	}
	for _, part := range []string{"east", "west"} {
		top := add(fabric.Switch, part)
		for i := range 2 {
			leaf := add(fabric.Switch, fmt.Sprintf("%s-leaf-%d", part, i))
			b.Cable(top, uint8(1+i), leaf, 1, fabric.Rate{})
			b.Cable(leaf, 2, add(fabric.Adapter, fmt.Sprintf("%s%d HCA-1", part, i)), 1, fabric.Rate{})
			b.Cable(leaf, 3, add(fabric.Adapter, "MT4129 ConnectX7 Mellanox Technologies"), 1, fabric.Rate{})
			b.Cable(leaf, 4, add(fabric.Adapter, "🦊\u2028\nb HCA-1"), 1, fabric.Rate{})
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return page.NewNetwork("two parts", f)
}

// Parts of a network are trees of their own, as no job can run in both; adapters of no host
// that Slurm could know are named.
func TestSlurmParts(t *testing.T) {
	text := written(t, "slurm", twoParts(t))
	want := `# two parts
# For slurm.conf: TopologyPlugin=topology/tree
# Adapters left out, as the description names no host that Slurm could know: 8: 0x0000000000000004 (MT4129 ConnectX7 Mellanox Technologies), 0x0000000000000008 (MT4129 ConnectX7 Mellanox Technologies), 0x000000000000000d (MT4129 ConnectX7 Mellanox Technologies), …
SwitchName=east-leaf-0 Nodes=east0
SwitchName=east-leaf-1 Nodes=east1
SwitchName=west-leaf-0 Nodes=west0
SwitchName=west-leaf-1 Nodes=west1
SwitchName=fabric-1 Switches=east-leaf-[0-1]
SwitchName=fabric-2 Switches=west-leaf-[0-1]
`
	if d := cmp.Diff(want, text); d != "" {
		t.Error(d)
	}
}

// Lists of hosts come back whole.
func TestHostLists(t *testing.T) {
	for want, list := range map[string][]string{
		"a[1-3,7]":          {"a7", "a1", "a3", "a2"},
		"n[098-101]":        {"n098", "n099", "n100", "n101"},
		"n[8-11]":           {"n8", "n9", "n10", "n11"},
		"login,n1":          {"login", "n1"},
		"a-1-n[1-2],a-2-n1": {"a-1-n1", "a-1-n2", "a-2-n1"},
	} {
		if got := HostList(list); got != want {
			t.Errorf("%v is %s, want %s", list, got, want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		list := rapid.SliceOfN(rapid.StringMatching(`(a|b-1-n|c0x)(0?[0-9]{0,3})`), 1, 30).Draw(r, "hosts")
		var got []string
		for _, item := range names.SplitList(HostList(list)) {
			one, err := names.Expand(item)
			if err != nil {
				r.Fatal(err)
			}
			got = append(got, one...)
		}
		slices.Sort(got)
		want := slices.Clone(list)
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(got, want) {
			r.Fatalf("%v came back as %v", want, got)
		}
	})
}
