package ibdiagnet

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

// small is two hosts at a switch; the columns are in another order than ibdiagnet's.
const small = `START_NODES
NumPorts,NodeDesc,NodeType,NodeGUID,PortGUID,SystemImageGUID
2,"leaf, "one"",2,0x10,0x10,N/A
1,"h1 HCA-1",1,0x11,0x12,0x11
1,"h2 HCA-1",1,0xhost2,0xhost2,0xhost2
END_NODES
START_PORTS
NodeGUID,PortNum,LID,LMC,LinkWidthActv,LinkSpeedActv
0x10,0,1,0,0,0
0x10,1,0,0,2,2052
0x10,2,N/A,N/A,N/A,N/A
0x11,1,2,1,2,1024
0xhost2,1,4,0,1,65536
END_PORTS
START_CABLE_INFO
anything "at, all
END_CABLE_INFO
START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0x0010,1,0x11,1
0x11,1,0x10,1
0xhost2,1,0x10,2
END_LINKS
START_SWITCHES
NodeGUID
0x10
END_SWITCHES
`

func TestRead(t *testing.T) {
	f, err := Read(strings.NewReader(small), "db", nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Switches() != 1 || len(f.Nodes()) != 3 || len(f.Channels()) != 4 {
		t.Fatalf("%+v", f.Count())
	}
	if n := f.Node(0); n.Name != `leaf, "one"` || n.GUID != 0x10 || n.Ports != 2 {
		t.Errorf("switch %+v", n)
	}
	want := map[string]fabric.LID{"h1 HCA-1": 2, "h2 HCA-1": 4, `leaf, "one"`: 1}
	for _, e := range f.Endpoints() {
		if name := f.Node(e.Node).Name; e.LID != want[name] {
			t.Errorf("%s has LID %d, want %d", name, e.LID, want[name])
		}
	}
	rates := map[string]string{"h1 HCA-1": "4xHDR", "h2 HCA-1": "1xFDR10"}
	for _, c := range f.Channels() {
		if name := f.Node(c.From).Name; rates[name] != "" && c.Rate.String() != rates[name] {
			t.Errorf("%s runs at %s, want %s", name, c.Rate, rates[name])
		}
	}
	wantWarnings := []string{
		`the cable of "leaf, \"one\"" port 1 and "h1 HCA-1" port 1 runs at 4xNDR by line 10 and at 4xHDR by line 12; it counts as 4xHDR`,
		"tables of the file that are not read: CABLE_INFO",
	}
	if diff := cmp.Diff(wantWarnings, f.Warnings()[:2]); diff != "" {
		t.Error(diff)
	}
}

// What a subnet manager writes for SHARP (opensm-smdb.dump, nvlsm-smdb.dump) has tables of the same names, with blanks behind
// commas, other columns and numbers in hexadecimal digits.
func TestReadDumpForSHARP(t *testing.T) {
	f, err := Read(strings.NewReader(`START_NODES
SystemImageGUID, NodeGUID, NodeType, ExtNodeType, NumPorts, VendorID, DeviceID, NodeDesc
0x10, 0x10, 2, 0, 0x91, 0x2c9, 0xd2f6, "MF0;switch-3:N5110_LD/U1"
0x20, 0x21, 1, 0, 1, 0x2c9, 0x2941, "gpu, 0"
END_NODES

START_LINKS
NodeGUID1, PortNum1, NodeGUID2, PortNum2
0x10, 61, 0x21, 1
END_LINKS
`), "db", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, h := f.Node(0), f.Node(1)
	if s.Name != "MF0;switch-3:N5110_LD/U1" || s.Ports != 145 || s.VendorID != 0x2c9 || s.DeviceID != 0xd2f6 || h.Name != "gpu, 0" || h.SystemGUID != 0x20 || f.Out(0, 61) == fabric.None {
		t.Errorf("%+v %+v", s, h)
	}
}

// Every error names the line, and what it contradicts.
func TestErrors(t *testing.T) {
	for _, tc := range []struct{ name, old, replace, want string }{
		{"truncated", "END_SWITCHES\n", "", "db:26: truncated: the table SWITCHES, from line 24 on, has no END_SWITCHES"},
		{"truncated in the middle", "END_PORTS\n", "", "db:14: truncated: the table PORTS, from line 7 on, has no END_PORTS before the table CABLE_INFO"},
		{"wrong end", "END_LINKS", "END_NODES", "db:23: END_NODES in the table LINKS, which begins in line 18"},
		{"end alone", "START_NODES\n", "END_X\n", "db:1: END_X, but no table has begun"},
		{"no header", "START_NODES\n", "START_NODES\nEND_NODES\n", "db:2: the table NODES has no header"},
		{"second table", "START_SWITCHES", "START_LINKS", "db:24: a second table LINKS; the first begins in line 18"},
		{"no nodes", "NODES", "NODEZ", "no table NODES"},
		{"no links", "LINKS", "LINKZ", "no table LINKS"},
		{"no column", "NodeDesc,NodeType", "NodeDesc,Type", "db:2: the table NODES has no column NodeType"},
		{"cut line", "0x11,1,2,1,2,1024", "0x11,1,2", "db:12: 3 cells, but the header of PORTS has 6 columns"},
		{"open quote", `"h1 HCA-1",1,0x11,0x12,0x11`, `"h1 HCA-1`, "db:4: a quote is not closed"},
		{"kind", `"h1 HCA-1",1,`, `"h1 HCA-1",4,`, `db:4: NodeType is "4", which is no number from 0 to 3`},
		{"kind 0", `"h1 HCA-1",1,`, `"h1 HCA-1",0,`, "db:4: NodeType is 0"},
		{"kind not known", `"h1 HCA-1",1,`, `"h1 HCA-1",N/A,`, "db:4: NodeType is not known"},
		{"no GUID", "0x11,1,2,1", "N/A,1,2,1", "db:12: NodeGuid is not known"},
		{"GUID 0", "2,0x10,0x10,N/A", "2,0x0,0x10,N/A", "db:3: NodeGUID is zero"},
		{"second node", "0xhost2,0xhost2,0xhost2", "0x011,0x13,0x13", "db:5: node 0x0000000000000011 has a second row; the first is line 4"},
		{"second port", "0x10,2,N/A", "0x10,1,N/A", `db:11: port 1 of "leaf, \"one\"" has a second row; the first is line 10`},
		{"port beyond", "0x10,2,N/A", "0x10,3,N/A", `db:11: "leaf, \"one\"" has 2 ports by line 3, not a port 3`},
		{"port of nobody", "0x10,2,N/A", "0x99,2,N/A", "db:11: node 0x0000000000000099 has no row in the table NODES"},
		{"LID twice", "0xhost2,1,4,0", "0xhost2,1,3,0", `db:13: LID 3 of "h2 HCA-1" is that of line 12 already`},
		{"LMC", "0x11,1,2,1,2,1024", "0x11,1,2,8,2,1024", `db:12: LMC is "8"`},
		{"width", "2,1024", "3,1024", "db:12: LinkWidthActv is 3"},
		{"speed", "2,1024", "2,8", "db:12: LinkSpeedActv is 8"},
		{"other fabric's link", "0xhost2,1,0x10,2", "0xhost3,1,0x10,2", "db:22: node 0xhost3 has no row in the table NODES"},
		{"link at port 0", "0xhost2,1,0x10,2", "0xhost2,1,0x10,0", "db:22: PortNum2 is 0"},
		{"link to itself", "0xhost2,1,0x10,2", "0x10,2,0x10,2", `db:22: port 2 of "leaf, \"one\"" is cabled to itself`},
		{"second cable", "0xhost2,1,0x10,2", "0xhost2,1,0x10,1", `db:22: port 1 of "leaf, \"one\"" has another cable in line 20`},
		{"no switch", "NodeGUID\n0x10\n", "NodeGUID\n0x11\n", `db:26: 0x0000000000000011 "h1 HCA-1" is in the table SWITCHES, but no switch by line 4`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.ReplaceAll(small, tc.old, tc.replace)
			if text == small {
				t.Fatal("nothing was replaced")
			}
			_, err := Read(strings.NewReader(text), "db", nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if pe := (*format.ParseError)(nil); !errors.As(err, &pe) {
				t.Errorf("%v is no ParseError", err)
			}
		})
	}
}

// A port that is down may still have the LID that it had, which another has by now.
func TestLIDOfPortThatIsDown(t *testing.T) {
	text := strings.NewReplacer(`1,"h1 HCA-1",1,`, `2,"h1 HCA-1",1,`, "0x11,1,2,1,2,1024\n", "0x11,1,2,1,2,1024\n0x11,2,4,0,2,1\n").Replace(small)
	f, err := Read(strings.NewReader(text), "db", nil)
	if err != nil {
		t.Fatal(err)
	}
	if e := f.Owner(4); e == fabric.None || f.Node(f.Endpoint(e).Node).Name != "h2 HCA-1" || len(f.Endpoints()) != 3 {
		t.Errorf("LID 4 is that of %d of %+v", e, f.Endpoints())
	}
}

// Without PORTS and SWITCHES there is still a network.
func TestMissingTables(t *testing.T) {
	text := strings.NewReplacer("_PORTS", "_PORTZ", "_SWITCHES", "_SWITCHEZ").Replace(small)
	f, err := Read(strings.NewReader(text), "db", nil)
	if err != nil {
		t.Fatal(err)
	}
	if w := f.Warnings(); !strings.HasPrefix(w[0], "there is no table PORTS") || !strings.HasSuffix(w[1], ": PORTZ, CABLE_INFO, SWITCHEZ") {
		t.Errorf("%q", w)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range scramble.Of(small) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Read(strings.NewReader(text), "db", nil)
		if pe := (*format.ParseError)(nil); err != nil && !errors.As(err, &pe) {
			t.Errorf("%v names no line", err)
		}
		if (err == nil) == (got == nil) {
			t.Error("a fabric and an error, or neither")
		}
	})
}
