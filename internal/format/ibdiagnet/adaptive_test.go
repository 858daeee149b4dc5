package ibdiagnet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

// three is a network of three switches, with AR_INFO of two of them and some more columns.
const three = `START_NODES
NodeDesc,NumPorts,NodeType,NodeGUID
"a",2,2,0x10
"b",2,2,0x20
"c",2,2,0x30
END_NODES
START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0x10,1,0x20,1
0x20,2,0x30,1
END_LINKS
START_AR_INFO
NodeGUID,e,is_arn_sup,by_sl_cap,by_sl_en,enable_by_sl_mask,is_hbf_supported,by_sl_hbf_en,enable_by_sl_mask_hbf
0x0000000000000010,ONE
0x0000000000000030,TWO
END_AR_INFO
`

func TestReadAdaptive(t *testing.T) {
	for _, tc := range []struct {
		name, one, two string
		want           []uint16
	}{
		{"off", "0,1,1,0,65535,1,0,0", "0,1,1,1,7,0,1,7", []uint16{0, 0, 0}},
		{"on", "1,1,1,0,0,1,0,0", "1,1,1,1,0x6,1,0,0", []uint16{0xFFFF, 0, 6}},
		{"hash", "0,1,1,0,0,1,1,4", "1,1,1,1,3,1,1,8", []uint16{4, 0, 11}},
		{"hash for all", "0,1,1,0,0,1,0,4", "0,N/A,N/A,N/A,N/A,N/A,N/A,N/A", []uint16{0xFFFF, 0, 0}},
	} {
		text := strings.NewReplacer("ONE", tc.one, "TWO", tc.two).Replace(three)
		f, err := Read(strings.NewReader(text), "db", nil)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(f.Warnings(), func(w string) bool { return strings.Contains(w, "AR_INFO") }) {
			t.Errorf("%q", f.Warnings())
		}
		a, err := ReadAdaptive(strings.NewReader(text), "db", f)
		if err != nil || !slices.Equal(a.Levels, tc.want) || !slices.Equal(a.Known, []bool{true, false, true}) {
			t.Errorf("%s: %+v, %v; want %v", tc.name, a, err, tc.want)
		}
	}
	good := strings.NewReplacer("ONE", "1,1,1,0,0,1,0,0", "TWO", "1,1,1,0,0,1,0,0").Replace(three)
	f, err := Read(strings.NewReader(good), "db", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ old, replace, want string }{
		{"0x0000000000000030,1", "0x0000000000000031,1", "db:15: the fabric has no switch with node GUID 0x0000000000000031"},
		{"0x0000000000000030,1", "0x0000000000000010,1", "db:15: a second row in AR_INFO of a; the first begins in line 14"},
		{"30,1,1,1,0,0", "30,1,1,1,0,65536", `db:15: enable_by_sl_mask is "65536"`},
		{"30,1,1,1,0,0", "30,1,1,1,0,0x10000", `db:15: enable_by_sl_mask is "0x10000"`},
		{"END_AR_INFO\n", "", "db:15: truncated: the table AR_INFO"},
		{",1,1,1,0,0,1,0,0\nEND", ",1\nEND", "db:15: 2 cells"},
	} {
		_, err := ReadAdaptive(strings.NewReader(strings.Replace(good, tc.old, tc.replace, 1)), "db", f)
		if pe := (*format.ParseError)(nil); !errors.As(err, &pe) || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want %q", tc.replace, err, tc.want)
		}
	}
	gone := strings.Replace(good, "0x0000000000000030,1", "0x0000000000000031,x", 1)
	if a, err := ReadAdaptive(strings.NewReader(gone), "db", f, 0x31); err != nil || !slices.Equal(a.Known, []bool{true, false, false}) {
		t.Errorf("the row of a switch that the fabric lacks: %+v, %v", a, err)
	}
	for _, without := range []string{strings.Replace(good, ",e,", ",enabled,", 1), small} {
		if a, err := ReadAdaptive(strings.NewReader(without), "db", f); a != nil || err != nil {
			t.Errorf("without the column e or the table: %+v, %v", a, err)
		}
	}
}

// The lanes of a cable are those that both its ends run.
func TestDataVLs(t *testing.T) {
	text := strings.Replace(small, "NodeGUID,PortNum,LID,LMC,LinkWidthActv,LinkSpeedActv\n0x10,0,1,0,0,0\n0x10,1,0,0,2,2052\n0x10,2,N/A,N/A,N/A,N/A\n0x11,1,2,1,2,1024\n0xhost2,1,4,0,1,65536\n",
		"NodeGUID,PortNum,LID,LMC,LinkWidthActv,LinkSpeedActv,VLCap,OpVLs\n0x10,0,1,0,0,0,4,0\n0x10,1,0,0,2,2052,4,4\n0x10,2,N/A,N/A,N/A,N/A,N/A,N/A\n0x11,1,2,1,2,1024,4,3\n0xhost2,1,4,0,1,65536,5,2\n", 1)
	f, err := Read(strings.NewReader(text), "db", nil)
	if err != nil {
		t.Fatal(err)
	}
	for port, want := range map[uint8]uint8{1: 4, 2: 2} {
		if c := f.Channel(f.Out(0, port)); c.DataVLs != want || f.Channel(c.Reverse).DataVLs != want {
			t.Errorf("the cable of port %d runs %d lanes, want %d", port, c.DataVLs, want)
		}
	}
	if !slices.Contains(f.Warnings(), `the cable of "leaf, \"one\"" port 1 and "h1 HCA-1" port 1 runs 8 data lanes by line 10 and 4 by line 12; the fewer count`) {
		t.Errorf("%q", f.Warnings())
	}
	// Where it is not known how many a port runs, it runs those that it has at most, which is nothing odd.
	for _, unknown := range []string{"1024,2,0", "1024,2,N/A"} {
		f, err := Read(strings.NewReader(strings.Replace(text, "1024,4,3", unknown, 1)), "db", nil)
		if err != nil {
			t.Fatal(err)
		}
		if runs := f.Channel(f.Out(0, 1)).DataVLs; runs != 2 || strings.Contains(fmt.Sprint(f.Warnings()), "data lanes") {
			t.Errorf("%s: %d lanes, %q", unknown, runs, f.Warnings())
		}
	}
	for _, tc := range []struct{ old, replace, want string }{
		{"1024,4,3", "1024,4,6", `db:12: OpVLs is "6", which is no number from 0 to 5`},
		{"1024,4,3", "1024,2,3", "db:12: OpVLs is 3 and VLCap 2: a port that runs 4 data lanes and has 2"},
	} {
		if _, err := Read(strings.NewReader(strings.Replace(text, tc.old, tc.replace, 1)), "db", nil); err == nil || err.Error() != tc.want {
			t.Errorf("%v, want %q", err, tc.want)
		}
	}
}

func FuzzAdaptive(f *testing.F) {
	good := strings.NewReplacer("ONE", "1,1,1,0,0,1,0,0", "TWO", "1,1,1,1,0x7,1,1,3").Replace(three)
	network, err := Read(strings.NewReader(good), "db", nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range scramble.Of(good) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ReadAdaptive(strings.NewReader(text), "db", network)
		if pe := (*format.ParseError)(nil); err != nil && (!errors.As(err, &pe) || a != nil) {
			t.Errorf("%v names no line, or %v", err, a)
		}
	})
}
