package repair

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// history is the tables before the failure.
type history struct {
	tables *routing.Tables // nil: not known
	same   []fabric.NodeID // [switch] the switch in the fabric of tables, or None

	lid  fabric.LID   // for which tree was built; 0: for none
	tree routing.Tree // of paths to lid
	has  bool         // somebody on a switch had lid
}

// unknown stands for the hops of a path that there is not.
const unknown = -1

func newHistory(f *fabric.Fabric, was *routing.Tables) *history {
	h := &history{tables: was}
	if was == nil {
		return h
	}
	h.same = make([]fabric.NodeID, f.Switches())
	for s := range h.same {
		h.same[s] = was.Fabric.NodeByGUID(f.Node(fabric.NodeID(s)).GUID)
	}
	return h
}

// gone is the LIDs of endpoints in scope that fabric f no longer has.
func (h *history) gone(f *fabric.Fabric, scope routing.Scope) []fabric.LID {
	if h.tables == nil {
		return nil
	}
	var list []fabric.LID
	for lid := range scope.LIDs(h.tables.Fabric) {
		if lid > f.TopLID() {
			break
		}
		if packetset.Home(f, lid) == fabric.None {
			list = append(list, lid)
		}
	}
	return list
}

// had is the hops of the path that a switch had to a LID; unknown if there was none.
func (h *history) had(s fabric.NodeID, lid fabric.LID) int32 {
	if h.tables == nil || h.same[s] == fabric.None || lid > h.tables.Fabric.TopLID() {
		return unknown
	}
	if h.lid != lid {
		home := packetset.Home(h.tables.Fabric, lid)
		h.lid, h.has = lid, home != fabric.None
		if h.has {
			h.tree.Build(h.tables.Fabric, h.tables.Forwarding.Row(lid), home)
		}
	}
	if !h.has {
		return unknown
	}
	return max(unknown, int32(h.tree.Depth(h.same[s])))
}
