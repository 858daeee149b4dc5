package psl

import (
	"bytes"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// build groups the endpoints into rows and fills them in.
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
		into := l.SLRow(lid)
		for r, from := range levels {
			if from != nil && from[lid] != unset {
				into[r] = from[lid]
			}
		}
	}
	return l
}

// group gives the endpoints of a switch their rows: those with the service levels of
// the first share the row of the switch, the others get new ones.
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
		at := slices.IndexFunc(rows, func(r int32) bool { return p.alike(levels[r], own) })
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

// alike reports whether an endpoint can share a row. In the compact form unset means 0. In
// the full form unset means unknown, and the row takes over what the endpoint adds.
func (p *parser) alike(row, own []uint8) bool {
	if bytes.Equal(row, own) {
		return true
	}
	if p.compact {
		for lid := range max(len(row), len(own)) {
			if at(row, lid) != at(own, lid) {
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
	from := [3][]uint8{p.byPort[e], p.byNode[node], nil}
	if p.compact {
		from[2] = p.byNode[s]
	}
	var own []uint8
	shared := true
	for _, more := range from {
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

func at(levels []uint8, lid int) uint8 {
	if lid >= len(levels) || levels[lid] == unset {
		return 0
	}
	return levels[lid]
}
