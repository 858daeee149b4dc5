package fabric_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/fabric"
)

// must builds or fails.
func must(t testing.TB, b *fabric.Builder) *fabric.Fabric {
	t.Helper()
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// small is two switches with two cables, a cable from the first to itself, an
// adapter with a port on each, a router, and two adapters joined to each other.
// Nothing is named in its final order.
func small(t testing.TB) *fabric.Fabric {
	var b fabric.Builder
	router := b.Node(fabric.Node{GUID: 0x10, Kind: fabric.Router, Ports: 1, Name: "rt"}, "")
	dual := b.Node(fabric.Node{GUID: 0x40, Kind: fabric.Adapter, Ports: 2, Name: "host"}, "")
	b2 := b.Node(fabric.Node{GUID: 0x30, Kind: fabric.Switch, Ports: 4, Name: "sw"}, "")
	left := b.Node(fabric.Node{GUID: 0x20, Kind: fabric.Adapter, Ports: 1, Name: "left"}, "")
	right := b.Node(fabric.Node{GUID: 0x50, Kind: fabric.Adapter, Ports: 1, Name: "Mellanox Technologies Aggregation Node", VendorID: 0x2c9, DeviceID: 0xcf09}, "")
	b1 := b.Node(fabric.Node{GUID: 0x15, Kind: fabric.Switch, Ports: 6, Name: "sw"}, "")
	b.Cable(left, 1, right, 1, fabric.Rate{})
	b.Cable(b1, 5, b1, 4, fabric.Rate{})
	b.Cable(dual, 2, b1, 3, fabric.Rate{})
	b.Cable(dual, 1, b2, 4, fabric.Rate{})
	b.Cable(b2, 1, b1, 2, fabric.Rate{})
	b.Cable(b1, 1, b2, 3, fabric.Rate{})
	b.Cable(router, 1, b2, 2, fabric.Rate{})
	return must(t, &b)
}

func TestOrderOfIndexSpaces(t *testing.T) {
	f := small(t)
	var nodes, channels, endpoints []string
	for _, n := range f.Nodes() {
		nodes = append(nodes, fmt.Sprintf("%s %#x", n.Kind, uint64(n.GUID)))
	}
	for _, c := range f.Channels() {
		channels = append(channels, fmt.Sprintf("%d.%d-%d.%d", c.From, c.FromPort, c.To, c.ToPort))
	}
	for _, e := range f.Endpoints() {
		endpoints = append(endpoints, fmt.Sprintf("%d.%d %s on %d", e.Node, e.Port, e.Class, e.Switch))
	}
	for _, c := range []struct{ got, want []string }{
		{nodes, []string{"switch 0x15", "switch 0x30", "channel adapter 0x20", "channel adapter 0x40", "channel adapter 0x50", "router 0x10"}},
		{channels, []string{
			"0.1-1.3", "0.2-1.1", "1.1-0.2", "1.3-0.1", // trunks
			"0.3-3.2", "1.2-5.1", "1.4-3.1", "3.1-1.4", "3.2-0.3", "5.1-1.2", // at adapters
			"0.4-0.5", "0.5-0.4", "2.1-4.1", "4.1-2.1", // to nowhere
		}},
		{endpoints, []string{
			"0.0 switch on 0", "1.0 switch on 1", "2.1 hca on -1", "3.1 hca on 1", "3.2 hca on 0", "4.1 aggregation on -1", "5.1 router on 1",
		}},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	if f.Switches() != 2 || f.Trunks() != 4 || f.Turns() != 8 {
		t.Errorf("%d switches, %d trunks, %d turns", f.Switches(), f.Trunks(), f.Turns())
	}
	if want := (fabric.Count{Switches: 2, Adapters: 3, Routers: 1, HCA: 3, Aggregation: 1, Router: 1, SwitchCables: 2, AdapterCables: 4, SelfCables: 1}); f.Count() != want {
		t.Errorf("count is %+v, want %+v", f.Count(), want)
	}
	if got := f.Attached(1); !slices.Equal(got, []fabric.EndpointID{1, 3, 6}) {
		t.Errorf("on switch 1 hang %v", got)
	}
	if !slices.EqualFunc(f.Parts(), [][]fabric.NodeID{{0, 1}}, slices.Equal) {
		t.Errorf("parts are %v", f.Parts())
	}
}

// What the index spaces promise holds on any network.
func TestIndexSpacesAgree(t *testing.T) {
	f := small(t)
	for i, c := range f.Channels() {
		id := fabric.ChannelID(i)
		if r := f.Channel(c.Reverse); r.Reverse != id || r.From != c.To || r.FromPort != c.ToPort || r.To != c.From {
			t.Errorf("the reverse of channel %d is %+v", i, r)
		}
		if f.Out(c.From, c.FromPort) != id {
			t.Errorf("by port %d of node %d leaves channel %d, not %d", c.FromPort, c.From, f.Out(c.From, c.FromPort), i)
		}
		trunk := id
		if i >= f.Trunks() {
			trunk = fabric.None
		}
		if f.Trunk(c.From, c.FromPort) != trunk {
			t.Errorf("by port %d of node %d leaves trunk %d, not %d", c.FromPort, c.From, f.Trunk(c.From, c.FromPort), trunk)
		}
	}
	turn := 0
	for in := range fabric.ChannelID(f.Trunks()) {
		if f.FirstTurn(in) != turn {
			t.Errorf("the first turn of trunk %d is %d, want %d", in, f.FirstTurn(in), turn)
		}
		first, end := f.TrunksFrom(f.Heads()[in])
		for out := first; out < end; out++ {
			if f.Channel(out).From != f.Channel(in).To || f.Turn(in, out) != turn {
				t.Errorf("turn %d to %d has number %d, want %d", in, out, f.Turn(in, out), turn)
			}
			turn++
		}
	}
	for _, port := range []uint8{0, 7, 254, 255} {
		if c := f.Out(0, port); c != fabric.None {
			t.Errorf("channel %d leaves by port %d, which has no cable", c, port)
		}
		if c := f.Trunk(0, port); c != fabric.None {
			t.Errorf("trunk %d leaves by port %d, which has no cable", c, port)
		}
	}
	if f.NodeByGUID(0x30) != 1 || f.NodeByGUID(0x31) != fabric.None {
		t.Error("nodes are not found by GUID")
	}
}

func TestLabel(t *testing.T) {
	var b fabric.Builder
	b.Node(fabric.Node{GUID: 1, Name: "one"}, "")
	b.Node(fabric.Node{GUID: 2, Name: "twin"}, "")
	b.Node(fabric.Node{GUID: 3, Name: "twin"}, "")
	b.Node(fabric.Node{GUID: 4}, "")
	f := must(t, &b)
	for n, want := range []string{"one", "twin (0x0000000000000002)", "twin (0x0000000000000003)", "0x0000000000000004"} {
		if got := f.Label(fabric.NodeID(n)); got != want {
			t.Errorf("label of node %d is %q, want %q", n, got, want)
		}
	}
}

func TestNamelessNodesGetGUIDsByKey(t *testing.T) {
	names := []string{"c", "a", "b"}
	for range 3 {
		names = append(names[1:], names[0])
		var b fabric.Builder
		b.Node(fabric.Node{GUID: 0x0200_0000_0000_0200, Name: "taken"}, "")
		for _, n := range names {
			b.Node(fabric.Node{Name: n, Ports: 2}, n)
		}
		f := must(t, &b)
		var got []string
		for _, n := range f.Nodes() {
			got = append(got, fmt.Sprintf("%s %#x", n.Name, uint64(n.GUID)))
		}
		want := []string{"a 0x200000000000100", "taken 0x200000000000200", "b 0x200000000000300", "c 0x200000000000400"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("added as %v (-want +got):\n%s", names, d)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		want string
		fill func(b *fabric.Builder)
	}{
		{"GUID 0x0000000000000007 names two nodes", func(b *fabric.Builder) {
			b.Node(fabric.Node{GUID: 7}, "")
			b.Node(fabric.Node{GUID: 7, Kind: fabric.Adapter}, "")
		}},
		{"has 255 ports; InfiniBand numbers at most 254", func(b *fabric.Builder) { b.Node(fabric.Node{GUID: 1, Ports: 255}, "") }},
		{"has -1 ports", func(b *fabric.Builder) { b.Node(fabric.Node{GUID: 1, Ports: -1}, "") }},
		{"one has no port 3 (it has ports 1 to 2)", func(b *fabric.Builder) { cabled(b, 3, 1) }},
		{"two has no port 0", func(b *fabric.Builder) { cabled(b, 1, 0) }},
		{"one port 1 has two cables", func(b *fabric.Builder) { a, z := cabled(b, 1, 1); b.Cable(z, 2, a, 1, fabric.Rate{}) }},
		{"one port 2 has two cables", func(b *fabric.Builder) { a, _ := cabled(b, 1, 1); b.Cable(a, 2, a, 2, fabric.Rate{}) }},
		{"one port 0 has LMC 8", func(b *fabric.Builder) { a, _ := cabled(b, 1, 1); b.Port(a, 0, fabric.Port{LMC: 8}) }},
		{"no LID left for", func(b *fabric.Builder) {
			for i := range int(fabric.MaxLID)/128 + 1 {
				b.Port(b.Node(fabric.Node{GUID: fabric.GUID(i + 1)}, ""), 0, fabric.Port{LMC: 7})
			}
		}},
	} {
		var b fabric.Builder
		c.fill(&b)
		if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %q in it", err, c.want)
		}
	}
}

// cabled adds two switches of two ports with one cable.
func cabled(b *fabric.Builder, aPort, zPort uint8) (a, z fabric.Ref) {
	a = b.Node(fabric.Node{GUID: 1, Ports: 2, Name: "one"}, "")
	z = b.Node(fabric.Node{GUID: 2, Ports: 2, Name: "two"}, "")
	b.Cable(a, aPort, z, zPort, fabric.Rate{})
	return a, z
}

func TestParts(t *testing.T) {
	var b fabric.Builder
	var refs []fabric.Ref
	for i := range 7 {
		refs = append(refs, b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 3}, ""))
	}
	for i, c := range [][2]int{{0, 5}, {4, 6}, {2, 6}, {3, 3}} {
		b.Cable(refs[c[0]], 1, refs[c[1]], uint8(2+i%2), fabric.Rate{})
	}
	want := [][]fabric.NodeID{{2, 4, 6}, {0, 5}, {1}, {3}}
	f := must(t, &b)
	got := f.Parts()
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("parts are %v, want %v", got, want)
	}
	if of := f.PartOf(got); !slices.Equal(of, []int32{1, 2, 0, 3, 0, 1, 0}) {
		t.Errorf("switches are in parts %v", of)
	}
}

func TestWithout(t *testing.T) {
	f := small(t)
	g, err := f.Without([]fabric.ChannelID{3}, []fabric.NodeID{2})
	if err != nil {
		t.Fatal(err)
	}
	if want := (fabric.Count{Switches: 2, Adapters: 2, Routers: 1, HCA: 2, Router: 1, SwitchCables: 1, AdapterCables: 3, SelfCables: 1}); g.Count() != want {
		t.Errorf("count is %+v, want %+v", g.Count(), want)
	}
	for _, e := range g.Endpoints() {
		guid := g.Node(e.Node).GUID
		i := slices.IndexFunc(f.Endpoints(), func(o fabric.Endpoint) bool { return f.Node(o.Node).GUID == guid && o.Port == e.Port })
		if o := f.Endpoints()[i]; e.LID != o.LID || e.LMC != o.LMC || e.PortGUID != o.PortGUID {
			t.Errorf("%s port %d was %+v and is %+v", guid, e.Port, o, e)
		}
	}
	if len(g.Warnings()) > 0 {
		t.Errorf("warnings: %v", g.Warnings())
	}
	same, err := f.Without(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !equal(f, same) {
		t.Error("without nothing it is another fabric")
	}
}

// equal compares what a fabric hands out.
func equal(f, g *fabric.Fabric) bool {
	return slices.Equal(f.Nodes(), g.Nodes()) && slices.Equal(f.Channels(), g.Channels()) && slices.Equal(f.Endpoints(), g.Endpoints())
}

// What two failures take away together is what they take away one after the
// other.
func TestFailuresAddUp(t *testing.T) {
	f := small(t)
	rapid.Check(t, func(t *rapid.T) {
		a := fabric.ChannelID(rapid.IntRange(0, len(f.Channels())-1).Draw(t, "a"))
		n := fabric.NodeID(rapid.IntRange(0, len(f.Nodes())-1).Draw(t, "node"))
		both, err := f.Without([]fabric.ChannelID{a}, []fabric.NodeID{n})
		if err != nil {
			t.Fatal(err)
		}
		first, err := f.Without([]fabric.ChannelID{a}, nil)
		if err != nil {
			t.Fatal(err)
		}
		then, err := first.Without(nil, []fabric.NodeID{n})
		if err != nil {
			t.Fatal(err)
		}
		if !equal(both, then) {
			t.Fatalf("channel %d and node %d", a, n)
		}
	})
}

// Adapter and router ports get so many LIDs, switches keep one; all else stays.
func TestWithLMC(t *testing.T) {
	f := small(t)
	for lmc := range uint8(8) {
		g, err := f.WithLMC(lmc)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f.Nodes(), g.Nodes()) || !slices.Equal(f.Channels(), g.Channels()) || len(f.Endpoints()) != len(g.Endpoints()) {
			t.Errorf("LMC %d makes another network", lmc)
		}
		for i, e := range g.Endpoints() {
			want := lmc
			if e.Class == fabric.SwitchPort {
				want = 0
			}
			if e.LMC != want || e.PortGUID != f.Endpoints()[i].PortGUID {
				t.Errorf("endpoint %d has LMC %d and GUID %s", i, e.LMC, e.PortGUID)
			}
		}
		if why := badLIDs(g); why != "" {
			t.Errorf("LMC %d: %s", lmc, why)
		}
	}
	if _, err := f.WithLMC(8); err == nil || !strings.Contains(err.Error(), "LMC 8") {
		t.Errorf("LMC 8: %v", err)
	}
}

// What a host calls itself makes it no aggregation node.
func TestClaims(t *testing.T) {
	var b fabric.Builder
	sw := b.Node(fabric.Node{GUID: 1, Ports: 9}, "")
	for i, n := range []fabric.Node{
		{Name: "host"},
		{Name: "an Aggregation Node, they say", VendorID: 0x2c9, DeviceID: 0x1021},
		{Name: "another Aggregation Node"},
		{Name: "Mellanox Technologies Aggregation Node", VendorID: 0x2c9, DeviceID: 0xcf09},
		{Name: "shy", VendorID: 0x2c9, DeviceID: 0xcf09},
		{Name: "Aggregation Node of somebody else's", VendorID: 0x8086, DeviceID: 0xcf09},
	} {
		n.GUID, n.Kind, n.Ports = fabric.GUID(0x100*(i+1)), fabric.Adapter, 1
		b.Cable(sw, uint8(i+1), b.Node(n, ""), 1, fabric.Rate{})
	}
	f := must(t, &b)
	var classes []fabric.Class
	for _, e := range f.Attached(0)[1:] {
		classes = append(classes, f.Endpoint(e).Class)
	}
	if want := []fabric.Class{fabric.HostAdapter, fabric.HostAdapter, fabric.HostAdapter, fabric.Aggregation, fabric.Aggregation, fabric.HostAdapter}; !slices.Equal(classes, want) {
		t.Errorf("classes are %v, want %v", classes, want)
	}
	want := []string{
		"0x0000000000000200 (vendor 0x2c9, device 0x1021) and 1 more: each is called an aggregation node, but the device is none that weft knows: it counts as a host",
		"0x0000000000000300 is called an aggregation node, and the input does not say the device: it counts as a host",
		"shy is an aggregation node by its device, but not called one: it counts as an aggregation node",
	}
	if !slices.Equal(f.Warnings(), want) {
		t.Errorf("warnings are %q", f.Warnings())
	}
}
