package congestion_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// A source that may not send to the first address of a destination sends to the second, whose route is the
// longest of all here: it must be in the table as every other.
func TestLongestToSecondAddress(t *testing.T) {
	var b fabric.Builder
	rate := fabric.Rate{Width: 4, Speed: fabric.EDR}
	var switches [3]fabric.Ref
	for i := range switches {
		switches[i] = b.Node(fabric.Node{GUID: fabric.GUID(i + 1), Ports: 4}, "")
	}
	b.Cable(switches[0], 1, switches[2], 1, rate) // the direct one
	b.Cable(switches[0], 2, switches[1], 1, rate)
	b.Cable(switches[1], 2, switches[2], 2, rate)
	for i, at := range [2]fabric.Ref{switches[0], switches[2]} {
		h := b.Node(fabric.Node{GUID: fabric.GUID(100 + i), Kind: fabric.Adapter, Ports: 1}, "")
		b.Port(h, 1, fabric.Port{LMC: 1})
		b.Cable(h, 1, at, 3, rate)
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	node := func(guid fabric.GUID) fabric.NodeID { return f.NodeByGUID(guid) }
	end := func(guid fabric.GUID) fabric.EndpointID { return endpointOf(f, byte(guid)) }
	from, to := end(100), end(101)
	fw, lanes := routing.NewForwarding(f), routing.NewLanes(f, routing.LanePerSL(1))
	for lid := range f.Endpoint(from).LIDs() {
		fw.Row(lid)[node(1)], fw.Row(lid)[node(3)] = 3, 1
	}
	first := f.Endpoint(to).LID
	fw.Row(first)[node(1)], fw.Row(first)[node(3)] = 1, 3
	fw.Row(first + 1)[node(1)], fw.Row(first + 1)[node(2)], fw.Row(first + 1)[node(3)] = 2, 2, 3
	lanes.SLRow(first)[lanes.Row[from]] = routing.NoSL

	r, err := congestion.Simulate(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: lanes}, congestion.Options{
		Pattern: fixed{{From: 0, To: 1}}, Placement: traffic.Placement{from, to},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c := f.Out(node(1), 2); !r.Table || r.Sum[c] != 1 || r.Lost != 0 {
		t.Errorf("from a table of routes: %v; %v flows go round, %d are lost; want true, 1 and 0", r.Table, r.Sum[c], r.Lost)
	}
}
