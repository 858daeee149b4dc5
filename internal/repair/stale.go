package repair

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// staleEntry is an entry for a LID that nobody on a switch has any more.
type staleEntry struct {
	at  fabric.NodeID
	lid fabric.LID
}

// staleEntries is the entries that every step of a plan removes, because they are in no graph, and
// other rows may take paths that close a cycle with them: once the host or the cable is back,
// there would be no safe state. For hosts that were gone before the failure, to which nobody sends any more,
// these are all entries; for hosts that went with it, those whose cable is gone though both its switches
// are still there. Their other entries are in the graph, as long as they stay.
func staleEntries(tables *routing.Tables, was *history) []staleEntry {
	f := tables.Fabric
	var list []staleEntry
	for lid := range f.TopLID() + 1 {
		if packetset.Home(f, lid) != fabric.None {
			continue
		}
		goneBefore := was.tables == nil || packetset.Home(was.tables.Fabric, lid) == fabric.None
		for s, port := range tables.Forwarding.Row(lid) {
			if at := fabric.NodeID(s); port != routing.NoPort && (goneBefore || was.lost(f, at, port)) {
				list = append(list, staleEntry{at, lid})
			}
		}
	}
	return list
}

// entriesOf is the entries that a step begins with: a copy of those before it, without stale ones.
func (p *problem) entriesOf(before *routing.Tables) *routing.Forwarding {
	fw := copyEntries(p.f, before.Forwarding)
	for _, e := range p.stale {
		fw.Row(e.lid)[e.at] = routing.NoPort
	}
	return fw
}

// copyEntries is a copy of forwarding tables without what their path finder said of them, which
// need not hold of a step's.
func copyEntries(f *fabric.Fabric, from *routing.Forwarding) *routing.Forwarding {
	fw := routing.NewForwarding(f)
	for lid := range f.TopLID() + 1 {
		copy(fw.Row(lid), from.Row(lid))
	}
	return fw
}

// lost reports whether a port of switch s, as f numbers it, has no cable now, and had none before the failure
// either, or one to a switch that is still there.
func (h *history) lost(f *fabric.Fabric, s fabric.NodeID, port uint8) bool {
	if f.Out(s, port) != fabric.None || h.counterpart[s] == fabric.None {
		return false
	}
	before := h.tables.Fabric
	c := before.Out(h.counterpart[s], port)
	return c == fabric.None || int(c) < before.Trunks() && f.NodeByGUID(before.Node(before.Heads()[c]).GUID) != fabric.None
}

// PutUnowned changes on, tables as they act on a network now: LIDs that somebody has now, and nobody had in was, get
// the rows that switches of was hold for them, [switch of was]. Without these they would count as empty.
func PutUnowned(on *routing.Tables, was *fabric.Fabric, rows map[fabric.LID][]uint8) {
	f := on.Fabric
	for lid, row := range rows {
		if was.Owner(lid) != fabric.None || f.Owner(lid) == fabric.None {
			continue
		}
		held := on.Forwarding.Row(lid)
		for s := range held {
			if w := was.NodeByGUID(f.Node(fabric.NodeID(s)).GUID); w != fabric.None && int(w) < len(row) {
				held[s] = row[w]
			}
		}
	}
}
