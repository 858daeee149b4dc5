package routing

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
)

// LaneLimit is the fewest data lanes that any cable between switches is stated to run
// (fabric.Channel.DataVLs). Packets on a lane that a cable does not run are dropped, so
// tables may use no more of them.
type LaneLimit struct {
	Lanes  int              // 0: of no cable between switches is it stated
	Trunk  fabric.ChannelID // the first that runs no more; None with 0 lanes
	Cables int              // between switches that run no more
	Of     int              // all cables between switches
}

// LimitOf is the lane limit of a fabric.
func LimitOf(f *fabric.Fabric) LaneLimit {
	l := LaneLimit{Trunk: fabric.None, Of: f.Trunks() / 2}
	for c := range fabric.ChannelID(f.Trunks()) {
		ch := f.Channel(c)
		runs := int(ch.DataVLs)
		switch {
		case runs == 0 || ch.Reverse < c || l.Lanes > 0 && runs > l.Lanes:
		case runs == l.Lanes:
			l.Cables++
		default:
			l.Lanes, l.Trunk, l.Cables = runs, c, 1
		}
	}
	return l
}

// Within is lanes, or the limit if that is smaller.
func (l LaneLimit) Within(lanes int) int {
	if l.Lanes > 0 {
		return min(lanes, l.Lanes)
	}
	return lanes
}

// Text says where the limit comes from.
func (l LaneLimit) Text(f *fabric.Fabric) string {
	text := fmt.Sprintf("the cable %s runs %d", f.ChannelLabel(l.Trunk), l.Lanes)
	switch l.Cables {
	case 1:
		return text
	case l.Of:
		return fmt.Sprintf("%s, as do all %d between switches", text, l.Of)
	}
	return fmt.Sprintf("%s, as do %d of %d between switches", text, l.Cables, l.Of)
}

// Refuse is the refusal of more lanes than the limit.
func (l LaneLimit) Refuse(f *fabric.Fabric, lanes int) error {
	ch := f.Channel(l.Trunk)
	return Refuse(f, "packets are dropped on a lane that the cable does not run, so no more lanes are used than each cable between switches runs",
		ch.From, ch.FromPort, "%d data lanes are asked for, and %s", lanes, l.Text(f))
}

// WithinCables is the tables with the lanes on cables to endpoints that these run, see
// SL2VL.WithinCables; t itself if nothing changes.
func (t *Tables) WithinCables() *Tables {
	maps := t.Lanes.SL2VL.WithinCables(t.Fabric)
	if maps == t.Lanes.SL2VL {
		return t
	}
	c, l := *t, *t.Lanes
	l.SL2VL, c.Lanes = maps, &l
	return &c
}

// WithinCables is the map with lanes that a cable to an endpoint does not run replaced by
// others: they begin again at lane 0, as OpenSM would have it. Nothing waits behind the last cable
// of a path, so that closes no loop. It is m itself if all cables run what it names, or if it is
// not known how many they run.
func (m *SL2VL) WithinCables(f *fabric.Fabric) *SL2VL {
	var narrow *SL2VL
	for c := f.Trunks(); c < len(f.Channels()); c++ {
		ch := f.Channel(fabric.ChannelID(c))
		if f.Node(ch.From).Kind != fabric.Switch || ch.DataVLs == 0 {
			continue
		}
		for in := range uint8(f.Node(ch.From).Ports + 1) {
			lane := m.Map(ch.From, in, ch.FromPort)
			within := lane
			for sl, vl := range lane {
				within[sl] = wrapped(ch.DataVLs, vl)
			}
			if within == lane {
				continue
			}
			if narrow == nil {
				narrow = m.PerPort(f)
				narrow.byLane = m.byLane
			}
			narrow.SetMap(ch.From, in, ch.FromPort, within)
		}
	}
	if narrow == nil {
		return m
	}
	return narrow
}

// wrapped is the lane that a cable with so many data lanes runs in place of lane vl: beyond its lanes
// they begin again at 0. VL 15 stays, since packets mapped to it are dropped.
func wrapped(dataVLs, vl uint8) uint8 {
	if vl >= MaxDataVLs || dataVLs >= MaxDataVLs {
		return vl
	}
	return vl % dataVLs
}
