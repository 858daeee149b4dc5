package choose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// Figures is how good tables are, whoever made them.
type Figures struct {
	Lambda float64 // effective bisection bandwidth: what pairs of hosts drawn at random get, of full
	StdErr float64 // of Lambda
	Shifts []Shift // by order of ranks, as in Meter

	// Traffic is how long the fullest channel takes for the demands of the Meter, and
	// TrafficMean in the mean over bytes the fullest on their way, if all are busy all the
	// time; in units of the fullest link of a host. 0: none are given.
	Traffic, TrafficMean float64
}

// Shift is how long all to all in phases takes with the ranks in an order: in phase k,
// rank i sends to i+k, and each phase waits for its slowest flow.
type Shift struct {
	Order string
	Time  float64 // a multiple of what it would take without other flows; 0: a pair has no route
}

// Meter measures tables, all of them alike. It needs at least two endpoints.
type Meter struct {
	Endpoints []fabric.EndpointID
	Orders    []engines.RankOrder // of ranks; see Orders
	Uniform   bool                // treat all links alike
	Seed      uint64              // of random pairs
	Runs      int                 // bisections at most; 0: as many as Precision takes
	Precision float64             // standard error of Lambda at which bisections end; 0: Runs alone decides
	Phases    int                 // of all to all, spread evenly, at most; 0: all
	Demands   []engines.Demand    // traffic that is measured too; nil: none is known
	Stage     func(what string) (p routing.Progress, done func())
}

// Orders is the orders of ranks by which tables are measured: by switch and port, by the
// names of hosts, as schedulers hand them out, and at random.
func Orders(f *fabric.Fabric, endpoints []fabric.EndpointID, seed uint64) ([]engines.RankOrder, error) {
	var orders []engines.RankOrder
	for _, name := range []string{"switch", "name", "random"} {
		ranks, err := traffic.Place(name, f, endpoints, seed)
		if err != nil {
			return nil, err
		}
		orders = append(orders, engines.RankOrder{Name: name, Ranks: ranks})
	}
	return orders, nil
}

// PhasesOf is how many phases of all to all are counted.
func (m *Meter) PhasesOf() int {
	all := max(0, len(m.Endpoints)-1)
	if m.Phases == 0 {
		return all
	}
	return min(m.Phases, all)
}

// Measure measures tables.
func (m *Meter) Measure(ctx context.Context, t *routing.Tables) (Figures, error) {
	o := congestion.Options{
		Pattern: traffic.Bisection(), Placement: m.Endpoints, UniformRates: m.Uniform, Seed: m.Seed, Runs: m.Runs, Precision: m.Precision,
	}
	b, err := m.simulate(ctx, "bisections", t, o)
	if err != nil {
		return Figures{}, err
	}
	x := Figures{Lambda: b.Lambda, StdErr: b.StdErr, Shifts: make([]Shift, len(m.Orders))}
	if o.Pattern, err = traffic.Parse(fmt.Sprintf("shifts:phases=%d", m.Phases)); err != nil {
		return x, err
	}
	for i, order := range m.Orders {
		x.Shifts[i].Order = order.Name
		same := slices.IndexFunc(m.Orders[:i], func(before engines.RankOrder) bool { return slices.Equal(before.Ranks, order.Ranks) })
		if same >= 0 {
			x.Shifts[i].Time = x.Shifts[same].Time
			continue
		}
		if len(order.Ranks) < 2 {
			continue
		}
		o.Placement = order.Ranks
		s, err := m.simulate(ctx, "all to all by "+order.Name, t, o)
		if err != nil {
			return x, err
		}
		if took := s.Slowdown(); !math.IsInf(took, 0) && !math.IsNaN(took) {
			x.Shifts[i].Time = took
		}
	}
	if len(m.Demands) > 0 {
		err = m.serve(ctx, t, &x)
	}
	return x, err
}

// serve measures the demands.
func (m *Meter) serve(ctx context.Context, t *routing.Tables, x *Figures) error {
	o := congestion.Options{UniformRates: m.Uniform}
	rank := map[fabric.EndpointID]int32{}
	rankOf := func(e fabric.EndpointID) int32 {
		k, ok := rank[e]
		if !ok {
			k = int32(len(o.Placement))
			rank[e], o.Placement = k, append(o.Placement, e)
		}
		return k
	}
	pairs := make([]traffic.Pair, len(m.Demands))
	for i, d := range m.Demands {
		pairs[i] = traffic.Pair{From: rankOf(d.From), To: rankOf(d.To), Bytes: d.Bytes}
	}
	o.Pattern = traffic.Pairs("demands", len(o.Placement), pairs)
	c, err := congestion.TimesOf(ctx, t, o)
	if err == nil {
		x.Traffic, x.TrafficMean = c.Time, c.Mean
	}
	return err
}

func (m *Meter) simulate(ctx context.Context, what string, t *routing.Tables, o congestion.Options) (*congestion.Result, error) {
	if m.Stage != nil {
		p, done := m.Stage(what)
		defer done()
		o.Progress = p
	}
	return congestion.Simulate(ctx, t, o)
}

// How proven trials are ranked. The aim makes one number of the figures of each. What is
// as good as the best by that is told apart by one criterion after another. Then lanes
// that cost nothing are saved: what needs fewer, and is at most cheap worse in every
// figure that the aim is about, is taken instead. At last nothing is passed over that is
// nowhere worse than what is left, lanes included, and somewhere better.
