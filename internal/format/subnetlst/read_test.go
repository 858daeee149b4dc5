package subnetlst

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/scramble"
	"github.com/weft-fabric/weft/internal/testnet"
)

// half prints one half of a line.
func half(kind string, ports, node, port, lid, pn int, name string) string {
	return fmt.Sprintf("{ %s Ports:%02X SystemGUID:%016x NodeGUID:%016x PortGUID:%016x VenID:0002C9 DevID:BD36 Rev:000000A1 {%s} LID:%04X PN:%02X } ", kind, ports, node, node, port, name, lid, pn)
}

func text(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

const (
	qdr   = "PHY=4x LOG=ACT SPD=10"
	fdr10 = "PHY=4x LOG=INI SPD=FDR10"
)

var (
	leaf  = func(pn int) string { return half("SW", 36, 0x100, 0x100, 1, pn, "leaf {1}") }
	spine = func(pn int) string { return half("SW", 36, 0x200, 0x200, 2, pn, "spine") }
	host1 = half("CA-SM", 2, 0x300, 0x301, 0xA, 1, "host")
	host2 = half("CA", 2, 0x300, 0x302, 0xB, 2, "host")

	plain = text(leaf(1)+spine(0x23)+fdr10, spine(0x23)+leaf(1)+fdr10, leaf(2)+host1+qdr, host1+leaf(2)+qdr, host2+spine(4)+qdr)
)

func TestRead(t *testing.T) {
	for _, in := range []string{plain, strings.ReplaceAll(plain, "\n", "\r\n"), "# a comment\n\n" + plain} {
		f, err := Read(strings.NewReader(in), "lst")
		if err != nil {
			t.Fatal(err)
		}
		if c := f.Count(); c.Switches != 2 || c.Adapters != 1 || c.SwitchCables != 1 || c.AdapterCables != 2 || c.HCA != 2 {
			t.Errorf("%+v", c)
		}
		trunk := f.Channel(0)
		if trunk.FromPort != 1 || trunk.ToPort != 0x23 || trunk.Rate != (fabric.Rate{Width: 4, Speed: fabric.FDR10}) {
			t.Errorf("trunk is %+v", trunk)
		}
		want := fabric.Endpoint{Node: 2, Port: 2, PortGUID: 0x302, LID: 11, Class: fabric.HostAdapter, Switch: 1}
		got := *f.Endpoint(3)
		got.Inject, got.Deliver = 0, 0
		if got != want {
			t.Errorf("endpoint is %+v, want %+v", got, want)
		}
		if n := f.Node(0); n.Name != "leaf {1}" || n.Ports != 36 || n.VendorID != 0x2c9 || n.DeviceID != 0xbd36 {
			t.Errorf("node is %+v", n)
		}
		if len(f.Warnings()) != 0 {
			t.Error(f.Warnings())
		}
	}
}

func TestReadMap(t *testing.T) {
	m, err := ReadMap(strings.NewReader(plain), "lst")
	if err != nil {
		t.Fatal(err)
	}
	for lid, want := range map[fabric.LID]struct {
		port Port
		base fabric.LID
	}{
		1: {Port{0x100, 0, 0x100, "leaf {1}"}, 1}, 2: {Port{0x200, 0, 0x200, "spine"}, 2}, 9: {Port{0x200, 0, 0x200, "spine"}, 2}, 10: {Port{0x300, 1, 0x301, "host"}, 10}, 99: {Port{0x300, 2, 0x302, "host"}, 11},
	} {
		if p, base, ok := m.ByLID(lid); !ok || p != want.port || base != want.base {
			t.Errorf("LID %d is %+v, base %d", lid, p, base)
		}
	}
	if _, _, ok := m.ByLID(0); ok {
		t.Error("LID 0 is somebody's")
	}
	if p, ok := m.ByPortGUID(0x302); !ok || p != (Port{0x300, 2, 0x302, "host"}) {
		t.Errorf("%+v", p)
	}
	if _, ok := m.ByPortGUID(0x300); ok {
		t.Error("a node GUID is a port GUID")
	}
}

// A cable with a line from one end only is remembered where others have a line from each.
func TestOneSided(t *testing.T) {
	third := leaf(2) + spine(2) + qdr
	both := leaf(1) + spine(1) + qdr + "\n" + spine(1) + leaf(1) + qdr
	for _, tc := range []struct {
		lines []string
		want  int
	}{
		{[]string{both, third}, 1},
		{[]string{third, both}, 1},
		{[]string{both, third, third}, 1},                    // twice from the same end
		{[]string{both, third, spine(2) + leaf(2) + qdr}, 0}, // from both
		{[]string{leaf(1) + spine(1) + qdr, third}, 0},       // no cable has two lines
	} {
		f, err := Read(strings.NewReader(text(tc.lines...)), "lst")
		if err != nil {
			t.Fatal(err)
		}
		if one := f.OneSided(); len(one) != tc.want || tc.want > 0 && f.Channel(one[0]).FromPort != 2 {
			t.Errorf("%q: %v", tc.lines, one)
		}
	}
}

// Old lists call switches CA.
func TestOldDialect(t *testing.T) {
	sw := func(node, lid, pn int) string { return half("CA", 0x18, node, node, lid, pn, "sw") }
	f, err := Read(strings.NewReader(text(sw(0x100, 1, 1)+sw(0x200, 2, 0x18)+qdr, sw(0x100, 1, 2)+half("CA", 2, 0x300, 0x301, 3, 1, "h")+qdr,
		half("CA", 2, 0x300, 0x302, 4, 2, "h")+half("CA", 2, 0x400, 0x400, 5, 1, "small switch")+qdr, sw(0x100, 1, 5)+half("CA", 2, 0x400, 0x400, 5, 2, "small switch")+qdr)), "lst")
	if err != nil {
		t.Fatal(err)
	}
	if c := f.Count(); c.Switches != 3 || c.Adapters != 1 || c.SwitchCables != 2 {
		t.Errorf("%+v", c)
	}
}

func TestSpeeds(t *testing.T) {
	for spd, want := range map[string]fabric.Speed{"2.5": "SDR", "5": "DDR", "10": "QDR", "14": "FDR", "25": "EDR", "50": "HDR", "100": "NDR", "200": "XDR", "FDR10": "FDR10", "400": "400"} {
		f, err := Read(strings.NewReader(leaf(1)+spine(1)+"PHY=12x LOG=ACT SPD="+spd), "lst")
		if err != nil {
			t.Fatal(err)
		}
		if r := f.Channel(0).Rate; r != (fabric.Rate{Width: 12, Speed: want}) {
			t.Errorf("%s is %v", spd, r)
		}
	}
	for _, spd := range []string{"?", "\x1b[31mHDR", "HDR,"} { // no word
		f, err := Read(strings.NewReader(leaf(1)+spine(1)+"PHY=12x LOG=ACT SPD="+spd), "lst")
		if err != nil || f.Channel(0).Rate != (fabric.Rate{}) {
			t.Errorf("%q is %v, %v", spd, f, err)
		}
	}
	f, err := Read(strings.NewReader(text(leaf(1)+spine(1)+qdr, spine(1)+leaf(1)+"PHY=1x LOG=ACT SPD=10")), "lst")
	if err != nil || f.Channel(0).Rate.String() != "1xQDR" || len(f.Warnings()) != 1 || !strings.Contains(f.Warnings()[0], "by line 1 and at 1xQDR by line 2") {
		t.Errorf("%v: %v, %q", err, f.Channel(0).Rate, f.Warnings())
	}
}

// A list may have no speeds at all; one line without among others is cut short.
func TestWithoutSpeeds(t *testing.T) {
	want, err := Read(strings.NewReader(plain), "lst")
	if err != nil {
		t.Fatal(err)
	}
	without := strings.NewReplacer(" SPD=FDR10", "", " SPD=10", "").Replace(plain)
	for _, text := range []string{without, strings.NewReplacer(" LOG=ACT", "", " LOG=INI", "").Replace(without), strings.ReplaceAll(without, "\n", "\r\n")} {
		f, err := Read(strings.NewReader(text), "lst")
		if err != nil {
			t.Fatal(err)
		}
		if w := f.Warnings(); len(w) != 1 || w[0] != "the lines of the list have no SPD=: the rates of cables are not known" {
			t.Errorf("%q", w)
		}
		channels := f.Channels()
		for i := range channels {
			if channels[i].Rate != (fabric.Rate{}) {
				t.Errorf("%+v", channels[i])
			}
			channels[i].Rate = want.Channels()[i].Rate
		}
		if diff := cmp.Diff(want.Channels(), channels) + cmp.Diff(want.Endpoints(), f.Endpoints()); diff != "" {
			t.Error(diff)
		}
		if _, err := ReadMap(strings.NewReader(text), "lst"); err != nil {
			t.Error(err)
		}
	}
	for text, want := range map[string]string{
		strings.Replace(plain, " SPD=10", "", 1):                        "lst:3: no SPD= at the end, which other lines have",
		strings.TrimSuffix(without, "\n"):                               "lst:5: no SPD= at the end, and no end of the line",
		strings.Replace(plain, " LOG=ACT SPD=10", " LOG=ACT SPEED=", 1): "lst:3: no SPD= at the end; the line may be cut short",
	} {
		if _, err := Read(strings.NewReader(text), "lst"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A random network that is written as a list, with speeds or without, is read back as the
// same one.
func TestListIsIdentity(t *testing.T) {
	kinds := [...]string{"SW", "CA", "Rt"}
	spd := map[fabric.Speed]string{fabric.FDR10: "FDR10"}
	for text, speed := range speeds {
		spd[speed] = text
	}
	for seed := range 20 {
		f := testnet.Build(t, fmt.Sprintf("random:switches=%d,links=%d,hosts=%d,seed=%d", 4+seed, 8+2*seed, 3+seed, seed+1))
		at := map[[2]int32]*fabric.Endpoint{}
		for i := range f.Endpoints() {
			e := f.Endpoint(fabric.EndpointID(i))
			at[[2]int32{int32(e.Node), int32(e.Port)}] = e
		}
		side := func(n fabric.NodeID, port uint8) string {
			own := port
			if f.Node(n).Kind == fabric.Switch {
				own = 0
			}
			e := at[[2]int32{int32(n), int32(own)}]
			return fmt.Sprintf("{ %s Ports:%02X SystemGUID:%016x NodeGUID:%016x PortGUID:%016x VenID:%06X DevID:%04X Rev:000000A1 {%s} LID:%04X PN:%02X } ",
				kinds[f.Node(n).Kind], f.Node(n).Ports, uint64(f.Node(n).SystemGUID), uint64(f.Node(n).GUID), uint64(e.PortGUID), f.Node(n).VendorID, f.Node(n).DeviceID, f.Node(n).Name, e.LID, port)
		}
		for _, withSpeeds := range []bool{true, false} {
			var b strings.Builder
			want := slices.Clone(f.Channels())
			for i, c := range f.Channels() {
				fmt.Fprintf(&b, "%s%sPHY=%dx LOG=ACT", side(c.From, c.FromPort), side(c.To, c.ToPort), c.Rate.Width)
				if withSpeeds {
					b.WriteString(" SPD=" + spd[c.Rate.Speed])
				} else {
					want[i].Rate = fabric.Rate{}
				}
				b.WriteByte('\n')
			}
			got, err := Read(strings.NewReader(b.String()), "lst")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Channels()) + cmp.Diff(f.Nodes(), got.Nodes()) + cmp.Diff(f.Endpoints(), got.Endpoints()); diff != "" {
				t.Fatalf("seed %d: %s", seed, diff)
			}
		}
	}
}

// A list cut anywhere is refused, or has no cable that the list has not.
func TestCutAnywhere(t *testing.T) {
	without := strings.NewReplacer(" SPD=FDR10", "", " SPD=10", "").Replace(plain)
	for _, text := range []string{plain, without} {
		all, err := Read(strings.NewReader(text), "lst")
		if err != nil {
			t.Fatal(err)
		}
		for cut := range len(text) {
			f, err := Read(strings.NewReader(text[:cut]), "lst")
			if err != nil {
				continue
			}
			if len(f.Warnings()) == 0 && cut < len(text)-1 && text[cut-1] != '\n' {
				t.Errorf("cut at %d, of %q: nothing is said", cut, text[max(0, cut-20):cut])
			}
			for _, c := range f.Channels() {
				at := all.Out(all.NodeByGUID(f.Node(c.From).GUID), c.FromPort)
				if at == fabric.None || all.Node(all.Channel(at).To).GUID != f.Node(c.To).GUID || len(f.Warnings()) == 0 && all.Channel(at).Rate != c.Rate {
					t.Fatalf("cut at %d, of %q: %+v", cut, text[max(0, cut-20):cut], c)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	ok := leaf(1) + spine(1) + qdr
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "lst:1: no cable"},
		{"prose", "hello\n", "lst:1: a node in curly brackets is missing"},
		{"unknown kind", strings.Replace(ok, "SW", "XX", 1), "lst:1: a node is SW, CA or Rt, not \"XX\""},
		{"cut in a name", ok[:140], "lst:1: no LID: behind the name"},
		{"cut in the second node", ok[:200], "lst:1: no"},
		{"cut before PHY", leaf(1) + spine(1), "lst:1: no PHY="},
		{"cut in speed", leaf(1) + spine(1) + "PHY=4x LOG=ACT SPD=", "lst:1: no speed"},
		{"bad port", leaf(0x25) + spine(1) + qdr, "lst:1: port 37 of a node with 36 ports"},
		{"port 0", leaf(0) + spine(1) + qdr, "lst:1: port 0"},
		{"to itself", leaf(1) + leaf(1) + qdr, "lst:1: port 1 of \"leaf {1}\" is cabled to itself"},
		{"two cables", text(ok, leaf(1)+spine(2)+qdr), "lst:2: port 1 of \"leaf {1}\" has another cable in line 1"},
		{"two cables at the far end", text(ok, leaf(2)+spine(1)+qdr), "lst:2: port 1 of \"spine\" has another cable in line 1"},
		{"two LIDs", text(ok, half("SW", 36, 0x100, 0x100, 9, 2, "leaf")+spine(2)+qdr), "lst:2: port 0 of \"leaf {1}\" has port GUID 0x0000000000000100 and LID 9 here"},
		{"two sizes", text(ok, half("SW", 24, 0x100, 0x100, 1, 2, "leaf")+spine(2)+qdr), "lst:2: node 0x0000000000000100 is a switch with 24 ports here"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tc.text), "lst")
			var at *format.ParseError
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
	for name, lines := range map[string]string{
		"LID 1 belongs":          text(ok, half("CA", 1, 0x300, 0x301, 1, 1, "h")+spine(2)+qdr),
		"port GUID 0x0000000000": text(ok, half("CA", 1, 0x300, 0x100, 7, 1, "h")+spine(2)+qdr),
	} {
		if _, err := ReadMap(strings.NewReader(lines), "lst"); err == nil || !strings.HasPrefix(err.Error(), "lst:2: "+name) {
			t.Errorf("error is %v, want %s", err, name)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range scramble.Of(plain, leaf(1)+spine(1)+"PHY=? LOG=DWN SPD=?") {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if _, err := Read(bytes.NewReader(in), "fuzz"); err == nil {
			_, _ = ReadMap(bytes.NewReader(in), "fuzz")
		}
	})
}

// Aggregation nodes whose vendor a list leaves out are some all the same, and a host without a vendor is none.
func TestAggregationNodesWithoutVendor(t *testing.T) {
	for device, want := range map[string]fabric.Class{"CF090000": fabric.Aggregation, "CF09": fabric.Aggregation, "101B0000": fabric.HostAdapter} {
		list := "{ SW Ports:19 SystemGUID:1 NodeGUID:1 PortGUID:1 VenID:0002C9 DevID:CF08 Rev:A0 {spine} LID:0043 PN:19 } " +
			"{ CA Ports:01 SystemGUID:1 NodeGUID:2 PortGUID:2 VenID:00000000 DevID:" + device + " Rev:00000000 {Mellanox Technologies Aggregation Node} LID:0044 PN:01 } PHY=4x LOG=ACT SPD=14\n"
		f, err := Read(strings.NewReader(list), "lst")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range f.Endpoints() {
			if f.Node(e.Node).Kind == fabric.Adapter && e.Class != want {
				t.Errorf("device %s without a vendor is %v, want %v", device, e.Class, want)
			}
		}
	}
}
