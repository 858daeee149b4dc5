package congestion_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/loads"
	"github.com/weft-fabric/weft/internal/testnet/routed"
	"github.com/weft-fabric/weft/routing"
)

// The lanes together carry what Count counts.
func TestLaneLoads(t *testing.T) {
	for _, c := range [][2]string{{"torus:4x4,hosts=2", "dfsssp"}, {"torus:5x5,hosts=1", "torus-2qos"}, {"dragonfly:p=2", "df-dn"}, {"ring:5", "sssp"}} {
		tables := routed.By(t, c[0], c[1])
		lanes, err := laneLoads(context.Background(), tables, routing.HCA)
		if err != nil {
			t.Fatal(err)
		}
		hops, most := int64(0), uint32(0)
		pairs := pairsOnLanes(tables, routing.HCA)
		for _, l := range lanes {
			hops += l.Hops
			most = max(most, l.Most)
			if l.Pairs != pairs[l.VL] {
				t.Errorf("%s on %s: VL %d is on the way of %d pairs, want %d", c[1], c[0], l.VL, l.Pairs, pairs[l.VL])
			}
		}
		all := congestion.Count(tables.Fabric, tables.Forwarding, routing.HCA)
		if hops != all.Hops || most > all.Max || (len(lanes) == 1) != (c[1] == "sssp") {
			t.Errorf("%s on %s: %+v, in all %d hops, most %d", c[1], c[0], lanes, all.Hops, all.Max)
		}
	}
}

// pairsOnLanes walks every pair and counts it once on each lane of its trunks.
func pairsOnLanes(t *routing.Tables, scope routing.Scope) map[uint8]int64 {
	f, pairs := t.Fabric, map[uint8]int64{}
	for _, from := range scope.Endpoints(f) {
		for lid := range scope.LIDs(f) {
			src, dst := f.Endpoint(from), f.Endpoint(f.Owner(lid))
			lanes := map[uint8]bool{}
			at, in := src.Switch, f.LastPort(src)
			for at != dst.Switch {
				ch := f.Channel(f.Out(at, t.Forwarding.Port(at, lid)))
				lanes[t.Lanes.SL2VL.VL(at, in, ch.FromPort, t.Lanes.SL(from, lid))] = true
				at, in = ch.To, ch.ToPort
			}
			for vl := range lanes {
				pairs[vl]++
			}
		}
	}
	return pairs
}

// On any tables, pair by pair.
func TestAnyLaneLoads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tables := anyTables(t)
		f := tables.Fabric
		want := map[fabric.ChannelID]uint32{}
		hops, pairs := int64(0), int64(0)
		for to := range f.Endpoints() {
			dst := f.Endpoint(fabric.EndpointID(to))
			for a := range fabric.LID(1) << dst.LMC {
				for from := range f.Endpoints() {
					at := f.Endpoint(fabric.EndpointID(from)).Switch
					var way []fabric.ChannelID
					for len(way) <= f.Switches() && at != dst.Switch {
						c := f.Out(at, tables.Forwarding.Port(at, dst.LID+a))
						if c == fabric.None || int(c) >= f.Trunks() {
							break
						}
						way = append(way, c)
						at = f.Channel(c).To
					}
					last := f.Out(dst.Switch, tables.Forwarding.Port(dst.Switch, dst.LID+a))
					if own := dst.Class == fabric.SwitchPort; own && tables.Forwarding.Port(dst.Switch, dst.LID) != 0 || last != dst.Deliver {
						continue
					}
					if at == dst.Switch && len(way) <= f.Switches() && tables.Lanes.SL(fabric.EndpointID(from), dst.LID+a) != routing.NoSL {
						for _, c := range way {
							want[c]++
							hops++
						}
						pairs += int64(min(1, len(way)))
					}
				}
			}
		}
		most := uint32(0)
		for _, n := range want {
			most = max(most, n)
		}
		lanes, err := laneLoads(context.Background(), tables, routing.All)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) == 0 {
			if len(lanes) != 0 {
				t.Fatalf("%+v without routes", lanes)
			}
			return
		}
		if diff := cmp.Diff([]loads.Lane{{VL: 0, Hops: hops, Pairs: pairs, Trunks: len(want), Most: most}}, lanes); diff != "" {
			t.Fatal(diff)
		}
	})
}

// laneLoads is the loads of the lanes in use.
func laneLoads(ctx context.Context, tables *routing.Tables, scope routing.Scope) ([]loads.Lane, error) {
	r, err := congestion.CountLanes(ctx, tables, scope)
	if err != nil {
		return nil, err
	}
	return loads.Lanes(r), nil
}
