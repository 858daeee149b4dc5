package topo

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

// director is a system of two leaf boards, one of them in two kinds, and a spine board of two
// chips; duo is an adapter of two chips.
const director = `SYSTEM LEAF,LEAF:4x , LEAF:4X

NODE SW 6 MT47396 U1   # the chip
   1 -4x-10G-> P1
   2 -4x-10G-> P2
   5 -> P3
   6 -4x-> P4

SYSTEM LEAF:12x
NODE SW 4 MT47396 U1
   1 -12x-10G-> P1-12x
   2 -> P3
   3 -> P4

SYSTEM SPINE
U1=isChaBma
NODE SW 4 MT47396 U1
   1 -> P1
   2 -> P2
   3 -4x-5G-> U2 3
NODE SW 4 MT47396 U2
   1 -> P3
   2 -> P4
   3 -> U1 3

TOPSYSTEM Box,BX-2
spine/U1=isChaBma

SUBSYSTEM LEAF leaf1
   P1 -> L1/P1
   P2 -> L1/P2
   P3 -10G-> spine P1
   P4 -> spine P3
SUBSYSTEM LEAF leaf2
   P1 -> L2/P1
   P2 -> L2/P2
   P1-12x -> L2/P1-12x
   P3 -> spine P2
   P4 -> spine P4
SUBSYSTEM SPINE spine
   P1 -10G-> leaf1 P3
   P2 -> leaf2 P3
`

const duo = "TOPSYSTEM Duo\r\nNODE CA 2 MT4129 mlx5_0\r\n 1 -> mlx5_0/P1\r\n2 -> mlx5_0/P2\r\nNODE CA 2 MT4129 mlx5_1\r\n 1 -> mlx5_1/P1\r\n"

func find(kind string) (io.ReadCloser, string, error) {
	texts := map[string]string{"BX-2": director, "Duo": duo}
	if texts[kind] == "" {
		return nil, "", nil
	}
	return io.NopCloser(strings.NewReader(texts[kind])), kind + ".ibnl", nil
}

func cables(f *fabric.Fabric) (all []string) {
	for i, c := range f.Channels() {
		if int(c.Reverse) > i {
			ends := []string{fmt.Sprintf("%s/%d", f.Node(c.From).Name, c.FromPort), fmt.Sprintf("%s/%d", f.Node(c.To).Name, c.ToPort)}
			slices.Sort(ends)
			all = append(all, fmt.Sprintf("%s %s %s", ends[0], ends[1], c.Rate))
		}
	}
	slices.Sort(all)
	return all
}

const network = `# a director, and a switch from another vendor
BX-2 big CFG: leaf1=4X
   L1/P1 -4x-10G-> Duo h1 mlx5_0/P2
   L1/P2 -4x-14G-> SW36 small P36
   l2/p1 -> Duo h1 mlx5_1/P1

SW36 small
	P36 -> BX-2 big L1/P2
	P1 -> HCA_2 h2 U1/P1  # by name only
	P2 -> HCA_2 h2 U2/P1
	P3 -> XCA h3 P1
`

// TestRead: chips of several systems, hosts known only by name, cables from both ends.
func TestRead(t *testing.T) {
	f, err := Read(strings.NewReader(network), "n.topo", find)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"big/leaf1/U1/1 h1 mlx5_0/2 4xQDR", "big/leaf1/U1/2 small/36 4xFDR", "big/leaf1/U1/5 big/spine/U1/1 4xQDR", "big/leaf1/U1/6 big/spine/U2/1 unknown",
		"big/leaf2/U1/1 h1 mlx5_1/1 4xQDR", "big/leaf2/U1/5 big/spine/U1/2 unknown", "big/leaf2/U1/6 big/spine/U2/2 unknown",
		"big/spine/U1/3 big/spine/U2/3 4xDDR", "h2 U1/1 small/1 unknown", "h2 U2/1 small/2 unknown", "h3/1 small/3 unknown",
	}, cables(f)); diff != "" {
		t.Error(diff)
	}
	if n := f.Count(); n.Switches != 5 || n.HCA != 5 {
		t.Errorf("%+v", n)
	}
	if diff := cmp.Diff([]string{
		"no system definition (.ibnl) of HCA_2, SW36, XCA: port Pn counts as port n of one switch or adapter", "systems are wired inside as in BX-2.ibnl, Duo.ibnl",
		`which devices are switches is guessed by their names and ports: 1 switch and 1 adapter, the first "small" as a switch`, "6 of 11 cables have no rate",
	}, f.Warnings()); diff != "" {
		t.Error(diff)
	}
}

// Systems of one type are of one kind, also those that have no more cables than a host, and whose names say nothing.
func TestTypes(t *testing.T) {
	t.Parallel()
	const text = `Q3400 a1
 sw1p1 -> Q3400 a9 sw1p1
 sw2p1 -> XBOX b1 P1
 sw3p1 -> XBOX b2 P1
Q3400 a2
 sw1p1 -> Q3400 a9 sw2p1
 sw2p1 -> XBOX node3 P9
`
	f, err := Read(strings.NewReader(text), "n.topo", find)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a1/1 a9/1 unknown", "a1/3 b1/1 unknown", "a1/5 b2/1 unknown", "a2/1 a9/3 unknown", "a2/3 node3/9 unknown"}, cables(f)); diff != "" {
		t.Error(diff)
	}
	if n := f.Count(); n.Switches != 3 || n.HCA != 3 {
		t.Errorf("%+v", n)
	}
}

// Boards that are missing or of another kind.
func TestConfig(t *testing.T) {
	text := "BX-2 big CFG: leaf2=12x, leaf1=R\n L1/P1 -> Duo h1 mlx5_0/P1\n L2/P1-12x -> Duo h1 mlx5_0/P2\n"
	f, err := Read(strings.NewReader(text), "n.topo", find)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"big/leaf2/U1/1 h1 mlx5_0/2 12xQDR", "big/leaf2/U1/2 big/spine/U1/2 unknown", "big/leaf2/U1/3 big/spine/U2/2 unknown", "big/spine/U1/3 big/spine/U2/3 4xDDR",
	}, cables(f)); diff != "" {
		t.Error(diff)
	}
	if w := f.Warnings(); !slices.Contains(w, "1 cable is left out at ports of boards that CFG takes away, the first in line 2") {
		t.Errorf("%q", w)
	}
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct{ old, text, want string }{
		{network, "", "n.topo:1: no cable in it"},
		{network, "P1 -> BX-2 big L1/P1\n", "n.topo:1: a cable before the first system"},
		{network, "one\n", `n.topo:1: "one" is no line of a .topo file`},
		{network, "BX-2 a\n P1 -> BX-2\n", `n.topo:2: "P1 -> BX-2" is no line`},
		{"-> Duo h1 mlx5_1/P1", "-> Duo big mlx5_1/P1", "n.topo:5: system big is of type Duo here, and of type BX-2 by line 2"},
		{"P36 -> BX-2 big L1/P2", "P35 -> BX-2 big L1/P2", "n.topo:8: two cables in port 2 of big/leaf1/U1: to port 35 of small here, and to port 36 of small by line 4"},
		{"CFG: leaf1=4X", "CFG: leaf1", `n.topo:2: CFG has "leaf1", which is not as leaf1=R`},
		{"CFG: leaf1=4X", "CFG: leaf1=8x", "BX-2.ibnl:29: there is no SYSTEM LEAF:8x for leaf1"},
		{"CFG: leaf1=4X", "", "n.topo:3: big has no port L9/P1 by the definition of BX-2 in BX-2.ibnl"},
		{"SW36 small P36", "SW36 small L3/P36", "n.topo:4: how the boards of small (SW36) are joined inside is in no system definition that was found: put SW36.ibnl beside the file, or its folder into IBDM_IBNL_PATH"},
		{"P3 -> XCA h3 P1", "P3 -> XCA h3 here", `n.topo:11: port "here" of h3 is none like P7`},
		{"P3 -> XCA h3 P1", "P3 -> XCA h3 P255", "n.topo:11: port 255 of h3: InfiniBand"},
	} {
		text := strings.Replace(network, test.old, test.text, 1)
		if strings.Contains(test.want, "L9/P1") {
			text = strings.Replace(text, "L1/P1", "L9/P1", 1)
		}
		if _, err := Read(strings.NewReader(text), "n.topo", find); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.text, err, test.want)
		}
	}
	for _, test := range []struct{ old, text, want string }{
		{director, "", "b:1: no TOPSYSTEM in it"},
		{"SYSTEM LEAF,", "LEAF,", `b:1: "LEAF,LEAF:4x , LEAF:4X" before the first SYSTEM`},
		{"NODE SW 6 ", "NODE SW 255 ", "b:3: U1 has 255 ports"},
		{"   6 -4x-> P4", "   7 -4x-> P4", `b:7: port "7" of U1, which has ports 1 to 6`},
		{"   6 -4x-> P4", "   6 => P4", `b:7: "6 => P4" is no line of a system definition`},
		{"   6 -4x-> P4", "   5 -4x-> P4", "b:7: port 5 of leaf1/U1 is joined twice: to leaf1, port P3, and to leaf1, port P4"},
		{"SUBSYSTEM LEAF leaf2", "SUBSYSTEM LEAF leaf1", "b:34: a second leaf1 on Box"},
		{"SUBSYSTEM SPINE spine", "SUBSYSTEM Box spine", "b:3: LEAF: boards on boards without an end"},
		{"   P2 -> leaf2 P3", "   P2 -> leaf2 P3\nSYSTEM X", "b:43: a system behind the TOPSYSTEM"},
	} {
		d, err := readDefinition(strings.NewReader(strings.Replace(director, test.old, test.text, 1)), "b")
		if err == nil {
			_, err = d.build(nil)
		}
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.text, err, test.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range scramble.Of(network, "MQM8700 sw1\n   P2 -4x-50G-> HCA_mlx5_3 h4 mlx5_0/P1\n   P40 -4x-50G-> MQM9700 sw2 P1/1\nMQM9700 sw2\n   P1/1 -4x-50G-> MQM8700 sw1 P40\n") {
		f.Add(text, director)
	}
	for _, text := range scramble.Of(director) {
		f.Add(network, text)
	}
	f.Fuzz(func(t *testing.T, text, definition string) {
		read := func() (*fabric.Fabric, error) {
			return Read(strings.NewReader(text), "n", func(kind string) (io.ReadCloser, string, error) {
				if kind != "BX-2" {
					return find(kind)
				}
				return io.NopCloser(strings.NewReader(definition)), "b", nil
			})
		}
		g, err := read()
		if pe := (*format.ParseError)(nil); err != nil && !errors.As(err, &pe) {
			t.Fatalf("%v names no line", err)
		}
		if err != nil {
			return
		}
		again, err := read()
		if err != nil || !slices.Equal(cables(again), cables(g)) || !slices.Equal(again.Warnings(), g.Warnings()) {
			t.Fatalf("read twice, and not the same: %v", err)
		}
	})
}
