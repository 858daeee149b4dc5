package daemon

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// changes counts the entries of forwarding tables, and the service levels by source
// switch and destination, in which tables differ from those before. All entries of a
// new switch count. Switches are matched by GUID, entries by LID, because that is what
// OpenSM writes to the hardware.
func changes(before, now *routing.Tables) (entries, levels int64) {
	if before == now {
		return 0, 0
	}
	f := now.Fabric
	old := make([]fabric.NodeID, f.Switches())
	for s := range old {
		old[s] = fabric.None
		if before != nil {
			if n := before.Fabric.NodeByGUID(f.Node(fabric.NodeID(s)).GUID); int(n) < before.Fabric.Switches() {
				old[s] = n // or None
			}
		}
	}
	top := f.TopLID()
	if before != nil {
		top = max(top, before.Fabric.TopLID())
	}
	for lid := fabric.LID(1); lid <= top; lid++ {
		for s := range fabric.NodeID(f.Switches()) {
			port, sl := entry(now, s, lid)
			oldPort, oldSL := routing.NoPort, routing.NoSL
			if old[s] != fabric.None {
				oldPort, oldSL = entry(before, old[s], lid)
			}
			if port != oldPort {
				entries++
			}
			if sl != oldSL {
				levels++
			}
		}
	}
	return entries, levels
}

// entry is the out-port and service level of a LID at a switch; NoPort and NoSL if the tables do
// not know the LID. All senders on a switch share its row.
func entry(t *routing.Tables, s fabric.NodeID, lid fabric.LID) (port, sl uint8) {
	if lid > t.Fabric.TopLID() || t.Fabric.Owner(lid) == fabric.None {
		return routing.NoPort, routing.NoSL
	}
	return t.Forwarding.Port(s, lid), t.Lanes.SL(fabric.EndpointID(s), lid)
}
