package dag

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// RouteLocally routes every LID within the graphs that build makes, balanced by
// each switch on its own as OpenSM does: of the trunks it may take, a switch
// takes the one by which it sends the fewest destinations so far, the lowest
// port of several. LIDs of switches are routed but not counted.
func RouteLocally(ctx context.Context, f *fabric.Fabric, build Builder, p routing.Progress) (*routing.Forwarding, error) {
	t := routing.NewForwarding(f)
	channels := f.Channels()
	count := make([]uint32, f.Trunks()) // destinations sent by each trunk
	err := ByDestination(ctx, f, build, func(d *DAG, lids []fabric.LID) {
		for _, lid := range lids {
			e := f.Endpoint(f.Owner(lid))
			charge := uint32(1)
			if e.Class == fabric.SwitchPort {
				charge = 0
			}
			row := t.Row(lid)
			row[d.Root] = LastPort(f, e)
			for i := 1; i < len(d.Order); i++ {
				out := d.Choices(i)
				best := out[0]
				for _, c := range out[1:] {
					if count[c] < count[best] {
						best = c
					}
				}
				count[best] += charge
				row[d.Order[i]] = channels[best].FromPort
			}
		}
		p.Report(int(d.Root)+1, f.Switches())
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}
