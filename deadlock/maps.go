package deadlock

import (
	"bytes"
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// laneMaps is SL2VL maps that differ from port to port, laid out in the order in which
// the walkers read them (by turn, for the service levels in use only), so that they stay
// in the cache. L is a lane or, for the maps of several tables together, lanes as bits.
type laneMaps[L uint8 | uint16] struct {
	index  [routing.SLs]uint8 // [SL] its index among the service levels in use
	used   int                // service levels in use
	levels []uint8            // these, by index
	lanes  []L                // [turn × used + index]
	start  []L                // [group.start + out-port × used + index] where a group leaves its switch
}

// lane is that of the second trunk of a turn.
func (m *laneMaps[L]) lane(turn int, sl uint8) L { return m.lanes[turn*m.used+int(m.index[sl])] }

// first is the lane on which packets of a group leave their switch by an out-port.
func (m *laneMaps[L]) first(g *group, out, sl uint8) L {
	return m.start[g.start+int(out)*m.used+int(m.index[sl])]
}

// newLaneMaps lays out what vl says of the service levels sls, which are bits.
func newLaneMaps[L uint8 | uint16](f *fabric.Fabric, sls uint16, groups [][]group, vl func(s fabric.NodeID, in, out, sl uint8) L) *laneMaps[L] {
	m := &laneMaps[L]{used: bits.OnesCount16(sls)}
	for mask := sls; mask != 0; mask &= mask - 1 {
		sl := uint8(bits.TrailingZeros16(mask))
		m.index[sl] = uint8(len(m.levels))
		m.levels = append(m.levels, sl)
	}
	m.lanes = make([]L, 0, f.Turns()*m.used)
	for in := range fabric.ChannelID(f.Trunks()) {
		s, inPort := f.Heads()[in], f.Channel(in).ToPort
		first, end := f.TrunksFrom(s)
		for out := first; out < end; out++ {
			for _, sl := range m.levels {
				m.lanes = append(m.lanes, vl(s, inPort, f.Channel(out).FromPort, sl))
			}
		}
	}
	for s := range groups {
		for i := range groups[s] {
			g := &groups[s][i]
			g.start = len(m.start)
			for out := range f.Node(fabric.NodeID(s)).Ports + 1 {
				for _, sl := range m.levels {
					m.start = append(m.start, vl(fabric.NodeID(s), g.port, uint8(out), sl))
				}
			}
		}
	}
	return m
}

// onlyLevel is the service level of all pairs that have one, if it is the same for them, and whether all destinations
// have the same row of them.
func onlyLevel(t *routing.Tables) (only uint8, one, row bool) {
	if t.Lanes.SLRow(0) == nil {
		return 0, true, true
	}
	rows := 0
	seen := uint16(0)
	var before []uint8
	for lid := range t.Fabric.LIDs() {
		row := t.Lanes.SLRow(lid)
		if bytes.Equal(row, before) {
			continue // as nearly always where there is but one
		}
		for _, sl := range row {
			seen |= bit(sl)
		}
		if bits.OnesCount16(seen) > 1 {
			return 0, false, false
		}
		before = row
		rows++
	}
	return uint8(bits.TrailingZeros16(max(seen, bit(0)))), true, rows <= 1
}

// ignoresSL reports whether packets are treated alike on all service levels.
func ignoresSL(t *routing.Tables) bool {
	return t.Lanes.SL2VL.IgnoresSL() && (t.Groups == nil || t.Groups.IgnoresSL())
}

// representatives is those of some service levels that must be followed: only the
// lowest, where all of the tables treat them alike and drop none.
func representatives(tables []*routing.Tables, sls uint16) uint16 {
	for _, t := range tables {
		if !ignoresSL(t) {
			return sls
		}
		dropped := false
		eachLane(t, func(vl uint8) { dropped = dropped || vl >= dropLane })
		if dropped {
			return sls
		}
	}
	return sls & -sls
}

// eachLane visits the lane of every service level through every switch from every port
// to every other.
func eachLane(t *routing.Tables, visit func(vl uint8)) {
	if lane, ok := t.Lanes.SL2VL.Uniform(); ok {
		for _, vl := range lane {
			visit(vl)
		}
		return
	}
	for s := range fabric.NodeID(t.Fabric.Switches()) {
		ports := uint8(t.Fabric.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				for _, vl := range t.Lanes.SL2VL.Map(s, in, out) {
					visit(vl)
				}
			}
		}
	}
}
