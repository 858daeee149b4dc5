package change

import (
	"slices"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// withLevels is on with the service levels of other, so that hosts that are back have some: otherwise no proof
// would be about their packets. Return calls it, with tables as they act on the fabric of other. Where the two
// give a pair different levels, or their maps differ, it is on as it is, since a plan changes neither.
func withLevels(on, other *routing.Tables) *routing.Tables {
	if on.Lanes == other.Lanes || transition.CostOf(on, other).Maps > 0 {
		return on
	}
	type rows struct{ on, other int32 } // source rows of an endpoint in the two tables
	var pairs []rows
	for e := range on.Fabric.Endpoints() {
		if p := (rows{on.Lanes.Row[e], other.Lanes.Row[e]}); !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	for lid := range on.Fabric.LIDs() {
		a, b := on.Lanes.SLRow(lid), other.Lanes.SLRow(lid)
		for _, p := range pairs {
			if x, y := levelAt(a, p.on), levelAt(b, p.other); x != y && x != routing.NoSL {
				return on
			}
		}
	}
	t := *on
	t.Lanes = other.Lanes
	return &t
}

// levelAt is the service level of source row r; row is nil where all are 0.
func levelAt(row []uint8, r int32) uint8 {
	if row == nil {
		return 0
	}
	return row[r]
}

// withMaps is on, tables as they act on target's fabric, with the SL2VL maps of target at ports that had no cable
// in was, the fabric that they were made for. Return calls it, since files of tables have no maps of such ports.
// It is safe: no packet came by them, and their links are armed after their maps are written.
func withMaps(on *routing.Tables, was *fabric.Fabric, target *routing.Tables) *routing.Tables {
	f, maps, others := target.Fabric, on.Lanes.SL2VL, target.Lanes.SL2VL
	_, oneMap := maps.Uniform()
	_, oneToo := others.Uniform()
	if was == f || maps == others || oneMap && oneToo || maps.AnyByLane() { // there is no plan for maps by lane
		return on
	}
	all := maps.PerPort(f)
	for s := range fabric.NodeID(f.Switches()) {
		w := was.NodeByGUID(f.Node(s).GUID)
		if w == fabric.None {
			continue // all its maps are target's (transition.On)
		}
		ports := uint8(f.Node(s).Ports)
		for in := range ports + 1 {
			for out := range ports + 1 {
				if in > 0 && was.Out(w, in) == fabric.None || out > 0 && was.Out(w, out) == fabric.None {
					all.SetMap(s, in, out, others.Map(s, in, out))
				}
			}
		}
	}
	lanes := *on.Lanes
	lanes.SL2VL = all
	t := *on
	t.Lanes = &lanes
	return &t
}
