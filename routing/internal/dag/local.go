package dag

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// RouteLocally routes every LID within the graphs that build makes, balanced by
// each switch on its own as OpenSM does: of the trunks it may take, a switch
// takes the one by which it sends the fewest destinations so far. LIDs of
// switches are routed but not counted.
//
// Of several such trunks it takes the first from one that differs from switch to
// switch. If all began with their lowest port, all would send the n-th host of a
// leaf by their n-th port, and in a tree of three levels a spine would see the
// hosts of one number only.
func RouteLocally(ctx context.Context, f *fabric.Fabric, build Builder, p routing.Progress) (*routing.Forwarding, error) {
	t := routing.NewForwarding(f)
	return t, RouteSome(ctx, f, t, build, func(int) bool { return true }, p)
}

// RouteSome is RouteLocally for some of the addresses of each endpoint: those
// LIDs whose distance from the endpoint's base LID is wanted. It writes into t.
func RouteSome(ctx context.Context, f *fabric.Fabric, t *routing.Forwarding, build Builder, wanted func(address int) bool, p routing.Progress) error {
	channels := f.Channels()
	count := make([]uint32, f.Trunks()) // destinations sent by each trunk
	return ByDestination(ctx, f, build, func(d *DAG, lids []fabric.LID) {
		for _, lid := range lids {
			e := f.Endpoint(f.Owner(lid))
			if !wanted(int(lid - e.LID)) {
				continue
			}
			charge := uint32(1)
			if e.Class == fabric.SwitchPort {
				charge = 0
			}
			row := t.Row(lid)
			row[d.Root] = f.LastPort(e)
			for i := 1; i < len(d.Order); i++ {
				out := d.Choices(i)
				best := LeastUsed(out, count, int(d.Order[i])%len(out))
				count[best] += charge
				row[d.Order[i]] = channels[best].FromPort
			}
		}
		p.Report(int(d.Root)+1, f.Switches())
	})
}

// LeastUsed is the trunk of out with the smallest count, the first of several
// from a start on and round.
func LeastUsed(out []fabric.ChannelID, count []uint32, start int) fabric.ChannelID {
	best := out[start]
	for _, c := range out[start+1:] {
		if count[c] < count[best] {
			best = c
		}
	}
	for _, c := range out[:start] {
		if count[c] < count[best] {
			best = c
		}
	}
	return best
}
