package counters_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/format/counters"
)

// pair is two switches with a host each and a cable between them: port 1 is the host, 2
// the cable. LIDs: the switches 1 and 2, the hosts 3 and 4.
func pair(t testing.TB) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	x, y := b.Node(fabric.Node{GUID: 0x10, Ports: 3}, ""), b.Node(fabric.Node{GUID: 0x20, Ports: 3}, "")
	b.Cable(x, 2, y, 2, fabric.Rate{})
	h := b.Node(fabric.Node{GUID: 0x30, Kind: fabric.Adapter, Ports: 1}, "")
	b.Cable(x, 1, h, 1, fabric.Rate{})
	b.Port(h, 1, fabric.Port{GUID: 0x31, LID: 3})
	b.Cable(y, 1, b.Node(fabric.Node{GUID: 0x40, Kind: fabric.Adapter, Ports: 1}, ""), 1, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const perfquery = `# Port counters: Lid 1 port 2 (CapMask: 0x5A00)
PortSelect:......................2
SymbolErrorCounter:..............0
PortXmitData:....................4294967295
PortRcvData:.....................7
PortXmitWait:....................55
# Port extended counters: Lid 1 port 2 (CapMask: 0x5A00)
PortXmitData:....................5000000000
PortXmitPkts:....................1
# Port counters: Lid 3 port 1 (CapMask: 0x5A00)
PortXmitData:....................10
# Port counters: Lid 1 port all (CapMask: 0x5A00)
PortXmitData:....................1
`

const pmInfo = `START_NODES
NodeDesc,NodeGUID
END_NODES
START_PM_INFO
NodeGUID,PortGUID,PortNumber,PortXmitData,PortXmitDataExtended,PortXmitWait,PortXmitWaitExt
0x10,0x10,2,4294967295,5000000000,0,55
0x10,0x10,3,1,1,0,0
0x30,0x31,1,10,N/A,0,0xffffffffffffffffff
END_PM_INFO
`

const exporter = `# HELP infiniband_switch_port_transmit_data_bytes_total Infiniband switch port PortXmitData
# TYPE infiniband_switch_port_transmit_data_bytes_total counter
infiniband_switch_port_transmit_data_bytes_total{guid="0x10",port="2",switch="a,} b"} 2e+10
infiniband_switch_port_transmit_wait_total{guid="0x10",port="2",switch="a"} 55
infiniband_switch_port_symbol_error_total{guid="0x99",port="2",switch="a"} 1
infiniband_hca_port_transmit_data_bytes_total{guid="0x31",hca="h",port="1",switch="x"} 40
go_goroutines 7
`

func TestRead(t *testing.T) {
	f := pair(t)
	for name, text := range map[string]string{"perfquery": perfquery, "PM_INFO": pmInfo, "exporter": exporter} {
		c, err := counters.Read(strings.NewReader(text), "c", f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		trunk, host := f.Out(0, 2), f.Out(f.NodeByGUID(0x30), 1)
		if c.Ports != 2 || c.Bytes[trunk] != 2e10 || c.Wait[trunk] != 55 || c.Bytes[host] != 40 || !c.Known[trunk] || c.Known[f.Out(1, 2)] {
			t.Errorf("%s: %+v", name, c)
		}
		less := *c
		less.Bytes = append([]float64(nil), c.Bytes...)
		less.Bytes[trunk] -= 5
		if d := c.Since(&less); d.Ports != 2 || d.Bytes[trunk] != 5 || d.Wait[trunk] != 0 {
			t.Errorf("%s: since before %+v", name, d)
		}
		if d := less.Since(c); d.Ports != 1 || d.Known[trunk] {
			t.Errorf("%s: of a port that was cleared %+v", name, d)
		}
	}
}

func TestErrors(t *testing.T) {
	f := pair(t)
	for _, tc := range []struct{ name, text, old, replace, want string }{
		{"nothing", perfquery, perfquery, "hello\n", "c:1: no counters of any cable"},
		{"no LID", perfquery, "Lid 3", "Lit 3", "c:10: no Lid in the head"},
		{"no port", perfquery, "Lid 3 port", "Lid 3", "c:10: no Lid and port"},
		{"LID of nobody", perfquery, "Lid 3", "Lid 9", "c:10: the fabric has no LID 9"},
		{"port beyond", perfquery, "Lid 3 port 1", "Lid 3 port 2", "has 1 ports, not a port 2"},
		{"number", perfquery, "....10\n", "....\n", "c:11: no number behind the name of a counter"},
		{"cut", perfquery, "port all (CapMask: 0x5A00)\nPortXmitData:....................1\n", "port all", "c:12: truncated"},
		{"second table", pmInfo, "END_PM_INFO\n", "START_X\n", "c:9: truncated: the table PM_INFO has no END_PM_INFO before START_X"},
		{"no end", pmInfo, "END_PM_INFO\n", "", "c:8: truncated: the table PM_INFO has no END_PM_INFO"},
		{"column", pmInfo, "PortNumber", "PortNumbers", "c:5: the table PM_INFO has no column PortNumber"},
		{"column without a name", pmInfo, "NodeGUID,", "NodeGUID,,", "c:6: 7 cells, but the header of PM_INFO has 8"},
		{"cells", pmInfo, "5000000000,0,55", "5000000000", "c:6: 5 cells, but the header of PM_INFO has 7"},
		{"GUID", pmInfo, "0x30,0x31", "x,0x31", "c:8: no GUID and number"},
		{"node", pmInfo, "0x30,0x31", "0x50,0x31", "c:8: the fabric has no node with GUID 0x0000000000000050"},
		{"label", exporter, `guid="0x31"`, `guid="x"`, `c:6: "x" is no GUID`},
		{"port label", exporter, `hca="h",port="1"`, `hca="h",port="x"`, `c:6: "x" is no number of a port`},
		{"labels", exporter, `hca="h",port="1",`, `hca="h",`, "c:6: a metric without the labels"},
		{"brace", exporter, `switch="x"} 40`, `switch="x" 40`, "c:6: no labels up to a brace"},
		{"value", exporter, "} 40", "} NaN", `c:6: "NaN" is no value`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(tc.text, tc.old, tc.replace, 1)
			if text == tc.text {
				t.Fatal("nothing was replaced")
			}
			_, err := counters.Read(strings.NewReader(text), "c", f)
			if pe := (*format.ParseError)(nil); !errors.As(err, &pe) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	network := pair(f)
	for _, text := range []string{perfquery, pmInfo, exporter} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := counters.Read(strings.NewReader(text), "c", network)
		if pe := (*format.ParseError)(nil); err != nil && !errors.As(err, &pe) {
			t.Errorf("%v names no line", err)
		}
		if (err == nil) == (c == nil) {
			t.Fatal("counters and an error, or neither")
		}
	})
}
