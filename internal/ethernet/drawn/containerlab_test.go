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
assumed: 3 containers of kind linux and the like are hosts, which never forward (a router's image or configuration, or ip_forward=1, makes one a device)
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

// Containers of Linux forward if they are told to, by a command or by the kernel's settings.
func TestForwarding(t *testing.T) {
	text := `topology:
  defaults: {kind: linux, sysctls: {net.ipv4.ip_forward: 0}}
  groups:
    on: {sysctls: {net.ipv4.ip_forward: 1}}
  nodes:
    r1: {exec: ["ip link set eth1 up", "sysctl -w net.ipv4.ip_forward=1"]}
    r2: {sysctls: {net.ipv6.conf.all.forwarding: 1}}
    r3: {group: on}
    off: {group: on, sysctls: {net.ipv4.ip_forward: 0}}
    h: {exec: ["sysctl -w net.ipv4.ip_forward=0"]}
  links:
    - endpoints: ["r1:1", "r2:1"]
    - endpoints: ["r2:2", "r3:1"]
    - endpoints: ["r3:2", "off:1"]
    - endpoints: ["r3:3", "h:1"]
`
	topology, err := Containerlab(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(topology.Devices, topology.Hosts); got != "[r1 r2 r3] [r3 r3]" {
		t.Error(got)
	}
}

// The cards of a chassis are nodes with the network of its first one; generators of traffic do not
// forward, or they would be ways around the spines; a cable to the device itself is no way to anybody.
func TestChassis(t *testing.T) {
	text := `topology:
  groups:
    card: {kind: nokia_srsim, network-mode: "container:pe-a"}
  nodes:
    pe-a: {kind: nokia_srsim}
    pe-1: {group: card}
    pe-2: {group: card}
    ce: {kind: nokia_srlinux}
    gen: {kind: keysight_ixia-c-one}
    br|pe-a: {kind: bridge, network-mode: "container:pe-a"}
    alone: {kind: nokia_srlinux, network-mode: "container:elsewhere"}
    x: {kind: nokia_srlinux, network-mode: "container:y"}
    y: {kind: nokia_srlinux, network-mode: "container:x"}
  links:
    - {type: veth-stitch, endpoints: [{node: pe-1, interface: 1/1/c1/1}, {node: ce, interface: e1}]}
    - endpoints: ["pe-2:2/1/c1/1", "ce:e2"]
    - endpoints: ["pe-1:1/1/c2/1", "pe-2:2/1/c2/1"]
    - endpoints: ["gen:eth1", "ce:e3"]
    - endpoints: ["gen:eth2", "pe-2:2/1/c3/1"]
    - endpoints: ["alone:e1", "ce:e4"]
`
	topology, err := Containerlab(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(topology.Devices, topology.Hosts, topology.Cables), "[alone ce pe-a] [ce pe-a] [{pe-a, 1/1/c1/1 ce, e1} {pe-a, 2/1/c1/1 ce, e2} {alone, e1 ce, e4}]"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if got := strings.Join(topology.Notes, "\n"); !strings.Contains(got, "1 cable from a device to itself, and left out") {
		t.Error(got)
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
