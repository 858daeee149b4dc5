package measures

import (
	"context"
	"errors"
	"math"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// What is counted of the network, and of its tables.

// Value is what a measure came to.
type Value struct {
	Mean  float64
	Error *float64  // standard error; nil: nothing was drawn
	Runs  []float64 // that the mean is of, where they are kept
}

// meanOf is a value that is the mean of some runs, one at least.
func meanOf(runs []float64) Value {
	sum := 0.0
	for _, v := range runs {
		sum += v
	}
	return Value{Mean: sum / float64(len(runs)), Runs: runs}
}

// plainly is a value that is counted or computed once, with nothing drawn.
func plainly[T int | uint32 | float64](v T) (Value, error) { return Value{Mean: float64(v)}, nil }

// Take takes a measure. The functions that take one (Kind.take), here and in other files, are
// called so as their figure.
func (in *Input) Take(ctx context.Context, m *Measure) (Value, error) {
	k, err := Named(m.Name)
	if err != nil {
		return Value{}, err
	}
	return k.take(ctx, in, m)
}

func lanes(_ context.Context, in *Input, _ *Measure) (Value, error) {
	return plainly(in.Result.Tables.Lanes.Needed)
}

func loops(_ context.Context, in *Input, _ *Measure) (Value, error) {
	if in.Result.Verdict.Free() {
		return plainly(0)
	}
	return plainly(1)
}

func fullest(_ context.Context, in *Input, _ *Measure) (Value, error) {
	return plainly(in.Result.Loads.Max)
}

func hops(_ context.Context, in *Input, _ *Measure) (Value, error) {
	return plainly(in.Result.Loads.MeanHops())
}

func longest(_ context.Context, in *Input, _ *Measure) (Value, error) {
	return plainly(in.Result.Loads.MaxHops)
}

func disjoint(ctx context.Context, in *Input, _ *Measure) (Value, error) {
	n, err := DisjointPaths(ctx, in.Result.Tables, routing.HCA)
	switch {
	case err != nil:
		return Value{}, err
	case math.IsNaN(n):
		return Value{}, errors.New("no two hosts are on different switches, so there are no paths")
	}
	return plainly(n)
}

func ports(_ context.Context, in *Input, _ *Measure) (Value, error) {
	most := 0
	for n := range in.Fabric.Switches() {
		most = max(most, in.Fabric.Node(fabric.NodeID(n)).Ports)
	}
	return plainly(most)
}

// traffic is the pattern and the placement of a measure.
func (in *Input) traffic(m *Measure) (traffic.Pattern, traffic.Placement, error) {
	pattern, err := traffic.Parse(m.Setting("pattern"))
	if err != nil {
		return nil, nil, err
	}
	return in.placed(pattern, m.Setting("ranks"))
}

func bandwidth(ctx context.Context, in *Input, m *Measure) (Value, error) {
	pattern, at, err := in.traffic(m)
	if err != nil {
		return Value{}, err
	}
	model, err := congestion.ParseModel(m.Setting("model"))
	if err != nil {
		return Value{}, err
	}
	r, err := congestion.Simulate(ctx, in.Result.Tables, congestion.Options{
		Pattern: pattern, Placement: at, Model: model, UniformRates: m.Setting("rates") == "alike", Seed: in.Seed, Runs: m.whole("patterns"),
	})
	if err != nil {
		return Value{}, err
	}
	v := Value{Mean: r.Lambda}
	if pattern.Random() && !math.IsNaN(r.StdErr) && !math.IsInf(r.StdErr, 0) { // of one run it is not known
		v.Error = &r.StdErr
	}
	return v, nil
}
