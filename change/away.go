package change

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/repair"
	"github.com/weft-fabric/weft/routing"
)

// Away plans the way to tables that no longer need parts that are still there: less is
// the tables' fabric without them. Where tables have been written so, the parts can be
// pulled, and no pair that stays is cut. The plan's Left is what no repair mends without
// the parts, or no step brings there.
//
// The end is what Mend makes of the tables on less, brought about on the whole fabric.
// What goes keeps its entries: a switch still forwards what its own hosts send, and
// hosts that go with it are reached as before.
func Away(ctx context.Context, was *routing.Tables, less *fabric.Fabric, o Options) (*Proven, error) {
	mended, err := Mend(ctx, was, less, o)
	if err != nil {
		return nil, err
	}
	target := overlay(was, mended.After)
	p, err := Return(ctx, was, target, o)
	if err != nil {
		return nil, err
	}
	for _, l := range mended.Left { // as LIDs, which both fabrics have, and switches of the whole one
		var at []fabric.NodeID
		for _, s := range l.Switches {
			at = append(at, was.Fabric.NodeByGUID(less.Node(s).GUID))
		}
		p.Left = append(p.Left, repair.Left{LID: l.LID, Switches: at})
	}
	return p, nil
}

// overlay is tables with the entries of others, for a part of the fabric, put in: at
// the switches and for the LIDs that are in both.
func overlay(was, part *routing.Tables) *routing.Tables {
	f, less := was.Fabric, part.Fabric
	fw := routing.NewForwarding(f)
	for lid := range f.TopLID() + 1 {
		row := fw.Row(lid)
		copy(row, was.Forwarding.Row(lid))
		owner := less.Owner(lid)
		if owner == fabric.None || less.Endpoint(owner).Switch == fabric.None {
			continue
		}
		from := part.Forwarding.Row(lid)
		for s := range less.Switches() {
			row[f.NodeByGUID(less.Node(fabric.NodeID(s)).GUID)] = from[s]
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: was.Lanes}
}

// Exposed counts the pairs that are cut for a while in one step or another, at most.
func (p *Proven) Exposed() int64 {
	most := int64(0)
	for _, s := range p.Steps {
		most = max(most, s.Union.Exposed)
	}
	return most
}
