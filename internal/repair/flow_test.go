package repair

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// ringFlow is the flow of tables of a ring in which everything goes the same way round.
func ringFlow(t *testing.T, maps func(f *fabric.Fabric) *routing.SL2VL) (*flow, *routing.Tables) {
	t.Helper()
	f := testnet.Build(t, "ring:4,hosts=1")
	tables := &routing.Tables{Fabric: f, Forwarding: routing.NewForwarding(f), Lanes: routing.OneSL(f, maps(f))}
	for lid := range f.LIDs() {
		for s := range fabric.NodeID(f.Switches()) {
			if first, _ := f.TrunksFrom(s); s != homeOf(f, lid) {
				tables.Forwarding.Row(lid)[s] = f.Channel(first).FromPort
			}
		}
	}
	l := newLevels(tables, Options{Contract: routing.Honored, Scope: routing.Adapters})
	return newFlow(f, tables.Lanes.SL2VL, l), tables
}

// A lane counts that packets have only if they come by the last port of a switch.
func TestTopLane(t *testing.T) {
	const lane = 3
	w, _ := ringFlow(t, func(f *fabric.Fabric) *routing.SL2VL {
		maps := routing.UniformSL2VL([routing.SLs]uint8{}).PerPort(f)
		first, _ := f.TrunksFrom(0)
		maps.Set(0, uint8(f.Node(0).Ports), f.Channel(first).FromPort, 0, lane)
		return maps
	})
	if w.lanes != lane+1 {
		t.Errorf("%d lanes, want %d", w.lanes, lane+1)
	}
}

// The pairs of a LID are counted once, whatever was counted before.
func TestAddLoad(t *testing.T) {
	w, tables := ringFlow(t, func(*fabric.Fabric) *routing.SL2VL { return routing.UniformSL2VL([routing.SLs]uint8{}) })
	loads := func(lids ...fabric.LID) []int64 {
		load := make([]int64, w.f.Trunks())
		for _, lid := range lids {
			w.begin(tables.Forwarding.Row(lid), lid)
			w.addLoad(load, 1)
		}
		return load
	}
	hosts := routing.HCA.Endpoints(w.f)
	one, other := w.f.Endpoint(hosts[0]).LID, w.f.Endpoint(hosts[2]).LID
	want := loads(one)
	for c, n := range loads(other) {
		want[c] += n
	}
	if got := loads(one, other); slices.Max(got) == 0 || !slices.Equal(got, want) {
		t.Errorf("one after the other: %v, each alone: %v", got, want)
	}
}
