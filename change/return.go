package change

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/routing"
)

// Return plans the way from the tables in force, made for a fabric from which parts were gone, to
// those of target, on whose fabric the parts are back. Where the tables have nothing for what is
// back, that acts as target has it from the beginning: the service levels of hosts, and the SL2VL
// maps of ports that had no cable; rows that Options.Unowned kept for its LIDs act at once, too.
// Entries that nobody used while these hosts were gone may close a credit loop once they send:
// then the hosts wait until the rows of all others are as target has them.
// The error is repair.ErrLoop if the tables in force have a credit loop, and repair.ErrLoopAfter if what switches choose from under
// target has one. Rows of target that close one are Proven.Left.
func Return(ctx context.Context, tables, target *routing.Tables, o Options) (*Proven, error) {
	before, err := transition.On(target.Fabric, tables, target)
	if err != nil {
		return nil, err
	}
	repair.PutUnowned(before, tables.Fabric, o.Unowned)
	before = withLevels(withMaps(before, tables.Fabric, target), target)
	p, err := bring(ctx, before, target, o)
	if !errors.Is(err, repair.ErrLoop) {
		return p, err
	}
	back := hostsBack(tables.Fabric, target.Fabric)
	if len(back) == 0 {
		return nil, err
	}
	return returnInTwo(ctx, tables, before, target, back, o)
}

// bring makes a plan from some tables to others, and has it judged.
func bring(ctx context.Context, before, target *routing.Tables, o Options) (*Proven, error) {
	plan, err := repair.Migrate(ctx, before, target, repair.Options{Contract: o.Contract, Scope: o.Scope, AllowDrops: o.AllowDrops})
	if err != nil {
		return nil, err
	}
	p, err := prove(ctx, before, plan, o)
	if err != nil || len(p.Left) > 0 || transition.CostOf(p.After, target).Choices == 0 {
		return p, err
	}
	return p.choose(ctx, target.Groups, o) // the adaptive groups are others
}

// returnInTwo is Return in two parts: first for all except the hosts that are back, on a fabric as if
// their cables were still gone; then for these hosts, when all other rows are those of target. The
// first part has no hosts that are back, so that its Return does not come here again.
func returnInTwo(ctx context.Context, tables, before, target *routing.Tables, back []fabric.EndpointID, o Options) (*Proven, error) {
	f := target.Fabric
	var cables []fabric.ChannelID
	for _, e := range back {
		cables = append(cables, f.Endpoint(e).Inject)
	}
	less, err := f.Without(cables, nil)
	if err != nil {
		return nil, err
	}
	aim, err := transition.On(less, target, nil)
	if err != nil {
		return nil, err
	}
	first, err := Return(ctx, tables, aim, o)
	if err != nil {
		return nil, err
	}
	if len(first.Steps) == 0 { // nothing else changes: the loop is of the entries for these hosts, which go first
		if first, err = prove(ctx, first.Before, withoutRows(first.Before, back), o); err != nil {
			return nil, err
		}
	}
	p := &Proven{Before: before, After: before, Left: first.Left, Waiting: back, Waits: len(first.Steps)}
	for _, a := range first.Absent { // its channels are numbered as in less
		ch := less.Channel(a.Channel)
		a.Channel = f.Out(f.NodeByGUID(less.Node(ch.From).GUID), ch.FromPort)
		p.addAbsent([]deadlock.Absent{a})
	}
	judge := o.deadlockOptions()
	for _, s := range first.Steps {
		if err := p.join(s, target); err != nil {
			return nil, err
		}
		alone, err := deadlock.Verify(ctx, p.After, judge)
		if err != nil {
			return nil, err
		}
		if last := &p.Steps[len(p.Steps)-1]; alone.Free() { // then its certificate holds with the hosts that wait, too
			last.Alone = alone
		} else {
			last.Whole = alone
		}
	}
	v, err := deadlock.Verify(ctx, before, judge)
	if err != nil {
		return nil, err
	}
	p.Pairs, p.CutBefore, p.Disconnected = v.Pairs, v.Unreachable, o.Scope.Disconnected(f)
	if len(p.Left) > 0 {
		if v, err = deadlock.Verify(ctx, p.After, judge); err != nil {
			return nil, err
		}
		p.CutAfter = v.Unreachable
		p.addAbsent(v.Absent)
		for _, e := range back {
			for lid := range f.Endpoint(e).LIDs() {
				p.Left = append(p.Left, repair.Left{LID: lid})
			}
		}
		return p, nil
	}
	rest, err := bring(ctx, p.After, target, o)
	if err != nil {
		return nil, err
	}
	p.Steps = append(p.Steps, rest.Steps...)
	p.After, p.Left, p.CutAfter = rest.After, rest.Left, rest.CutAfter
	p.addAbsent(rest.Absent)
	return p, nil
}

// join adds a step that was judged without the hosts that are back: its tables act on the fabric with
// these hosts, and the entries for them count in what the step writes.
func (p *Proven) join(s Step, target *routing.Tables) error {
	on, err := transition.On(p.Before.Fabric, s.Tables, target)
	if err != nil {
		return err
	}
	on.Lanes, on.Multicast = p.Before.Lanes, p.Before.Multicast
	cost := transition.CostOf(p.After, on)
	s.Follow += cost.Entries - s.Union.Entries
	s.Tables, s.Union = on, &transition.Verdict{MixtureVerdict: s.Union.MixtureVerdict, Cost: cost}
	p.Steps, p.After = append(p.Steps, s), on
	return nil
}

// hostsBack is the endpoints of adapters and routers that are on a switch now and were not, or were
// on another.
func hostsBack(was, now *fabric.Fabric) []fabric.EndpointID {
	there := map[place]fabric.GUID{} // the switch
	for _, e := range was.Endpoints() {
		if e.Switch != fabric.None {
			there[place{was.Node(e.Node).GUID, e.Port}] = was.Node(e.Switch).GUID
		}
	}
	var back []fabric.EndpointID
	for i, e := range now.Endpoints() {
		if e.Switch == fabric.None || e.Class == fabric.SwitchPort {
			continue
		}
		if at, ok := there[place{now.Node(e.Node).GUID, e.Port}]; !ok || at != now.Node(e.Switch).GUID {
			back = append(back, fabric.EndpointID(i))
		}
	}
	return back
}

// withoutRows is a plan of one step, which removes all entries for the LIDs of some endpoints.
func withoutRows(t *routing.Tables, endpoints []fabric.EndpointID) *repair.Plan {
	fw := routing.NewForwarding(t.Fabric)
	for lid := range t.Fabric.TopLID() + 1 {
		if !slices.Contains(endpoints, t.Fabric.Owner(lid)) {
			copy(fw.Row(lid), t.Forwarding.Row(lid))
		}
	}
	return &repair.Plan{Steps: []repair.Step{{Tables: &routing.Tables{Fabric: t.Fabric, Forwarding: fw, Lanes: t.Lanes, Multicast: t.Multicast}}}}
}
