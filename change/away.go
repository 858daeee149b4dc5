package change

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/repair"
)

// Away plans the way to tables that no longer need parts that are still there: less is
// the tables' fabric without them. Where tables have been written so, the parts can be
// pulled, and no pair that stays is cut. Left is what no repair mends without the parts,
// and then there are no steps, or what no step brings there.
//
// The end is what Mend makes of the tables on less, brought about on the whole fabric.
// What goes keeps its entries: a switch still forwards what its own hosts send, and
// hosts that go with it are reached as before.
func Away(ctx context.Context, was *routing.Tables, less *fabric.Fabric, o Options) (*Proven, error) {
	mended, err := Mend(ctx, was, less, o)
	if err != nil {
		return nil, err
	}
	if len(mended.Left) == 0 {
		return Return(ctx, was, overlay(was, mended.After), o)
	}
	p := &Proven{Before: was, After: was}
	for _, l := range mended.Left {
		left := repair.Left{LID: l.LID}
		for _, s := range l.Switches {
			left.Switches = append(left.Switches, was.Fabric.NodeByGUID(less.Node(s).GUID))
		}
		p.Left = append(p.Left, left)
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
