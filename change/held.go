package change

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// putUnowned puts the rows of Options.Unowned that LIDs of now need into tables as they act there; was is the
// fabric that the rows are for.
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
