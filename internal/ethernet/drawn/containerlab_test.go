package drawn

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/ethernet"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

const lab = `name: lab
topology:
  nodes:
    leaf1: {kind: nokia_srlinux}
    leaf2: {kind: nokia_srlinux}
    spine: {kind: nokia_srlinux}
    host1: {kind: linux}
    br-a: {kind: bridge}
  links:
    - endpoints: ["leaf1:e1", "spine:e1"]
    - endpoints:
        - {node: leaf2, interface: e1}
        - {node: spine, interface: e2}
    - endpoints: ["leaf1:e9", "host1:eth1"]
    - endpoints: ["leaf1:e8", "br-a:eth1"]
`

func TestContainerlab(t *testing.T) {
	topology, err := Containerlab(strings.NewReader(lab), "lab.clab.yml")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(topology.Name, topology.Devices, topology.Hosts, topology.Cables); got != "lab[leaf1 leaf2 spine] [leaf1] [{leaf1, e1 spine, e1} {leaf2, e1 spine, e2}]" {
		t.Fatal(got)
	}
}

// Nodes are what their kinds, groups and defaults make them: devices, hosts with any number of cables, bridges.
func TestRoles(t *testing.T) {
	text := `topology:
  defaults: {kind: linux}
  kinds:
    linux: {image: alpine}
  groups:
    spine: {kind: nokia_srlinux}
    routers: {image: quay.io/frrouting/frr:9.1}
  nodes:
    sp: {group: spine}
    sp2: {kind: nokia_srlinux}
    lf1: {group: routers}
    lf2: {binds: ["lf2/frr.conf:/etc/frr/frr.conf"]}
    dual: {}
    h1: {}
    h2:
    grafana: {kind: linux}
    seg: {kind: ovs-bridge}
    wire: {kind: bridge}
    wire2: {kind: bridge}
    far: {kind: bridge}
  links:
    - endpoints: ["lf1:e1", "sp:e1"]
    - endpoints: ["lf2:e1", "sp:e2"]
    - endpoints: ["dual:e1", "lf1:e2"]
    - endpoints: ["dual:e2", "lf2:e2"]
    - endpoints: ["seg:p1", "lf1:e3"]
    - endpoints: ["seg:p2", "h1:e1"]
    - endpoints: ["h2:e1", "seg:p3"]
    - endpoints: ["wire:p1", "lf1:e4"]
    - endpoints: ["wire:p2", "wire2:p1"]
    - endpoints: ["wire2:p2", "sp2:e1"]
    - {type: veth, endpoints: [{node: sp2, interface: e2}, {node: lf2, interface: e3}]}
    - {type: mgmt-net, endpoint: {node: sp, interface: e9}, host-interface: x}
    - {type: vxlan, endpoint: {node: sp, interface: e8}, remote: 10.0.0.1, vni: 5}
    - endpoints: ["lf1:e9", "host:veth9"]
    - endpoints: ["h1:e9", "h2:e9"]
`
	topology, err := Containerlab(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(topology.Devices, topology.Hosts, topology.Cables), "[lf1 lf2 sp sp2] [lf1 lf1 lf1 lf2] [{lf1, e1 sp, e1} {lf2, e1 sp, e2} {sp2, e2 lf2, e3} {lf1, e4 sp2, e1}]"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if got, want := strings.Join(topology.Notes, "\n"), `assumed: the bridge wire is a cable between lf1, e4 and sp2, e1
assumed: 3 containers of kind linux are hosts, which never forward (the image or configuration of a router makes one a device)
2 nodes without cables, and left out
3 links out of the laboratory, and left out
1 cable between hosts, and left out`; got != want {
		t.Errorf("%s", got)
	}
	three := strings.Replace(text, `"lf1:e9", "host:veth9"`, `"wire:p9", "lf2:e9"`, 1)
	if _, err := Containerlab(strings.NewReader(three), "f"); err == nil || !strings.Contains(err.Error(), "f:18: the bridge wire joins 3 interfaces") {
		t.Error(err)
	}
	odd := strings.Replace(text, "type: vxlan", "type: tunnel", 1)
	if _, err := Containerlab(strings.NewReader(odd), "f"); err == nil || !strings.Contains(err.Error(), `f:34: a link of type "tunnel"`) {
		t.Error(err)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"name: lab", "name: [", "lab.clab.yml:"},
		{lab, "", "lab.clab.yml:1: no topology: nodes"},
		{"name: lab", "name: lab\n---", "lab.clab.yml:1: "},
		{lab, lab + "---\nname: other\n", "lab.clab.yml:1: more than one YAML document"},
		{"nodes:", "knoten:", "lab.clab.yml:1: no topology: nodes"},
		{`"leaf1:e1", "spine:e1"`, `"leaf1:e1", "spine"`, `lab.clab.yml:10: the endpoint "spine" is not NODE:INTERFACE`},
		{`"leaf1:e1", "spine:e1"`, `"leaf1:e1", "spine9:e1"`, "lab.clab.yml:10: a link to spine9, e1, and there is no node spine9"},
		{`"leaf1:e1", "spine:e1"`, `"leaf1:e1"`, "lab.clab.yml:10: a link has 1 endpoints, not 2"},
		{`"leaf1:e1", "spine:e1"`, `"leaf1:e1", "leaf1:e2"`, "lab.clab.yml:10: a cable from leaf1 to itself"},
		{`"leaf1:e1", "spine:e1"`, `"leaf1:e\u001b[2J", "spine:e1"`, `lab.clab.yml:10: the name "e\x1b[2J" (of "leaf1") has characters that cannot be printed`},
		{`"leaf1:e9", "host1:eth1"`, `"leaf1:e1", "host1:eth1"`, "lab.clab.yml:14: two cables at leaf1, e1: line 10 too"},
	} {
		_, err := Containerlab(strings.NewReader(strings.Replace(lab, c.old, c.new, 1)), "lab.clab.yml")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.new, err)
		}
	}
}

func FuzzContainerlab(f *testing.F) {
	for _, text := range scramble.Of(
		"name: x\ntopology:\n  nodes:\n    a: {kind: linux}\n    b: {kind: sonic-vs}\n  links:\n    - endpoints: [\"a:eth1\", \"b:eth1\"]\n",
		"topology:\n  nodes:\n    a:\n    b:\n  links:\n    - endpoints:\n      - node: a\n        interface: e1\n      - {node: b, interface: e1}\n    - type: host\n      endpoint: {node: a}\n",
		lab,
		"topology:\n  defaults: {kind: bridge}\n  groups: {g: {kind: x}}\n  nodes: {a: , b: {group: g}, c: {group: g}}\n  links:\n    - endpoints: [\"a:1\", \"b:1\"]\n    - endpoints: [\"a:2\", \"c:1\"]\n    - endpoints: [\"a:3\", \"host:x\"]\n",
	) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		top, err := Containerlab(strings.NewReader(text), "f")
		var at *format.ParseError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("an error without a line: %v", err)
		}
		if err != nil {
			return
		}
		c, err := ethernet.NewCabling(top.Devices, top.Cables)
		if err != nil {
			t.Fatal(err)
		}
		for _, device := range top.Hosts {
			if c.Device(device) == ethernet.None {
				t.Fatalf("a host behind %s, which is no device", device)
			}
		}
	})
}
