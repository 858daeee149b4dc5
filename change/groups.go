package change

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/pulled"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/routing"
)

// Package repair plans by static ports. The groups of ports that switches choose from beside them (adaptive routing)
// stay as they are where that can be proven: a destination loses its groups only if some choice would lose packets that
// the static port delivers, as where a leaf may choose a spine that has no way down any more. Where the proof then still
// fails, switches choose from less in a step of its own before the others, which is always safe: whatever switches have
// taken it, they choose among what the tables before allow. In turn, the destinations of a credit loop lose their groups,
// then those of the next loop; where there are too many loops, all destinations whose entries the plan changes; at last all.

// destinations is a set of LIDs.
type destinations map[fabric.LID]bool

// withGroups gives the tables of a plan groups, except for the destinations without, and has it judged; it takes more
// groups away, in the order above, until the plan is proven. It is what Verify does where tables have groups.
func withGroups(ctx context.Context, before *routing.Tables, plan *repair.Plan, groups *routing.Groups, without destinations, o Options) (*Proven, error) {
	options := o.deadlockOptions()
	options.NoCycle = true
	if v, err := deadlock.Verify(ctx, before, options); err != nil {
		return nil, err
	} else if !v.Free() {
		return nil, repair.ErrLoop
	}
	after := before
	if n := len(plan.Steps); n > 0 {
		after = plan.Steps[n-1].Tables
	}
	static, err := losing(ctx, choosingFrom(after, narrowed(before.Fabric, groups, without)), options)
	if err != nil {
		return nil, err
	}
	maps.Copy(static, without)
	try := func(static destinations, narrowFirst bool) (*Proven, error) {
		return judge(ctx, before, keeping(plan, before, narrowed(before.Fabric, groups, static), narrowFirst), o)
	}
	p, err := try(static, false)
	var rejected *Rejected
	more := maps.Clone(static)
	for n := 0; n < manyLoops && errors.As(err, &rejected); n++ {
		if n > 0 && !rejected.addTo(more) {
			break // the same loop again
		}
		p, err = try(more, true)
	}
	for _, more := range []destinations{changing(before, after, static), everyOne(before.Fabric)} {
		for _, narrowFirst := range []bool{false, true} { // without the further step, if the plan is proven so
			if !errors.As(err, &rejected) {
				return p, err
			}
			p, err = try(more, narrowFirst)
		}
	}
	return p, err
}

// manyLoops is how often destinations of a loop lose their groups before all do whose entries change.
const manyLoops = 16

// addTo adds the destinations of the packets that wait for one another, in the mixture or in the tables after the step
// alone, and reports whether any is new.
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

// narrowed is groups without any for some destinations, and without ports that have no cable: a switch would choose
// one at once if its cable came back. It is g itself where nothing goes.
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

// keeping is a plan whose tables have groups. With narrowFirst, a step before the others writes the groups alone.
func keeping(plan *repair.Plan, before *routing.Tables, groups *routing.Groups, narrowFirst bool) *repair.Plan {
	with := &repair.Plan{Left: plan.Left}
	if narrowFirst || len(plan.Steps) == 0 && groups != before.Groups {
		with.Steps = append(with.Steps, repair.Step{Tables: choosingFrom(before, groups)})
	}
	for _, s := range plan.Steps {
		s.Tables = choosingFrom(s.Tables, groups)
		with.Steps = append(with.Steps, s)
	}
	return with
}

// avoiding is what a drain needs of groups: was are the tables in force, left those proven for the fabric without what
// is drained. It returns the groups of was without the ports whose cables are drained, for the fabric of was, and the
// destinations that must have no groups, since left gives them none at some switch where was does.
func avoiding(was, left *routing.Tables) (*routing.Groups, destinations) {
	f, less := was.Fabric, left.Fabric
	gone, without := pulled.Trunks(f, less), destinations{}
	groups := withoutPorts(f, was.Groups, func(s fabric.NodeID, port uint8) bool {
		c := f.Trunk(s, port)
		return c != fabric.None && gone[c]
	})
	for lid, e := range less.LIDs() {
		if less.Endpoint(e).Switch == fabric.None {
			continue // drained itself
		}
		for table := range groups.Tables() {
			row, kept := was.Groups.Row(table, lid), left.Groups.Row(table, lid)
			for s := range fabric.NodeID(less.Switches()) {
				if kept[s] == routing.NoChoice && row[f.NodeByGUID(less.Node(s).GUID)] != routing.NoChoice {
					without[lid] = true
				}
			}
		}
	}
	return groups, without
}

// choose adds a step to a plan after which switches choose from other groups, and one before it after which they
// choose nothing, where no mixture of the two is proven. The error is repair.ErrLoopAfter if the groups close a loop by themselves.
func (p *Proven) choose(ctx context.Context, groups *routing.Groups, o Options) (*Proven, error) {
	plan := &repair.Plan{}
	for _, s := range p.Steps {
		plan.Steps = append(plan.Steps, s.Step)
	}
	last := repair.Step{Tables: choosingFrom(p.After, groups)}
	one := &repair.Plan{Steps: append(slices.Clip(plan.Steps), last)}
	with, err := judge(ctx, p.Before, one, o)
	var rejected *Rejected
	if !errors.As(err, &rejected) {
		return with, err
	}
	plan.Steps = append(plan.Steps, repair.Step{Tables: choosingFrom(p.After, nil)}, last)
	with, err = judge(ctx, p.Before, plan, o)
	if errors.As(err, &rejected) && rejected.Step == len(plan.Steps) {
		return nil, repair.ErrLoopAfter // its mixtures with entries that choose nothing are part of itself
	}
	return with, err
}
