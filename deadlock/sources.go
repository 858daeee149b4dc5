package deadlock

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// group is those sources on one switch whose packets are treated alike: they share a
// row of service levels, and packets entering by their ports are mapped to the same
// lanes.
type group struct {
	rows  []int32             // [tables] the row of service levels
	index int                 // its number among the groups of all switches
	from  []fabric.EndpointID // the sources
	port  uint8               // the in-port of the first: packets by those of the others are treated alike; 0: it is the switch itself
	start int                 // where the lanes by which its packets leave the switch begin in laneMaps.start
}

// groupSources lists the sources in scope on every switch, grouped by how all of the
// tables treat them.
func groupSources(scope routing.Scope, tables ...*routing.Tables) [][]group {
	f := tables[0].Fabric
	groups := make([][]group, f.Switches())
	index := 0
	rows := make([]int32, len(tables))
	for s := range groups {
		for _, e := range f.Attached(fabric.NodeID(s)) {
			if scope.Includes(f.Endpoint(e).Class) {
				groups[s] = addSource(groups[s], fabric.NodeID(s), e, tables, rows)
			}
		}
		for i := range groups[s] {
			groups[s][i].index = index
			index++
		}
	}
	return groups
}

// addSource adds a source to the groups of its switch; rows is scratch.
func addSource(groups []group, s fabric.NodeID, e fabric.EndpointID, tables []*routing.Tables, rows []int32) []group {
	for i, t := range tables {
		rows[i] = t.Lanes.Row[e]
	}
	port := tables[0].Fabric.LastPort(tables[0].Fabric.Endpoint(e))
	for i := range groups {
		g := &groups[i]
		differs := func(t *routing.Tables) bool { return !sameFrom(t, s, g.port, port) }
		if slices.Equal(g.rows, rows) && !slices.ContainsFunc(tables, differs) {
			g.from = append(g.from, e)
			return groups
		}
	}
	from := make([]fabric.EndpointID, 0, len(tables[0].Fabric.Attached(s))) // mostly all are alike
	return append(groups, group{rows: slices.Clone(rows), from: append(from, e), port: port})
}

// sameFrom reports whether tables treat packets alike that enter a switch by either of two ports.
func sameFrom(t *routing.Tables, s fabric.NodeID, port, other uint8) bool {
	switch {
	case !t.Lanes.SL2VL.SameFrom(s, port, other):
		return false
	case t.Lanes.SL2VL.AnyByLane() && lanesAt(t.Fabric, s, port) != lanesAt(t.Fabric, s, other):
		return false // sources send on other lanes where the cable has fewer, and switches look up lanes by those
	}
	return t.Groups == nil || t.Groups.SameFrom(s, port, other)
}

// unaddressable reports whether the sources of a group may use no LID of an endpoint, which
// cuts them off. It does so at the base LID alone, so that each pair is counted once.
func (d *derivation) unaddressable(g *group, lid fabric.LID, to *fabric.Endpoint) bool {
	if lid != to.LID {
		return false
	}
	for l := range to.LIDs() {
		if d.t.Lanes.SLRow(l)[g.rows[0]] != routing.NoSL {
			return false
		}
	}
	return true
}

// lanesAt is how many data lanes the cable at a port of a switch runs; 0: not known, or no cable.
func lanesAt(f *fabric.Fabric, s fabric.NodeID, port uint8) uint8 {
	if c := f.Out(s, port); port != 0 && c != fabric.None {
		return f.Channel(c).DataVLs
	}
	return 0
}

// sourceLane is the lane on which an endpoint at a port of a switch sends.
func (d *derivation) sourceLane(s fabric.NodeID, port, sl uint8) uint8 {
	return routing.SourceLane(lanesAt(d.t.Fabric, s, port), sl)
}
