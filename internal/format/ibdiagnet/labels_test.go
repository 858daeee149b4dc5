package ibdiagnet

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/testnet"
)

// labelled is the ibdiagnet2.net_dump of a network as 2.10 writes it, with labels for
// ports; adapters have no blocks.
func labelled(f *fabric.Fabric, label func(n fabric.NodeID, port uint8) string, neighbor func(c *fabric.Channel) fabric.GUID) string {
	lids := map[portOf]fabric.LID{}
	for _, e := range f.Endpoints() {
		lids[portOf{e.Node, e.Port}] = e.LID
	}
	var b strings.Builder
	b.WriteString("# Running version   : \"IBDIAGNET 2.10.0\"\n\n# Switch label port numbering explanation:\n#   Quantum2 switch split mode: ASIC/Cage/Port/Split, e.g 1/1/1/1\n\n")
	for s := range fabric.NodeID(f.Switches()) {
		fmt.Fprintf(&b, "\"MF0;%s:MQM9700/U1\", Mellanox, %s, LID %d\n", f.Node(s).Name, f.Node(s).GUID, lids[portOf{s, 0}])
		b.WriteString("  #          : IB# : Sta  : PhysSta    : MTU : LWA     : LSA     : FEC mode : Retran : Neighbor Guid      : N#         : NLID : Neighbor Description\n")
		for port := range uint8(f.Node(s).Ports) {
			c := f.Out(s, port+1)
			if c == fabric.None {
				fmt.Fprintf(&b, "  %s : %d : DOWN : DISABLED : N/A : N/A : N/A : N/A : NO-RTR : N/A : N/A : N/A : N/A\n", label(s, port+1), port+1)
				continue
			}
			ch := f.Channel(c)
			at := ch.ToPort
			if f.Node(ch.To).Kind == fabric.Switch {
				at = 0
			}
			fmt.Fprintf(&b, "  %s : %d : ACT : LINK UP : 5 : 4x : 100 : RS : NO-RTR : %#x : %s : %d : \"%s\"\n",
				label(s, port+1), port+1, uint64(neighbor(ch)), label(ch.To, ch.ToPort), lids[portOf{ch.To, at}], f.Node(ch.To).Name)
		}
	}
	return b.String()
}

func readDump(db, text string) (*fabric.Fabric, error) {
	return Read(strings.NewReader(withoutLinks(db)), "db", func() (io.ReadCloser, string, error) {
		return io.NopCloser(strings.NewReader(text)), "net_dump", nil
	})
}

// Whatever the labels are, the cables of a net_dump are those of the network, or the file is
// refused.
func TestLabelsOfNetDump(t *testing.T) {
	nodeGUID := func(f *fabric.Fabric) func(*fabric.Channel) fabric.GUID {
		return func(c *fabric.Channel) fabric.GUID { return f.Node(c.To).GUID }
	}
	specs := []string{"torus:4x4,hosts=2", testnet.Small, "dragonfly:p=2"}
	for seed := range 20 {
		specs = append(specs, fmt.Sprintf("random:switches=%d,links=%d,hosts=%d,seed=%d", 4+seed, 8+2*seed, 3+seed, seed+1))
	}
	for _, spec := range specs {
		want, dir := routed(t, spec)
		f := want.Fabric
		labels := map[string]func(n fabric.NodeID, port uint8) string{
			"ASIC/cage/port": func(_ fabric.NodeID, port uint8) string { return fmt.Sprintf("1/%d/%d", (port+1)/2, (port+1)%2+1) },
			"serial numbers": func(n fabric.NodeID, port uint8) string { return fmt.Sprintf("%08X/0/0/%d", 0xB184D0F0+int(n), port) },
			"panel names":    func(_ fabric.NodeID, port uint8) string { return fmt.Sprintf("sw%dp%d", (port+1)/2, (port+1)%2+1) },
			"other numbers": func(n fabric.NodeID, port uint8) string {
				return fmt.Sprint(int(port)%f.Node(n).Ports + 1)
			},
		}
		for name, label := range labels {
			got, err := readDump(dir.db, labelled(f, label, nodeGUID(f)))
			if err != nil {
				t.Errorf("%s, %s: %v", spec, name, err)
			} else if diff := cmp.Diff(f.Channels(), got.Channels()); diff != "" {
				t.Errorf("%s, %s: %s", spec, name, diff)
			}
		}
		// GUIDs of ports in place of those of nodes
		text := labelled(f, labels["serial numbers"], func(c *fabric.Channel) fabric.GUID {
			for _, e := range f.Endpoints() {
				if e.Node == c.To && (e.Port == 0 || e.Port == c.ToPort) {
					return e.PortGUID
				}
			}
			panic("no endpoint")
		})
		got, err := readDump(dir.db, text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(f.Channels(), got.Channels()); diff != "" {
			t.Errorf("%s by port GUIDs: %s", spec, diff)
		}
	}
}

// A dump of which lines are missing or damaged has no cable that the network has not.
func TestDamagedLabels(t *testing.T) {
	want, dir := routed(t, "torus:4x4,hosts=2")
	f := want.Fabric
	text := labelled(f, func(n fabric.NodeID, port uint8) string { return fmt.Sprintf("%d/%d", n, port) }, func(c *fabric.Channel) fabric.GUID { return f.Node(c.To).GUID })
	lines := strings.SplitAfter(text, "\n")
	rng := rand.New(rand.NewPCG(5, 28))
	refused := 0
	for range 400 {
		part := slices.Clone(lines)
		for range 1 + rng.IntN(3) {
			i := rng.IntN(len(part))
			part = slices.Delete(part, i, i+1)
		}
		damaged := strings.Join(part, "")
		if rng.IntN(2) == 0 {
			damaged = damaged[:rng.IntN(len(damaged))]
		}
		got, err := readDump(dir.db, damaged)
		if err != nil {
			var at *format.ParseError
			if refused++; !errors.As(err, &at) {
				t.Fatalf("%v names no line", err)
			}
			continue
		}
		for _, c := range got.Channels() {
			if ch := f.Out(c.From, c.FromPort); ch == fabric.None || f.Channel(ch).To != c.To || f.Channel(ch).ToPort != c.ToPort {
				t.Fatalf("%+v is no cable of the network; of\n%s", c, damaged)
			}
		}
	}
	if refused == 0 || refused == 400 {
		t.Errorf("%d of 400 are refused", refused)
	}
}

// A label that nothing explains is refused.
func TestUnknownLabel(t *testing.T) {
	want, dir := routed(t, "ring:3,hosts=1")
	f := want.Fabric
	text := labelled(f, func(n fabric.NodeID, port uint8) string { return fmt.Sprintf("%d/%d", n, port) }, func(c *fabric.Channel) fabric.GUID { return f.Node(c.To).GUID })
	i := strings.LastIndex(text, "\"MF0;")
	if _, err := readDump(dir.db, text[:i]); err == nil || !strings.HasPrefix(err.Error(), `net_dump:10: "2/2"`) || !strings.Contains(err.Error(), "is no number of a port, and no port of") {
		t.Error(err)
	}
}

// Of many tables that are not read a few are named.
func TestManyTables(t *testing.T) {
	text := small
	for i := range 28 {
		text += fmt.Sprintf("START_T%d\nx\nEND_T%[1]d\n", i)
	}
	f, err := Read(strings.NewReader(text), "db", nil)
	if err != nil {
		t.Fatal(err)
	}
	if w := f.Warnings(); !slices.Contains(w, "29 tables of the file are not read: CABLE_INFO, T0, T1 and 26 more") {
		t.Errorf("%q", w)
	}
}
