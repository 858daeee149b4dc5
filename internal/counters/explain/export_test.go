package explain

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// WaitFor is timed.waitFor.
func WaitFor(t *routing.Tables, c Counted) func(fabric.NodeID) map[fabric.ChannelID]float64 {
	return newTimed(t, c).waitFor
}
