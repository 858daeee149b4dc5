package change

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Hops is the largest number of switches that a packet in the network still has to
// leave on its way to its destination, once some tables are in force everywhere.
// Multiplied by the lifetime of a packet in a switch, it bounds how long packets of
// earlier tables can exist. That time has to pass between two steps, because the proof
// of a step covers the tables before and after it only. Complexity: O(D·S) for D
// destination LIDs and S switches.
func Hops(t *routing.Tables) int {
	f := t.Fabric
	most := 0
	var tree routing.Tree
	for lid, id := range f.LIDs() {
		e := f.Endpoint(id)
		row := t.Forwarding.Row(lid)
		if e.Switch == fabric.None || row[e.Switch] != f.LastPort(e) {
			continue
		}
		tree.Build(f, row, e.Switch)
		for _, s := range tree.Order {
			most = max(most, tree.Depth(s)+1)
		}
	}
	return most
}
