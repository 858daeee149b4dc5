package deadlock

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Switches that look up the lane of a packet by the lane it came in on (routing.SL2VL.Next). The map
// of the two ports is the same, only what it is looked up by differs. chooser follows such packets
// whether anybody chooses or not: it keeps the lanes of every trunk.

// byLane says whether a switch looks up the lane of the packets that are followed by their lane.
func (w *chooser) byLane(s fabric.NodeID) bool { return w.d.t.Lanes.SL2VL.ByLane(s, w.sl) }

// laneAfter is the lane, as a bit, of packets on a lane of a trunk that go on by another, where the
// lane decides it.
func (w *chooser) laneAfter(in, out fabric.ChannelID, lane uint8) uint16 {
	ch := w.f.Channel(in)
	return laneBit(w.d.t.Lanes.SL2VL.VL(ch.To, ch.ToPort, w.f.Channel(out).FromPort, lane))
}

// loses says whether packets on some of the lanes of a trunk are dropped on the way to another.
func (w *chooser) loses(in, out fabric.ChannelID, lanes uint16) bool {
	if w.simple || !w.byLane(w.f.Heads()[in]) {
		return w.nextLanes(in, out, lanes) == 0
	}
	for ; lanes != 0; lanes &= lanes - 1 {
		if w.laneAfter(in, out, uint8(bits.TrailingZeros16(lanes))) == 0 {
			return true
		}
	}
	return false
}

// losesLast says whether packets on some of the lanes are dropped at the port of the destination.
func (w *chooser) losesLast(s fabric.NodeID, in uint8, lanes uint16) bool {
	maps := w.d.t.Lanes.SL2VL
	if !maps.ByLane(s, w.sl) {
		return maps.VL(s, in, w.home, w.sl) >= dropLane
	}
	for ; lanes != 0; lanes &= lanes - 1 {
		if maps.VL(s, in, w.home, uint8(bits.TrailingZeros16(lanes))) >= dropLane {
			return true
		}
	}
	return false
}

// mapped is the lanes, as bits, on which packets that came into a switch on some lanes leave it, by the
// maps of any of the tables; came 0: from an endpoint at the in-port.
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
