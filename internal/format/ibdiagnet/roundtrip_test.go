package ibdiagnet

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/format/far"
	"github.com/weft-fabric/weft/internal/format/lft"
	"github.com/weft-fabric/weft/internal/format/mcfdbs"
	"github.com/weft-fabric/weft/internal/format/slvl"
	"github.com/weft-fabric/weft/internal/scramble"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// routed is the tables of a network with several lanes, and the folder of them.
func routed(t *testing.T, spec string) (*routing.Tables, folder) {
	t.Helper()
	r, err := weft.Route(t.Context(), testnet.Build(t, spec), weft.Request{Engine: "lash"})
	if err != nil {
		t.Fatal(err)
	}
	r.Tables.Groups = routing.NewGroups(r.Tables.Fabric, 1)
	dir, err := write(r.Tables, r.Tables.Lanes.SL2VL)
	if err != nil {
		t.Fatal(err)
	}
	return r.Tables, dir
}

func TestRoundTrip(t *testing.T) {
	for _, spec := range []string{"torus:4x4,hosts=2", testnet.Small, "dragonfly:p=2"} {
		want, dir := routed(t, spec)
		f, err := Read(strings.NewReader(dir.db), "db", nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Fabric.Nodes(), f.Nodes()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want.Fabric.Channels(), f.Channels()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want.Fabric.Endpoints(), f.Endpoints()); diff != "" {
			t.Error(diff)
		}
		d, err := lft.Read(strings.NewReader(dir.fdbs), "fdbs", f, lft.Join{})
		if err != nil {
			t.Fatal(err)
		}
		maps, err := slvl.Read(strings.NewReader(dir.slvl), "slvl", f)
		if err != nil {
			t.Fatal(err)
		}
		again, err := write(&routing.Tables{Fabric: f, Forwarding: d.Forwarding, Groups: routing.NewGroups(f, 1)}, maps)
		if err != nil {
			t.Fatal(err)
		}
		if again != dir {
			t.Errorf("%s: the folder that is written of what was read is another one", spec)
		}
	}
}

// broadcast is a group with all ports of all switches.
func broadcast(f *fabric.Fabric) string {
	var b strings.Builder
	for s := range fabric.NodeID(f.Switches()) {
		fmt.Fprintf(&b, "\nSwitch %s\nLID    : Out Port(s)\n0xC000 :", f.Node(s).GUID)
		for port := range f.Node(s).Ports {
			fmt.Fprintf(&b, " 0x%03X ", port+1)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// withoutLinks is a db_csv without its table LINKS.
func withoutLinks(db string) string {
	before, rest, _ := strings.Cut(db, "START_LINKS")
	_, behind, _ := strings.Cut(rest, "END_LINKS\n")
	return before + behind
}

// netDumpOf is the ibdiagnet2.net_dump of a network.
func netDumpOf(f *fabric.Fabric) string {
	var b strings.Builder
	for s := range fabric.NodeID(f.Switches()) {
		fmt.Fprintf(&b, "# a remark\n\"MF0;%s:MQM8700/U1\", Mellanox, %s, LID %d\n", f.Node(s).Name, f.Node(s).GUID, f.Endpoint(fabric.EndpointID(s)).LID)
		b.WriteString("  #  : IB# : Sta  : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid : N# : NLID : Neighbor Description\n")
		for port := range uint8(f.Node(s).Ports) {
			if c := f.Out(s, port+1); c != fabric.None {
				ch := f.Channel(c)
				fmt.Fprintf(&b, "  %d : %d : ACT : LINK UP : 5 : 4x : 50 : RS : NO-RTR : %#x : %d : 7 : \"a:b, %s\"\n", port+1, port+1, uint64(f.Node(ch.To).GUID), ch.ToPort, f.Node(ch.To).Name)
			} else {
				fmt.Fprintf(&b, "  %d : %d : DOWN : POLLING : N/A : N/A : N/A : N/A : NO-RTR : N/A : N/A : N/A : N/A\n", port+1, port+1)
			}
		}
	}
	return b.String()
}

// Without LINKS the cables are those of the net_dump.
func TestNetDump(t *testing.T) {
	for _, spec := range []string{"torus:4x4,hosts=2", testnet.Small} {
		want, dir := routed(t, spec)
		db := withoutLinks(dir.db)
		text := netDumpOf(want.Fabric)
		open := func() (io.ReadCloser, string, error) {
			return io.NopCloser(strings.NewReader(text)), "net_dump", nil
		}
		f, err := Read(strings.NewReader(db), "db", open)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Fabric.Channels(), f.Channels()); diff != "" {
			t.Error(diff)
		}
		for _, tc := range []struct{ name, old, replace, want string }{
			{"empty", text, "", "net_dump:1: no cable in the whole file"},
			{"no header", ": IB# :", ": port :", "net_dump:"},
			{"no node", text[:strings.Index(text, "\n")+1] + text[strings.Index(text, "\n")+1:strings.Index(text, "  #")], "", "net_dump:2: a line before any node"},
			{"port", ": 1 : ACT", ": x : ACT", `"x" is no number of a port`},
			{"cells", ": ACT :", "ACT", "net_dump:"},
			{"quote", `U1", M`, "U1, M", "net_dump:2: a quote is not closed"},
			{"node", "Mellanox, 0x", "Mellanox, 0x7", "has no row in the table NODES"},
		} {
			was := text
			if text = strings.Replace(text, tc.old, tc.replace, 1); text == was {
				t.Fatalf("%s: nothing was replaced", tc.name)
			}
			_, err := Read(strings.NewReader(db), "db", open)
			if pe := (*format.ParseError)(nil); !errors.As(err, &pe) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
			}
			text = was
		}
	}
}

func FuzzNetDump(f *testing.F) {
	network := testnet.Build(fatal{f}, "ring:3,hosts=1")
	var db strings.Builder
	writeDB(&db, network)
	base := db.String()
	base = withoutLinks(base)
	of := func(c *fabric.Channel) fabric.GUID { return network.Node(c.To).GUID }
	cages := labelled(network, func(_ fabric.NodeID, port uint8) string { return fmt.Sprintf("1/%d/%d", (port+1)/2, (port+1)%2+1) }, of)
	serials := labelled(network, func(n fabric.NodeID, port uint8) string { return fmt.Sprintf("%08X/0/0/%d", 0xB184D0F0+int(n), port) }, of)
	for _, text := range scramble.Of(netDumpOf(network), cages, serials) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Read(strings.NewReader(base), "db", func() (io.ReadCloser, string, error) {
			return io.NopCloser(strings.NewReader(text)), "net_dump", nil
		})
		if pe := (*format.ParseError)(nil); err != nil && !errors.As(err, &pe) {
			t.Errorf("%v names no line", err)
		}
	})
}

type fatal struct{ *testing.F }

// Files that are cut short, or are of another fabric, are errors that name a line.
func TestOtherFiles(t *testing.T) {
	tables, dir := routed(t, "torus:4x4")
	f, err := Read(strings.NewReader(dir.db), "db", nil)
	if err != nil {
		t.Fatal(err)
	}
	other := testnet.Build(t, "ring:5")
	for i, cut := range strings.SplitAfter(dir.db, "\n")[:60] {
		if end := strings.Index(dir.db, cut); i > 3 {
			if _, err := Read(strings.NewReader(dir.db[:end]), "db", nil); err == nil {
				t.Fatalf("cut short before line %d, and read all the same", i+1)
			}
		}
	}
	for name, read := range map[string]func(f *fabric.Fabric, text string) error{
		"fdbs": func(f *fabric.Fabric, text string) error {
			_, err := lft.Read(strings.NewReader(text), "fdbs", f, lft.Join{})
			return err
		},
		"slvl": func(f *fabric.Fabric, text string) error {
			_, err := slvl.Read(strings.NewReader(text), "slvl", f)
			return err
		},
		"far": func(f *fabric.Fabric, text string) error {
			_, err := far.Read(strings.NewReader(text), "far", f, tables.Forwarding)
			return err
		},
		"mcfdbs": func(f *fabric.Fabric, text string) error {
			_, err := mcfdbs.Read(strings.NewReader(text), "mcfdbs", f, 1)
			return err
		},
		"net_dump": func(f *fabric.Fabric, text string) error {
			db := dir.db
			if f == other {
				var b strings.Builder
				writeDB(&b, f)
				db = b.String()
			}
			db = withoutLinks(db)
			_, err := Read(strings.NewReader(db), "db", func() (io.ReadCloser, string, error) {
				return io.NopCloser(strings.NewReader(text)), "net_dump", nil
			})
			return err
		},
	} {
		mine := map[string]string{"fdbs": dir.fdbs, "slvl": dir.slvl, "far": dir.far, "mcfdbs": broadcast(f), "net_dump": netDumpOf(f)}[name]
		if err := read(f, mine); err != nil {
			t.Fatalf("%s as it is: %v", name, err)
		}
		line := "\n" + mine[strings.LastIndexByte(mine[:len(mine)-2], '\n')+1:]
		for what, err := range map[string]error{
			"cut within a line": read(f, mine[:strings.LastIndex(strings.TrimSpace(mine), "\n")+len(line)/3]),
			"of another fabric": read(other, mine),
		} {
			if err == nil || !strings.HasPrefix(err.Error(), name+":") {
				t.Errorf("%s %s: %v", name, what, err)
			}
		}
	}
}
