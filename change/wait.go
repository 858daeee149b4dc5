package change

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/walk"
	"github.com/weft-fabric/weft/routing"
)

// Hops is the largest number of switches that a packet in the network still has to
// leave on its way to its destination, or to where it is dropped, once some tables are in force
// everywhere. Packets to LIDs that nobody has any more count as well.
// Multiplied by the lifetime of a packet in a switch, it bounds how long packets of
// earlier tables can exist. That time has to pass between two steps, because the proof
// of a step covers the tables before and after it only. Complexity: O(D·S) for D
// destination LIDs and S switches.
func Hops(t *routing.Tables) int {
	most := int32(0)
	var way walk.Walk
	for lid := range t.Fabric.TopLID() + 1 {
		way.Along(t.Fabric, fabric.None, t.Forwarding.Row(lid))
		for _, n := range way.Left {
			most = max(most, n)
		}
	}
	return int(most)
}
