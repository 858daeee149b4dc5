package change

import (
	"slices"

	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/transition"
)

// withLevels is tables as they act on the fabric of others, with the service levels of these for
// endpoints that the tables do not know: without any, no proof would be about the packets of hosts
// that are back. Where the two give a pair different levels, or maps differ, it is the tables as
// they are: a plan changes neither.
func withLevels(on, other *routing.Tables) *routing.Tables {
	if on.Lanes == other.Lanes || transition.CostOf(on, other).Maps > 0 {
		return on
	}
	type rows struct{ on, other int32 }
	var pairs []rows
	for e := range on.Fabric.Endpoints() {
		if p := (rows{on.Lanes.Row[e], other.Lanes.Row[e]}); !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	for lid := range on.Fabric.LIDs() {
		a, b := on.Lanes.SLRow(lid), other.Lanes.SLRow(lid)
		for _, p := range pairs {
			if x, y := level(a, p.on), level(b, p.other); x != y && x != routing.NoSL {
				return on
			}
		}
	}
	return &routing.Tables{Fabric: on.Fabric, Forwarding: on.Forwarding, Lanes: other.Lanes, Multicast: on.Multicast}
}

// level is the service level of a row, nil where all are 0.
func level(row []uint8, r int32) uint8 {
	if row == nil {
		return 0
	}
	return row[r]
}
