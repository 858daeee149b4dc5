package balance

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/routing"
)

// write puts the best routing of a trial into a Forwarding.
func (t *trial) write(fw *routing.Forwarding) {
	t.pick = t.kept
	for i := range t.dests {
		d := &t.dests[i]
		t.row(fw, d.lid, &t.roots[d.root], t.picks(int32(i)))
	}
}

// row writes the in-tree of one LID: at each switch the port of the trunk that pick names.
func (t *trial) row(fw *routing.Forwarding, lid fabric.LID, r *root, pick []uint8) {
	row := fw.Row(lid)
	row[r.order[0]] = t.f.LastPort(t.f.Endpoint(t.f.Owner(lid)))
	channels := t.f.Channels()
	for i := 1; i < len(r.order); i++ {
		row[r.order[i]] = channels[r.ways[r.first[i]+int32(pick[i])].trunk].FromPort
	}
}

// rest routes the addresses of all but host adapters, once and for all: those of
// aggregation nodes and routers first, which are charged, then those of switches.
func (t *trial) rest(ctx context.Context, fw *routing.Forwarding) error {
	t.unload()
	t.both, t.lowest = nil, t.keep
	for i := range t.dests {
		d := &t.dests[i]
		t.charge(&t.roots[d.root], t.picks(int32(i)), d.weight)
	}
	var some, all []fabric.NodeID // switches with aggregation nodes or routers, and all switches
	for s := range fabric.NodeID(t.f.Switches()) {
		all = append(all, s)
		if slices.ContainsFunc(t.f.Attached(s), t.isOther) {
			some = append(some, s)
		}
	}
	pick := make([]uint8, t.f.Switches())
	var r root
	err := dag.InOrder(ctx, t.f, some, t.network.ways(), func(d *dag.DAG, lids []fabric.LID) {
		r.fill(d)
		for _, lid := range lids {
			if e := t.f.Owner(lid); t.isOther(e) {
				t.placeAnew(&r, pick, int32(d.Root))
				t.chargePlaced(&r, pick, t.weight[e])
				t.row(fw, lid, &r, pick)
			}
		}
	})
	if err != nil {
		return err
	}
	return dag.InOrder(ctx, t.f, all, t.network.ways(), func(d *dag.DAG, lids []fabric.LID) {
		r.fill(d)
		t.placeAnew(&r, pick, int32(d.Root))
		for _, lid := range lids {
			if t.f.Endpoint(t.f.Owner(lid)).Class == fabric.SwitchPort {
				t.row(fw, lid, &r, pick)
			}
		}
	})
}

// isOther reports whether an endpoint is neither a host adapter nor a switch.
func (t *trial) isOther(e fabric.EndpointID) bool {
	c := t.f.Endpoint(e).Class
	return c == fabric.Aggregation || c == fabric.RouterPort
}
