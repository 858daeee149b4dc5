package clab

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

func TestRead(t *testing.T) {
	topology, err := Read(strings.NewReader(lab), "lab.clab.yml")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(topology.Name, topology.Devices, topology.Hosts, topology.Cables); got != "lab[leaf1 leaf2 spine] [leaf1] [{leaf1, e1 spine, e1} {leaf2, e1 spine, e2}]" {
		t.Fatal(got)
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
		_, err := Read(strings.NewReader(strings.Replace(lab, c.old, c.new, 1)), "lab.clab.yml")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.new, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range scramble.Of(
		"name: x\ntopology:\n  nodes:\n    a: {kind: linux}\n    b: {kind: sonic-vs}\n  links:\n    - endpoints: [\"a:eth1\", \"b:eth1\"]\n",
		"topology:\n  nodes:\n    a:\n    b:\n  links:\n    - endpoints:\n      - node: a\n        interface: e1\n      - {node: b, interface: e1}\n    - type: host\n      endpoint: {node: a}\n",
		lab,
	) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		top, err := Read(strings.NewReader(text), "f")
		var at *format.ParseError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("an error without a line: %v", err)
		}
		if err != nil {
			return
		}
		if _, err := ethernet.NewCabling(top.Devices, top.Cables); err != nil {
			t.Fatal(err)
		}
	})
}
