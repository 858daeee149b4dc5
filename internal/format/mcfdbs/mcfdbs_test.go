package mcfdbs_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/format/mcfdbs"
	"github.com/weft-fabric/weft/routing"
)

// pair is two switches with a host each and a cable between them: port 1 is the host, 2
// the cable, 3 is empty.
func pair(t testing.TB) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	x, y := b.Node(fabric.Node{GUID: 0x10, Ports: 3}, ""), b.Node(fabric.Node{GUID: 0x20, Ports: 3}, "")
	b.Cable(x, 2, y, 2, fabric.Rate{})
	b.Cable(x, 1, b.Node(fabric.Node{GUID: 0x30, Kind: fabric.Adapter, Ports: 1}, ""), 1, fabric.Rate{})
	b.Cable(y, 1, b.Node(fabric.Node{GUID: 0x40, Kind: fabric.Adapter, Ports: 1}, ""), 1, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const sample = `
Switch 0x0000000000000010
LID    : Out Port(s)
0xC000 : 0x001  0x002 
0xC003 : 0x000  0x003 

osm_mcast_mgr_dump_mcast_routes: Switch 0x20
LID    : Out Port(s)
0xc000 : 0x2
`

func TestRead(t *testing.T) {
	f := pair(t)
	m, err := mcfdbs.Read(strings.NewReader(sample), "mc", f, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := &routing.Multicast{SLs: 5, Trees: []routing.MulticastTree{
		{MLID: 0xC000, Nodes: []routing.TreeNode{{Switch: 0, Ports: routing.PortSet{1<<1 | 1<<2}}, {Switch: 1, Ports: routing.PortSet{1 << 2}}}},
		{MLID: 0xC003, Nodes: []routing.TreeNode{{Switch: 0, Ports: routing.PortSet{1}}}},
	}}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
	var text bytes.Buffer
	if err := mcfdbs.Write(&text, f, m); err != nil {
		t.Fatal(err)
	}
	again, err := mcfdbs.Read(&text, "mc", f, 5)
	if d := cmp.Diff(want, again); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	if empty, err := mcfdbs.Read(strings.NewReader(""), "mc", f, 1); err != nil || len(empty.Trees) != 0 {
		t.Errorf("no groups: %v, %v", empty, err)
	}
}

// dumpFts is sample as dump_fts -M prints it, and brief as with -n.
const (
	dumpFts = `Multicast mlids [0xc000-0xc3ff] of switch DR path slid 0; dlid 0; 0 guid 0x0000000000000010 (x guid 0x77):
     Ports: 0 1 2 3 
 MLid
Switch multicast mlid capability is 1024 top is 0xc3ff
0xc000        x x   
ibwarn: [2345] x
0xc003      x     x 
2 valid mlids dumped 
Multicast mlids [0xc000-0xc3ff] of switch Lid 2 guid 0x0000000000000020 (y):
            0                   1
     Ports: 0 1 2 3 
 MLid
0xc000          x
1 valid mlids dumped 
`
	brief = `Multicast mlids [0xc000-0xc3ff] of switch DR path slid 0; dlid 0; 0 guid 0x0000000000000010 (x):
 MLid       Port Mask
0xc000      0006
0xc003      0009
2 valid mlids dumped 
Multicast mlids [0xc000-0xc3ff] of switch Lid 2 guid 0x0000000000000020 (y):
 MLid       Port Mask
0xc000      0004
1 valid mlids dumped 
`
)

func TestReadDumpFts(t *testing.T) {
	f := pair(t)
	want, err := mcfdbs.Read(strings.NewReader(sample), "mc", f, 5)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"marks": dumpFts, "masks": brief} {
		m, err := mcfdbs.Read(strings.NewReader(text), "mc", f, 5)
		if d := cmp.Diff(want, m); err != nil || d != "" {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
	for _, tc := range []struct{ text, old, new, want string }{
		{dumpFts, "0xc003      x     x \n", "", "mc:7: the block of"},
		{dumpFts, "1 valid mlids dumped \n", "", "mc:13: truncated: the block of"},
		{dumpFts, "2 valid mlids dumped \n", "", "mc:8: truncated: the block of"},
		{dumpFts, "0xc000        x x", "0xc000       x x", "mc:5: \" x x\" in place of marks"},
		{dumpFts, "0xc000        x x", "0xc000 x x", "mc:5: the marks of MLID 0xc000 are not below"},
		{dumpFts, "x     x \n", "x       x\n", "mc:7: the marks of MLID 0xc003 are not below"},
		{brief, "0009", "0019", "mc:4: a mask with port 4"},
		{brief, "0009", "009", "mc:4: no mask of four digits"},
		{brief, "0009", "00090", `mc:4: "0" behind the masks`},
		{brief, "0x0000000000000020 (y)", "", "mc:6: no GUID"},
	} {
		_, err := mcfdbs.Read(strings.NewReader(strings.Replace(tc.text, tc.old, tc.new, 1)), "mc", f, 5)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%q: error is %v, want %s", tc.new, err, tc.want)
		}
	}
}

func TestErrors(t *testing.T) {
	f := pair(t)
	for _, tc := range []struct{ name, old, replace, want string }{
		{"another file", "Switch 0x0000000000000010", "Unicast lids", "mc:2: a line before any switch"},
		{"no GUID", "Switch 0x20", "Switch", "mc:7: no GUID"},
		{"other fabric", "Switch 0x20", "Switch 0x21", "mc:7: the fabric has no switch with node GUID 0x0000000000000021"},
		{"an adapter", "Switch 0x20", "Switch 0x30", "mc:7: node GUID 0x0000000000000030 is"},
		{"twice", "Switch 0x20", "Switch 0x10", "mc:7: a second block of 0x0000000000000010; the first begins in line 2"},
		{"a LID", "0xC003", "0x0003", "mc:5: no MLID"},
		{"order", "0xC003", "0xC000", "mc:5: MLID 0xc000 comes after MLID 0xc000"},
		{"no colon", "0xC003 :", "0xC003", "mc:5: no colon behind MLID 0xc003"},
		{"port beyond", "0x003 ", "0x004 ", `mc:5: "0x004 " in place of a port from 0 to 3`},
		{"cut in a line", "0xc000 : 0x2\n", "0xc000 : 0x2", "mc:9: truncated"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(sample, tc.old, tc.replace, 1)
			if text == sample {
				t.Fatal("nothing was replaced")
			}
			_, err := mcfdbs.Read(strings.NewReader(text), "mc", f, 1)
			if pe := (*format.ParseError)(nil); !errors.As(err, &pe) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// Of a switch that the fabric lacks and that has a forwarding table the block is left out.
func TestGoneSwitch(t *testing.T) {
	f := pair(t)
	want, err := mcfdbs.Read(strings.NewReader(sample), "mc", f, 1)
	if err != nil {
		t.Fatal(err)
	}
	text := sample + "\nSwitch 0x99\nLID    : Out Port(s)\n0xC000 : 0x007\n"
	got, err := mcfdbs.Read(strings.NewReader(text), "mc", f, 1, 0x99)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := mcfdbs.Read(strings.NewReader(text), "mc", f, 1); err == nil {
		t.Error("a switch that no other file knows is left out")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sample)
	network := pair(f)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := mcfdbs.Read(strings.NewReader(text), "mc", network, 1)
		if pe := (*format.ParseError)(nil); err != nil && !errors.As(err, &pe) {
			t.Errorf("%v names no line", err)
		}
		if (err == nil) == (m == nil) {
			t.Fatal("trees and an error, or neither")
		}
		if err == nil {
			tables := &routing.Tables{Fabric: network, Forwarding: routing.NewForwarding(network), Lanes: routing.OneSL(network, routing.LanePerSL(1)), Multicast: m}
			if err := tables.Check(); err != nil {
				t.Error(err)
			}
		}
	})
}
