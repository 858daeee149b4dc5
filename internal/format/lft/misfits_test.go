package lft

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/format/subnetlst"
	"github.com/weft-fabric/weft/routing"
)

// stranger is the table of a switch that net does not have.
const stranger = `Unicast lids [0-7] of switch Lid 9 guid 0x0000000000000900 ('c (old)'):
0x0001 200 # Switch portguid 0x0000000000000100: 'a'
0x0009 000 # Switch portguid 0x0000000000000900: 'c (old)'
7 lids dumped
`

// without is a dump less the lines that hold a text.
func without(dump, text string) string {
	var kept []string
	for line := range strings.Lines(dump) {
		if !strings.Contains(line, text) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// TestMisfits reads dumps that are older or newer than the fabric.
func TestMisfits(t *testing.T) {
	f := net(t)
	uncabled, err := f.Without([]fabric.ChannelID{f.Out(0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := f.Without(nil, []fabric.NodeID{2})
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.NewReplacer("0x0006", "0x0016", "0x0007", "0x0017").Replace
	exchanged := strings.NewReplacer("0x0001", "0x0002", "0x0002", "0x0001").Replace
	second := strings.Index(osmDump, "Unicast lids [0-7] of switch Lid 2")
	for _, tc := range []struct {
		name   string
		fabric *fabric.Fabric
		text   string
		list   *subnetlst.Map
		rows   map[fabric.LID][]uint8
		want   Dump // what is not in rows
	}{
		{"everything fits", f, osmDump, nil, want, Dump{Rule: ByPortGUID}},
		{"switch gone", f, stranger + osmDump, nil, want, Dump{Rule: ByPortGUID,
			Mismatches: Mismatches{UnknownSwitches: []UnknownSwitch{{0x900, "c (old)", 1}}}}},
		{"switch gone, ibroute", f, dumpFts + "Unicast lids [0x0-0x7] of switch Lid 9 guid 0x0000000000000900 (c (old)):\n0x0001 200 : (unknown node and type)\n1 valid lids dumped\n", nil, want,
			Dump{Rule: ByPortGUID, Mismatches: Mismatches{UnknownSwitches: []UnknownSwitch{{0x900, "c (old)", 21}}}}},
		{"switch without a table", f, osmDump[:second], nil, map[fabric.LID][]uint8{1: {0, 255}, 2: {1, 255}, 4: {2, 255}, 5: {1, 255}, 6: {1, 255}, 7: {1, 255}},
			Dump{Rule: ByPortGUID, NoTable: []fabric.NodeID{1}}},
		{"host new", f, without(without(osmDump, "0x0006"), "0x0007"), nil, map[fabric.LID][]uint8{1: {0, 1}, 2: {1, 0}, 4: {2, 1}, 5: {1, 255}},
			Dump{Rule: ByPortGUID, Unreached: []fabric.EndpointID{3}}},
		{"host gone", alone, osmDump, nil, map[fabric.LID][]uint8{1: {0, 1}, 2: {1, 0}}, Dump{Rule: ByPortGUID, Unowned: map[fabric.LID][]uint8{4: {2, 1}, 5: {1, 255}, 6: {1, 2}, 7: {1, 2}}, Mismatches: Mismatches{
			Gone: []Gone{
				{4, 0x300, "h", 4, "LID 4: no connected port of the fabric has port GUID 0x0000000000000300", false},
				{5, 0x300, "h", 5, "LID 5: no connected port of the fabric has port GUID 0x0000000000000300", false},
				{6, 0x308, "h", 6, "LID 6: no connected port of the fabric has port GUID 0x0000000000000308", false},
				{7, 0x308, "h", 7, "LID 7: no connected port of the fabric has port GUID 0x0000000000000308", false},
			},
			Dead: []DeadEntries{{DeadPort{0, 2}, 1}, {DeadPort{1, 2}, 2}},
		}}},
		{"host gone, LIDs only", alone, fdbs, nil, map[fabric.LID][]uint8{1: {0, 1}, 2: {1, 0}}, Dump{Rule: ByLID, Unowned: map[fabric.LID][]uint8{4: {2, 1}, 5: {1, 255}, 6: {1, 2}, 7: {1, 2}}, Mismatches: Mismatches{
			Gone: []Gone{
				{4, 0, "", 6, "LID 4: nothing in the fabric answers to it", false}, {5, 0, "", 7, "LID 5: nothing in the fabric answers to it", false},
				{6, 0, "", 8, "LID 6: nothing in the fabric answers to it", false}, {7, 0, "", 9, "LID 7: nothing in the fabric answers to it", false},
			},
			Dead: []DeadEntries{{DeadPort{0, 2}, 1}, {DeadPort{1, 2}, 2}},
		}}},
		{"host gone, LIDs and a subnet list", alone, fdbs, list(t, 4, 6), map[fabric.LID][]uint8{1: {0, 1}, 2: {1, 0}}, Dump{Rule: ByList, Unowned: map[fabric.LID][]uint8{4: {2, 1}, 5: {1, 255}, 6: {1, 2}, 7: {1, 2}}, Mismatches: Mismatches{
			Gone: []Gone{
				{4, 0, "x", 6, "LID 4: the fabric has no node with GUID 0x0000000000000300, to which the subnet list gives this LID", false},
				{5, 0, "x", 7, "LID 5: the fabric has no node with GUID 0x0000000000000300, to which the subnet list gives this LID", false},
				{6, 0, "x", 8, "LID 6: the fabric has no node with GUID 0x0000000000000300, to which the subnet list gives this LID", false},
				{7, 0, "x", 9, "LID 7: the fabric has no node with GUID 0x0000000000000300, to which the subnet list gives this LID", false},
			},
			Dead: []DeadEntries{{DeadPort{0, 2}, 1}, {DeadPort{1, 2}, 2}},
		}}},
		{"cable gone", uncabled, osmDump, nil, want, Dump{Rule: ByPortGUID, Mismatches: Mismatches{Dead: []DeadEntries{{DeadPort{0, 1}, 4}, {DeadPort{1, 1}, 2}}}}},
		{"fewer LIDs", f, strings.ReplaceAll(osmDump, "0x0007", "0x0008"), nil, map[fabric.LID][]uint8{1: {0, 1}, 2: {1, 0}, 4: {2, 1}, 5: {1, 255}, 6: {1, 2}}, Dump{Rule: ByPortGUID, Unowned: map[fabric.LID][]uint8{8: {1, 2}}, Mismatches: Mismatches{
			Gone: []Gone{{8, 0x308, "h", 7, "LID 8 is 2 above the base LID of h port 2, which has LMC 1 in the fabric and so answers to 2 LIDs", true}},
		}}},
		{"LID changed since the subnet list", f, moved(osmDump), list(t, 4, 6), map[fabric.LID][]uint8{1: {0, 1}, 2: {1, 0}, 4: {2, 1}, 5: {1, 255}},
			Dump{Rule: ByLID, Unowned: map[fabric.LID][]uint8{22: {1, 2}, 23: {1, 2}}, Unreached: []fabric.EndpointID{3}, Mismatches: Mismatches{Moved: []Moved{
				{0x16, 0x308, "h", 6, 6, fabric.None}, {0x17, 0x308, "h", 7, 7, fabric.None},
			}}}},
		{"LIDs exchanged", f, exchanged(osmDump), nil, map[fabric.LID][]uint8{1: {1, 0}, 2: {0, 1}, 4: {2, 1}, 5: {1, 255}, 6: {1, 2}, 7: {1, 2}},
			Dump{Rule: ByLID, Mismatches: Mismatches{Moved: []Moved{{1, 0x200, "b", 3, 2, 0}, {2, 0x100, "a", 2, 1, 1}}}}},
		{"a LID that the fabric does not state", netWith(t, 0), moved(osmDump), nil, want, Dump{Rule: ByPortGUID, Renumbered: 2}},
		{"other LIDs throughout", f, strings.NewReplacer("0x0001", "0x0021", "0x0002", "0x0022", "0x0004", "0x0024", "0x0005", "0x0025", "0x0006", "0x0026", "0x0007", "0x0027").Replace(osmDump), nil, want,
			Dump{Rule: ByPortGUID, Renumbered: 6}},
		{"port unknown to the subnet list", f, strings.ReplaceAll(osmDump, "0x0000000000000308", "0x0000000000000309"), list(t, 4, 6), want,
			Dump{Rule: ByLID, Mismatches: Mismatches{Moved: []Moved{{6, 0x309, "h", 6, 0, 3}, {7, 0x309, "h", 7, 0, 3}}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(tc.text), "dump", tc.fabric, Join{List: tc.list, Lenient: true})
			if err != nil {
				t.Fatal(err)
			}
			rows := map[fabric.LID][]uint8{}
			for lid := range tc.fabric.LIDs() {
				row := got.Forwarding.Row(lid)
				if !reflect.DeepEqual(row, []uint8{routing.NoPort, routing.NoPort}) {
					rows[lid] = row
				}
			}
			if !reflect.DeepEqual(rows, tc.rows) {
				t.Errorf("entries %v, want %v", rows, tc.rows)
			}
			got.Forwarding, got.LIDs = nil, nil
			if !reflect.DeepEqual(got, &tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, &tc.want)
			}
			strict, err := Read(strings.NewReader(tc.text), "dump", tc.fabric, Join{List: tc.list})
			if fits := len(tc.want.Mismatches.Gone)+len(tc.want.Mismatches.Dead)+len(tc.want.Mismatches.UnknownSwitches)+len(tc.want.Mismatches.Moved) == 0; fits != (err == nil) {
				t.Errorf("strict: %v, %v", strict, err)
			}
		})
	}
}

// TestNothingInCommon: lenient is not blind.
func TestNothingInCommon(t *testing.T) {
	f := net(t)
	for _, tc := range []struct{ name, text, want string }{
		{"other switches", stranger, "dump:1: the fabric has no switch with node GUID 0x0000000000000900, nor any other"},
		{"other destinations", strings.NewReplacer("portguid 0x0000000000000", "portguid 0x1000000000000").Replace(osmDump), "dump:2: LID 1: no connected port of the fabric has port GUID 0x1000000000000100, nor does any other destination fit"},
		{"other LIDs", strings.NewReplacer("0x0001", "0x0006", "0x0002", "0x0001", "0x0004", "0x0002", "0x0006", "0x0004").Replace(fdbs), "are handed to other ports than theirs by their own switches"},
		{"either meaning of port GUIDs finds as many", strings.NewReplacer("portguid 0x0000000000000308", "portguid 0x0000000000000302").Replace(osmDump), "a subnet list of the same OpenSM is needed to tell"},
		{"a port the switch does not have", strings.Replace(osmDump, "0x0002 001", "0x0002 009", 1), "dump:3: a has 4 ports, not a port 9"},
		{"cut in the table of a stranger", osmDump + without(stranger, "dumped"), "dump:18: truncated: the table of 0x0000000000000900, from line 16 on"},
		{"a stranger twice", stranger + stranger, "dump:5: a second table of 0x0000000000000900; the first begins in line 1"},
		{"entries missing of a stranger", "Unicast lids [0x0-0x7] of switch Lid 9 guid 0x0000000000000900 (c):\n2 valid lids dumped\n", "dump:2: the table of 0x0000000000000900 has 0 entries, not 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := Read(strings.NewReader(tc.text), "dump", f, Join{Lenient: true})
			var at *format.ParseError
			if d != nil || !errors.As(err, &at) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
}
