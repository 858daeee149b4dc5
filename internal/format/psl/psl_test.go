package psl

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

// line is switches a0, b0 … in a line with hosts on each, and an adapter c0…
// with a port on the first and one on the last. LIDs go from 1.
func line(t testing.TB, switches, hosts int) *fabric.Fabric {
	var b fabric.Builder
	sw := make([]fabric.Ref, switches)
	guid := fabric.GUID(0)
	for s := range sw {
		guid += 0x100
		sw[s] = b.Node(fabric.Node{GUID: guid, Ports: 8 + hosts, Name: fmt.Sprint("s", s)}, "")
		if s > 0 {
			b.Cable(sw[s-1], 1, sw[s], 2, fabric.Rate{})
		}
	}
	for s := range sw {
		for h := range hosts {
			guid += 0x100
			b.Cable(sw[s], uint8(4+h), b.Node(fabric.Node{GUID: guid, Kind: fabric.Adapter, Ports: 1, Name: fmt.Sprint("h", s, "-", h)}, ""), 1, fabric.Rate{})
		}
	}
	both := b.Node(fabric.Node{GUID: 0xc0000, Kind: fabric.Adapter, Ports: 2, Name: "both"}, "")
	b.Cable(sw[0], 3, both, 1, fabric.Rate{})
	b.Cable(sw[switches-1], 3, both, 2, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// equal reports whether every endpoint has the same service levels.
func equal(f *fabric.Fabric, a, b *routing.Lanes) error {
	for lid := range f.LIDs() {
		for e := range f.Endpoints() {
			if x, y := a.SL(fabric.EndpointID(e), lid), b.SL(fabric.EndpointID(e), lid); x != y {
				return fmt.Errorf("endpoint %d to LID %d: SL %d and %d", e, lid, x, y)
			}
		}
	}
	return nil
}

func TestWriteReadIsIdentity(t *testing.T) {
	f := line(t, 3, 2)
	m := routing.LanePerSL(4)
	rapid.Check(t, func(t *rapid.T) {
		lanes := routing.NewLanes(f, m)
		if rapid.Bool().Draw(t, "split") {
			row := make([]int32, len(f.Endpoints()))
			for i := range row {
				row[i] = int32(i)
			}
			lanes = routing.NewLanesByRow(f, m, row, len(row))
		}
		top := rapid.Uint8Range(0, 15).Draw(t, "top")
		for lid := range f.LIDs() {
			for r := range lanes.SLRow(lid) {
				lanes.SLRow(lid)[r] = rapid.Uint8Range(0, top).Draw(t, "sl")
			}
		}
		for _, form := range []Form{Full, Compact} {
			var text bytes.Buffer
			if err := Write(&text, &routing.Tables{Fabric: f, Lanes: lanes}, form); err != nil {
				t.Fatal(err)
			}
			again, err := Read(bytes.NewReader(text.Bytes()), "psl", f, m, nil)
			if err != nil {
				t.Fatalf("%v in\n%s", err, text.Bytes())
			}
			if err := equal(f, lanes, again); err != nil {
				t.Fatalf("%v in\n%s", err, text.Bytes())
			}
			if again.Rows > lanes.Rows {
				t.Fatalf("%d rows, wrote %d", again.Rows, lanes.Rows)
			}
		}
	})
}

// two is one switch (100) with two hosts (200, 300): LIDs 1, 2 and 3.
func two(t testing.TB) *fabric.Fabric {
	var b fabric.Builder
	s := b.Node(fabric.Node{GUID: 0x100, Ports: 4, Name: "s"}, "")
	b.Cable(s, 1, b.Node(fabric.Node{GUID: 0x200, Kind: fabric.Adapter, Ports: 1, Name: "x"}, ""), 1, fabric.Rate{})
	b.Cable(s, 2, b.Node(fabric.Node{GUID: 0x300, Kind: fabric.Adapter, Ports: 1, Name: "y"}, ""), 1, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRows(t *testing.T) {
	f := two(t)
	for _, tc := range []struct {
		name, text string
		lids       []fabric.LID
		rows       int
		want       [3][4]uint8 // [endpoint][LID]
	}{
		{"what is left out does not split", "0x200 3 2\n0x300 2 2\n", nil, 1, [3][4]uint8{{0, 0, 2, 2}, {0, 0, 2, 2}, {0, 0, 2, 2}}},
		{"comments and CR", "# x\r\n0x0000000000000200 3 2\r\n\r\n0x300 2 1", nil, 1, [3][4]uint8{{0, 0, 1, 2}, {0, 0, 1, 2}, {0, 0, 1, 2}}},
		{"difference splits", "0x200 3 2\n0x300 3 1\n0x300 2 2\n", nil, 2, [3][4]uint8{{0, 0, 0, 2}, {0, 0, 0, 2}, {0, 0, 2, 1}}},
		{"compact: switch for all", "#compact\n0x100 2 5\n", nil, 1, [3][4]uint8{{0, 0, 5, 0}, {0, 0, 5, 0}, {0, 0, 5, 0}}},
		{"compact: node and port override", "#compact\n0x100 2 5\n0x200 2 6\n#port 300:1 2 0\n#port 300:1 3 9\n", nil, 3, [3][4]uint8{{0, 0, 5, 0}, {0, 0, 6, 0}, {0, 0, 0, 9}}},
		{"compact: all 0", "#compact\n", nil, 1, [3][4]uint8{}},
		{"LIDs of a dump", "0x200 30 2\n0x300 20 1\n", []fabric.LID{20: 2, 30: 3}, 1, [3][4]uint8{{0, 0, 1, 2}, {0, 0, 1, 2}, {0, 0, 1, 2}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, err := Read(strings.NewReader(tc.text), "psl", f, routing.LanePerSL(1), tc.lids)
			if err != nil {
				t.Fatal(err)
			}
			var got [3][4]uint8
			for e := range got {
				for lid := range got[e] {
					got[e][lid] = l.SL(fabric.EndpointID(e), fabric.LID(lid))
				}
			}
			if got != tc.want || l.Rows != tc.rows {
				t.Errorf("%d rows, %v; want %d, %v", l.Rows, got, tc.rows, tc.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	f := two(t)
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "psl:1: the file ends without a service level from x to LID 3"},
		{"pair left out", "0x200 3 2\n", "psl:1: the file ends without a service level from y to LID 2"},
		{"two service levels", "0x200 3 2\n0x200 3 1\n", "psl:2: a second service level for a pair, SL 1 after SL 2"},
		{"unknown node", "0x201 3 2\n", "psl:1: the fabric has no node with GUID 0x0000000000000201"},
		{"unknown LID", "0x200 4 2\n", "psl:1: nothing in the fabric answers to LID 4"},
		{"service level beyond", "0x200 3 16\n", "psl:1: no service level from 0 to 15"},
		{"cut short", "0x200 3", "psl:1: no service level"},
		{"more", "0x200 3 1 1", "psl:1: no service level"},
		{"prose", "hello\n", "psl:1: no line like"},
		{"port", "#port 200:2 3 1\n", "psl:1: x has no connected port 2"},
		{"lines lost", "#compact\n0x200 3 2\n#end 2\n", "psl:3: the file has 1 lines about pairs, its last line says 2"},
		{"lines of another file", "#compact\n0x200 3 2\n#none 200:1 2\n#port 300:1 2 1\n#end 2\n", "psl:5: the file has 3 lines about pairs, its last line says 2"},
		{"two files in one", "#compact\n0x200 3 2\n#end 1\n#port 300:1 2 1\n", "psl:4: a line behind the last one"},
		{"two ends", "#compact\n#end 0\n#end 0\n", "psl:3: the file has 0 lines about pairs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tc.text), "psl", f, routing.LanePerSL(1), nil)
			var at *format.ParseError
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
}

// TestLenient reads files that are older or newer than the fabric.
func TestLenient(t *testing.T) {
	f := two(t)
	for _, tc := range []struct {
		name, text      string
		skipped, missed string // how the first begins
		n               [2]int64
	}{
		{"fits", "0x200 3 2\n0x300 2 1\n", "", "", [2]int64{}},
		{"pair left out", "0x200 3 2\n", "", "psl:1: the file ends without a service level from y to LID 2", [2]int64{0, 1}},
		{"node gone", "0x201 3 2\n#none 201 3\n#port 201:1 3 1\n0x200 3 2\n0x300 2 1\n", "psl:1: the fabric has no node with GUID 0x0000000000000201", "", [2]int64{3, 0}},
		{"LID gone", "0x200 4 2\n0x200 3 2\n0x300 2 1\n", "psl:1: nothing in the fabric answers to LID 4", "", [2]int64{1, 0}},
		{"port gone", "#port 200:2 3 1\n0x200 3 2\n0x300 2 1\n", "psl:1: x has no connected port 2", "", [2]int64{1, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, fit, err := ReadLenient(strings.NewReader(tc.text), "psl", f, routing.LanePerSL(1), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := [2]int64{fit.Skipped, fit.Missing}; got != tc.n {
				t.Errorf("%d lines skipped, %d pairs missing; want %v", fit.Skipped, fit.Missing, tc.n)
			}
			for _, first := range []struct {
				err  error
				want string
			}{{fit.FirstSkipped, tc.skipped}, {fit.FirstMissing, tc.missed}} {
				if (first.err == nil) != (first.want == "") || first.err != nil && !strings.HasPrefix(first.err.Error(), first.want) {
					t.Errorf("%v, want %q", first.err, first.want)
				}
			}
			if sl := l.SL(1, 3); sl != 2 {
				t.Errorf("SL %d from x to y, want 2", sl)
			}
		})
	}
	for text, want := range map[string]string{
		"0x201 3 2\n":             "psl:1: the fabric has no node with GUID 0x0000000000000201, nor does any other line fit",
		"0x200 3 2\n0x200 3 16\n": "psl:2: no service level from 0 to 15",
	} {
		if _, _, err := ReadLenient(strings.NewReader(text), "psl", f, routing.LanePerSL(1), nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// In the full form what ibdmchk must not see as a pair holds no "0x".
func TestPortLinesAreNoLinesOfIbdmchk(t *testing.T) {
	f := line(t, 2, 0)
	lanes := routing.NewLanes(f, routing.LanePerSL(2))
	for lid := range f.LIDs() {
		lanes.SLRow(lid)[1] = 1
	}
	var text bytes.Buffer
	if err := Write(&text, &routing.Tables{Fabric: f, Lanes: lanes}, Full); err != nil {
		t.Fatal(err)
	}
	ports := 0
	for l := range strings.Lines(text.String()) {
		if strings.HasPrefix(l, "#") {
			if strings.HasPrefix(l, portMark) {
				ports++
			}
			if strings.Contains(l, "0x") {
				t.Errorf("%q", l)
			}
		}
	}
	if ports != 4 {
		t.Errorf("%d lines for single ports, want one for each of 4 LIDs", ports)
	}
}

// A pair that must not be used reads back as such, of a switch and of one port.
func TestNoneReadsBack(t *testing.T) {
	f := line(t, 2, 1)
	var adapter fabric.EndpointID
	for i := range f.Endpoints() {
		if f.Endpoint(fabric.EndpointID(i)).Class != fabric.SwitchPort {
			adapter = fabric.EndpointID(i)
		}
	}
	rows := routing.NewLanes(f, nil).Row
	rows[adapter] = int32(f.Switches())
	lanes := routing.NewLanesByRow(f, routing.LanePerSL(2), rows, f.Switches()+1)
	for lid := range f.LIDs() {
		lanes.SLRow(lid)[0] = 1
		if lid%2 == 1 {
			lanes.SLRow(lid)[0] = routing.NoSL
		} else {
			lanes.SLRow(lid)[f.Switches()] = routing.NoSL
		}
	}
	for _, form := range []Form{Full, Compact} {
		var text bytes.Buffer
		if err := Write(&text, &routing.Tables{Fabric: f, Lanes: lanes}, form); err != nil {
			t.Fatal(err)
		}
		// LIDs of another OpenSM do not matter to a file of weft.
		back, err := Read(bytes.NewReader(text.Bytes()), "psl", f, routing.LanePerSL(2), make([]fabric.LID, 100))
		if err != nil {
			t.Fatal(err)
		}
		for lid := range f.LIDs() {
			for e := range f.Endpoints() {
				e := fabric.EndpointID(e)
				if got, want := back.SL(e, lid), lanes.SL(e, lid); got != want && f.Endpoint(e).Class != fabric.SwitchPort {
					t.Errorf("form %d: from endpoint %d to LID %d: SL %d, want %d", form, e, lid, got, want)
				}
			}
		}
	}
}

func TestFullHasALimit(t *testing.T) {
	var b fabric.Builder
	for s := range 5000 {
		guid := fabric.GUID(s+1) << 16
		b.Cable(b.Node(fabric.Node{GUID: guid, Ports: 3}, ""), 1, b.Node(fabric.Node{GUID: guid + 256, Kind: fabric.Adapter, Ports: 1}, ""), 1, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	var large *TooLarge
	err = Write(new(bytes.Buffer), &routing.Tables{Fabric: f, Lanes: routing.OneSL(f, routing.LanePerSL(1))}, Full)
	if !errors.As(err, &large) || large.Nodes != 10000 || large.LIDs != 10000 {
		t.Errorf("error is %v", err)
	}
}

func FuzzRead(f *testing.F) {
	net := two(f)
	f.Add([]byte("0x200 3 2\n0x300 2 2\n"))
	f.Add([]byte("#compact\n0x100 2 5\n0x200 2 6\n#port 300:1 2 0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Read(bytes.NewReader(text), "fuzz", net, routing.LanePerSL(1), nil)
		if err != nil {
			return
		}
		for _, form := range []Form{Full, Compact} {
			var out bytes.Buffer
			if err := Write(&out, &routing.Tables{Fabric: net, Lanes: l}, form); err != nil {
				t.Fatal(err)
			}
			again, err := Read(&out, "again", net, routing.LanePerSL(1), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := equal(net, l, again); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkFull(b *testing.B) {
	f := line(b, 50, 16)
	t := &routing.Tables{Fabric: f, Lanes: routing.NewLanes(f, routing.LanePerSL(1))}
	var text bytes.Buffer
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			text.Reset()
			if err := Write(&text, t, Full); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(text.Len()))
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			if _, err := Read(bytes.NewReader(text.Bytes()), "psl", f, t.Lanes.SL2VL, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
