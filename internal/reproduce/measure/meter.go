package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/plain"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/sweep/pool"
	"github.com/weft-fabric/weft/topology"
	"github.com/weft-fabric/weft/traffic"
)

// Meter measures points, one at a time.
type Meter struct {
	real  Dumps
	sizes map[string]footprint // by network
}

// Dumps finds the network of a dump by its name.
type Dumps func(name string) (*fabric.Fabric, error)

// NewMeter is a meter for points on computed networks and on dumps, if real is not nil.
func NewMeter(real Dumps) *Meter { return &Meter{real, map[string]footprint{}} }

// NeverStopped is why a network has no time after which it stopped.
const NeverStopped = "the network did not stop in any run"

// Take measures a point. The error is none of the point's: a cancelled context, a
// definition without sense, an engine caught in a lie.
func (m *Meter) Take(ctx context.Context, p Point) (Result, error) {
	start := pool.ProcessorTime()
	r, err := m.take(ctx, p)
	if err != nil {
		return Result{}, fmt.Errorf("measure: %s of %s on %s: %w", p.Measure, p.Engine, p.Network, err)
	}
	r.Spent = (pool.ProcessorTime() - start).Seconds()
	return r, nil
}

func (m *Meter) take(ctx context.Context, p Point) (Result, error) {
	if p.Measure == Example {
		return example(ctx, p.Engine)
	}
	var r Result
	var all []sample
	var values, indexes, delays []float64
	networks := p.Drawn()
	for i, n := range networks {
		f, err := m.network(n.Spec)
		if err == nil && p.Missing > 0 {
			f, err = without(f, p.Missing, n.Seed)
		}
		if err != nil {
			return r, err
		}
		if i == 0 {
			c := f.Count()
			r.Switches, r.Hosts, r.Cables = c.Switches, c.HCA, c.SwitchCables
		}
		s, err := m.one(ctx, f, p, n)
		if p.Measure == Bandwidth && len(networks) > 1 {
			r.Each = append(r.Each, Mean(s.values))
		}
		switch {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case refused(err):
			r.Refusals++
			if r.Refused == "" {
				r.Refused = plain.Error(err)
			}
			continue
		case err != nil:
			return r, err
		}
		all = append(all, s)
		values = append(values, s.values...)
		indexes, delays = append(indexes, s.index), append(delays, s.latency)
		if s.loop {
			r.Loops++
		}
	}
	r.summarise(p, values)
	if p.Measure == Bandwidth && len(networks) == 1 && len(all) == 1 {
		r.Low, r.High = r.Value-all[0].spread, r.Value+all[0].spread
	}
	r.Index, r.Delay = Mean(indexes), Mean(delays)
	if p.Measure == Stops && len(values) == 0 {
		r.Refused, r.Refusals = NeverStopped, 1
	}
	return r, nil
}

// one measures one network.
func (m *Meter) one(ctx context.Context, f *fabric.Fabric, p Point, n Drawn) (sample, error) {
	switch p.Measure {
	case Ports:
		most := 0
		for s := range f.Switches() {
			most = max(most, f.Node(fabric.NodeID(s)).Ports)
		}
		return sample{values: []float64{float64(most)}}, nil
	case Seconds:
		return routingTime(ctx, f, p)
	case Accepted:
		return accepted(ctx, f, p, n.Seed)
	case Rounds:
		return roundsOf(ctx, f, n.Seed)
	case Delivered:
		return delivered(ctx, f, p, n.Seed)
	case Stops:
		return stops(ctx, f, p)
	}
	return judged(ctx, f, p, n)
}

type sample struct {
	values  []float64
	spread  float64 // standard deviation of single patterns
	index   float64
	latency float64
	loop    bool // the tables have a credit loop
}

// judged is a measure of tables that the judge has seen.
func judged(ctx context.Context, f *fabric.Fabric, p Point, n Drawn) (sample, error) {
	name, scope := scoped(p.Engine)
	e, count, err := methodNamed(name)
	if err != nil {
		return sample{}, err
	}
	if count != nil {
		layers, err := count(ctx, f)
		return sample{values: []float64{float64(layers)}}, err
	}
	r, err := route(ctx, f, e, scope, n.Seed)
	if err != nil {
		return sample{}, err
	}
	s := sample{loop: !r.Verdict.Free()}
	switch p.Measure {
	case Lanes:
		s.values = []float64{float64(r.Tables.Lanes.Needed)}
		return s, nil
	case Loops:
		s.values = []float64{0}
		if s.loop {
			s.values[0] = 1
		}
		return s, nil
	}
	s.index = float64(r.Loads.Max)
	if p.Measure == Risk {
		risk, err := riskOf(ctx, r.Tables, p, n.Seed)
		s.values = []float64{risk}
		return s, err
	}
	mean, stderr, err := EffectiveBisection(ctx, r.Tables, n.Spec, p.Job, p.Patterns, n.Seed)
	s.values, s.spread = []float64{mean}, stderr*math.Sqrt(float64(p.Patterns))
	return s, err
}

// network builds the network of a spec, or finds the dump.
func (m *Meter) network(spec string) (*fabric.Fabric, error) {
	if name, ok := strings.CutPrefix(spec, RealPrefix); ok {
		if m.real == nil {
			return nil, fmt.Errorf("no dump is called %q", name)
		}
		return m.real(name)
	}
	return Build(spec)
}

// Needs is about what it takes to measure a point: bytes, and seconds on one core, both by
// the size of its first network.
func (m *Meter) Needs(p Point) (bytes int64, seconds float64, err error) {
	if p.Measure == Example {
		return 0, 0, nil
	}
	first := p.Drawn()[0].Spec
	size, known := m.sizes[first]
	if !known {
		f, err := m.network(first)
		if err != nil {
			return 0, 0, err
		}
		size = footprintOf(f)
		m.sizes[first] = size
	}
	bytes = size.bytes
	if p.Engine == "p2sssp" {
		bytes += size.paths
	}
	return bytes, secondsAnEntry * size.entries * p.Work(), nil
}

// secondsAnEntry is what routing and a thousand patterns take for each entry of the
// forwarding tables: enough to begin with what takes long.
const secondsAnEntry = 1e-6

// without is a network with so many cables between switches drawn and removed, which
// stays connected.
func without(f *fabric.Fabric, cables int, seed uint64) (*fabric.Fabric, error) {
	loss, err := topology.Damage{Links: cables, Seed: seed}.Draw(f)
	if err != nil {
		return nil, err
	}
	return f.Without(loss.Links, nil)
}

// summarise makes one value of those of all networks, or repetitions.
func (r *Result) summarise(p Point, values []float64) {
	r.Count = len(values)
	if r.Count == 0 {
		return
	}
	r.Low, r.High, r.Value = slices.Min(values), slices.Max(values), Mean(values)
	if p.Measure == Seconds {
		r.Value = r.Low // what else the machine did only adds
	}
}

// Mean is the mean of values, 0 of none.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / math.Max(1, float64(len(values)))
}

// refused says whether an error is an engine's answer that it does not route.
func refused(err error) bool {
	var r *routing.Refusal
	var few *routing.TooFewLanes
	return errors.As(err, &r) || errors.As(err, &few)
}

// footprint is about what it takes to route a fabric.
type footprint struct {
	bytes   int64   // tables of ports and lanes, and what is known of every turn
	paths   int64   // bytes, for P²-SSSP: the shortest paths to every switch at once
	entries float64 // of the forwarding tables
}

func footprintOf(f *fabric.Fabric) footprint {
	n, lids := int64(f.Switches()), int64(f.TopLID()+1)
	return footprint{4*n*lids + 40*int64(f.Turns()) + 64*int64(len(f.Channels())), 4 * n * int64(f.Trunks()), float64(n * lids)}
}

// EffectiveBisection is the effective bisection bandwidth of tables over so many random
// patterns, a fraction of full, and its standard error. Of a job, that many hosts of the
// network take part, by default drawn anew for each pattern; 0: all.
func EffectiveBisection(ctx context.Context, t *routing.Tables, network string, job, patterns int, seed uint64) (mean, stderr float64, err error) {
	bisect := traffic.Bisection()
	hosts, drawn := hostsOf(t.Fabric, network, job)
	if drawn {
		bisect = part{bisect, job}
	}
	r, err := congestion.Simulate(ctx, t, congestion.Options{
		Pattern: bisect, Placement: hosts, UniformRates: true, Seed: seed, Runs: patterns,
	})
	if err != nil {
		return 0, 0, err
	}
	return r.Lambda, r.StdErr, nil
}

// part is a random pattern among some of the ranks, drawn anew each time: a job on
// part of a machine.
type part struct {
	traffic.Pattern
	ranks int
}

func (p part) Phases(n int) (int, error) { return p.Pattern.Phases(min(n, p.ranks)) }

func (p part) Append(pairs []traffic.Pair, n, phase int, r *rand.Rand) []traffic.Pair {
	chosen := r.Perm(n)[:min(n, p.ranks)]
	first := len(pairs)
	pairs = p.Pattern.Append(pairs, len(chosen), phase, r)
	for i := range pairs[first:] {
		pair := &pairs[first+i]
		pair.From, pair.To = int32(chosen[pair.From]), int32(chosen[pair.To])
	}
	return pairs
}

func (p part) String() string { return fmt.Sprintf("%s of %d ranks", p.Pattern, p.ranks) }
