// Package bandwidths measures tables before and after a change, on the endpoints that stay.
package bandwidths

import (
	"context"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/loads"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// Change is some tables and those that they change into, whose bandwidth is measured with the same
// random pairs: of endpoints that are there before and after.
type Change struct {
	Before, After *routing.Tables
	Stays         *fabric.Fabric // what stays of the fabric before, as far as bandwidth counts
	Scope         routing.Scope
	Seed          uint64
	Precision     float64
	Jobs          []traffic.Placement // allocations on the fabric before, each measured by itself
}

// Changed is bandwidths before and after; a Result is nil for fewer than two endpoints.
type Changed struct {
	Before, After *congestion.Result
	Tiers         [2]*congestion.TrunkTiers // of the fabrics before and after
	Jobs          []ChangedJob
}

// ChangedJob is the same for an allocation, without other traffic.
type ChangedJob struct {
	Ranks, Stay   int
	Before, After *congestion.Result
}

// Bandwidths measures all of it.
func (t *Change) Bandwidths(ctx context.Context) (*Changed, error) {
	old, next := t.Before.Fabric, t.After.Fabric
	c := &Changed{Tiers: [2]*congestion.TrunkTiers{loads.Trunks(old, loads.Levels(old, t.Scope)), loads.Trunks(next, t.levelsAfter())}}
	all, err := t.measure(ctx, t.Scope.Endpoints(old), c.Tiers)
	if err != nil {
		return nil, err
	}
	c.Before, c.After = all.Before, all.After
	for _, ranks := range t.Jobs {
		job, err := t.measure(ctx, ranks, [2]*congestion.TrunkTiers{})
		if err != nil {
			return nil, err
		}
		c.Jobs = append(c.Jobs, job)
	}
	return c, nil
}

func (t *Change) measure(ctx context.Context, ranks traffic.Placement, tiers [2]*congestion.TrunkTiers) (j ChangedJob, err error) {
	stay := t.staying(ranks)
	j.Ranks, j.Stay = len(ranks), len(stay)
	o := congestion.Options{Placement: stay, Seed: t.Seed, Precision: t.Precision, Tiers: tiers[0]}
	if j.Before, err = Bisect(ctx, t.Before, o); err != nil {
		return j, err
	}
	o.Placement, o.Tiers = t.onNext(stay), tiers[1]
	j.After, err = Bisect(ctx, t.After, o)
	return j, err
}

// levelsAfter is the levels that switches had before, also where their hosts are gone; of new
// switches, those that they have.
func (t *Change) levelsAfter() []int32 {
	old, next := t.Before.Fabric, t.After.Fabric
	was, level := loads.Levels(old, t.Scope), loads.Levels(next, t.Scope)
	for s := range level {
		if n := old.NodeByGUID(next.Node(fabric.NodeID(s)).GUID); n != fabric.None && old.Node(n).Kind == fabric.Switch {
			level[s] = was[n]
		}
	}
	return level
}

// staying is the endpoints of the fabric before that stay.
func (t *Change) staying(ranks traffic.Placement) (left traffic.Placement) {
	f := t.Before.Fabric
	for _, e := range ranks {
		if Has(t.Stays, f, e) && Has(t.After.Fabric, f, e) {
			left = append(left, e)
		}
	}
	return left
}

// Has reports whether a fabric has an endpoint of another one too: the same port of the same node,
// with a cable.
func Has(f, other *fabric.Fabric, e fabric.EndpointID) bool {
	ep := other.Endpoint(e)
	n := f.NodeByGUID(other.Node(ep.Node).GUID)
	return n != fabric.None && (ep.Class == fabric.SwitchPort || f.Out(n, ep.Port) != fabric.None)
}

// onNext finds endpoints on the fabric after by GUID and port.
func (t *Change) onNext(ranks traffic.Placement) traffic.Placement {
	old, next := t.Before.Fabric, t.After.Fabric
	if old == next {
		return ranks
	}
	type place struct {
		node fabric.NodeID
		port uint8
	}
	at := map[place]fabric.EndpointID{}
	for i, e := range next.Endpoints() {
		at[place{e.Node, e.Port}] = fabric.EndpointID(i)
	}
	same := make(traffic.Placement, len(ranks))
	for i, e := range ranks {
		ep := old.Endpoint(e)
		same[i] = at[place{next.NodeByGUID(old.Node(ep.Node).GUID), ep.Port}]
	}
	return same
}

// Bisect simulates random bisections; nil: fewer than two endpoints.
func Bisect(ctx context.Context, t *routing.Tables, o congestion.Options) (*congestion.Result, error) {
	if len(o.Placement) < 2 {
		return nil, nil
	}
	o.Pattern = traffic.Bisection()
	return congestion.Simulate(ctx, t, o)
}
