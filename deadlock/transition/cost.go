package transition

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Cost is what a subnet manager has to write for a change, counted over LIDs that are
// assigned.
type Cost struct {
	Entries  int   // entries of forwarding tables that differ
	Due      int   // entries that had to change: the old one loses packets, the new one does not
	Blocks   int   // blocks of 64 LIDs at a switch with an entry that differs: one management packet writes a block
	Switches int   // switches with such a block, or with one of Choices
	SLs      int64 // (source row of the new tables, LID) to which both tables give an SL, but not the same
	Maps     int   // SL2VL cells (switch, in-port, out-port, SL) that differ, of ports with a cable and of port 0
	Choices  int   // (switch, private table, LID) with another group of ports to choose from, or other ports in it

	BySwitch []int // [switch] entries that differ
}

// CostOf counts what differs between two tables for one fabric.
func CostOf(old, next *routing.Tables) Cost {
	f := next.Fabric
	c := Cost{BySwitch: make([]int, f.Switches())}
	last := make([]int, f.Switches()) // [switch] the last block counted, plus one
	for lid, owner := range f.LIDs() {
		e := f.Endpoint(owner)
		from, to := old.Forwarding.Row(lid), next.Forwarding.Row(lid)
		for s := range from {
			if from[s] == to[s] {
				continue
			}
			c.BySwitch[s]++
			if b := int(lid)/routing.BlockLIDs + 1; last[s] != b {
				last[s] = b
				c.Blocks++
			}
			if !leads(f, fabric.NodeID(s), from[s], e) && leads(f, fabric.NodeID(s), to[s], e) {
				c.Due++
			}
		}
	}
	choices := choicesThatDiffer(old, next)
	for s, n := range c.BySwitch {
		c.Entries += n
		c.Choices += choices[s]
		if n+choices[s] > 0 {
			c.Switches++
		}
	}
	c.SLs, c.Maps = slsThatDiffer(old, next), mapsThatDiffer(old, next)
	return c
}

// leads reports whether an entry for an endpoint forwards packets to another switch, or
// delivers them.
func leads(f *fabric.Fabric, s fabric.NodeID, port uint8, e *fabric.Endpoint) bool {
	if s == e.Switch && port == f.LastPort(e) {
		return true
	}
	return f.Trunk(s, port) != fabric.None
}

// slsThatDiffer compares the SLs of all endpoints. Those with one row in the new tables may have several in the old ones:
// a host that came back there has the levels of a neighbour.
func slsThatDiffer(old, next *routing.Tables) int64 {
	type sources struct {
		was []int32 // rows of the old tables, each once
		all []fabric.EndpointID
	}
	f := next.Fabric
	rows := make([]sources, next.Lanes.Rows) // an endpoint for each row of the old tables that it has there
	for i, e := range f.Endpoints() {
		if r := &rows[next.Lanes.Row[i]]; e.Switch != fabric.None && !slices.Contains(r.was, old.Lanes.Row[i]) {
			r.was, r.all = append(r.was, old.Lanes.Row[i]), append(r.all, fabric.EndpointID(i))
		}
	}
	n := int64(0)
	for lid := range f.LIDs() {
		for _, r := range rows {
			if slices.ContainsFunc(r.all, func(e fabric.EndpointID) bool {
				a, b := old.Lanes.SL(e, lid), next.Lanes.SL(e, lid)
				return a != b && a != routing.NoSL && b != routing.NoSL
			}) {
				n++
			}
		}
	}
	return n
}

func mapsThatDiffer(old, next *routing.Tables) int {
	a, b := old.Lanes.SL2VL, next.Lanes.SL2VL
	laneA, uniformA := a.Uniform()
	laneB, uniformB := b.Uniform()
	if a == b || uniformA && uniformB && laneA == laneB {
		return 0
	}
	n := 0
	f := next.Fabric
	var ports []uint8
	for s := range fabric.NodeID(f.Switches()) {
		ports = ports[:0]
		for p := range f.Node(s).Ports + 1 {
			if p := uint8(p); p == 0 || f.Out(s, p) != fabric.None {
				ports = append(ports, p)
			}
		}
		for _, in := range ports {
			for _, out := range ports {
				for sl := range uint8(routing.SLs) {
					if a.VL(s, in, out, sl) != b.VL(s, in, out, sl) {
						n++
					}
				}
			}
		}
	}
	return n
}

// choicesThatDiffer counts by switch what is not chosen from the same ports, whatever the numbers of the groups.
func choicesThatDiffer(old, next *routing.Tables) []int {
	a, b, n := old.Groups, next.Groups, make([]int, next.Fabric.Switches())
	if a == b {
		return n
	}
	for lid := range next.Fabric.LIDs() {
		for table := range max(tablesOf(a), tablesOf(b)) {
			for s := range fabric.NodeID(next.Fabric.Switches()) {
				if chosenFrom(a, table, s, lid) != chosenFrom(b, table, s, lid) {
					n[s]++
				}
			}
		}
	}
	return n
}

// SameEntry reports whether two tables have the same entry for a LID at a switch, in all its private tables.
func SameEntry(old, next *routing.Tables, s fabric.NodeID, lid fabric.LID) bool {
	same := old.Forwarding.Port(s, lid) == next.Forwarding.Port(s, lid)
	for table := 0; same && table < max(tablesOf(old.Groups), tablesOf(next.Groups)); table++ {
		same = chosenFrom(old.Groups, table, s, lid) == chosenFrom(next.Groups, table, s, lid) &&
			(table == 0 || staticOf(old.Groups, table, s, lid) == staticOf(next.Groups, table, s, lid))
	}
	return same
}

// tablesOf counts the private tables.
func tablesOf(g *routing.Groups) int {
	if g == nil {
		return 0
	}
	return g.Tables()
}

// staticOf is the static port in a private table other than 0.
func staticOf(g *routing.Groups, table int, s fabric.NodeID, lid fabric.LID) uint8 {
	if table >= tablesOf(g) {
		return routing.NoPort
	}
	return g.Static(table).Port(s, lid)
}

// chosen is the ports that an entry with a group lets packets choose from.
type chosen struct {
	ports  routing.PortSet
	hashed bool
}

func chosenFrom(g *routing.Groups, table int, s fabric.NodeID, lid fabric.LID) chosen {
	if table >= tablesOf(g) {
		return chosen{}
	}
	c := g.Row(table, lid)[s]
	if c == routing.NoChoice {
		return chosen{}
	}
	return chosen{g.Sets(s)[c.Group()], c.Hashed()}
}
