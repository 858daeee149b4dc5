package routing_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

func TestLanePerSL(t *testing.T) {
	for vls := 1; vls <= routing.MaxDataVLs; vls++ {
		lane, ok := routing.LanePerSL(vls).Uniform()
		if !ok {
			t.Fatalf("%d lanes: not uniform", vls)
		}
		for sl, vl := range lane {
			if int(vl) != sl%vls {
				t.Errorf("%d lanes: SL %d rides VL %d", vls, sl, vl)
			}
		}
	}
}

// Every entry of a map by port is its own, and begins as the map it was made of.
func TestSL2VLPerPort(t *testing.T) {
	var b fabric.Builder
	for i, ports := range []int{2, 0, 3, 254} {
		b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: ports}, "")
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	each := func(visit func(s fabric.NodeID, in, out, sl uint8)) {
		for s := range fabric.NodeID(f.Switches()) {
			for in := range uint8(f.Node(s).Ports + 1) {
				for out := range uint8(f.Node(s).Ports + 1) {
					for sl := range uint8(routing.SLs) {
						visit(s, in, out, sl)
					}
				}
			}
		}
	}
	uniform := routing.LanePerSL(3)
	m := uniform.PerPort(f)
	if _, ok := m.Uniform(); ok {
		t.Error("a map by port says that it is uniform")
	}
	each(func(s fabric.NodeID, in, out, sl uint8) {
		if got := m.VL(s, in, out, sl); got != sl%3 {
			t.Fatalf("switch %d, port %d to %d, SL %d: VL %d", s, in, out, sl, got)
		}
	})
	value := func(s fabric.NodeID, in, out, sl uint8) uint8 {
		return uint8((int(s)*7 + int(in)*5 + int(out)*3 + int(sl)) % 16)
	}
	each(func(s fabric.NodeID, in, out, sl uint8) { m.Set(s, in, out, sl, value(s, in, out, sl)) })
	again := m.PerPort(f)
	m.Set(2, 1, 2, 3, 15)
	each(func(s fabric.NodeID, in, out, sl uint8) {
		if got, want := again.VL(s, in, out, sl), value(s, in, out, sl); got != want {
			t.Fatalf("switch %d, port %d to %d, SL %d: VL %d, want %d", s, in, out, sl, got, want)
		}
	})
	if m.VL(2, 1, 2, 3) != 15 || uniform.VL(2, 1, 2, 3) != 0 {
		t.Error("a copy shares entries")
	}
}

func TestLanesByRow(t *testing.T) {
	f := testnet.Mesh(t, 3)
	l := routing.NewLanes(f, routing.LanePerSL(4))
	l.SLRow(5)[2] = 3
	for e := range f.Endpoints() {
		for lid := range f.TopLID() + 1 {
			want := uint8(0)
			if lid == 5 && f.Endpoint(fabric.EndpointID(e)).Switch == 2 {
				want = 3
			}
			if got := l.SL(fabric.EndpointID(e), lid); got != want {
				t.Errorf("SL from endpoint %d to LID %d is %d, want %d", e, lid, got, want)
			}
		}
	}
	if one := routing.OneSL(f, routing.LanePerSL(4)); one.SLRow(5) != nil || one.SL(2, 5) != 0 {
		t.Error("one SL is not SL 0 everywhere")
	}
}

func TestScopes(t *testing.T) {
	classes := []fabric.Class{fabric.HostAdapter, fabric.Aggregation, fabric.RouterPort, fabric.SwitchPort}
	for text, want := range map[string][4]bool{
		"hca": {true, false, false, false}, "ca": {true, true, true, false}, "all": {true, true, true, true},
	} {
		s, err := routing.ParseScope(text)
		if err != nil || s.String() != text {
			t.Errorf("scope %q is %v, %v", text, s, err)
		}
		for i, c := range classes {
			if s.Includes(c) != want[i] {
				t.Errorf("scope %s with class %s: %v", s, c, !want[i])
			}
		}
	}
	for _, text := range []string{"", "HCA", "switch"} {
		if _, err := routing.ParseScope(text); err == nil {
			t.Errorf("scope %q is taken", text)
		}
	}
}

// Two switches with a port 0 each; a host, an aggregation node and a router on the
// first; and two hosts that are cabled to each other.
func TestEndpointsInScope(t *testing.T) {
	var b fabric.Builder
	var sw [2]fabric.Ref
	for i := range sw {
		sw[i] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 4}, "")
	}
	b.Cable(sw[0], 1, sw[1], 1, fabric.Rate{})
	for i, n := range []fabric.Node{
		{GUID: 10, Kind: fabric.Adapter, Ports: 1},
		{GUID: 11, Kind: fabric.Adapter, Ports: 1, VendorID: fabric.AggregationVendor, DeviceID: fabric.AggregationDevice},
		{GUID: 12, Kind: fabric.Router, Ports: 1},
	} {
		b.Cable(b.Node(n, ""), 1, sw[0], uint8(2+i), fabric.Rate{})
	}
	pair := [2]fabric.Ref{b.Node(fabric.Node{GUID: 13, Kind: fabric.Adapter, Ports: 1}, ""), b.Node(fabric.Node{GUID: 14, Kind: fabric.Adapter, Ports: 1}, "")}
	b.Cable(pair[0], 1, pair[1], 1, fabric.Rate{})
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scope     routing.Scope
		nodes     []fabric.GUID
		perSwitch []uint32
		ends      []bool
	}{
		{routing.HCA, []fabric.GUID{10}, []uint32{1, 0}, []bool{true, false}},
		{routing.Adapters, []fabric.GUID{10, 11, 12}, []uint32{3, 0}, []bool{true, false}},
		{routing.All, []fabric.GUID{1, 2, 10, 11, 12}, []uint32{4, 1}, []bool{true, true}},
	} {
		var nodes []fabric.GUID
		for _, e := range c.scope.Endpoints(f) {
			nodes = append(nodes, f.Node(f.Endpoint(e).Node).GUID)
		}
		if n, ends := c.scope.PerSwitch(f), c.scope.Ends(f); !slices.Equal(nodes, c.nodes) || !slices.Equal(n, c.perSwitch) || !slices.Equal(ends, c.ends) {
			t.Errorf("scope %s: nodes %v, by switch %v, ends %v", c.scope, nodes, n, ends)
		}
	}
}

func TestContracts(t *testing.T) {
	for _, c := range []struct {
		text string
		want routing.Contract
		mask uint16 // 0: as the tables say
	}{
		{"honored", routing.Contract{}, 0}, {"directed", routing.Directed, 0}, {"any", routing.Any, 0xFFFF},
		{"single:0", routing.Single(0), 1}, {"single:15", routing.Single(15), 1 << 15},
	} {
		got, err := routing.ParseContract(c.text)
		if err != nil || got != c.want || got.String() != c.text || got.EitherWay() != (c.text == "honored") {
			t.Errorf("contract %q is %v, either way %v, %v", c.text, got, got.EitherWay(), err)
		}
		if mask, fixed := got.FixedMask(); fixed != (c.mask != 0) || mask != c.mask {
			t.Errorf("contract %q: fixed %v, %x", c.text, fixed, mask)
		}
	}
	for _, text := range []string{"", "Any", "single", "single:", "single:16", "single:-1", "single:+1", "single:256", "single:1 "} {
		if c, err := routing.ParseContract(text); err == nil {
			t.Errorf("contract %q is taken as %s", text, c)
		}
	}
}

// A contract covers another if clients do no more under the other.
func TestContractsCover(t *testing.T) {
	all := []routing.Contract{routing.Honored, routing.Directed, routing.Any, routing.Single(0), routing.Single(1)}
	covers := map[routing.Contract][]routing.Contract{routing.Any: all, routing.Honored: {routing.Directed}}
	for _, c := range all {
		for _, other := range all {
			if want := c == other || slices.Contains(covers[c], other); c.Covers(other) != want {
				t.Errorf("%s covers %s: %v", c, other, !want)
			}
		}
	}
}

func TestTooFewLanes(t *testing.T) {
	for _, c := range []struct {
		err  routing.TooFewLanes
		want string
	}{
		{routing.TooFewLanes{Need: 9, Have: 8}, "needs 9 lanes; 8 are available"},
		{routing.TooFewLanes{Need: 65, AtLeast: true, Have: 8}, "needs at least 65 lanes; 8 are available"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestProgressOfNobody(t *testing.T) {
	routing.Progress(nil).Report(1, 2)
	var got string
	routing.Progress(func(done, total int) { got = fmt.Sprint(done, "/", total) }).Report(1, 2)
	if got != "1 / 2" && got != "1/2" {
		t.Errorf("told %q", got)
	}
}

// A map ignores the service level if each of its entries does.
func TestIgnoresSL(t *testing.T) {
	f := testnet.Build(t, "ring:3")
	one := routing.UniformSL2VL([routing.SLs]uint8{})
	if !one.IgnoresSL() || !one.PerPort(f).IgnoresSL() {
		t.Error("lane 0 everywhere depends on the service level")
	}
	if routing.LanePerSL(2).IgnoresSL() || routing.LanePerSL(2).PerPort(f).IgnoresSL() {
		t.Error("a lane for each service level ignores it")
	}
	m := one.PerPort(f)
	for sl := range uint8(routing.SLs) {
		m.Set(1, 1, 2, sl, 3)
	}
	if !m.IgnoresSL() {
		t.Error("lane 3 at one turn, for all service levels, depends on them")
	}
	if m.Set(2, 2, 1, 15, 1); m.IgnoresSL() {
		t.Error("one service level of one turn was overlooked")
	}
}

// A clone says the same, and what is written to it stays with it.
func TestCloneIsApart(t *testing.T) {
	f := testnet.Build(t, "ring:4")
	fw := routing.NewForwarding(f)
	fw.Notes = []string{"as it was"}
	fw.Row(3)[1] = 2
	c := fw.Clone()
	if c.Port(1, 3) != 2 || c.Port(0, 3) != routing.NoPort || len(c.Notes) != 1 || c.Notes[0] != "as it was" {
		t.Errorf("the clone has port %d and notes %q", c.Port(1, 3), c.Notes)
	}
	c.Row(3)[1], c.Notes[0] = 1, "changed"
	if fw.Port(1, 3) != 2 || fw.Notes[0] != "as it was" {
		t.Error("what is written to a clone shows in what it was made from")
	}
}
