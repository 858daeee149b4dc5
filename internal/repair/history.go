package repair

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// history is the tables before the failure, which say how long paths were and who had which LID.
type history struct {
	tables      *routing.Tables // nil: not known
	counterpart []fabric.NodeID // [switch of the fabric now] the same switch in the fabric of tables, or None

	lid   fabric.LID   // the one that hops was asked about last; 0: none yet
	tree  routing.Tree // of paths to lid
	owned bool         // somebody on a switch had lid
}

// unknown stands for the hops where there is no path.
const unknown = -1

func newHistory(f *fabric.Fabric, was *routing.Tables) *history {
	h := &history{tables: was}
	if was == nil {
		return h
	}
	h.counterpart = make([]fabric.NodeID, f.Switches())
	for s := range h.counterpart {
		h.counterpart[s] = was.Fabric.NodeByGUID(f.Node(fabric.NodeID(s)).GUID)
	}
	return h
}

// gone is the LIDs of endpoints in scope that nobody on a switch of f, the fabric now, has any more.
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

// hops is how many the path had that a switch, numbered as now, had to a LID; unknown if there was none.
func (h *history) hops(s fabric.NodeID, lid fabric.LID) int32 {
	if h.tables == nil || h.counterpart[s] == fabric.None || lid > h.tables.Fabric.TopLID() {
		return unknown
	}
	if h.lid != lid {
		home := packetset.Home(h.tables.Fabric, lid)
		h.lid, h.owned = lid, home != fabric.None
		if h.owned {
			h.tree.Build(h.tables.Fabric, h.tables.Forwarding.Row(lid), home)
		}
	}
	if !h.owned {
		return unknown
	}
	return max(unknown, int32(h.tree.Depth(h.counterpart[s])))
}
