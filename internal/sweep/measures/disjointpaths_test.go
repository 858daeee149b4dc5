package measures_test

import (
	"context"
	"math"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// Two switches with three cables and one host each, whose four addresses come by the first,
// the first, the second and the third cable.
func TestDisjointPaths(t *testing.T) {
	var b fabric.Builder
	left := b.Node(fabric.Node{GUID: 1, Ports: 4}, "")
	right := b.Node(fabric.Node{GUID: 2, Ports: 4}, "")
	for p := range uint8(3) {
		b.Cable(left, p+1, right, p+1, fabric.Rate{})
	}
	f := fourAddresses(t, &b, 4, left, right)
	fw := routing.NewForwarding(f)
	l := routing.NewLanes(f, routing.LanePerSL(1))
	for _, id := range routing.HCA.Endpoints(f) {
		e := f.Endpoint(id)
		for a, port := range []uint8{1, 1, 2, 3} {
			row := fw.Row(e.LID + fabric.LID(a))
			row[0], row[1] = port, port
			row[e.Switch] = 4
		}
	}
	tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}
	want := func(want float64) {
		t.Helper()
		if got, err := measures.DisjointPaths(context.Background(), tables, routing.HCA); err != nil || got != want {
			t.Errorf("%g disjoint paths, want %g: %v", got, want, err)
		}
	}
	want(3)
	to := f.Endpoint(routing.HCA.Endpoints(f)[1])
	l.SLRow(to.LID + 3)[1-to.Switch] = routing.NoSL // must not be used: one direction has two
	want(2.5)
	for lid := range to.LIDs() {
		fw.Row(lid)[1-to.Switch] = routing.NoPort
	}
	want(1.5)
}

// A path that shares with two others that share nothing is left out.
func TestDisjointPathsAreTheMost(t *testing.T) {
	f, err := testnet.Build(t, "ring:4").WithLMC(1)
	if err != nil {
		t.Fatal(err)
	}
	fw := routing.NewForwarding(f)
	for lid, id := range f.LIDs() { // the first address clockwise, the second the other way
		e := f.Endpoint(id)
		for s := range fabric.NodeID(4) {
			to := (s + 1 + 2*fabric.NodeID(lid-e.LID)) % 4
			for c, end := f.TrunksFrom(s); c < end; c++ {
				if f.Heads()[c] == to {
					fw.Row(lid)[s] = f.Channel(c).FromPort
				}
			}
		}
		fw.Row(lid)[e.Switch] = f.LastPort(e)
	}
	tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	if got, err := measures.DisjointPaths(context.Background(), tables, routing.HCA); err != nil || got != 2 {
		t.Errorf("both ways round a ring: %g: %v", got, err)
	}
	one := testnet.Build(t, "mesh:1,hosts=3")
	tables = &routing.Tables{Fabric: one, Forwarding: routing.NewForwarding(one), Lanes: routing.OneSL(one, routing.LanePerSL(1))}
	if got, err := measures.DisjointPaths(context.Background(), tables, routing.HCA); err != nil || !math.IsNaN(got) {
		t.Errorf("on one switch: %g, %v", got, err)
	}
}

// The first of three paths is in the way of both others, which share nothing.
func TestDisjointPathsWithoutTheFirst(t *testing.T) {
	var b fabric.Builder
	var sw [4]fabric.Ref // the source's, two between, the destination's
	for i := range sw {
		sw[i] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 3}, "")
	}
	b.Cable(sw[0], 1, sw[1], 1, fabric.Rate{})
	b.Cable(sw[0], 2, sw[2], 1, fabric.Rate{})
	b.Cable(sw[1], 2, sw[2], 2, fabric.Rate{})
	b.Cable(sw[1], 3, sw[3], 1, fabric.Rate{})
	b.Cable(sw[2], 3, sw[3], 2, fabric.Rate{})
	f := fourAddresses(t, &b, 3, sw[0], sw[3])
	fw := routing.NewForwarding(f)
	to := f.Endpoint(routing.HCA.Endpoints(f)[1])
	for a, ports := range [][4]uint8{{1, 2, 3, 3}, {1, 3, 3, 3}, {2, 3, 3, 3}, {2, 3, 3, 3}} {
		copy(fw.Row(to.LID+fabric.LID(a)), ports[:])
	}
	tables := &routing.Tables{Fabric: f, Forwarding: fw, Lanes: routing.OneSL(f, routing.LanePerSL(1))}
	if got, err := measures.DisjointPaths(context.Background(), tables, routing.HCA); err != nil || got != 1 {
		t.Errorf("two ways there and none back: %g on the average: %v", got, err)
	}
}

// fourAddresses is a network with an adapter of four addresses at a port of some of its switches.
func fourAddresses(t *testing.T, b *fabric.Builder, port uint8, at ...fabric.Ref) *fabric.Fabric {
	t.Helper()
	for i, s := range at {
		b.Cable(b.Node(fabric.Node{GUID: fabric.GUID(10 + i), Kind: fabric.Adapter, Ports: 1}, ""), 1, s, port, fabric.Rate{})
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if f, err = f.WithLMC(2); err != nil {
		t.Fatal(err)
	}
	return f
}
