package change

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Hops is how many switches a packet that is in the network has to leave at most, from
// where it is to its destination, once some tables are in force everywhere. Times the
// lifetime of a packet in a switch it is how long packets of earlier tables may be
// about: what has to pass between two steps, since a step's proof covers the tables
// before and after it and no third ones. Complexity: O(D·S) for D destination LIDs and
// S switches.
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
