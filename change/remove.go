package change

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/repair"
	"github.com/weft-fabric/weft/transition"
)

// Remove plans the way to tables that do not use some parts that are still cabled; less
// is the tables' fabric without them. Once the tables are written, the parts can be
// pulled without cutting any pair that stays. Left lists the destinations that some switches
// reach by nothing else (then Apart is true, and there are no steps), that no repair can serve
// without the parts (no steps either), or that no step can bring to other routes.
//
// The aim is what Mend makes of the tables on less, carried out on the whole fabric, and where
// no safe steps lead there, other tables that do without the parts.
// The removed parts keep their entries: a switch still forwards what its own hosts
// send, and hosts that are removed are reached as before.
func Remove(ctx context.Context, was *routing.Tables, less *fabric.Fabric, o Options) (*Proven, error) {
	if left := apart(was.Fabric, less, o.Scope); len(left) > 0 {
		return &Proven{Before: was, After: was, Left: left, Apart: true}, nil
	}
	mended, err := Mend(ctx, was, less, o)
	if err != nil {
		return nil, err
	}
	if len(mended.Left) > 0 {
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
	target := overlay(was, mended.After)
	r := repair.Options{Contract: o.Contract, Scope: o.Scope}
	plan, err := repair.Leave(ctx, was, target, doomed(was.Fabric, less), r)
	if err != nil {
		return nil, err
	}
	p, err := Verify(ctx, was, plan, o)
	if err != nil || len(p.Left) > 0 || transition.CostOf(p.After, target).Entries == 0 {
		return p, err
	}
	// They are other tables. Entries that no packet in scope uses may still lead to the parts.
	if mended, err = Mend(ctx, p.After, less, o); err != nil {
		return nil, err
	}
	rest, err := repair.Bring(ctx, p.After, overlay(p.After, mended.After), r)
	if err != nil {
		return nil, err
	}
	plan.Steps = append(plan.Steps, rest.Steps...)
	return Verify(ctx, was, plan, o)
}

// doomed is the trunks of a fabric, [trunk], that packets have to leave before it becomes less:
// those that go with their cable, and those to switches that go.
func doomed(f, less *fabric.Fabric) []bool {
	list := make([]bool, f.Trunks())
	for c := range list {
		ch := f.Channel(fabric.ChannelID(c))
		from, to := less.NodeByGUID(f.Node(ch.From).GUID), less.NodeByGUID(f.Node(ch.To).GUID)
		list[c] = to == fabric.None || from != fabric.None && less.Out(from, ch.FromPort) == fabric.None
	}
	return list
}

// apart is the destinations that stay, and the switches that would have no cables to them any
// more if the fabric were less.
func apart(f, less *fabric.Fabric, scope routing.Scope) []repair.Left {
	ends, was, now := scope.Ends(f), f.PartOf(f.Parts()), less.PartOf(less.Parts())
	same := make([]fabric.NodeID, f.Switches())
	for s := range same {
		same[s] = less.NodeByGUID(f.Node(fabric.NodeID(s)).GUID)
	}
	var list []repair.Left
	for lid, owner := range scope.LIDs(f) {
		home := f.Endpoint(owner).Switch
		if home == fabric.None || same[home] == fabric.None {
			continue
		}
		left := repair.Left{LID: lid}
		for s, at := range same {
			if ends[s] && at != fabric.None && was[s] == was[home] && now[at] != now[same[home]] {
				left.Switches = append(left.Switches, fabric.NodeID(s))
			}
		}
		if left.Switches != nil {
			list = append(list, left)
		}
	}
	return list
}

// Undo is a plan back by the steps of another, the last one first. Every mixture of two tables
// is the same in both directions, so it always exists where no step drops packets, and no pair
// is cut on the way back that is not cut on the way there.
func (p *Proven) Undo(ctx context.Context, o Options) (*Proven, error) {
	plan := &repair.Plan{}
	for i, s := range slices.Backward(p.Steps) {
		back := s.Step
		back.Tables = p.Before
		if i > 0 {
			back.Tables = p.Steps[i-1].Tables
		}
		plan.Steps = append(plan.Steps, back)
	}
	return Verify(ctx, p.After, plan, o)
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

// Cuts counts the pairs that have a path before some step and may lose it while that is written,
// or have none after it, at most. Of those that Exposed counts, the others had none before.
func (p *Proven) Cuts() int64 {
	most := int64(0)
	for _, s := range p.Steps {
		most = max(most, s.Union.Exposed-(s.Union.CutBefore()-s.Union.CutAfter()))
	}
	return most
}

// Exposed counts the pairs that can be cut off during some step, at most.
func (p *Proven) Exposed() int64 {
	most := int64(0)
	for _, s := range p.Steps {
		most = max(most, s.Union.Exposed)
	}
	return most
}
