package slvl

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/routing"
)

// pair is two switches, 100 with ports 1 and 2 in use and 200 with ports 2 and
// 3, joined by 2 and 2, and a host on each.
func pair(t testing.TB) *fabric.Fabric {
	var b fabric.Builder
	x := b.Node(fabric.Node{GUID: 0x100, Ports: 3, Name: "x"}, "")
	y := b.Node(fabric.Node{GUID: 0x200, Ports: 3, Name: "y"}, "")
	b.Port(y, 0, fabric.Port{GUID: 0x2ff})
	b.Cable(x, 2, y, 2, fabric.Rate{})
	b.Cable(x, 1, b.Node(fabric.Node{GUID: 0x300, Kind: fabric.Adapter, Ports: 1}, ""), 1, fabric.Rate{})
	b.Cable(y, 3, b.Node(fabric.Node{GUID: 0x400, Kind: fabric.Adapter, Ports: 1}, ""), 1, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// equal compares the entries of cabled ports.
func equal(f *fabric.Fabric, a, b *routing.SL2VL) error {
	for s := range fabric.NodeID(f.Switches()) {
		for in := range uint8(f.Node(s).Ports + 1) {
			for out := range uint8(f.Node(s).Ports + 1) {
				if f.Out(s, out) == fabric.None || in > 0 && f.Out(s, in) == fabric.None {
					continue
				}
				for sl := range uint8(routing.SLs) {
					if x, y := a.VL(s, in, out, sl), b.VL(s, in, out, sl); x != y {
						return fmt.Errorf("switch %d in %d out %d SL %d: VL %d and %d", s, in, out, sl, x, y)
					}
				}
			}
		}
	}
	return nil
}

func roundTrip(f *fabric.Fabric, m *routing.SL2VL) error {
	for _, form := range []Form{Dump, Lines} {
		var text bytes.Buffer
		if err := Write(&text, f, m, form); err != nil {
			return err
		}
		again, err := Read(bytes.NewReader(text.Bytes()), "slvl", f)
		if err == nil {
			err = equal(f, m, again)
		}
		if err != nil {
			return fmt.Errorf("%w in\n%s", err, text.Bytes())
		}
		_, one := m.Uniform()
		if _, oneAgain := again.Uniform(); one && !oneAgain {
			return errors.New("a uniform map reads back as a table")
		}
	}
	return nil
}

func TestWriteReadIsIdentity(t *testing.T) {
	f := pair(t)
	for vls := 1; vls <= 15; vls++ {
		if err := roundTrip(f, routing.LanePerSL(vls)); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		m := routing.LanePerSL(1).PerPort(f)
		for s := range fabric.NodeID(f.Switches()) {
			for in := range uint8(4) {
				for out := range uint8(4) {
					for sl := range uint8(routing.SLs) {
						m.Set(s, in, out, sl, rapid.Uint8Range(0, 15).Draw(t, "vl"))
					}
				}
			}
		}
		if err := roundTrip(f, m); err != nil {
			t.Fatal(err)
		}
	})
}

const golden = `Switch 0x0000000000000100, base LID 1, "x"
#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
#--------------------------------------------------------
0   1   : 0  1  2  3  4  5  6  7  8  9  10 11 0  1  2  3 
1   1   : 0  1  2  3  4  5  6  7  8  9  10 11 0  1  2  3 
2   1   : 0  1  2  3  4  5  6  7  8  9  10 11 0  1  2  3 
0   2   : 0  1  2  3  4  5  6  7  8  9  10 11 0  1  2  3 
1   2   : 0  1  2  3  4  5  6  7  8  9  10 11 0  1  2  3 
2   2   : 0  1  2  3  4  5  6  7  8  9  10 11 0  1  2  3 
#--------------------------------------------------------

`

func TestForms(t *testing.T) {
	f := pair(t)
	var text bytes.Buffer
	if err := Write(&text, f, routing.LanePerSL(12), Dump); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := strings.Cut(text.String(), "Switch 0x0000000000000200"); got != golden {
		t.Errorf("dump is\n%swant\n%s", got, golden)
	}
	text.Reset()
	if err := Write(&text, f, routing.LanePerSL(12), Lines); err != nil {
		t.Fatal(err)
	}
	if got, want := text.String(), "0x0000000000000100 0 1 0x01 0x23 0x45 0x67 0x89 0xab 0x01 0x23\n"; !strings.HasPrefix(got, want) {
		t.Errorf("lines are %s want %s", got, want)
	}
}

// small is what pair needs at least, in both forms mixed.
const small = `0x0000000000000100 1 2 0x01 0x01 0x01 0x01 0x01 0x01 0x01 0x01
0x100 2 1 0x0101010101010101
Switch 0x00000000000002ff, base LID 1, "y"
#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
2   3   : 0  1  0  1  0  1  0  1  0  1  0  1  0  1  0  2
3   2   : 0  1  0  1  0  1  0  1  0  1  0  1  0  1  0  1
1   2   : 5  1  0  1  0  1  0  1  0  1  0  1  0  1  0  1
Channel Adapter 0x0000000000000301, base LID 4, "h"
0   0   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7
`

func TestReadSmall(t *testing.T) {
	for _, text := range []string{small, strings.ReplaceAll(small, "\n", "\r\n")} {
		m, err := Read(strings.NewReader(text), "slvl", pair(t))
		if err != nil {
			t.Fatal(err)
		}
		if a, b, c := m.VL(1, 2, 3, 15), m.VL(0, 2, 1, 15), m.VL(1, 0, 3, 15); a != 2 || b != 1 || c != 1 {
			t.Errorf("lanes %d, %d, %d; want 2, 1, 1", a, b, c)
		}
	}
}

func TestErrors(t *testing.T) {
	f := pair(t)
	for _, tc := range []struct{ name, old, new, want string }{
		{"empty", small, "", "slvl:1: no entry for any switch"},
		{"entry missing", "3   2   :", "# ", "slvl:9: the file ends without an entry of y for in-port 3 and out-port 2"},
		{"entry twice", "3   2   :", "2   3   :", "slvl:6: a second entry of y for in-port 2 and out-port 3"},
		{"unknown switch", "0x100 ", "0x101 ", "slvl:2: the fabric has no switch 0x0000000000000101"},
		{"adapter", "0x100 ", "0x300 ", "slvl:2: the fabric has no switch 0x0000000000000300"},
		{"port beyond", "2   3   :", "2   4   :", "slvl:5: no in-port and out-port from 0 to 3, which is what y has"},
		{"lane 16", "1  0  2\n", "1  0 16\n", "slvl:5: no lane from 0 to 15 for SL 15"},
		{"too many", "1  0  2\n", "1  0 2 3\n", "slvl:5: more than 16 lanes"},
		{"cut short", "1  0  2\n", "1\n", "slvl:5: no lane from 0 to 15 for SL 14"},
		{"cut bytes", "0x01 0x01\n", "0x01\n", "slvl:1: no byte in hexadecimal for SL 14 and 15"},
		{"no byte", "0x01 0x01\n", "0x01 0x101\n", "slvl:1: no byte in hexadecimal"},
		{"prose", "0x0000000000000100 1 2", "hello", "slvl:1: an entry before any switch"},
		{"a digit", small, "0\n", "slvl:1: an entry before any switch"},
		{"two digits", small, "0x\n", "slvl:1: the fabric has no switch"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(strings.Replace(small, tc.old, tc.new, 1)), "slvl", f)
			var at *format.ParseError
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
}

// TestLenient reads files that are older or newer than the fabric.
func TestLenient(t *testing.T) {
	f := pair(t)
	for _, tc := range []struct {
		name, old, new  string
		skipped, missed string // how the first begins
		n               [2]int64
	}{
		{"fits", "", "", "", "", [2]int64{0, 0}},
		{"entry missing", "3   2   :", "# ", "", "slvl:9: the file ends without an entry of y for in-port 3 and out-port 2", [2]int64{0, 1}},
		{"switch gone", "0x100 2 1", "0x101 2 1", "slvl:2: the fabric has no switch 0x0000000000000101", "slvl:9: the file ends without an entry of x", [2]int64{1, 1}},
		{"block gone", "Switch 0x00000000000002ff", "Switch 0x0000000000000999", "slvl:3: the fabric has no switch", "slvl:9: the file ends without an entry of y", [2]int64{1, 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, fit, err := ReadLenient(strings.NewReader(strings.Replace(small, tc.old, tc.new, 1)), "slvl", f)
			if err != nil {
				t.Fatal(err)
			}
			if got := [2]int64{fit.Skipped, fit.Missing}; got != tc.n {
				t.Errorf("%d lines skipped, %d entries missing; want %v", fit.Skipped, fit.Missing, tc.n)
			}
			for _, first := range []struct {
				err  error
				want string
			}{{fit.FirstSkipped, tc.skipped}, {fit.FirstMissing, tc.missed}} {
				if (first.err == nil) != (first.want == "") || first.err != nil && !strings.HasPrefix(first.err.Error(), first.want) {
					t.Errorf("%v, want %q", first.err, first.want)
				}
			}
			if vl := m.VL(1, 3, 2, 1); vl != 1 { // given, or that of the first entry
				t.Errorf("lane %d, want 1", vl)
			}
		})
	}
	if _, _, err := ReadLenient(strings.NewReader("0x101 2 1 0x0101010101010101\n"), "slvl", f); err == nil || !strings.Contains(err.Error(), "no entry for any switch") {
		t.Errorf("the maps of another fabric: %v", err)
	}
	if _, _, err := ReadLenient(strings.NewReader(strings.Replace(small, "2   3   :", "2   4   :", 1)), "slvl", f); err == nil {
		t.Error("a port that the switch does not have passes")
	}
}

func FuzzRead(f *testing.F) {
	net := pair(f)
	f.Add([]byte(small))
	f.Add([]byte(golden))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Read(bytes.NewReader(text), "fuzz", net)
		if err != nil {
			return
		}
		if err := roundTrip(net, m); err != nil {
			t.Fatal(err)
		}
	})
}
