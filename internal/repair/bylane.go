package repair

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// ByLane is the error of planning for tables in which a switch looks up the lane of a packet by the lane it came in
// on (routing.SL2VL.Next): plans go by the lanes of service levels.
type ByLane struct {
	Switch string // the first such switch
}

func (e *ByLane) Error() string {
	return fmt.Sprintf("%s looks up the lane of a packet by the lane it came in on; changes are planned by service levels", e.Switch)
}

// byLevels returns an error, *ByLane, unless the service level of a packet decides its lanes by these tables, or
// does not matter. Everything that plans asks it first.
func byLevels(t *routing.Tables) error {
	maps := t.Lanes.SL2VL
	if maps.IgnoresSL() {
		return nil
	}
	for s := range fabric.NodeID(t.Fabric.Switches()) {
		if maps.LevelsByLane(s) != 0 {
			return &ByLane{t.Fabric.Label(s)}
		}
	}
	return nil
}
