package psl

import (
	"bytes"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// build makes the result when all lines are read: it groups the endpoints into rows and fills them in.
func (p *parser) build(m *routing.SL2VL) *routing.Lanes {
	row := make([]int32, len(p.f.Endpoints()))
	levels := make([][]uint8, p.f.Switches()) // [row][LID], nil: SL 0
	for s := range fabric.NodeID(p.f.Switches()) {
		levels = p.group(s, row, levels)
	}
	var l *routing.Lanes
	if len(levels) == p.f.Switches() {
		l = routing.NewLanes(p.f, m)
	} else {
		l = routing.NewLanesByRow(p.f, m, row, len(levels))
	}
	for lid := range p.f.LIDs() {
		byRow := l.SLRow(lid)
		for r, ofRow := range levels {
			if ofRow != nil && ofRow[lid] != unset {
				byRow[r] = ofRow[lid]
			}
		}
	}
	return l
}

// group gives the endpoints of a switch their rows, [endpoint]: those with the service levels of
// the first share the row of the switch, the others get new ones. It returns levels, [row][LID], with the new rows.
func (p *parser) group(s fabric.NodeID, row []int32, levels [][]uint8) [][]uint8 {
	rows := []int32{int32(s)}
	hasLevels := false // the row of the switch has its service levels
	for _, e := range p.f.Attached(s) {
		own := p.levels(s, e)
		row[e] = int32(s)
		switch {
		case own == nil && !p.compact:
			continue // shares the row of the switch
		case !hasLevels:
			levels[s], hasLevels = p.baseLevels(own), true
			continue
		}
		at := slices.IndexFunc(rows, func(r int32) bool { return p.joins(levels[r], own) })
		if at >= 0 {
			row[e] = rows[at]
			continue
		}
		row[e] = int32(len(levels))
		rows = append(rows, row[e])
		levels = append(levels, p.baseLevels(own))
	}
	return levels
}

// baseLevels is the service levels of a new row, from its first endpoint. In the full
// form they are copied, because other endpoints add to them.
func (p *parser) baseLevels(own []uint8) []uint8 {
	if p.compact {
		return own
	}
	return bytes.Clone(own)
}

// joins reports whether an endpoint with some service levels of its own can share a row, [LID]. In the compact form unset means 0. In
// the full form unset means unknown, and the row then takes over what the endpoint adds.
func (p *parser) joins(row, own []uint8) bool {
	if bytes.Equal(row, own) {
		return true
	}
	if p.compact {
		for lid := range max(len(row), len(own)) {
			if levelAt(row, lid) != levelAt(own, lid) {
				return false
			}
		}
		return true
	}
	for lid, sl := range own {
		if sl != unset && row[lid] != unset && row[lid] != sl {
			return false
		}
	}
	for lid, sl := range own {
		if sl != unset {
			row[lid] = sl
		}
	}
	return true
}

// levels is what the file says of an endpoint, [LID], nil if nothing. The most
// specific line wins: port, then node, then switch.
func (p *parser) levels(s fabric.NodeID, e fabric.EndpointID) []uint8 {
	node := p.f.Endpoint(e).Node
	lines := [3][]uint8{p.byPort[e], p.byNode[node], nil} // the most specific first
	if p.compact {
		lines[2] = p.byNode[s]
	}
	var own []uint8
	shared := true // own is not a copy yet
	for _, more := range lines {
		switch {
		case more == nil:
		case own == nil:
			own = more
		default:
			if shared {
				own, shared = bytes.Clone(own), false
			}
			for lid, sl := range more {
				if own[lid] == unset {
					own[lid] = sl
				}
			}
		}
	}
	return own
}

// levelAt is the service level for a LID in the compact form, where what is not there is 0.
func levelAt(levels []uint8, lid int) uint8 {
	if lid >= len(levels) || levels[lid] == unset {
		return 0
	}
	return levels[lid]
}
