package dag

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Fill writes a first trunk of a shortest path into empty entries of a forwarding, and clears its Apart.
// Paths that it completes may close cycles: whoever assigns lanes has to see to them.
func Fill(ctx context.Context, f *fabric.Fabric, fw *routing.Forwarding) error {
	fw.Apart = false
	channels := f.Channels()
	return InOrder(ctx, f, fabric.All[fabric.NodeID](f.Switches()), Shortest, func(d *DAG, lids []fabric.LID) {
		for _, lid := range lids {
			row := fw.Row(lid)
			for i, s := range d.Order[1:] {
				if row[s] == routing.NoPort {
					row[s] = channels[d.Choices(i + 1)[0]].FromPort
				}
			}
		}
	})
}
