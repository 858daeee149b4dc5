package change

import (
	"bytes"
	"context"
	"errors"
	"maps"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/routing"
)

// Package repair plans by static ports. What switches choose from beside them stays as it is where that can be
// proven: entries keep their groups, but for destinations to which some choice would lose packets that the static
// ports deliver, such as one of a spine without a way down. Where the proof then still fails, switches choose from
// less in a step of its own before the others, which is always safe: its mixtures with the tables before are among
// what these allow. The destinations of a loop lose their groups, then those of the next; where these are many, all
// whose entries the plan changes, and at last all.

// destinations is a set of LIDs.
type destinations map[fabric.LID]bool

// withGroups has a plan judged whose tables keep groups, those that are given, without any for some destinations.
func withGroups(ctx context.Context, before *routing.Tables, plan *repair.Plan, groups *routing.Groups, without destinations, o Options) (*Proven, error) {
	options := o.deadlockOptions()
	options.NoCycle = true
	if v, err := deadlock.Verify(ctx, before, options); err != nil || !v.Free() {
		return nil, errors.Join(err, ifLoop(err))
	}
	after := before
	if n := len(plan.Steps); n > 0 {
		after = plan.Steps[n-1].Tables
	}
	losing, err := losing(ctx, choosingFrom(after, narrowed(before.Fabric, groups, without)), options)
	if err != nil {
		return nil, err
	}
	for lid := range without {
		losing[lid] = true
	}
	try := func(less destinations, first bool) (*Proven, error) {
		return judge(ctx, before, keeping(plan, before, narrowed(before.Fabric, groups, less), first), o)
	}
	p, err := try(losing, false)
	var rejected *Rejected
	less := maps.Clone(losing)
	for n := 0; n < manyLoops && errors.As(err, &rejected) && (n == 0 || rejected.addTo(less)); n++ {
		p, err = try(less, true)
	}
	for _, less := range []destinations{changing(before, after, losing), everyOne(before.Fabric)} {
		for _, first := range []bool{false, true} {
			if !errors.As(err, &rejected) {
				return p, err
			}
			p, err = try(less, first)
		}
	}
	return p, err
}

// manyLoops is how often destinations of a loop lose their groups before all do whose entries change.
const manyLoops = 16

// addTo adds the destinations of the packets that wait for one another, and says whether any is new.
func (r *Rejected) addTo(all destinations) bool {
	n := len(all)
	for _, s := range r.Union.Cycle {
		all[s.Dst] = true
	}
	for _, s := range r.Alone.Cycle {
		all[s.Dst] = true
	}
	return len(all) > n
}

// ifLoop is the error for tables with a credit loop, if no other came before it.
func ifLoop(err error) error {
	if err != nil {
		return nil
	}
	return repair.ErrLoop
}

// choosingFrom is tables with other groups.
func choosingFrom(t *routing.Tables, groups *routing.Groups) *routing.Tables {
	with := *t
	with.Groups = groups
	return &with
}

// losing is the destinations to which some choice loses packets that the static ports deliver.
func losing(ctx context.Context, t *routing.Tables, options deadlock.Options) (destinations, error) {
	type pair struct {
		s   fabric.NodeID
		lid fabric.LID
	}
	static, err := deadlock.Verify(ctx, choosingFrom(t, nil), options)
	if err != nil {
		return nil, err
	}
	all, err := deadlock.Verify(ctx, t, options)
	if err != nil {
		return nil, err
	}
	lost := map[pair]bool{}
	for _, l := range static.Lost {
		lost[pair{l.Switch, l.LID}] = true
	}
	found := destinations{}
	for _, l := range all.Lost {
		if !lost[pair{l.Switch, l.LID}] {
			found[l.LID] = true
		}
	}
	return found, nil
}

// changing is destinations, with those for which entries change from some tables to others.
func changing(before, after *routing.Tables, more destinations) destinations {
	all := maps.Clone(more)
	for lid := range before.Fabric.LIDs() {
		if !bytes.Equal(before.Forwarding.Row(lid), after.Forwarding.Row(lid)) {
			all[lid] = true
		}
	}
	return all
}

// everyOne is all destinations.
func everyOne(f *fabric.Fabric) destinations {
	all := destinations{}
	for lid := range f.LIDs() {
		all[lid] = true
	}
	return all
}

// narrowed is groups without any for some destinations, and without ports that have no cable, which might come back.
func narrowed(f *fabric.Fabric, g *routing.Groups, without destinations) *routing.Groups {
	less := withoutPorts(f, g, func(s fabric.NodeID, port uint8) bool { return f.Out(s, port) == fabric.None })
	if len(without) > 0 && less == g {
		less = g.On(f, fabric.All[fabric.NodeID](f.Switches()))
	}
	for lid := range without {
		for table := range less.Tables() {
			clear(less.Row(table, lid))
		}
	}
	return less
}

// withoutPorts is groups without some ports; g itself where it has none of them.
func withoutPorts(f *fabric.Fabric, g *routing.Groups, gone func(s fabric.NodeID, port uint8) bool) *routing.Groups {
	less := g
	for s := range fabric.NodeID(f.Switches()) {
		for n, set := range g.Sets(s) {
			var ports routing.PortSet
			for port := range set.All() {
				if !gone(s, port) {
					ports.Add(port)
				}
			}
			if ports == set {
				continue
			}
			if less == g {
				less = g.On(f, fabric.All[fabric.NodeID](f.Switches()))
			}
			less.Set(s, n, ports)
		}
	}
	return less
}

// keeping is a plan whose tables have groups; first: a step before the others writes these alone.
func keeping(plan *repair.Plan, before *routing.Tables, groups *routing.Groups, first bool) *repair.Plan {
	with := &repair.Plan{Left: plan.Left}
	if first || len(plan.Steps) == 0 && groups != before.Groups {
		with.Steps = append(with.Steps, repair.Step{Tables: choosingFrom(before, groups)})
	}
	for _, s := range plan.Steps {
		s.Tables = choosingFrom(s.Tables, groups)
		with.Steps = append(with.Steps, s)
	}
	return with
}

// avoiding is the groups of tables without the ports that other tables, on what is left of their fabric, have no
// cable at, and the destinations for which these have no groups.
func avoiding(was, left *routing.Tables) (*routing.Groups, destinations) {
	f, less := was.Fabric, left.Fabric
	gone, without := doomed(f, less), destinations{}
	groups := withoutPorts(f, was.Groups, func(s fabric.NodeID, port uint8) bool {
		c := f.Trunk(s, port)
		return c != fabric.None && gone[c]
	})
	for lid, e := range less.LIDs() {
		for table := range groups.Tables() {
			row, kept := was.Groups.Row(table, lid), left.Groups.Row(table, lid)
			for s := range fabric.NodeID(less.Switches()) {
				if less.Endpoint(e).Switch != fabric.None && kept[s] == routing.NoChoice && row[f.NodeByGUID(less.Node(s).GUID)] != routing.NoChoice {
					without[lid] = true
				}
			}
		}
	}
	return groups, without
}

// choose adds a step to a plan after which switches choose from other groups, and one before it after which they
// choose nothing, where no mixture of the two is proven.
func (p *Proven) choose(ctx context.Context, groups *routing.Groups, o Options) (*Proven, error) {
	plan := &repair.Plan{}
	for _, s := range p.Steps {
		plan.Steps = append(plan.Steps, s.Step)
	}
	last := repair.Step{Tables: choosingFrom(p.After, groups)}
	one := &repair.Plan{Steps: append(plan.Steps[:len(plan.Steps):len(plan.Steps)], last)}
	with, err := judge(ctx, p.Before, one, o)
	var rejected *Rejected
	if !errors.As(err, &rejected) {
		return with, err
	}
	return judge(ctx, p.Before, &repair.Plan{Steps: append(plan.Steps, repair.Step{Tables: choosingFrom(p.After, nil)}, last)}, o)
}
