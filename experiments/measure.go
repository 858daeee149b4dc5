package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/plain"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/topology"
)

// bench is what points are measured with.
type bench struct {
	real map[string]*fabric.Fabric // dumps, by name
	gate *gate
}

// take measures a point. The error is none of the point's: a cancelled context, a
// definition without sense, an engine caught in a lie.
func (b *bench) take(ctx context.Context, p Point) (Result, error) {
	start := time.Now()
	r, err := b.measure(ctx, p)
	if err != nil {
		return Result{}, fmt.Errorf("experiments: %s of %s on %s: %w", p.Measure, p.Engine, p.Network, err)
	}
	r.Spent = time.Since(start).Seconds()
	return r, nil
}

func (b *bench) measure(ctx context.Context, p Point) (Result, error) {
	if p.Measure == Example {
		return example(ctx, p.Engine)
	}
	var r Result
	var values, errs, indexes, delays []float64
	for i := range max(1, p.Networks) {
		f, err := b.network(p.drawn(i))
		if err != nil {
			return r, err
		}
		if i == 0 {
			r.shape(f)
		}
		leave, err := b.gate.enter(ctx, footprint(f, p.Engine))
		if err != nil {
			return r, err
		}
		s, err := sample(ctx, f, p, p.Seed+uint64(i))
		leave()
		switch {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case refused(err):
			r.Refusals++
			if r.Refused == "" {
				r.Refused = reason(err)
			}
			continue
		case err != nil:
			return r, err
		}
		values, errs = append(values, s.values...), append(errs, s.stderr)
		indexes, delays = append(indexes, s.index), append(delays, s.latency)
		if s.loop {
			r.Loops++
		}
	}
	r.sum(p, values, errs)
	r.Index, r.Delay = mean(indexes), mean(delays)
	if p.Measure == Stops && len(values) == 0 {
		r.Refused, r.Refusals = "the network did not stop in any run", 1
	}
	return r, nil
}

// reading is what a measure took of one network.
type reading struct {
	values  []float64
	stderr  float64
	index   float64
	latency float64
	loop    bool // the tables have a credit loop
}

// sample takes the measure of one network.
func sample(ctx context.Context, f *fabric.Fabric, p Point, seed uint64) (reading, error) {
	switch p.Measure {
	case Ports:
		most := 0
		for s := range f.Switches() {
			most = max(most, f.Node(fabric.NodeID(s)).Ports)
		}
		return reading{values: []float64{float64(most)}}, nil
	case Seconds:
		return stopwatch(ctx, f, p)
	case Accepted:
		return carried(ctx, f, p, seed)
	case Stops:
		return stop(ctx, f, p)
	}
	m, err := methodNamed(p.Engine)
	if err != nil {
		return reading{}, err
	}
	if m.count != nil {
		layers, err := m.count(ctx, f)
		return reading{values: []float64{float64(layers)}}, err
	}
	t, err := m.tables(ctx, f, seed)
	if err != nil {
		return reading{}, err
	}
	v, err := deadlock.Verify(ctx, t, deadlock.Options{Contract: m.contract()})
	if err != nil {
		return reading{}, err
	}
	if !v.Complete() || m.safe && !v.Free() {
		return reading{}, fmt.Errorf("its tables are not what the engine promises: free of credit loops %t, complete %t", v.Free(), v.Complete())
	}
	r := reading{loop: !v.Free()}
	switch p.Measure {
	case Lanes:
		r.values = []float64{float64(t.Lanes.Needed)}
		return r, nil
	case Loops:
		r.values = []float64{0}
		if r.loop {
			r.values[0] = 1
		}
		return r, nil
	}
	r.index = float64(congestion.Count(f, t.Forwarding, routing.HCA).Max)
	mean, stderr, err := bandwidth(ctx, t, p, seed)
	r.values, r.stderr = []float64{mean}, stderr
	return r, err
}

// stopwatch times an engine as it is, with the spreading of paths over lanes.
func stopwatch(ctx context.Context, f *fabric.Fabric, p Point) (reading, error) {
	e, err := engines.Named(p.Engine)
	if err != nil {
		return reading{}, err
	}
	var r reading
	for range p.Repeats {
		start := time.Now()
		if _, err := e.Route(ctx, f, engines.Options{}, budget, nil); err != nil {
			return r, err
		}
		r.values = append(r.values, time.Since(start).Seconds())
	}
	return r, nil
}

// network builds the network of a spec, or finds the dump.
func (b *bench) network(spec string) (*fabric.Fabric, error) {
	if name, ok := strings.CutPrefix(spec, realPrefix); ok {
		if f := b.real[name]; f != nil {
			return f, nil
		}
		return nil, fmt.Errorf("no dump is called %q", name)
	}
	family, err := topology.Parse(spec)
	if err != nil {
		return nil, err
	}
	return family.Build()
}

func (r *Result) shape(f *fabric.Fabric) {
	n := f.Count()
	r.Switches, r.Hosts, r.Cables = n.Switches, n.HCA, n.SwitchCables
}

// sum makes one value of those of all networks, or repetitions.
func (r *Result) sum(p Point, values, errs []float64) {
	r.Count = len(values)
	if r.Count == 0 {
		return
	}
	r.Low, r.High, r.Value = slices.Min(values), slices.Max(values), mean(values)
	switch {
	case p.Measure == Seconds:
		r.Value = r.Low // what else the machine did only adds
	case p.Measure == Bandwidth && len(values) == 1:
		r.Low, r.High = r.Value-errs[0], r.Value+errs[0]
	}
}

func mean(values []float64) float64 {
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

func reason(err error) string { return plain.Error(err) }

// footprint is about how many bytes it takes to route a fabric: tables of ports and
// lanes, what is known of every turn, and for P²-SSSP the shortest paths to every
// switch at once.
func footprint(f *fabric.Fabric, engine string) int64 {
	n := int64(f.Switches())
	bytes := 4*n*int64(f.TopLID()+1) + 40*int64(f.Turns()) + 64*int64(len(f.Channels()))
	if engine == "p2sssp" {
		bytes += 4 * n * int64(f.Trunks())
	}
	return bytes
}
