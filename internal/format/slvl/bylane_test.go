package slvl

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
)

const byLaneText = "# comment\n\ndump_vl2vl: Switch 0x0000000000000200\nsl: 1 15\n"

func TestReadByLane(t *testing.T) {
	f := pair(t)
	got, err := ReadByLane(strings.NewReader(byLaneText), "vl2vl", f)
	if want := []uint16{0, 1<<1 | 1<<15}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v, %v, want %v", got, err, want)
	}
	if got, err := ReadByLane(strings.NewReader("# nothing\n"), "vl2vl", f); err != nil || !slices.Equal(got, []uint16{0, 0}) {
		t.Errorf("a file of comments: %v, %v", got, err)
	}
	without := "dump_vl2vl: Switch 0x777\nsl: 2\n" + byLaneText
	if again, err := ReadByLane(strings.NewReader(without), "vl2vl", f, 0x777); err != nil || !slices.Equal(again, got) {
		t.Errorf("with a switch that is gone: %v, %v, want %v", again, err, got)
	}
	if _, err := ReadByLane(strings.NewReader("dump_vl2vl: Switch 0x777\n"), "vl2vl", f, 0x777); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("with nothing of a switch that is gone: %v", err)
	}
	for _, tc := range []struct{ name, old, replace, want string }{
		{"line", "sl: 1", "vl: 1", "vl2vl:4: this is no line of an ibdiagnet2.vl2vl"},
		{"level", "15", "16", "in place of a service level from 0 to 15"},
		{"switch", "0200", "0777", "vl2vl:3: the fabric has no switch with node GUID 0x0000000000000777"},
		{"twice", "sl: 1 15\n", "sl: 1\ndump_vl2vl: Switch 0x200\n", "vl2vl:5: a second block of"},
		{"behind", "0200\n", "0200 x\n", "no GUID of a switch, or more than that"},
		{"without levels", "sl: 1 15\n", "", "the file ends without the service levels of"},
		{"cut", byLaneText, strings.TrimSpace(byLaneText), "truncated"},
		{"no switch", "dump_vl2vl: Switch 0x0000000000000200\n", "", "vl2vl:3: this is no line"},
	} {
		text := strings.Replace(byLaneText, tc.old, tc.replace, 1)
		if text == byLaneText {
			t.Fatalf("%s: nothing was replaced", tc.name)
		}
		_, err := ReadByLane(strings.NewReader(text), "vl2vl", f)
		if pe := (*format.ParseError)(nil); !errors.As(err, &pe) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}

func FuzzByLane(f *testing.F) {
	for _, text := range scramble.Of(byLaneText) {
		f.Add(text)
	}
	network := pair(f)
	f.Fuzz(func(t *testing.T, text string) {
		levels, err := ReadByLane(strings.NewReader(text), "vl2vl", network)
		if pe := (*format.ParseError)(nil); err != nil && !errors.As(err, &pe) {
			t.Errorf("%v names no line", err)
		}
		if (err == nil) == (levels == nil) {
			t.Fatal("service levels and an error, or neither")
		}
	})
}
