package cablelist

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

func read(text string) (*fabric.Fabric, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "[") || strings.HasPrefix(text, "{") {
		return ReadLinks(strings.NewReader(text), "f")
	}
	return ReadColumns(strings.NewReader(text), "f")
}

// shape is the switches, and every cable by its ends.
func shape(f *fabric.Fabric) (all []string) {
	switches := []string{}
	for _, n := range f.Nodes()[:f.Switches()] {
		switches = append(switches, n.Name)
	}
	slices.Sort(switches)
	for i, c := range f.Channels() {
		if int(c.Reverse) > i {
			ends := []string{fmt.Sprintf("%s/%d", f.Node(c.From).Name, c.FromPort), fmt.Sprintf("%s/%d", f.Node(c.To).Name, c.ToPort)}
			slices.Sort(ends)
			all = append(all, fmt.Sprintf("%s %s %s", ends[0], ends[1], c.Rate))
		}
	}
	slices.Sort(all)
	return append([]string{strings.Join(switches, " ")}, all...)
}

// full is a plan of all columns, brief the same of those that must be there, in another order,
// in part from the other end, and in two lists one after the other.
const full = `rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,EndDeviceLocation,LinkType,Speed,Cable Length,State,Domain
1,2,leaf-1,Port 1,"row 1, rack 2",node1,node1 mlx5_0,,Data,HDR,3m,Active,In-Scope
1,2,leaf-1,Port 2,,node2,mlx5_1/P2,,Data,HDR,3m,Active,In-Scope
1,3,leaf-2,Port 1,,node3,ibp11s0f0,, Data,200G,3m,Active,In-Scope
1,2,leaf-1,Port 39,,spine-1,Port 1,,Data,HDR,3m,Active,In-Scope
1,3,leaf-2,P39,,spine-1,IB1/2,,Data,4xHDR,3m,Active,In-Scope
1,3,leaf-2,P40,,,,,Data,,,Disabled,Disconnected
1,3,leaf-2,P38,,spine-1,P38,,Data,,,Disabled,Boundary
1,3,leaf-2,mgmt0,,console,7,,Management,1G,,Active,
`

const brief = "# cables between switches\n\nEndPort;EndDevice;StartPort;#StartDevice;Speed\n1;spine-1;39;leaf-1;HDR\n# 2;spine-1;39;leaf-1;HDR\n39;leaf-2;2;spine-1;HDR\n\n" +
	"EndPort\tEndDevice\tStartPort\tStartDevice\nPort 1\tleaf-1\tmlx5_0\tnode1\nPort 02\tleaf-1\tmlx5_1 port 2\tnode2\nPort 1\tleaf-2\tnode3 ibp11s0f0\tnode3\nmlx5_0/1\tnode1\tIB1/1\tleaf-1\n"

func TestColumns(t *testing.T) {
	want := []string{
		"leaf-1 leaf-2 spine-1", "leaf-1/1 node1 mlx5_0/1 4xHDR", "leaf-1/2 node2 mlx5_1/2 4xHDR", "leaf-1/39 spine-1/1 4xHDR",
		"leaf-2/1 node3 ibp11s0f0/1 4xHDR", "leaf-2/39 spine-1/2 4xHDR",
	}
	f, err := read(full)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, shape(f)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"1 row is left out, of ports without a cable", "1 row is left out, of disabled ports", "1 row is left out, of links that carry no data, by their LinkType",
		`which devices are switches is guessed by their names and ports: 3 switches and 0 adapters, the first "leaf-1" as a switch`,
	}, f.Warnings()); diff != "" {
		t.Error(diff)
	}
	f, err = read("\ufeff" + strings.ReplaceAll(brief, "\n", "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if i != 3 && i != 5 {
			want[i] = strings.Replace(want[i], "4xHDR", "unknown", 1)
		}
	}
	if diff := cmp.Diff(want, shape(f)); diff != "" {
		t.Error(diff)
	}
	if w := f.Warnings(); !slices.Contains(w, "3 of 5 cables have no rate") {
		t.Errorf("%q", w)
	}
}

// Ports with a blade belong to chips of a director; labels are counted; types of devices count
// before their names; what has no name for it is guessed by its ports.
func TestDialects(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
		warning    string
	}{
		{
			"directors", "#StartDevice,StartPort,EndDevice,EndPort,LinkType\nAB-20IB0,Port 21,AB-01IB1,Blade 16_Port 2/20,Data\nAB-20IB0,Port 22,AB-01IB1,Blade 17_Port 1/20,Data\nS1,S1 ibp11s0f0,AB-20IB0,Port 1, Data\n",
			[]string{"AB-01IB1/L16/U2 AB-01IB1/L17/U1 AB-20IB0", "AB-01IB1/L16/U2/20 AB-20IB0/21 unknown", "AB-01IB1/L17/U1/20 AB-20IB0/22 unknown", "AB-20IB0/1 S1 ibp11s0f0/1 unknown"},
			"2 chips are on blades of directors, the first of AB-01IB1, and a list of cables does not say how these are wired inside: those cables are missing; ibnetdiscover has them",
		},
		{
			"labels", "A-Node Name,A-Type,A-Port,Z-Node Name,Z-Type,Z-Port\nx,Switch,1/3/2,y,switch,Port 1/1/1\nx,Switch,1/3/1,y,switch,1/10/1\nz,Host,3,x,Switch,1/1/1\nw,Host,rail2,y,Switch,sw2p1x\n",
			[]string{"x y", "w rail2/1 y/3 unknown", "x/1 z/3 unknown", "x/5 y/2 unknown", "x/6 y/1 unknown"},
			"ports have labels and no numbers, the first x, 1/1/1: those of 1 device are counted two to a cage, those of 1 device in the order of their labels",
		},
		{
			"bare", "StartDevice,StartPort,EndDevice,EndPort,Speed\na,1,b,1,fast\nb,2,c,1,NDR200\nb,3,d,2,HDR100\n",
			[]string{"b", "a/1 b/1 unknown", "b/2 c/1 2xNDR", "b/3 d/2 2xHDR"},
			`1 speed is none like HDR, 4xHDR or 200G, the first "fast"`,
		},
	} {
		f, err := read(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, shape(f)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		if !slices.Contains(f.Warnings(), test.warning) {
			t.Errorf("%s: %q", test.name, f.Warnings())
		}
	}
}

// The link to node 2 is listed from both ends; its second adapter has the GUID of the first in
// source_guid, and its own in name.
const ufm = `[
 {"source_guid": "248a070300f88fe0", "source_port": "20", "destination_guid": "b8599f03000a77d0", "destination_port": "1", "source_port_dname": "20", "destination_port_dname": "HCA-1/1",
  "width": "IB_4x", "speed": "IB_HDR", "severity": "Info", "name": "248a070300f88fe0_20:b8599f03000a77d0_1", "source_port_node_description": "leaf 1:20", "destination_port_node_description": "node2 HCA-1", "capabilities": []},
 {"destination_guid": "248a070300f88fe0", "destination_port": 20, "source_guid": "b8599f03000a77d0", "source_port": 1, "source_port_dname": "HCA-1/1", "width": "4x", "speed": "HDR", "severity": "Info"},
 {"source_guid": "248a070300f88fe0", "source_port": "21", "destination_guid": "b8599f03000a77d0", "destination_port": "1", "destination_port_dname": "HCA-2/1", "source_port_dname": "21",
  "width": "2x", "speed": "HDR", "severity": "Critical", "name": "ec0d9a03007d7d0b_1:248a070300f88fe0_21", "destination_port_node_description": "node2 HCA-2", "cable_info": {"serial_number": "M1", "x": [1]}},
 {"source_guid": "0x900a840300ac8c40", "source_port": "5", "destination_guid": "248a070300f88fe0", "destination_port": "5", "source_port_dname": "1/3/1", "destination_port_dname": "5", "width": "4x",
  "source_port_node_description": "spine 1:1/3/1", "destination_port_node_description": "leaf 1:5", "name": "900a840300ac8c40_5:248a070300f88fe0_5", "speed": null},
 {"source_guid": "0002c90000000001", "source_port": "7", "destination_guid": "900a840300ac8c40", "destination_port": "6", "source_port_node_description": "core:L5/U1/7", "severity": "Info", "name": "0002c900000000ff_7:900a840300ac8c40_6"}
]`

func TestLinks(t *testing.T) {
	want := []string{
		"core:L5/U1 leaf 1 spine 1", "core:L5/U1/7 spine 1/6 unknown", "leaf 1/20 node2 HCA-1/1 4xHDR", "leaf 1/21 node2 HCA-2/1 2xHDR", "leaf 1/5 spine 1/5 unknown",
	}
	for _, text := range []string{ufm, `{"first_index": 1, "total_resources": 9, "data": ` + ufm + `, "last_index": 4}`} {
		f, err := read(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, shape(f)); diff != "" {
			t.Error(diff)
		}
		second := f.Node(fabric.NodeID(slices.IndexFunc(f.Nodes(), func(n fabric.Node) bool { return n.Name == "node2 HCA-2" })))
		if second.GUID != 0xec0d9a03007d7d0b {
			t.Errorf("%+v", second)
		}
		if core := f.Node(0); core.GUID != 0x2c90000000001 || core.Name != "core:L5/U1" {
			t.Errorf("%+v", core)
		}
		for _, e := range f.Endpoints() {
			if e.Port != 0 && e.PortGUID != f.Node(e.Node).GUID {
				t.Errorf("port GUID %s of %+v", e.PortGUID, f.Node(e.Node))
			}
		}
		if w := f.Warnings(); !slices.Contains(w, "UFM calls 1 link worse than Info, the first Critical, of ec0d9a03007d7d0b_1:248a070300f88fe0_21") {
			t.Errorf("%q", w)
		} else if page := "5 of 9 links are in it: this is one page; ask for all of them, without page_number and rpp"; slices.Contains(w, page) != (text[0] == '{') {
			t.Errorf("%q", w)
		}
	}
}

// Ports of switches and network interfaces of hosts both stand behind a colon.
func TestInterfaces(t *testing.T) {
	t.Parallel()
	for port, want := range map[string]fabric.Kind{
		"ib0": fabric.Adapter, "ibp3s0": fabric.Adapter, "ibP16p3s0": fabric.Adapter, "ibs7f1": fabric.Adapter, "ibB0p1s3": fabric.Adapter, "ibslot2p1": fabric.Adapter, "mlx5_3": fabric.Adapter,
		"1": fabric.Switch, "1/1/1": fabric.Switch, "sw37p1": fabric.Switch, "A2/58": fabric.Switch, "IBL1/58": fabric.Switch, "FNM1": fabric.Switch,
	} {
		f, err := read(fmt.Sprintf(`[{"source_guid": "0x10", "source_port": "20", "source_port_dname": "20", "source_port_node_description": "leaf:20",
			"destination_guid": "0x20", "destination_port": "1", "destination_port_dname": %q, "destination_port_node_description": "other:%[2]s"}]`, port, port))
		if err != nil {
			t.Fatalf("%s: %v", port, err)
		}
		if n := f.Node(f.NodeByGUID(0x20)); n.Kind != want || n.Name != "other" {
			t.Errorf("%s: %+v", port, n)
		}
	}
}

func TestRefusals(t *testing.T) {
	head := "StartDevice,StartPort,EndDevice,EndPort\n"
	link := func(rest string) string {
		return `[{"source_guid": "1", "source_port": 1, "destination_guid": "2", "destination_port": 1},` + "\n" + rest
	}
	for _, test := range []struct{ text, want string }{
		{"a title\n", "f:1: no line with the columns StartDevice"},
		{head, "f:1: no cable in it"},
		{head + "a,1,b,2\na,1,c,2\n", "f:3: two cables in port 1 of a: to port 2 of c here, and to port 2 of b by line 2"},
		{head + "a,1,b,2\nc,2,b,2\n", "f:3: two cables in port 2 of b: to port 2 of c here, and to port 1 of a by line 2"},
		{head + "a,1,a,Port 1\n", "f:2: a cable from port 1 of a to itself"},
		{head + "a,255,b,2\n", "f:2: port 255 of a: InfiniBand numbers ports from 1 to 254"},
		{head + "a,1,b\n", "f:2: 3 columns, and the one of the EndPort is number 4"},
		{head + "a,1,b,\n", `f:2: a device without a port, or a port without a device: "b", ""`},
		{head + "a,abra,b,1\n", `f:2: port "abra" of a is none like Port 7`},
		{head + "a,Blade 3_Port 1/0,b,1\n", `f:2: port "Blade 3_Port 1/0" of a`},
		{"StartDevice,StartPort,StartType,EndDevice,EndPort\na,1,Switch,b,1\na,2,Host,c,1\n", "f:3: a is an adapter here, and a switch by line 2"},
		{"[]", "f:1: no cable in it"},
		{"{}", "f:1: 0 lists of links in it"},
		{`{"data": [], "more": []}`, "f:1: 2 lists of links in it"},
		{"[{\"guid\": 1}]", `f:1: source_guid is "", which is no GUID: is this UFM's list of links`},
		{link(`{"source_guid": "1", "source_port": 0, "destination_guid": "2"}]`), `f:2: source_port is "0", and ports have numbers from 1 to 254`},
		{link(`{"source_guid": "1", "source_port": 1, "destination_guid": "3", "destination_port": 1}]`), "f:2: two cables in port 1 of 0000000000000001: to port 1 of 0000000000000003 here, and to port 1 of 0000000000000002 by line 1"},
		{link(`{"source_guid"`), "f:2: the text ends too early"},
		{link(`7]`), "f:2: no valid JSON"},
		{"[{}", "f:1: source_guid"},
		{ufm + "\n]", "f:11: more text after the end"},
	} {
		_, err := read(test.text)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q:\n%v, want\n%s", test.text, err, test.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range scramble.Of(full, brief, ufm) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := read(text)
		if pe := (*format.ParseError)(nil); err != nil && !errors.As(err, &pe) {
			t.Fatalf("%v names no line", err)
		}
		if err != nil {
			return
		}
		again, err := read(text)
		if err != nil || !slices.Equal(shape(again), shape(g)) || !slices.Equal(again.Warnings(), g.Warnings()) {
			t.Fatalf("read twice, and not the same: %v", err)
		}
	})
}
