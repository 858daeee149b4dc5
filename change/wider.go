package change

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/routing"
)

// mendWider is the plan of MendFrom that keeps the tables free of deadlock when aggregation nodes and routers send,
// too; nil: there is none, or they are in scope, or there are no such nodes. Ports 0 of switches would
// cost more: on a small tree twice as many entries, and a step.
func mendWider(ctx context.Context, before, was *routing.Tables, o Options) (*repair.Plan, error) {
	f, r := before.Fabric, repair.Options{Contract: o.Contract, Scope: routing.Adapters, AllowDrops: o.AllowDrops, Gentle: true, Needed: o.Scope}
	if len(r.Scope.Endpoints(f)) <= len(o.Scope.Endpoints(f)) {
		return nil, nil
	}
	plan, err := repair.Mend(ctx, before, was, r)
	if errors.Is(err, repair.ErrLoop) || err == nil && o.needs(plan.Left, f) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	plan.Left = nil
	countFor(o.Scope, before, plan)
	return plan, nil
}

// needs reports whether endpoints in scope do not reach some other one in scope, as far as switches say.
func (o Options) needs(left []repair.Left, f *fabric.Fabric) bool {
	ends := o.Scope.Ends(f)
	for _, l := range left {
		if !o.Scope.Includes(f.Endpoint(f.Owner(l.LID)).Class) {
			continue
		}
		if slices.ContainsFunc(l.Switches, func(s fabric.NodeID) bool { return ends[s] }) {
			return true
		}
	}
	return false
}

// countFor has the steps of a plan that was made for more endpoints count as mended the new entries that packets
// in scope pass, by the tables before the step or by its own, and all else as what follows.
func countFor(scope routing.Scope, before *routing.Tables, plan *repair.Plan) {
	f := before.Fabric
	ends, was, now := scope.Ends(f), make([]bool, f.Switches()), make([]bool, f.Switches())
	for i := range plan.Steps {
		s := &plan.Steps[i]
		changed := s.Mended + s.Follow
		s.Mended = 0
		for lid, e := range scope.LIDs(f) {
			old, row := before.Forwarding.Row(lid), s.Tables.Forwarding.Row(lid)
			if bytes.Equal(old, row) {
				continue
			}
			passed(f, old, ends, f.Endpoint(e).Switch, was)
			passed(f, row, ends, f.Endpoint(e).Switch, now)
			for at, port := range row {
				if port != old[at] && port != routing.NoPort && (was[at] || now[at]) {
					s.Mended++
				}
			}
		}
		s.Follow, before = changed-s.Mended, s.Tables
	}
}

// passed sets the switches, [switch], that packets from some of them pass by a row on their way to switch home.
func passed(f *fabric.Fabric, row []uint8, from []bool, home fabric.NodeID, passed []bool) {
	clear(passed)
	for s, starts := range from {
		for at := fabric.NodeID(s); starts && !passed[at]; {
			passed[at] = true
			c := f.Trunk(at, row[at])
			if at == home || c == fabric.None {
				break
			}
			at = f.Heads()[c]
		}
	}
}
