package forest

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// ruleArrive is the one rule that paths must keep.
const ruleArrive = "every path leads to the owner of its LID"

// refuse sets t.refusal, for what becomes of packets to the LID at hand at a switch, which leave it by
// a port.
func (t *InTree) refuse(s fabric.NodeID, port uint8, what string, args ...any) {
	f := t.paths.Fabric
	owner := f.Label(f.Endpoint(f.Owner(t.LID)).Node)
	t.refusal = routing.Refuse(f, ruleArrive, s, port, "packets to LID %d (%s) %s", t.LID, owner, fmt.Sprintf(what, args...))
}

// refuseEnd refuses packets that leave a switch by a port which leads neither to another
// switch nor to the owner of their LID.
func (t *InTree) refuseEnd(s fabric.NodeID, port uint8) {
	f := t.paths.Fabric
	switch out := f.Out(s, port); {
	case port == routing.NoPort:
		t.refuse(s, 0, "come here, and it has no entry for them")
	case port == 0:
		t.refuse(s, 0, "are delivered to the switch itself")
	case out == fabric.None:
		t.refuse(s, port, "leave by this port, which has no cable")
	default:
		t.refuse(s, port, "leave by this port, to %s", f.Label(f.Channel(out).To))
	}
}
