package advice

import (
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// One lane is enough by the paths alone: maps and groups by service level neither make a loop on it nor hide one.
func TestOneLane(t *testing.T) {
	byPorts := routed.By(t, "torus:3x3", "updn")
	f := byPorts.Fabric
	in := f.Channel(0)
	byPorts.Lanes.SL2VL = routing.LanePerSL(3).PerPort(f)
	for out := range f.Node(in.To).Ports + 1 {
		byPorts.Lanes.SL2VL.SetMap(in.To, in.ToPort, uint8(out), [routing.SLs]uint8{1, 2})
	}
	byLanes := routed.By(t, "torus:3x3", "updn")
	byLanes.Lanes.SL2VL = routing.LanePerSL(3).PerPort(f)
	byLanes.Lanes.SL2VL.SetByLane(in.To, 1)
	byLevels := routed.By(t, "torus:3x3", "updn")
	byLevels.Groups = routing.NewGroups(byLevels.Fabric, 1)
	byLevels.Groups.SetLevels(in.To, 1)
	for _, x := range []struct {
		name   string
		tables *routing.Tables
		want   bool
	}{
		{"up and down", routed.By(t, "torus:3x3", "updn"), true},
		{"up and down, changing lanes by ports", byPorts, true},
		{"up and down, changing lanes by lanes", byLanes, true},
		{"up and down, no choice on some service levels", byLevels, true},
		{"all ways round a ring", eitherWay(t), false},
		{"minhop", routed.By(t, "ring:5", "minhop"), false},
		{"lanes by service levels", routed.By(t, "torus:5x5", "dfsssp"), false},
		{"lanes by ports", routed.By(t, "slimfly:q=5", "df-d2"), false},
		{"lanes by ports of a Dragonfly", routed.By(t, "dragonfly:p=2", "dla"), false},
	} {
		levels := x.tables.Lanes
		if got, err := OneLane(t.Context(), x.tables, routing.HCA); err != nil || got != x.want {
			t.Errorf("%s: one lane is enough: %v, want %v (%v)", x.name, got, x.want, err)
		}
		if x.tables.Lanes != levels {
			t.Errorf("%s: the tables have other lanes now", x.name)
		}
	}
}

// eitherWay is tables of a ring of four that go up and down, with groups by which packets to the switch across leave
// by either cable.
func eitherWay(t *testing.T) *routing.Tables {
	t.Helper()
	tables := routed.By(t, "ring:4,hosts=1", "updn")
	f := tables.Fabric
	tables.Groups = routing.NewGroups(f, 1)
	for lid, e := range f.LIDs() {
		to := f.Endpoint(e).Switch
		for s := range fabric.NodeID(f.Switches()) {
			var ports routing.PortSet
			near := s == to
			for c, end := f.TrunksFrom(s); c < end; c++ {
				ports.Add(f.Channel(c).FromPort)
				near = near || f.Heads()[c] == to
			}
			if near {
				continue
			}
			tables.Groups.Set(s, 0, ports)
			tables.Groups.Row(0, lid)[s] = routing.ChoiceOf(0, false)
		}
	}
	without := *tables
	without.Groups = nil
	if free, err := OneLane(t.Context(), &without, routing.HCA); err != nil || !free {
		t.Fatalf("without groups: free on one lane %v, %v", free, err)
	}
	return tables
}
