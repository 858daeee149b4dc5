package graphs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/scramble"
)

// read reads a text of whatever form, as weft recognises it.
func read(text string) (*fabric.Fabric, error) {
	readers := map[reading.Kind]func(io.Reader, string) (*fabric.Fabric, error){
		reading.GraphML: ReadGraphML, reading.NodeLink: ReadNodeLink, reading.DOT: ReadDOT, reading.Anynet: ReadAnynet, reading.GML: ReadGML,
	}
	kind, r, err := reading.Peek(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	if readers[kind] == nil {
		return nil, fmt.Errorf("recognised as %s", kind)
	}
	return readers[kind](r, "file")
}

// cablesOf names every cable by its ends, in the order of the channels.
func cablesOf(f *fabric.Fabric) (all []string) {
	for i, c := range f.Channels() {
		if int(c.Reverse) > i {
			all = append(all, fmt.Sprintf("%s/%d %s/%d %s", f.Node(c.From).Name, c.FromPort, f.Node(c.To).Name, c.ToPort, c.Rate))
		}
	}
	slices.Sort(all)
	return all
}

const bareGraphML = `<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>
<edge source="a" target="b"/><edge source="b" target="c"/></graph></graphml>`

const bareGML = "graph [\n  node [\n    id 0\n    label \"a\"\n  ]\n  node [\n    id 1\n    label \"b\"\n  ]\n  node [ id 2 label \"c\" ]\n  edge [\n    source 0\n    target 1\n  ]\n  edge [ source 1 target 2 ]\n]\n"

// bare is what every form of the path a - b - c is read as if no node has a kind.
var bare = []string{"a/1 b/1 unknown", "a/2 host of a/1 unknown", "b/2 c/1 unknown", "b/3 host of b/1 unknown", "c/2 host of c/1 unknown"}

func TestForms(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"GraphML", bareGraphML, bare},
		{"GraphML, both directions", strings.NewReplacer("undirected", "directed", "</graph>", `<edge source="b" target="a"/></graph>`).Replace(bareGraphML), bare},
		{"JSON", `{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "links": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}]}`, bare},
		{"JSON with edges", "{\n\"directed\": true, \"edges\": [{\"source\": \"a\", \"target\": \"b\"},{\"source\": \"b\", \"target\": \"a\"}, {\"source\": \"b\", \"target\": \"c\"}],\n\"nodes\": [{\"id\": \"a\"}, {\"id\": \"b\"}, {\"id\": \"c\"}]}", bare},
		{"GML", bareGML, bare},
		{"GML, both directions", strings.Replace(bareGML, "graph [", "graph [ directed 1 edge [ source 1 target 0 ]", 1), bare},
		{
			"GML of igraph, yEd and Gephi", "Creator \"igraph\"\nVersion 1\n# ] [\ngraph\n[\n  directed 0\n  node\n  [\n    id 3\n    name \"leaf \\ &#34;1&quot;\"\n    kind \"switch\" ports 40\n    graphics [ x -1.5E-3 fill [ ] type \"]\" ]\n  ]\n" +
				"node [ id 0 label \"h\" kind \"host\" guid \"0x10\" weight nan ] edge [ source 0 target 3 portb 7 rate \"4xNDR\" lst 1 lst 2 ] ]\n",
			[]string{"leaf \\ \"1\"/7 h/1 4xNDR"},
		},
		{"DOT", "graph {\n a -- b -- c\n}", bare},
		{"DOT, one direction", "digraph x { a -> b; b -> c; c -> b [color=red] }", bare},
		{"DOT, sets", "strict graph { b -- {a c} }", []string{"a/2 host of a/1 unknown", "b/1 a/1 unknown", "b/2 c/1 unknown", "b/3 host of b/1 unknown", "c/2 host of c/1 unknown"}},
		{
			"DOT, kinds", "graph \"net\" {\n node [kind=switch]\n \"s 1\"; s2 [label=\"spine \\\"two\\\"\", ports=40]\n node [kind=host] h\n edge [rate=\"4xNDR\"]\n" +
				" h -- \"s 1\" [port_b=7]\n \"s 1\" -- s2 [port_a=1, rate=\"4xHDR\"]\n \"s 1\" -- s2 // parallel\n}",
			[]string{"s 1/1 spine \"two\"/1 4xHDR", "s 1/2 spine \"two\"/2 4xNDR", "s 1/7 h/1 4xNDR"},
		},
		{
			"anynet", "router 0 node 0 node 1 router 1 15 router 2\nrouter 1 router 0 node 2\nnode 3 router 2\n",
			[]string{"router-0/1 node-0/1 unknown", "router-0/2 node-1/1 unknown", "router-0/3 router-1/1 unknown", "router-0/4 router-2/1 unknown", "router-1/2 node-2/1 unknown", "router-2/2 node-3/1 unknown"},
		},
		{
			"JSON, all attributes", `{"multigraph": true, "graph": {}, "nodes": [
  {"id": 1, "kind": "switch", "guid": "0x10", "ports": 36, "label": "leaf"}, {"id": [0, 2], "kind": "Adapter", "guid": "20"}],
 "links": [{"source": [0, 2], "target": 1, "port_b": 36, "rate": "2xEDR", "key": 0, "weight": 1.5}]}`,
			[]string{"leaf/36 [0 2]/1 2xEDR"},
		},
	} {
		f, err := read(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, cablesOf(f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestKinds: GUIDs and ports as given, warnings where kinds are guessed.
func TestKinds(t *testing.T) {
	f, err := read(`{"nodes": [{"id": 1, "kind": "switch", "guid": "0x10", "ports": 36}, {"id": 2, "kind": "router"}], "links": [{"source": 1, "target": 2}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if n := f.Node(0); n.GUID != 0x10 || n.Ports != 36 || f.Node(1).Kind != fabric.Router {
		t.Errorf("%+v, %+v", n, f.Node(1))
	}
	f, err = read(bareGraphML)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(f.Warnings(), func(w string) bool { return strings.Contains(w, "no node says of what kind it is") }) {
		t.Errorf("warnings %q", f.Warnings())
	}
	if got := f.Count(); got.Switches != 3 || got.HCA != 3 {
		t.Errorf("%+v", got)
	}
}

func TestRefusals(t *testing.T) {
	many := "graph { c -- {"
	for i := range 300 {
		many += fmt.Sprintf(" n%d", i)
	}
	for _, test := range []struct{ text, want string }{
		{"{\n}", "file:2: no nodes or no links in it"},
		{"{\n\"nodes\": [{\"id\": 1},\n{\"id\": 1}], \"links\": []}", "file:3: a second node with id 1"},
		{"{\n\"nodes\": [{\"id\": 1},\n{}], \"links\": []}", "file:3: a node without an id"},
		{"{\"nodes\": [],\n\"links\": []}", "file:1: no node in it"},
		{"{\"nodes\": [{\"id\": 1}],\n\"links\": [\n{\"source\": 1, \"target\": 2}]}", "file:3: an edge ends at 2, and no node is called that"},
		{"{\"nodes\": [{\"id\": 1}],\n\"links\": [", "file:2: the text ends too early"},
		{"{\"nodes\": [{\"id\": 1}], \"links\": [], \"edges\": []}", "file:1: both links and edges"},
		{"{\"nodes\": [{\"id\": 1}], \"links\": []}\n1", "file:2: more text after the end"},
		{"{\"nodes\": {}}", "file:1: { where an array of objects should be"},
		{"{\n\"nodes\": [7]}", "file:2: no valid JSON"},
		{"{\"nodes\": [{\"id\": 1, \"kind\": \"switch\"},\n{\"id\": 2}], \"links\": []}", "file:2: node 2 has no kind, and others have one"},
		{"{\"nodes\": [{\"id\": 1, \"kind\": \"hub\"}], \"links\": []}", "file:1: node 1 is of kind \"hub\"; there are switch, adapter, host and router"},
		{"{\"nodes\": [{\"id\": 1, \"guid\": \"xyz\"}], \"links\": []}", "file:1: the guid of node 1 is \"xyz\""},
		{"{\"nodes\": [{\"id\": 1, \"ports\": 0}], \"links\": []}", "file:1: node 1 has \"0\" ports, and uses port 1"},
		{"graph { a -- b [port_a=0] }", `file:1: the cable of a and b: port_a is "0"`},
		{"graph { a -- b [port_a=3]\n a -- c [port_a=3] }", "file:1: port 3 of node a has two cables"},
		{"graph { a -- b [rate=fast] }", `file:1: the cable of a and b: rate "fast" is none like 4xHDR`},
		{"graph {\n a -- }", "file:2: no valid DOT"},
		{"graph { a } graph { b }", "file:1: 2 graphs in it"},
		{many + "} }", "file:1: node c has more cables than InfiniBand numbers ports"},
		{"digraph { a -> b [port_a=1]; b -> a [port_b=2] }", "file:1: the edge back, of line 1, has other ports"},
		{"graph [\n node [ label 3 ] ]", "file:2: node \"\" without an id"},
		{"graph [\n node [ id 3 ]\nnode [ id 3 ] ]", "file:3: node \"3\" without an id, or with one that another has"},
		{"graph [\n node [ id 3 ]\n edge [ source 3 target 4 ] ]", "file:3: an edge ends at 4, and no node is called that"},
		{"graph [\n node [ id 3", "file:2: the text ends too early: the list of line 2 has no ]"},
		{"graph [\n node [ id 3 label \"a\nb\" ]\n 4 ]", "file:4: no valid GML"},
		{"graph [\n node [ id \"3\n ] ]", "file:2: no valid GML: a quote that is not closed"},
		{"graph [\n node [ id ] ]", "file:2: no valid GML: no value for the key id"},
		{"graph [\n 3 ]", "file:2: no valid GML: \"3\" where a key should be"},
		{"graph [\n ] ]", "file:2: no valid GML: \"]\" where a key should be"},
		{"graph [\n x [ y [ z 1 ] ]", "file:2: the text ends too early: the list of line 1"},
		{"graph [ ] \ngraph [ ]", "file:2: a second graph"},
		{"graph [\n x 7% ]", "file:2: no valid GML: \"7%\""},
		{"<?xml version='1.0'?>\n<svg/>", "file:2: this is XML that begins with <svg>"},
		{"<graphml>\n</graphml>", "file:2: there is no graph in it"},
		{"<graphml><graph>\n<node id='a'><graph/></node></graph></graphml>", "file:2: <graph> within <node>"},
		{"<graphml><graph>\n<node id='a'/><node id='a'/></graph></graphml>", "file:2: node \"a\" without an identifier, or with one that another has"},
		{"<graphml><graph>\n<hyperedge/></graph></graphml>", "file:2: a hyperedge"},
		{"<graphml><graph>\n<node id='a'>", "file:2: no valid XML"},
		{"<graphml><graph><node id='a'/></graph><graph/></graphml>", "file:1: a second graph"},
		{"router 0 node 0\nrouter 1 node 0", "file:2: node-0 is joined to router-0 and router-1; it has one router"},
		{"router 0 router 1\nnode 0 node 1", "file:2: node-0 is joined to node-1, and not to a router"},
		{"router 0 node 0 7", "file:1: a number after node-0: a latency follows a router"},
		{"router 0 node 0\nrouter x", `file:2: "router" where router or node and its number should be`},
	} {
		if f, err := read(test.text); err == nil {
			t.Errorf("%q: read as %d nodes", test.text, len(f.Nodes()))
		} else if !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q:\n%v, want\n%s", test.text, err, test.want)
		}
	}
}

// networkX has NetworkX write graphs of its own in every form, and prints them all: Python takes longer to begin than to write.
const networkX = `
import io, json, networkx
forms = {
    "json": lambda g, out: out.write(json.dumps(networkx.node_link_data(g)).encode()),
    "gml": lambda g, out: networkx.write_gml(g, out, stringizer=str),
    "graphml": lambda g, out: networkx.write_graphml(g, out),
}
graphs = {
    "petersen": networkx.petersen_graph(),
    "grid": networkx.grid_2d_graph(3, 5),
    "directed petersen": networkx.petersen_graph().to_directed(),
}
written = []
for form, write in forms.items():
    for name, g in graphs.items():
        out = io.BytesIO()
        write(g, out)
        written.append({"form": form, "graph": name, "text": out.getvalue().decode()})
print(json.dumps(written))`

// TestNetworkXWrites reads what NetworkX writes of graphs of its own.
func TestNetworkXWrites(t *testing.T) {
	if err := exec.Command("python3", "-c", "import importlib.util, sys; sys.exit(not importlib.util.find_spec('networkx'))").Run(); err != nil {
		t.Skip("networkx for python3 is missing: make test installs it as root on Debian")
	}
	cmd := exec.Command("python3", "-c", networkX)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errors.String())
	}
	var written []struct{ Form, Graph, Text string }
	if err := json.Unmarshal(out, &written); err != nil || len(written) != 9 {
		t.Fatalf("%d graphs, %v", len(written), err)
	}
	for _, w := range written {
		f, err := read(w.Text)
		if err != nil {
			t.Errorf("%s as %s: %v", w.Graph, w.Form, err)
			continue
		}
		switches, cables := 10, 15
		if w.Graph == "grid" {
			switches, cables = 15, 3*4+2*5
		}
		if n := f.Count(); n.Switches != switches || n.SwitchCables != cables || n.HCA != switches {
			t.Errorf("%s as %s: %+v", w.Graph, w.Form, n)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range scramble.Of(
		bareGML, bareGraphML, "graph { a -- {b c} -- d [port_a=1, rate=\"4xHDR\"] }", "digraph x { node [kind=switch]; a -> b -> a }", "router 0 node 0 node 1 router 1 15\nnode 2 router 1",
		`{"directed": true, "nodes": [{"id": 1, "kind": "switch", "guid": "0x10", "ports": 36}, {"id": [0, 2], "kind": "host"}], "links": [{"source": [0, 2], "target": 1, "port_b": 36, "rate": "2xEDR"}]}`,
	) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if g, err := read(text); err == nil && g.Switches() > len(g.Nodes()) {
			t.Error("more switches than nodes")
		}
	})
}
