package transition_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
)

// What is taken away is gone, and new the other way round; cables of a node that went
// are not named beside it.
func TestPartsOf(t *testing.T) {
	f := testnet.Build(t, "torus:4x4,hosts=2")
	host := f.Endpoint(f.Attached(5)[1]).Node
	first, _ := f.TrunksFrom(0)
	g, err := f.Without([]fabric.ChannelID{first}, []fabric.NodeID{10, host})
	if err != nil {
		t.Fatal(err)
	}
	cable := min(first, f.Channel(first).Reverse)
	gone := transition.Part{Switches: []fabric.NodeID{10}, Others: []fabric.NodeID{host}, Cables: []fabric.ChannelID{cable}}
	if diff := cmp.Diff(transition.Parts{Gone: gone}, transition.PartsOf(f, g)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(transition.Parts{New: gone}, transition.PartsOf(g, f)); diff != "" {
		t.Error(diff)
	}
}

// A cable in another port is another cable, and ports with other LIDs are named.
func TestPartsOfMoved(t *testing.T) {
	f := testnet.Build(t, "ring:4")
	wide, err := f.WithLMC(1)
	if err != nil {
		t.Fatal(err)
	}
	p := transition.PartsOf(f, wide)
	if n := f.Count(); len(p.Readdressed) < n.HCA || len(p.Gone.Cables)+len(p.New.Cables) > 0 {
		t.Errorf("%d of %d adapters have other LIDs, %d cables are others", len(p.Readdressed), n.HCA, len(p.Gone.Cables))
	}
	build := func(port, lmc uint8) *fabric.Fabric {
		var b fabric.Builder
		x := b.Node(fabric.Node{GUID: 1, Kind: fabric.Switch, Ports: 4}, "")
		y := b.Node(fabric.Node{GUID: 2, Kind: fabric.Switch, Ports: 4}, "")
		b.Cable(x, 1, y, port, fabric.Rate{})
		host := b.Node(fabric.Node{GUID: 3, Kind: fabric.Adapter, Ports: 1}, "")
		b.Port(host, 1, fabric.Port{GUID: 4, LID: 8, LMC: lmc})
		b.Cable(x, 3, host, 1, fabric.Rate{})
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if p := transition.PartsOf(build(1, 0), build(2, 0)); len(p.Gone.Cables) != 1 || len(p.New.Cables) != 1 || p.Readdressed != nil {
		t.Errorf("a cable in another port: %+v", p)
	}
	if p := transition.PartsOf(build(1, 0), build(1, 1)); len(p.Readdressed) != 1 {
		t.Errorf("a port with more LIDs: %+v", p)
	}
}
