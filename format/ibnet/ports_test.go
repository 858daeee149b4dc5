package ibnet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
)

// report is plain as ibnetdiscover -p prints it, and a switch that has no rows.
const report = `SW     3  4 0x00000000000000a0 4x HDR - CA     6  1 0x00000000000000c1 ( 'left # 1' - 'host' )
SW     3  3 0x00000000000000a0 4x ???                                    'left # 1'
SW     3  2 0x00000000000000a0 4x HDR - SW     4  2 0x00000000000000b0 ( 'left # 1' - 'right' )
SW     3  1 0x00000000000000a0 4x HDR - SW     4  1 0x00000000000000b0 ( 'left # 1' - 'right' )
SW     4  4 0x00000000000000b0 ??x ???                                    'right'
SW     4  3 0x00000000000000b0 4x HDR - CA     8  2 0x00000000000000c2 ( 'right' - 'host' )
SW     4  2 0x00000000000000b0 4x HDR - SW     3  2 0x00000000000000a0 ( 'right' - 'left # 1' )
SW     4  1 0x00000000000000b0 4x HDR - SW     3  1 0x00000000000000a0 ( 'right' - 'left # 1' )
CA     8  2 0x00000000000000c2 4x HDR - SW     4  3 0x00000000000000b0 ( 'host' - 'right' )
CA     6  1 0x00000000000000c1 4x HDR - SW     3  4 0x00000000000000a0 ( 'host' - 'left # 1' )
`

const lessInReports = "a ports report has no LMCs, no devices, and no GUIDs of adapters but of their ports: LMC 0 counts, and an adapter goes by the smallest GUID of its ports"

func TestPortsReport(t *testing.T) {
	same := strings.NewReplacer("devid=0xd2f2\n", "", "devid=0x1021\n", "", "vendid=0x2c9\n", "", "sysimgguid=0xa0\n", "", "sysimgguid=0xb0\n", "", "sysimgguid=0xc0\n", "",
		"caguid=0xc0", "caguid=0xc1", "00c0\"", "00c1\"", "lmc 1", "lmc 0").Replace(plain)
	want := partsOf(mustRead(t, same))
	rows := strings.SplitAfter(report, "\n")
	slices.Sort(rows)
	for name, text := range map[string]string{
		"as it is": report, "sorted": strings.Join(rows, ""), "CRLF": strings.ReplaceAll(report, "\n", "\r\n"), "without an end": strings.TrimSuffix(report, "\n"),
		"in a log": "$ ibnetdiscover -p\n" + report + "$ ",
	} {
		got := mustRead(t, text)
		if diff := compare(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if w := got.Warnings(); !slices.Contains(w, lessInReports) || len(w) > 1 && name != "in a log" {
			t.Errorf("%s: warnings %q", name, w)
		}
		if kind := reading.Sniff([]byte(text)); kind != reading.IBNet {
			t.Errorf("%s: is %s", name, kind)
		}
	}
}

// A switch that only the rows of others name is made from these, and told.
func TestPartOfReport(t *testing.T) {
	var part []string
	for row := range strings.Lines(report) {
		if !strings.HasPrefix(row, "SW     4") {
			part = append(part, row)
		}
	}
	f := mustRead(t, strings.Join(part, ""))
	if c := f.Count(); c.Switches != 2 || c.SwitchCables != 2 || c.AdapterCables != 2 || f.Node(1).Ports != 3 {
		t.Errorf("%+v", c)
	}
	if w := strings.Join(f.Warnings(), "\n"); !strings.Contains(w, `1 node has no record and known only from the cables that name it; the first is "S-00000000000000b0" in line 3`) {
		t.Errorf("warnings %q", w)
	}
}

// Ports that only share a name are several adapters.
func TestAdaptersOfOneName(t *testing.T) {
	f := mustRead(t, strings.ReplaceAll(report, "00c2", "00e2"))
	if c := f.Count(); c.Adapters != 2 || f.Node(2).GUID != 0xc1 || f.Node(3).GUID != 0xe2 || f.Node(3).Ports != 2 {
		t.Errorf("%+v, %+v", c, f.Nodes())
	}
}

func TestErrorsOfReports(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"kind", "- SW     4  2", "- ??     4  2", `net:3: a node in a ports report is SW, CA or RT, not "??"`},
		{"LID", "- SW     4  2", "- SW 65536  2", "net:3: no LID from 0 to 65535"},
		{"port 0", "- SW     4  2", "- SW     4  0", "net:3: no port number from 1 to 254"},
		{"GUID", "- SW     4  2 0x", "- SW     4  2 0xhost", `net:3: "0xhost00000000000000b0" is no GUID`},
		{"cut in a name", "( 'host' - 'left # 1' )", "( 'host' - 'lef", "net:10: a row of a ports report without its end"},
		{"cut before the peer", "4x HDR - CA     6  1 0x00000000000000c1 ( 'left # 1' - 'host' )", "4x HDR", "net:1: a row of a ports report without its end"},
		{"two rows", "SW     4  4", "SW     4  3", `net:6: port 3 of "S-00000000000000b0" has two rows`},
		{"two peers", "SW     3  2 0x00000000000000a0 ( 'right'", "SW     3  3 0x00000000000000a0 ( 'right'", "net:7: "},
		{"two numbers", "\nCA     8  2", "\nCA     8  1", "net:9: GUID 0x00000000000000c2 is that of port 1 of a channel adapter here, and of port 2"},
		{"to itself", "SW     4  2 0x00000000000000b0 ( 'left", "SW     3  2 0x00000000000000a0 ( 'left", "net:3: port 2 of \"S-00000000000000a0\" is cabled to itself"},
		{"two dumps", report, report + plain, "net:18: the record of a node behind a ports report, whose last row is line 10"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(report, tc.old, tc.new, 1)
			if text == report {
				t.Fatal("nothing was replaced")
			}
			_, err := Read(strings.NewReader(text), "net")
			if at := (*format.ParseError)(nil); !errors.As(err, &at) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
}

// reportOf writes what ibnetdiscover -p prints of a fabric.
func reportOf(f *fabric.Fabric) string {
	kinds := [...]string{"SW", "CA", "RT"}
	at := map[portOf]*fabric.Endpoint{}
	for i := range f.Endpoints() {
		e := f.Endpoint(fabric.EndpointID(i))
		at[portOf{e.Node, e.Port}] = e
	}
	columns := func(n fabric.NodeID, port uint8) string {
		guid, lid := f.Node(n).GUID, fabric.LID(0)
		switch {
		case f.Node(n).Kind == fabric.Switch:
			lid = at[portOf{n, 0}].LID
		case at[portOf{n, port}] != nil:
			guid, lid = at[portOf{n, port}].PortGUID, at[portOf{n, port}].LID
		default:
			guid += fabric.GUID(port) - 1 // as randomReport numbers them
		}
		return fmt.Sprintf("%2s %5d %2d 0x%016x", kinds[f.Node(n).Kind], lid, port, uint64(guid))
	}
	var b strings.Builder
	for i := range f.Nodes() {
		n := fabric.NodeID(i)
		for port := uint8(f.Node(n).Ports); port > 0; port-- {
			c := f.Out(n, port)
			if c == fabric.None {
				fmt.Fprintf(&b, "%s 4x SDR%36s'%s'\n", columns(n, port), "", f.Node(n).Name)
				continue
			}
			ch := f.Channel(c)
			width, speed := "??x", "???"
			if ch.Rate.Width > 0 {
				width, speed = fmt.Sprintf("%dx", ch.Rate.Width), string(ch.Rate.Speed)
			}
			fmt.Fprintf(&b, "%s %s %s - %s ( '%s' - '%s' )\n", columns(n, port), width, speed, columns(ch.To, ch.ToPort), f.Node(n).Name, f.Node(ch.To).Name)
		}
	}
	return b.String()
}

// asReported is a fabric with what a ports report can say of it.
func asReported(t *rapid.T, f *fabric.Fabric) *fabric.Fabric {
	var b fabric.Builder
	refs := make([]fabric.Ref, len(f.Nodes()))
	for i, n := range f.Nodes() {
		n.GUID, n.SystemGUID, n.VendorID, n.DeviceID = fabric.GUID(i+1)<<16, 0, 0, 0
		n.Name = fmt.Sprintf("%d %s", i, strings.ReplaceAll(n.Name, "'", ""))
		if n.Ports == 0 {
			n.Ports = 1
		}
		refs[i] = b.Node(n, "")
		if n.Kind == fabric.Switch {
			b.Port(refs[i], 0, fabric.Port{GUID: n.GUID, LID: fabric.LID(i + 1)})
			continue
		}
		for port := range n.Ports {
			b.Port(refs[i], uint8(port+1), fabric.Port{GUID: n.GUID + fabric.GUID(port), LID: fabric.LID(1000*port + i + 1)})
		}
	}
	for i, c := range f.Channels() {
		if c.Reverse > fabric.ChannelID(i) {
			b.Cable(refs[c.From], c.FromPort, refs[c.To], c.ToPort, c.Rate)
		}
	}
	again, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// A random fabric in the form of a ports report is read back as the same one.
func TestReportIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := asReported(t, randomFabric(t))
		text := reportOf(f)
		again, err := Read(strings.NewReader(text), "f")
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if diff := compare(partsOf(f), again); diff != "" {
			t.Fatalf("%s\n%s", diff, text)
		}
	})
}
