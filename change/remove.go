package change

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/repair"
)

// Remove plans the way to tables that do not use some parts that are still cabled; less
// is the tables' fabric without them. Once the tables are written, the parts can be
// pulled without cutting any pair that stays. Left lists the destinations that no
// repair can serve without the parts (then there are no steps), or that no step can
// bring to their new routes.
//
// The aim is what Mend makes of the tables on less, carried out on the whole fabric.
// The removed parts keep their entries: a switch still forwards what its own hosts
// send, and hosts that are removed are reached as before.
func Remove(ctx context.Context, was *routing.Tables, less *fabric.Fabric, o Options) (*Proven, error) {
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

// overlay is the tables was with the entries of part put in, at the switches and for
// the LIDs that are in both.
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

// Exposed counts the pairs that can be cut off during some step, at most.
func (p *Proven) Exposed() int64 {
	most := int64(0)
	for _, s := range p.Steps {
		most = max(most, s.Union.Exposed)
	}
	return most
}
