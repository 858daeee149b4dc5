package deadlock

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// mapped is the lanes, as bits, on which packets that came into a switch on some lanes leave it, by the
// maps of any of the tables; came 0: from an endpoint at the in-port.
//
// Where a switch looks up the lane of a packet by the lane that it came in on (routing.SL2VL.Next), the map of the two
// ports is the same; only what it is looked up by differs.
func mapped(tables []*routing.Tables, s fabric.NodeID, in, out, sl uint8, came uint16) (lanes uint16) {
	for _, t := range tables {
		maps := t.Lanes.SL2VL
		if !maps.ByLane(s, sl) {
			lanes |= 1 << min(maps.VL(s, in, out, sl), dropLane)
			continue
		}
		if came == 0 {
			came = bit(routing.SourceLane(lanesAt(t.Fabric, s, in), sl))
		}
		for m := came; m != 0; m &= m - 1 {
			lanes |= 1 << min(maps.VL(s, in, out, uint8(bits.TrailingZeros16(m))), dropLane)
		}
	}
	return lanes
}

// levelsByLane is the service levels, as bits, on which switches look up lanes by lanes by any of the
// tables, [switch]; nil: there are none.
func levelsByLane(tables []*routing.Tables) []uint16 {
	var levels []uint16
	for _, t := range tables {
		if !t.Lanes.SL2VL.AnyByLane() {
			continue
		}
		if levels == nil {
			levels = make([]uint16, t.Fabric.Switches())
		}
		for s := range levels {
			levels[s] |= t.Lanes.SL2VL.LevelsByLane(fabric.NodeID(s))
		}
	}
	return levels
}
