package packets_test

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
)

// byLane is tables whose switches all look up the lane of packets on SL 0 by the lane they came on.
func byLane(t *routing.Tables, maps *routing.SL2VL) *routing.Tables {
	for s := range fabric.NodeID(t.Fabric.Switches()) {
		maps.SetByLane(s, 1)
	}
	other := *t
	other.Lanes = routing.OneSL(t.Fabric, maps)
	return &other
}

// A ring whose packets go to lane 1 where they pass a cable, and stay there, which only maps by
// lanes can say, is proven, and drains what stops it where the same maps are looked up by service
// levels.
func TestDatelineByLane(t *testing.T) {
	f := testnet.Build(t, "ring:5")
	dateline := func() *routing.SL2VL {
		maps := routing.LanePerSL(2).PerPort(f)
		for in := range uint8(f.Node(2).Ports) {
			maps.Set(2, in+1, 2, 0, 1)
		}
		return maps
	}
	by := clockwise(f)
	by.Lanes = routing.OneSL(f, dateline())
	lanes := byLane(by, dateline())
	if loop := judged(t, by); loop.Free() || !judged(t, lanes).Free() {
		t.Fatal("not the tables that this test is about")
	}
	r, err := network(t, by).Replay(t.Context(), stepsOf(judged(t, by)), 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Result.Deadlock == nil {
		t.Fatalf("by service levels: %s", r.Result.Status)
	}
	drained, err := r.On(t.Context(), network(t, lanes))
	if err != nil {
		t.Fatal(err)
	}
	if drained.Status != packets.Completed || drained.Arrived != int64(len(r.Messages)) {
		t.Errorf("by lanes: %s, %d of %d packets arrive", drained.Status, drained.Arrived, len(r.Messages))
	}
}

// Endpoints that send on any lane would choose the row of the map: a switch that puts each lane on
// the next would have packets leave on lanes that there are not.
func TestAnyLaneByLane(t *testing.T) {
	f := testnet.Build(t, "mesh:2")
	tables := route(t, f, "minhop", 1)
	maps := routing.UniformSL2VL([routing.SLs]uint8{1, 2, 3}).PerPort(f)
	config := packets.Presets()[0].Config
	config.Flits, config.AnyLane = true, true
	plain := *tables
	plain.Lanes = routing.OneSL(f, maps)
	if _, err := packets.New(&plain, config); err != nil {
		t.Fatal(err)
	}
	if _, err := packets.New(byLane(tables, maps), config); err == nil || !strings.Contains(err.Error(), "by the lane it came in on") {
		t.Errorf("any lane where lanes are looked up by lanes: %v", err)
	}
}

// Layers that keep rings of a torus apart do not where switches change the lanes of packets from
// hop to hop: the judge's loop stops the network.
func TestMixedLayersStop(t *testing.T) {
	f := testnet.Build(t, "torus:5x5")
	tables := *route(t, f, "lash", 2)
	maps := routing.UniformSL2VL([routing.SLs]uint8{1, 0}).PerPort(f)
	lanes := *tables.Lanes
	lanes.SL2VL = maps
	tables.Lanes = &lanes
	if !judged(t, &tables).Free() {
		t.Fatal("the layers are not proven")
	}
	for s := range fabric.NodeID(f.Switches()) {
		maps.SetByLane(s, 3)
	}
	v := judged(t, &tables)
	if v.Free() {
		t.Fatal("the judge finds no loop by lanes")
	}
	r, err := network(t, &tables).Replay(t.Context(), stepsOf(v), 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Result.Deadlock == nil {
		t.Fatalf("%s after %d packets in %d attempts", r.Result.Status, r.Result.Arrived, r.Attempt)
	}
}

// Packets meet the row of their lane in tables of every kind; looked up by their service level they
// would be dropped.
func TestRowOfTheLane(t *testing.T) {
	tables := spanned(t, "mesh:3,hosts=1")
	f := tables.Fabric
	maps := routing.UniformSL2VL([routing.SLs]uint8{15, 2, 1}).PerPort(f) // lanes 1 and 2 in turn
	hosts := routing.HCA.Endpoints(f)
	for _, e := range hosts {
		from := f.Endpoint(e)
		for out := range uint8(f.Node(from.Switch).Ports) {
			maps.Set(from.Switch, f.LastPort(from), out+1, 0, 1)
		}
	}
	by := byLane(tables, maps)
	by.Multicast = tables.Multicast
	unicast := []packets.Message{{From: hosts[0], To: hosts[2], Bytes: 9000}, {From: hosts[2], To: hosts[0], Bytes: 9000}, {From: hosts[1], To: hosts[2], Bytes: 9000}}
	groups := *by
	groups.Groups = routing.NewGroups(f, 1)
	for lid := range f.LIDs() {
		for s, port := range by.Forwarding.Row(lid) {
			groups.Groups.Set(fabric.NodeID(s), int(lid), routing.PortSet{})
			if port != routing.NoPort && port != 0 {
				groups.Groups.Row(0, lid)[s] = routing.ChoiceOf(int(lid), false)
			}
		}
	}
	config := packets.Presets()[0].Config
	plain, err := packets.New(by, config)
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := packets.New(&groups, config)
	if err != nil {
		t.Fatal(err)
	}
	rewritten, err := packets.NewRewritten(by, []packets.Rewrite{packets.Writing{}.Rewrites([]*routing.Tables{by})[0]}, config)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		n        *packets.Network
		messages []packets.Message
		arrive   int64
	}{
		{"by tables", plain, unicast, 3},
		{"by groups", chosen, unicast, 3},
		{"by tables that are rewritten", rewritten, unicast, 3},
		{"to a group", plain, []packets.Message{toGroup(hosts[0])}, 2},
	} {
		r, err := c.n.Complete(t.Context(), [][]packets.Message{c.messages}, 1, 0)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if per := r.Created / int64(len(c.messages)); r.Status != packets.Completed || r.Dropped != 0 || r.Arrived < c.arrive || c.n.Lanes() != 3 {
			t.Errorf("%s: %s, %d arrive, %d dropped, %d a message, %d lanes", c.name, r.Status, r.Arrived, r.Dropped, per, c.n.Lanes())
		}
	}
}
