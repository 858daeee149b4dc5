package deadlock

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// laneMaps is an SL2VL map that differs from port to port, laid out in the order in
// which the walkers read it (by turn, for the service levels in use only), so that it
// stays in the cache.
type laneMaps struct {
	index [routing.SLs]uint8 // [SL] its index among the service levels in use
	used  int                // service levels in use
	lanes []uint8            // [turn × used + index]
	start []uint8            // [group.start + out-port × SLs + SL] the lane on which a group leaves its switch
}

// lane is the lane of the second trunk of a turn.
func (m *laneMaps) lane(turn int, sl uint8) uint8 { return m.lanes[turn*m.used+int(m.index[sl])] }

// first is the lane on which packets of a group leave their switch by an out-port.
func (m *laneMaps) first(g *group, out, sl uint8) uint8 {
	return m.start[g.start+int(out)*routing.SLs+int(sl)]
}

// newLaneMaps reads the map for the service levels that packets can have: those in
// fixed or, if that is 0, those of the tables.
func newLaneMaps(t *routing.Tables, fixed uint16, groups [][]group) *laneMaps {
	m := &laneMaps{}
	var sls []uint8
	for mask := slsInUse(t, fixed); mask != 0; mask &= mask - 1 {
		sl := uint8(bits.TrailingZeros16(mask))
		m.index[sl] = uint8(len(sls))
		sls = append(sls, sl)
	}
	m.used = len(sls)
	f, sl2vl := t.Fabric, t.Lanes.SL2VL
	m.lanes = make([]uint8, f.Turns()*m.used)
	for in := range fabric.ChannelID(f.Trunks()) {
		s, inPort := f.Heads()[in], f.Channel(in).ToPort
		first, end := f.TrunksFrom(s)
		for out := first; out < end; out++ {
			at := m.lanes[f.Turn(in, out)*m.used:]
			for i, sl := range sls {
				at[i] = sl2vl.VL(s, inPort, f.Channel(out).FromPort, sl)
			}
		}
	}
	for s := range groups {
		for i := range groups[s] {
			m.addStart(f, sl2vl, fabric.NodeID(s), &groups[s][i], sls)
		}
	}
	return m
}

// addStart adds the lanes on which the sources of a group on switch s start.
func (m *laneMaps) addStart(f *fabric.Fabric, sl2vl *routing.SL2VL, s fabric.NodeID, g *group, sls []uint8) {
	ports := f.Node(s).Ports + 1
	g.start = len(m.start)
	m.start = append(m.start, make([]uint8, ports*routing.SLs)...)
	for out := range ports {
		for _, sl := range sls {
			m.start[g.start+out*routing.SLs+int(sl)] = sl2vl.VL(s, g.port, uint8(out), sl)
		}
	}
}

// representatives is those of some service levels that must be followed: only the
// lowest, where the map treats all of them alike and drops none.
func representatives(t *routing.Tables, sls uint16) uint16 {
	if !t.Lanes.SL2VL.IgnoresSL() {
		return sls
	}
	for s := range fabric.NodeID(t.Fabric.Switches()) {
		ports := uint8(t.Fabric.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				if t.Lanes.SL2VL.VL(s, in, out, 0) >= dropLane {
					return sls
				}
			}
		}
	}
	return sls & -sls
}

// slsInUse is the service levels that packets can have, as bits.
func slsInUse(t *routing.Tables, fixed uint16) uint16 {
	if fixed != 0 {
		return fixed
	}
	mask := uint16(0)
	for lid := range t.Fabric.LIDs() {
		row := t.Lanes.SLRow(lid)
		if row == nil {
			return 1 // SL 0 everywhere
		}
		for _, sl := range row {
			mask |= 1 << sl // routing.NoSL is beyond all bits
		}
	}
	return mask
}
