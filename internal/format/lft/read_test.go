package lft

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/routing"
)

// net is two switches, a (0x100) and b (0x200), joined by port 1, and an adapter
// with a port on each, by port 2. Port GUIDs are the fabric's own, the node GUID
// of the adapter is a port GUID too. LIDs: a 1, b 2, adapter 4-5 and 6-7.
func net(t testing.TB) *fabric.Fabric { return netWith(t, 6) }

// netWith is net with another LID of the adapter's second port; 0: Build gives it one, 6.
func netWith(t testing.TB, lid fabric.LID) *fabric.Fabric {
	var fb fabric.Builder
	a := fb.Node(fabric.Node{GUID: 0x100, Ports: 4, Name: "a"}, "")
	b := fb.Node(fabric.Node{GUID: 0x200, Ports: 4, Name: "b\n'"}, "")
	h := fb.Node(fabric.Node{GUID: 0x300, Kind: fabric.Adapter, Ports: 3, Name: "h"}, "")
	fb.Port(a, 0, fabric.Port{LID: 1})
	fb.Port(b, 0, fabric.Port{LID: 2})
	fb.Port(h, 1, fabric.Port{GUID: 0x300, LID: 4, LMC: 1})
	fb.Port(h, 2, fabric.Port{GUID: 0x308, LID: lid, LMC: 1})
	fb.Cable(a, 1, b, 1, fabric.Rate{})
	fb.Cable(a, 2, h, 1, fabric.Rate{})
	fb.Cable(b, 2, h, 2, fabric.Rate{})
	f, err := fb.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The same tables in every dialect; want says what they hold.
const (
	osmDump = `Unicast lids [0-7] of switch Lid 1 guid 0x0000000000000100 ('a'):
0x0001 000 # Switch portguid 0x0000000000000100: 'a'
0x0002 001 # Switch portguid 0x0000000000000200: 'b'
0x0004 002 # Channel Adapter portguid 0x0000000000000300: 'h'
0x0005 001 # Channel Adapter portguid 0x0000000000000300: 'h'
0x0006 001 # Channel Adapter portguid 0x0000000000000308: 'h'
0x0007 001 # Channel Adapter portguid 0x0000000000000308: 'h'
7 lids dumped
Unicast lids [0-7] of switch Lid 2 guid 0x0000000000000200 ('b'):
0x0001 001 # Switch portguid 0x0000000000000100: 'a'
0x0002 000 # Switch portguid 0x0000000000000200: 'b'
0x0004 001 # Channel Adapter portguid 0x0000000000000300: 'h'
0x0006 002 # Channel Adapter portguid 0x0000000000000308: 'h'
0x0007 002 # Channel Adapter portguid 0x0000000000000308: 'h'
7 lids dumped
`
	dumpFts = `Unicast lids [0x0-0x7] of switch DR path slid 0; dlid 0; 0 guid 0x0000000000000100 (a guid 0x77):
  Lid  Out   Destination
       Port     Info 
0x0001 000 : (Switch portguid 0x0000000000000100: 'a')
0x0002 001 : (Switch portguid 0x0000000000000200: 'b')
0x0004 002 : (Channel Adapter portguid 0x0000000000000300: 'h')
0x0005 001 : (Channel Adapter portguid 0x0000000000000300: 'h')
0x0006 001 : (Channel Adapter portguid 0x0000000000000308: 'h')
0x0007 001 : (Channel Adapter portguid 0x0000000000000308: 'h')
6 valid lids dumped 

Unicast lids [0x0-0x7] of switch Lid 2 guid 0x0000000000000200 (b):
  Lid  Out   Destination
       Port     Info 
0x0001 001 : (Switch portguid 0x0000000000000100: 'a')
0x0002 000 : (Switch portguid 0x0000000000000200: 'b')
0x0004 001 : (Channel Adapter portguid 0x0000000000000300: 'h')
0x0006 002 : (Channel Adapter portguid 0x0000000000000308: 'h')
0x0007 002 : (Channel Adapter portguid 0x0000000000000308: 'h')
5 valid lids dumped 
`
	fdbs = `dump_ucast_routes: Switch 0x0000000000000100
LID    : Port : Hops : Optimal
0x0001 : 000  : 00   : yes
0x0002 : 001  : 01   : yes
0x0003 : UNREACHABLE
0x0004 : 002  : 01   : yes
0x0005 : 001  : 03   : No, 2 hops via port 002
0x0006 : 001  : 02   : yes
0x0007 : 001  : 02   : yes
dump_ucast_routes: Switch 0x0000000000000200
LID    : Port : Hops : Optimal
0x0001 : 001  : 01   : yes
0x0002 : 000  : 00   : yes
0x0003 : UNREACHABLE
0x0004 : 001  : 02   : yes
0x0005 : UNREACHABLE
0x0006 : 002  : 01   : yes
0x0007 : 002  : 01   : yes
`
)

// want is the tables, by LID.
var want = map[fabric.LID][]uint8{1: {0, 1}, 2: {1, 0}, 4: {2, 1}, 5: {1, 255}, 6: {1, 2}, 7: {1, 2}}

func list(t testing.TB, lidOfH1, lidOfH2 int) *subnetlst.Map {
	half := func(kind string, node, port, lid, pn int) string {
		return fmt.Sprintf("{ %s Ports:04 SystemGUID:1 NodeGUID:%x PortGUID:%x VenID:0 DevID:0 Rev:0 {x} LID:%04X PN:%02X } ", kind, node, port, lid, pn)
	}
	m, err := subnetlst.ReadMap(strings.NewReader(
		half("SW", 0x100, 0x100, 1, 1)+half("SW", 0x200, 0x200, 2, 1)+"PHY=4x LOG=ACT SPD=10\n"+
			half("SW", 0x100, 0x100, 1, 2)+half("CA", 0x300, 0x300, lidOfH1, 1)+"PHY=4x LOG=ACT SPD=10\n"+
			half("SW", 0x200, 0x200, 2, 2)+half("CA", 0x300, 0x308, lidOfH2, 2)+"PHY=4x LOG=ACT SPD=10\n"), "lst")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// renumber gives every destination of a dump another LID, ten up.
func renumber(dump string) string {
	for lid := 7; lid > 0; lid-- {
		dump = strings.ReplaceAll(dump, fmt.Sprintf("0x%04x ", lid), fmt.Sprintf("0x%04X ", lid+10))
	}
	return dump
}

func TestDialectsAndJoins(t *testing.T) {
	f := net(t)
	made := strings.NewReplacer("portguid 0x0000000000000300", "portguid 0x0000000000000301", "portguid 0x0000000000000308", "portguid 0x0000000000000302")
	for _, tc := range []struct {
		name, text string
		join       Join
		rule       Rule
		shift      int // LIDs of the dump are that much higher
	}{
		{"opensm-lfts.dump", osmDump, Join{}, ByPortGUID, 0},
		{"opensm-lfts.dump with other LIDs", renumber(osmDump), Join{}, ByPortGUID, 10},
		{"opensm-lfts.dump of a simulator", made.Replace(renumber(osmDump)), Join{}, ByNodeGUID, 10},
		{"opensm-lfts.dump with list", osmDump, Join{List: list(t, 4, 6)}, ByList, 0},
		{"CRLF", strings.ReplaceAll(osmDump, "\n", "\r\n"), Join{}, ByPortGUID, 0},
		{"dump_fts", dumpFts, Join{}, ByPortGUID, 0},
		{"dump_fts, unknown destinations", strings.NewReplacer("(Channel Adapter portguid 0x0000000000000300: 'h')", "(unknown node and type)").Replace(dumpFts), Join{List: list(t, 4, 6)}, ByList, 0},
		{"opensm.fdbs", fdbs, Join{}, ByLID, 0},
		{"opensm.fdbs with list", fdbs, Join{List: list(t, 4, 6)}, ByList, 0},
		{"ibdiagnet", strings.ReplaceAll(fdbs, "dump_ucast", "osm_ucast_mgr_dump_ucast"), Join{}, ByLID, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := Read(strings.NewReader(tc.text), "dump", f, tc.join)
			if err != nil {
				t.Fatal(err)
			}
			if d.Rule != tc.rule || len(d.NoTable) != 0 || len(d.Unreached) != 0 {
				t.Errorf("joined by %v, without table %v, unreached %v", d.Rule, d.NoTable, d.Unreached)
			}
			for lid, row := range want {
				if !slices.Equal(d.Forwarding.Row(lid), row) {
					t.Errorf("LID %d: %v, want %v", lid, d.Forwarding.Row(lid), row)
				}
				if got := d.LIDs[int(lid)+tc.shift]; got != lid {
					t.Errorf("LID %d of the dump is %d, want %d", int(lid)+tc.shift, got, lid)
				}
			}
		})
	}
}

// A simulator's port GUID of one adapter may be the real one of another: one
// destination alone would not tell, all together do.
func TestRulesAreNotMixed(t *testing.T) {
	var fb fabric.Builder
	s := fb.Node(fabric.Node{GUID: 0x900, Ports: 3, Name: "s"}, "")
	for i := range 3 {
		g := fabric.GUID(0x10 + i)
		h := fb.Node(fabric.Node{GUID: g, Kind: fabric.Adapter, Ports: 1, Name: fmt.Sprint("h", i)}, "")
		fb.Port(h, 1, fabric.Port{GUID: g})
		fb.Cable(s, uint8(i+1), h, 1, fabric.Rate{})
	}
	f, err := fb.Build()
	if err != nil {
		t.Fatal(err)
	}
	dump := func(guids ...int) string {
		text := "Unicast lids [0-9] of switch Lid 1 guid 0x900 ('s'):\n0x0001 000 # Switch portguid 0x900: 's'\n"
		for i, g := range guids {
			text += fmt.Sprintf("0x%04x %03d # Channel Adapter portguid 0x%x: 'h'\n", i+2, i+1, g)
		}
		return text + "9 lids dumped\n"
	}
	for _, tc := range []struct {
		text string
		rule Rule
		err  string
	}{
		{dump(0x10, 0x11, 0x12), ByPortGUID, ""},
		{dump(0x11, 0x12, 0x13), ByNodeGUID, ""},
		{dump(0x11, 0x12), 0, "can be those of the fabric and can be node GUID + port number"},
		{dump(0x10, 0x13), 0, "does not fit"},
		{dump(0x10, 0x10, 0x11), 0, "answers to 1 LID"},
	} {
		d, err := Read(strings.NewReader(tc.text), "dump", f, Join{})
		switch {
		case tc.err != "":
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error is %v, want %s", err, tc.err)
			}
		case err != nil:
			t.Error(err)
		case d.Rule != tc.rule || d.LIDs[2] != f.Endpoint(1).LID:
			t.Errorf("joined by %v, LIDs %v", d.Rule, d.LIDs)
		}
	}
}

func TestBaseOfABlock(t *testing.T) {
	for _, tc := range []struct {
		b    block
		lmc  uint8
		want fabric.LID
	}{{block{8, 11}, 2, 8}, {block{9, 11}, 2, 8}, {block{9, 9}, 2, 9}, {block{9, 10}, 0, 9}} {
		if got := tc.b.base(tc.lmc); got != tc.want {
			t.Errorf("%v with LMC %d begins at %d, want %d", tc.b, tc.lmc, got, tc.want)
		}
	}
}

func TestWhatADumpLacks(t *testing.T) {
	f := net(t)
	text, _, _ := strings.Cut(osmDump, "Unicast lids [0-7] of switch Lid 2")
	text = strings.Replace(text, "0x0006 001 # Channel Adapter portguid 0x0000000000000308: 'h'\n", "", 1)
	text = strings.Replace(text, "0x0007 001 # Channel Adapter portguid 0x0000000000000308: 'h'\n", "", 1)
	d, err := Read(strings.NewReader(text), "dump", f, Join{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.NoTable, []fabric.NodeID{1}) || !slices.Equal(d.Unreached, []fabric.EndpointID{3}) {
		t.Errorf("without table %v, unreached %v", d.NoTable, d.Unreached)
	}
}

// dump_fts and ibroute say of a further LID of a port (LMC) which path it is, and whose.
func TestPathsOfAPort(t *testing.T) {
	text := dumpFts
	for _, lid := range []string{"0005", "0007"} {
		_, after, _ := strings.Cut(text, "0x"+lid)
		line, _, _ := strings.Cut(after, "\n")
		guid := "0x0000000000000300"
		if lid == "0007" {
			guid = "0x0000000000000308"
		}
		text = strings.ReplaceAll(text, "0x"+lid+line, "0x"+lid+line[:5]+": (path #2 out of 2: portguid "+guid+")")
		text = strings.ReplaceAll(text, "0x"+lid+" 002 : (Channel Adapter portguid "+guid+": 'h')", "0x"+lid+" 002 : (path #2 out of 2: portguid "+guid+")")
	}
	if strings.Count(text, "(path #2") != 3 {
		t.Fatal(text)
	}
	f := netWith(t, 10) // not the LID of the dump: only by the GUID can it be found
	want, err := Read(strings.NewReader(dumpFts), "dump", f, Join{Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(strings.NewReader(text), "dump", f, Join{Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Mismatches.Moved { // these lines have no names
		want.Mismatches.Moved[i].Name, got.Mismatches.Moved[i].Name = "", ""
	}
	if len(want.Mismatches.Moved) != 2 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if _, err := Read(strings.NewReader(strings.Replace(text, "308)\n", "308\n", 1)), "dump", f, Join{}); err == nil || !strings.HasPrefix(err.Error(), "dump:9: no GUID behind portguid") {
		t.Error(err)
	}
}

// Prompts, warnings and what dump_lfts.sh says of itself are passed over where they do no harm.
func TestLinesOfOthers(t *testing.T) {
	f := net(t)
	want, err := Read(strings.NewReader(dumpFts), "dump", f, Join{})
	if err != nil {
		t.Fatal(err)
	}
	warned := "ibwarn: [565065] mad_rpc: _do_madrpc failed; dport (Lid 7)\n"
	text := "[root@head ~]# dump_lfts.sh\n" + strings.Replace(dumpFts, "0x0002", warned+"0x0002", 1) + "\n*** WARNING ***: this command has been replaced by dump_fts\n\n\n[root@head ~]# exit\n"
	got, err := Read(strings.NewReader(text), "dump", f, Join{})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v; %v", got, want, err)
	}
	for text, want := range map[string]string{
		"SubnGet(LFT) failed on switch 'b' DR path slid 0; dlid 0; 0,1 Node GUID 0x200 SMA LID 2; MAD status 0x0 AM 0x0\n" + dumpFts: "dump:1: a switch did not answer, and its table may have entries of other LIDs",
		strings.Replace(dumpFts, "0x0002 001", "0x0002 0"+warned+"01", 1):                                                            "dump:5: no out-port from 0 to 255 behind LID 2",
		strings.Replace(dumpFts, "0x0002", "[root@head ~]# ls\n0x0002", 1):                                                           "dump:5: this is not a line of a forwarding table",
		strings.Replace(fdbs, "0x0002", "[root@head ~]# ls\n0x0002", 1):                                                              "dump:4: this is not a line of a forwarding table",
		"\n[root@head ~]# dump_fts\n": "dump:2: no forwarding table in the whole file",
	} {
		if _, err := Read(strings.NewReader(text), "dump", f, Join{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// dump_fts and ibroute end before the last block of 64 LIDs where that would have one alone.
func TestLeftOut(t *testing.T) {
	var fb fabric.Builder
	a := fb.Node(fabric.Node{GUID: 0x100, Ports: 4, Name: "a"}, "")
	h := fb.Node(fabric.Node{GUID: 0x300, Kind: fabric.Adapter, Ports: 2, Name: "h"}, "")
	fb.Port(a, 0, fabric.Port{LID: 1})
	fb.Port(h, 1, fabric.Port{GUID: 0x301, LID: 63})
	fb.Port(h, 2, fabric.Port{GUID: 0x302, LID: 64})
	fb.Cable(a, 1, h, 1, fabric.Rate{})
	fb.Cable(a, 2, h, 2, fabric.Rate{})
	f, err := fb.Build()
	if err != nil {
		t.Fatal(err)
	}
	table := "Unicast lids [0x0-0x40] of switch Lid 1 guid 0x0000000000000100 (a):\n  Lid  Out   Destination\n       Port     Info \n0x0001 000 : (Switch portguid 0x0000000000000100: 'a')\n0x003f 001 : (Channel Adapter portguid 0x0000000000000301: 'h')\n2 valid lids dumped \n"
	for text, want := range map[string]fabric.LID{
		table: 64,
		"Unicast lids [0x0-0x40] of switch Lid 1 guid 0x0000000000000100 (a):\n0x0001 000 \n0x003f 001 \n2 valid lids dumped \n": 64,
		strings.ReplaceAll(table, "0x40", "0x41"):  0,
		strings.ReplaceAll(table, "2 valid", "64"): 0,
		strings.ReplaceAll(table, " : (", " # "):   0,
		strings.Replace(table, "2 valid", "0x0040 002 : (Channel Adapter portguid 0x0000000000000302: 'h')\n3 valid", 1): 0,
	} {
		d, err := Read(strings.NewReader(text), "dump", f, Join{})
		if err != nil || d.LeftOut != want {
			t.Errorf("%+v, %v, want %d left out of\n%s", d, err, want, text)
		}
	}
}

func TestErrors(t *testing.T) {
	f := net(t)
	for _, tc := range []struct {
		name, base, old, new string
		join                 Join
		want                 string
	}{
		{"empty", osmDump, osmDump, "", Join{}, "dump:1: this is an empty file; forwarding tables are"},
		{"prose", osmDump, "7 lids", "many lids", Join{}, "dump:8: this is not a line of a forwarding table"},
		{"unknown switch", osmDump, "guid 0x0000000000000200 (", "guid 0x0000000000000201 (", Join{}, "dump:9: the fabric has no switch with node GUID 0x0000000000000201"},
		{"adapter's table", osmDump, "guid 0x0000000000000200 (", "guid 0x0000000000000300 (", Join{}, "dump:9: node GUID 0x0000000000000300 is h in the fabric, which is no switch"},
		{"switch twice", osmDump, "guid 0x0000000000000200 (", "guid 0x0000000000000100 (", Join{}, "dump:9: a second table of a; the first begins in line 1"},
		{"port beyond", osmDump, "0x0004 002", "0x0004 005", Join{}, "dump:4: a has 4 ports, not a port 5"},
		{"port without cable", osmDump, "0x0004 002", "0x0004 003", Join{}, "dump:4: port 3 of a has no cable"},
		{"entry twice", osmDump, "0x0005 001", "0x0004 001", Join{}, "dump:5: a second entry of a for LID 4"},
		{"unknown port GUID", osmDump, "0x0000000000000308", "0x0000000000000309", Join{}, "dump:6: LID 6: no connected port of the fabric has port GUID 0x0000000000000309"},
		{"port GUID changes", osmDump, "0x0007 002 # Channel Adapter portguid 0x0000000000000308", "0x0007 002 # Channel Adapter portguid 0x0000000000000300", Join{}, "dump:14: the port GUID of this LID"},
		{"multicast LID", osmDump, "0x0007", "0xc000", Join{}, "dump:7: LID 49152 is no unicast LID"},
		{"more LIDs than LMC", osmDump, "0x0007", "0x0008", Join{}, "dump:7: LID 8 is 2 above the base LID of h port 2, which has LMC 1"},
		{"cut in a table", osmDump, osmDump[strings.LastIndex(osmDump, "0x0006"):], "", Join{}, "dump:12: truncated: the table of b"},
		{"cut in a port", osmDump, osmDump[strings.LastIndex(osmDump, " 002"):], " ", Join{}, "dump:14: no out-port"},
		{"valid entries missing", dumpFts, "0x0005 001 : (Channel Adapter portguid 0x0000000000000300: 'h')\n", "", Join{}, "dump:9: the table of a has 5 entries, not 6"},
		{"LID of nobody", fdbs, "0x0003 : UNREACHABLE", "0x0003 : 001  : 01   : yes", Join{}, "dump:5: LID 3: nothing in the fabric answers to it"},
		{"cut list of routes", fdbs, fdbs[strings.LastIndex(fdbs, "0x0007"):], "", Join{}, "dump:17: truncated: the table of the last switch ends at LID 6, others at LID 7"},
		{"cut route", fdbs, fdbs, fdbs[:strings.LastIndex(fdbs, "2  : 01")], Join{}, "dump:18: the line is cut short"},
		{"list of another run", osmDump, "", "", Join{List: list(t, 6, 4)}, "dump:4: LID 4: its port GUID is 0x0000000000000300 in the dump and 0x0000000000000308 in the subnet list"},
		{"list without LIDs so low", fdbs, "0x0001", "0x0000", Join{List: list(t, 4, 6)}, "dump:3: LID 0 is no unicast LID"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if !strings.Contains(tc.base, tc.old) {
				t.Fatalf("no %q", tc.old)
			}
			text := strings.Replace(tc.base, tc.old, tc.new, 1)
			if tc.name == "unknown port GUID" || tc.name == "multicast LID" || tc.name == "more LIDs than LMC" {
				text = strings.ReplaceAll(tc.base, tc.old, tc.new)
			}
			d, err := Read(strings.NewReader(text), "dump", f, tc.join)
			var at *format.ParseError
			if d != nil || !errors.As(err, &at) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
}

func TestWriteReadIsIdentity(t *testing.T) {
	f := net(t)
	rapid.Check(t, func(t *rapid.T) {
		tables := routing.NewForwarding(f)
		for lid := range f.LIDs() {
			for s := range tables.Row(lid) {
				tables.Row(lid)[s] = rapid.SampledFrom([]uint8{0, 1, 2, routing.NoPort}).Draw(t, "port")
			}
		}
		for _, lid := range []fabric.LID{4, 6} { // a single LID of a port is taken for its base LID
			tables.Row(lid)[0] = 1
		}
		for _, guids := range []GUIDs{PortGUIDs, NodePlusPort} {
			var text bytes.Buffer
			if err := Write(&text, f, tables, guids); err != nil {
				t.Fatal(err)
			}
			d, err := Read(bytes.NewReader(text.Bytes()), "again", f, Join{})
			if err != nil {
				t.Fatalf("%v in\n%s", err, text.Bytes())
			}
			for lid := range f.LIDs() {
				if !slices.Equal(tables.Row(lid), d.Forwarding.Row(lid)) {
					t.Fatalf("LID %d differs in\n%s", lid, text.Bytes())
				}
			}
		}
	})
}

func TestGoldenWrite(t *testing.T) {
	f := net(t)
	d, err := Read(strings.NewReader(osmDump), "dump", f, Join{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Write(&text, f, d.Forwarding, PortGUIDs); err != nil {
		t.Fatal(err)
	}
	// Write says how many entries there are, where OpenSM says up to which LID.
	want := strings.NewReplacer("'b'", "'b ''", "\n7 lids dumped\nUnicast", "\n6 valid lids dumped\nUnicast", "7 lids dumped", "5 valid lids dumped").Replace(osmDump)
	if got := text.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{osmDump, dumpFts, fdbs} {
		f.Add([]byte(seed))
	}
	n := net(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		lenient, errLenient := Read(bytes.NewReader(text), "fuzz", n, Join{Lenient: true})
		d, err := Read(bytes.NewReader(text), "fuzz", n, Join{})
		if err != nil {
			return
		}
		if errLenient == nil && (!reflect.DeepEqual(d.LIDs, lenient.LIDs) || len(lenient.Mismatches.Gone)+len(lenient.Mismatches.Dead)+len(lenient.Mismatches.UnknownSwitches) > 0) {
			t.Fatalf("strict reads LIDs %v; lenient %v with misfits %v", d.LIDs, lenient.LIDs, lenient.Mismatches)
		}
		var out bytes.Buffer
		if err := Write(&out, n, d.Forwarding, PortGUIDs); err != nil {
			t.Fatal(err)
		}
		if out.Len() == 0 {
			t.Fatal("nothing written")
		}
	})
}
