package change

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// putUnowned changes on, tables as they act on the network now: LIDs that somebody has now, and nobody had in was, get
// the rows of Options.Unowned, which are for was. Mend and Return call it before they plan.
func (o *Options) putUnowned(on *routing.Tables, was *fabric.Fabric) {
	f := on.Fabric
	for lid, row := range o.Unowned {
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
