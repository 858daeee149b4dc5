package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// bandwidths is effective bisection bandwidth before and after a change, as parts of
// full, among the endpoints that are there before and after; nil: fewer than two.
type bandwidths struct {
	Before *float64        `json:"before"`
	After  *float64        `json:"after"`
	Tiers  []tierBandwidth `json:"tiers"`
	Jobs   []jobBandwidth  `json:"jobs"`
}

// tierBandwidth is what the trunks from switches of one level to those of another leave the
// flows that cross them; nil: no flow does.
type tierBandwidth struct {
	From           int      `json:"from_level"`
	To             int      `json:"to_level"`
	ChannelsBefore int      `json:"channels_before"`
	ChannelsAfter  int      `json:"channels_after"`
	Before         *float64 `json:"before"`
	After          *float64 `json:"after"`
}

// jobBandwidth is the bandwidth of random pairs of a job's endpoints that stay, without
// other traffic; nil: fewer than two.
type jobBandwidth struct {
	Name   string   `json:"name"`
	Ranks  int      `json:"ranks"`
	Stay   int      `json:"ranks_left"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
}

// twoTables is some tables and what they change into, whose bandwidth is measured with the
// same random pairs.
type twoTables struct {
	before, after *routing.Tables
	less          *fabric.Fabric // what stays of the fabric before, as far as bandwidth counts
	scope         routing.Scope
	seed          uint64
	precision     float64
	jobs          []flags.Allocation // on the fabric before
}

// bandwidths measures all of it.
func (t *twoTables) bandwidths(ctx context.Context) (b bandwidths, err error) {
	old, next := t.before.Fabric, t.after.Fabric
	ranks := t.staying(t.scope.Endpoints(old))
	tiers := [2]*congestion.TrunkTiers{congestion.TiersOf(old, congestion.Levels(old, t.scope)), congestion.TiersOf(next, t.levelsAfter())}
	before, err := t.simulate(ctx, t.before, ranks, tiers[0])
	if err != nil {
		return b, err
	}
	after, err := t.simulate(ctx, t.after, t.onNext(ranks), tiers[1])
	if err != nil {
		return b, err
	}
	b.Before, b.After, b.Tiers, b.Jobs = lambdaOf(before), lambdaOf(after), []tierBandwidth{}, []jobBandwidth{}
	if before != nil {
		b.Tiers = tiersBeforeAndAfter(tiers, before, after)
	}
	for _, a := range t.jobs {
		ranks := t.staying(a.Placement)
		before, err := t.simulate(ctx, t.before, ranks, nil)
		if err != nil {
			return b, err
		}
		after, err := t.simulate(ctx, t.after, t.onNext(ranks), nil)
		if err != nil {
			return b, err
		}
		b.Jobs = append(b.Jobs, jobBandwidth{a.Name, len(a.Placement), len(ranks), lambdaOf(before), lambdaOf(after)})
	}
	return b, nil
}

// levelsAfter is the levels that switches had before, also where their hosts are gone; of new
// switches, those that they have.
func (t *twoTables) levelsAfter() []int32 {
	old, next := t.before.Fabric, t.after.Fabric
	was, level := congestion.Levels(old, t.scope), congestion.Levels(next, t.scope)
	for s := range level {
		if n := old.NodeByGUID(next.Node(fabric.NodeID(s)).GUID); n != fabric.None && old.Node(n).Kind == fabric.Switch {
			level[s] = was[n]
		}
	}
	return level
}

// staying is the endpoints of the fabric before that stay.
func (t *twoTables) staying(ranks traffic.Placement) (left traffic.Placement) {
	f := t.before.Fabric
	for _, e := range ranks {
		if alsoIn(t.less, f, e) && alsoIn(t.after.Fabric, f, e) {
			left = append(left, e)
		}
	}
	return left
}

// onNext finds endpoints on the fabric after by GUID and port.
func (t *twoTables) onNext(ranks traffic.Placement) traffic.Placement {
	old, next := t.before.Fabric, t.after.Fabric
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

func (t *twoTables) simulate(ctx context.Context, tables *routing.Tables, ranks traffic.Placement, tiers *congestion.TrunkTiers) (*congestion.Result, error) {
	return bisect(ctx, tables, congestion.Options{Placement: ranks, Seed: t.seed, Precision: t.precision, Tiers: tiers})
}

// bisect simulates random bisections; nil: fewer than two endpoints.
func bisect(ctx context.Context, t *routing.Tables, o congestion.Options) (*congestion.Result, error) {
	if len(o.Placement) < 2 {
		return nil, nil
	}
	o.Pattern = traffic.Bisection()
	return congestion.Simulate(ctx, t, o)
}

func lambdaOf(r *congestion.Result) *float64 {
	if r == nil {
		return nil
	}
	return &r.Lambda
}

// tiersBeforeAndAfter joins tiers of the same levels.
func tiersBeforeAndAfter(tiers [2]*congestion.TrunkTiers, before, after *congestion.Result) []tierBandwidth {
	all := []tierBandwidth{}
	for side, r := range [...]*congestion.Result{before, after} {
		by := tiers[side]
		for i, x := range by.Levels {
			k := slices.IndexFunc(all, func(t tierBandwidth) bool { return t.From == x[0] && t.To == x[1] })
			if k < 0 {
				k = len(all)
				all = append(all, tierBandwidth{From: x[0], To: x[1]})
			}
			channels, share := &all[k].ChannelsBefore, &all[k].Before
			if side == 1 {
				channels, share = &all[k].ChannelsAfter, &all[k].After
			}
			for _, of := range by.Of {
				if int(of) == i {
					*channels++
				}
			}
			if r.Tiers[i].Flows > 0 {
				*share = &r.Tiers[i].Share
			}
		}
	}
	slices.SortFunc(all, func(a, b tierBandwidth) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return all
}

func (b *bandwidths) text(among string) string {
	if b.Before == nil || b.After == nil {
		return "there are fewer than two " + among
	}
	return fmt.Sprintf("%.3f of full before, %.3f after, random pairs of the %s", *b.Before, *b.After, among)
}

// showBandwidths prints the tables of tiers and jobs. One tier alone says what the line
// above it says.
func showBandwidths(c *console.Console, b *bandwidths) {
	share := func(x *float64) string {
		if x == nil {
			return "–"
		}
		return fmt.Sprintf("%.3f", *x)
	}
	fall := func(before, after *float64) string {
		if before == nil || after == nil {
			return "–"
		}
		return fmt.Sprintf("%+.1f %%", math.Round(1000*(*after / *before)-1000)/10+0) // +0: no -0.0
	}
	if len(b.Tiers) > 1 {
		t := c.NewTable("tier", "channels: before", "after", "leaves its flows: before", "after", "change")
		for _, x := range b.Tiers {
			t.Row(fmt.Sprintf("%d → %d", x.From, x.To), x.ChannelsBefore, x.ChannelsAfter, share(x.Before), share(x.After), fall(x.Before, x.After))
		}
		t.Render()
	}
	if len(b.Jobs) > 0 {
		t := c.NewTable("job", "endpoints", "that stay", "bandwidth: before", "after", "change")
		for _, x := range b.Jobs {
			t.Row(x.Name, x.Ranks, x.Stay, share(x.Before), share(x.After), fall(x.Before, x.After))
		}
		t.Render()
	}
}

// alsoIn says whether another fabric has an endpoint too, with a cable.
func alsoIn(other, f *fabric.Fabric, e fabric.EndpointID) bool {
	ep := f.Endpoint(e)
	n := other.NodeByGUID(f.Node(ep.Node).GUID)
	return n != fabric.None && (ep.Class == fabric.SwitchPort || other.Out(n, ep.Port) != fabric.None)
}
