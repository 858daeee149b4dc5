package far_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/format/far"
	"github.com/weft-fabric/weft/internal/scramble"
)

const all = "(0,0)(1,1)(2,0)(3,0)(4,0)(5,0)(6,0)(7,0)(8,0)(9,0)(10,0)(11,0)(12,0)(13,0)(14,0)(15,0)\n"

const private = "dump_plft: Switch 0x10\nrq:1 sl-plft:" + all + "rq:2 sl-plft:" + all + "rq:3 sl-plft:" + all +
	"\ndump_plft: Switch 0x20\nrq:1 sl-plft:" + all + "rq:2 sl-plft:" + all + "rq:3 sl-plft:" + all

func TestPrivate(t *testing.T) {
	f, fw := pair(t)
	g, err := far.Read(strings.NewReader(sample), "far", f, fw)
	if err != nil {
		t.Fatal(err)
	}
	if err := far.ReadPrivate(strings.NewReader(private), "plft", f, g); err != nil {
		t.Fatal(err)
	}
	if g.Table(0, 2, 1) != 1 || g.Table(0, 2, 0) != 0 || g.Table(1, 3, 1) != 1 || g.IgnoresSL() {
		t.Error("the tables are others than in the file")
	}
	for _, tc := range []struct{ name, old, replace, want string }{
		{"another form", "rq:1", "port 1", `plft:2: this line is neither "dump_plft: Switch GUID" nor`},
		{"before any switch", "dump_plft: Switch 0x10\n", "", `plft:1: this line is neither "dump_plft: Switch GUID" nor, below such a line, "rq:`},
		{"GUID", "Switch 0x20", "Switch 0x20 5", "plft:6: no GUID"},
		{"other fabric", "Switch 0x20", "Switch 0x30", "plft:6: node GUID 0x0000000000000030 is"},
		{"twice", "Switch 0x20", "Switch 0x10", "plft:6: a second block of"},
		{"port beyond", "rq:3", "rq:9", "plft:4: no port from 0 to 4"},
		{"port twice", "rq:3", "rq:2", "plft:4: port 2 of"},
		{"pair cut", "(15,0)\n", "(15,0\n", "plft:2: no pair (15,table)"},
		{"order", "(2,0)(3,0)", "(3,0)(2,0)", "plft:2: service level 3 where 2 should be"},
		{"table beyond", "(1,1)", "(1,2)", "plft:2: table 2 for service level 1, and ibdiagnet2.far has 2"},
		{"more", "(15,0)\n", "(15,0)(16,0)\n", "behind the last service level"},
		{"port missing", "rq:3 sl-plft:" + all + "\n", "\n", "the file ends without port 3 of 0x0000000000000010"},
		{"cut", private, strings.TrimSpace(private), "truncated"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(private, tc.old, tc.replace, 1)
			if text == private {
				t.Fatal("nothing was replaced")
			}
			err := far.ReadPrivate(strings.NewReader(text), "plft", f, g)
			if pe := (*format.ParseError)(nil); !errors.As(err, &pe) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// Of a switch that the fabric lacks and that has a table, groups and private tables are left out; its lines count.
func TestGoneSwitch(t *testing.T) {
	f, fw := pair(t)
	_, block, _ := strings.Cut(sample, "Switch 0x20")
	more := "Switch 0x99" + block
	more = strings.Replace(more, "0x0001 2", "0x0001 7", 1) // nobody knows its ports
	text := sample + more + "#end 17\n"
	g, err := far.Read(strings.NewReader(text), "far", f, fw, 0x99)
	if err != nil {
		t.Fatal(err)
	}
	want, err := far.Read(strings.NewReader(sample), "far", f, fw)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Row(0, 2), want.Row(0, 2)) || g.Tables() != want.Tables() {
		t.Errorf("groups %v, want %v", g.Row(0, 2), want.Row(0, 2))
	}
	if err := far.ReadPrivate(strings.NewReader("dump_plft: Switch 0x99\nrq:77 sl-plft:(0,0)\n"+private), "plft", f, g, 0x99); err != nil {
		t.Error(err)
	}
	if _, err := far.Read(strings.NewReader(text), "far", f, fw, 0x98); err == nil {
		t.Error("a switch that no other file knows is left out")
	}
}

func FuzzPrivate(f *testing.F) {
	for _, text := range scramble.Of(private) {
		f.Add(text)
	}
	network, fw := pair(f)
	f.Fuzz(func(t *testing.T, text string) {
		g, err := far.Read(strings.NewReader(sample), "far", network, fw)
		if err != nil {
			t.Fatal(err)
		}
		err = far.ReadPrivate(strings.NewReader(text), "plft", network, g)
		if pe := (*format.ParseError)(nil); err != nil && !errors.As(err, &pe) {
			t.Errorf("%v names no line", err)
		}
	})
}
