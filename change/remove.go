package change

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/pulled"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/routing"
)

// Remove plans the way to tables that do not use some parts that are still cabled; less
// is the tables' fabric without them. Once the tables are written, the parts can be
// pulled without cutting any pair that stays and that other cables join; packets between switches
// that nothing else joins keep to the parts as long as these are there (CutOff counts them).
// Left lists the destinations that no repair can serve without the parts (then there are no
// steps), or that no step can bring to other routes.
//
// The aim is what Mend makes of the tables on less, carried out on the whole fabric, and where
// no safe steps lead there, other tables that do without the parts.
// The removed parts keep their entries: a switch still forwards what its own hosts
// send, and hosts that are removed are reached as before.
func Remove(ctx context.Context, was *routing.Tables, less *fabric.Fabric, o Options) (*Proven, error) {
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
	plan, err := repair.Leave(ctx, was, target, pulled.Trunks(was.Fabric, less), r)
	if err != nil {
		return nil, err
	}
	verify := func() (*Proven, error) { return prove(ctx, was, plan, o) }
	if was.Groups != nil {
		groups, narrowed := avoiding(was, mended.After)
		verify = func() (*Proven, error) { return withGroups(ctx, was, plan, groups, narrowed, o) }
	}
	p, err := verify()
	if err != nil || len(p.Left) > 0 || transition.CostOf(p.After, target).Entries == 0 {
		return p, err
	}
	// The plan ended with other tables than target. Entries that no packet in scope uses may still lead to the parts.
	if mended, err = Mend(ctx, p.After, less, o); err != nil {
		return nil, err
	}
	rest, err := repair.Migrate(ctx, p.After, overlay(p.After, mended.After), r)
	if err != nil {
		return nil, err
	}
	plan.Steps = append(plan.Steps, rest.Steps...)
	return verify()
}

// Undo is the plan from p.After back to p.Before by the same steps, the last one first, judged again. Every
// mixture of two tables is the same in both directions, so it always exists where no step drops packets, and no
// pair is cut on the way back that is not cut on the way there.
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
	return judge(ctx, p.After, plan, o)
}

// overlay is the tables was with the entries of part put in, tables for the same network without some parts. An
// entry of part counts where its switch and its LID are in both and part's cables join them. So entries of
// part lead to switches with entries of part, and others may lead to either.
func overlay(was, part *routing.Tables) *routing.Tables {
	f, less := was.Fabric, part.Fabric
	fw, joined := routing.NewForwarding(f), less.PartOf(less.Parts()) // joined: [switch of less] its connected component
	for lid := range f.TopLID() + 1 {
		row := fw.Row(lid)
		copy(row, was.Forwarding.Row(lid))
		owner := less.Owner(lid)
		if owner == fabric.None || less.Endpoint(owner).Switch == fabric.None {
			continue
		}
		from, home := part.Forwarding.Row(lid), less.Endpoint(owner).Switch
		for s := range less.Switches() {
			if joined[s] == joined[home] {
				row[f.NodeByGUID(less.Node(fabric.NodeID(s)).GUID)] = from[s]
			}
		}
	}
	return &routing.Tables{Fabric: f, Forwarding: fw, Lanes: was.Lanes}
}

// Exposed is the largest number, over the steps, of pairs that have a path after the step and may have none
// while it is written. If it is zero, no step cuts a pair that p.After delivers: what can be asked of the way back
// to tables that leave some pairs without a path, which Cuts would count.
func (p *Proven) Exposed() int64 {
	most := int64(0)
	for _, s := range p.Steps {
		most = max(most, s.Union.Exposed)
	}
	return most
}

// Cuts is the largest number, over the steps, of pairs that have a path before the step and may lose it while it
// is written, or have none after it. If it is zero, no step cuts a pair that p.Before delivers.
func (p *Proven) Cuts() int64 {
	most := int64(0)
	for _, s := range p.Steps {
		// Of the pairs that are exposed some have no path before the step, but after it.
		most = max(most, s.Union.Exposed-(s.Union.CutBefore()-s.Union.CutAfter()))
	}
	return most
}
