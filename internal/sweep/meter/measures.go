package meter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// value is what a measure came to.
type value struct {
	mean   float64
	stderr *float64  // nil: nothing was drawn
	runs   []float64 // that it is of, where they are kept
}

func plainly[T int | uint32 | float64](v T) (value, error) { return value{mean: float64(v)}, nil }

// measure takes one measure of the routed network.
func (t *taking) measure(ctx context.Context, m *sweep.Measure) (value, error) {
	switch m.Name {
	case "lanes":
		return plainly(t.result.Tables.Lanes.Needed)
	case "loops":
		if t.result.Verdict.Free() {
			return plainly(0)
		}
		return plainly(1)
	case "load":
		return plainly(t.result.Loads.Max)
	case "hops":
		return plainly(t.result.Loads.MeanHops())
	case "longest":
		return plainly(t.result.Loads.MaxHops)
	case "disjoint":
		n, err := congestion.Disjoint(ctx, t.result.Tables, routing.HCA)
		switch {
		case err != nil:
			return value{}, err
		case math.IsNaN(n):
			return value{}, errors.New("no two hosts are on different switches, so there are no paths")
		}
		return plainly(n)
	case "bandwidth":
		return t.bandwidth(ctx, m)
	case "accepted":
		r, err := t.offer(ctx, m)
		if err != nil {
			return value{}, err
		}
		return plainly(r.Accepted)
	case "latency":
		r, err := t.offer(ctx, m)
		if err != nil {
			return value{}, err
		}
		if r.Packets == 0 {
			return value{}, errNothingArrived
		}
		half := r.Error / 1000 / 1.96 // of a 95 % interval
		return value{mean: r.Mean / 1000, stderr: &half}, nil
	case "throughput":
		return t.throughput(ctx, m)
	case "settled", "settled-latency":
		r, err := t.settled(ctx, m)
		if err != nil {
			return value{}, err
		}
		if m.Name == "settled" {
			return plainly(r.Accepted)
		}
		if r.Packets == 0 {
			return value{}, errNothingArrived
		}
		return plainly(r.Mean)
	case "delivered", "delivered-latency":
		d, err := t.delivered(ctx, m)
		switch {
		case err != nil:
			return value{}, err
		case m.Name == "delivered":
			return plainly(d.load)
		case d.latency == 0:
			return value{}, errNothingArrived
		}
		return plainly(d.latency)
	case "risk":
		risk, err := riskOf(ctx, t.result.Tables, m.Setting("pattern"), whole(m, "patterns"), t.point.Seed)
		return value{mean: risk}, err
	case "stops":
		return t.stops(ctx, m)
	case "completion":
		return t.completion(ctx, m)
	case "layers":
		n, err := layersOf(ctx, t.fabric, m.Setting("of"))
		return value{mean: float64(n)}, err
	case "rounds":
		n, err := roundsOf(ctx, t.fabric, uint8(whole(m, "lmc")), t.point.Seed)
		return value{mean: float64(n)}, err
	case "ports":
		most := 0
		for s := range t.fabric.Switches() {
			most = max(most, t.fabric.Node(fabric.NodeID(s)).Ports)
		}
		return plainly(most)
	case "time":
		return t.time(ctx, m)
	case "memory":
		return memory()
	}
	return value{}, fmt.Errorf("meter: no measure is called %q", m.Name)
}

// errNothingArrived refuses the latency of no packets.
var errNothingArrived = errors.New("nothing arrived in the window, so there is no latency")

// whole is a setting that is a number.
func whole(m *sweep.Measure, key string) int {
	n, _ := strconv.Atoi(m.Setting(key)) // as it was checked
	return n
}

// traffic is the pattern and the placement of a measure; the pattern is nil where every
// message goes to another host.
func (t *taking) traffic(m *sweep.Measure) (traffic.Pattern, traffic.Placement, error) {
	pattern, err := traffic.Parse(m.Setting("pattern"))
	if err != nil {
		return nil, nil, err
	}
	return t.placed(pattern, m.Setting("ranks"))
}

func (t *taking) bandwidth(ctx context.Context, m *sweep.Measure) (value, error) {
	pattern, at, err := t.traffic(m)
	if err != nil {
		return value{}, err
	}
	model, err := congestion.ParseModel(m.Setting("model"))
	if err != nil {
		return value{}, err
	}
	r, err := congestion.Simulate(ctx, t.result.Tables, congestion.Options{
		Pattern: pattern, Placement: at, Model: model, UniformRates: m.Setting("rates") == "alike", Seed: t.point.Seed, Runs: whole(m, "patterns"),
	})
	if err != nil {
		return value{}, err
	}
	v := value{mean: r.Lambda}
	if pattern.Random() && !math.IsNaN(r.StdErr) && !math.IsInf(r.StdErr, 0) { // of one run it is not known
		v.stderr = &r.StdErr
	}
	return v, nil
}

// sent is the runs of packets of a point, by load, pattern and whatever else they were
// asked for: several measures are of one run.
type sent map[string]*packets.Result

// simulated is the network with packets, and the traffic of a measure on it.
func (t *taking) simulated(m *sweep.Measure) (*packets.Network, packets.Injection, packets.Window, error) {
	pattern, at, err := t.traffic(m)
	if err != nil {
		return nil, packets.Injection{}, packets.Window{}, err
	}
	if pattern.String() == "uniform" {
		pattern = nil // each message to another, not each run
	}
	n, err := t.packetNetwork(m.Setting("preset"))
	load := packets.Injection{Pattern: pattern, Placement: at, Seed: t.point.Seed}
	return n, load, packets.Window{Length: packets.Time(whole(m, "time")) * 1000}, err
}

// offer sends packets at the load of a measure.
func (t *taking) offer(ctx context.Context, m *sweep.Measure) (*packets.Result, error) {
	if r := t.sent[m.Text()]; r != nil {
		return r, nil
	}
	n, load, window, err := t.simulated(m)
	if err != nil {
		return nil, err
	}
	if load.Offered, err = strconv.ParseFloat(m.Setting("load"), 64); err != nil {
		return nil, err
	}
	r, err := n.Measure(ctx, load, window)
	if err != nil {
		return nil, err
	}
	if r.Deadlock != nil {
		return nil, fmt.Errorf("the network deadlocked: %s", r.Deadlock)
	}
	t.keep(m.Text(), r)
	return r, nil
}

// keep keeps a run of packets for other measures of it.
func (t *taking) keep(of string, r *packets.Result) {
	if t.sent == nil {
		t.sent = sent{}
	}
	t.sent[of] = r
}

func (t *taking) throughput(ctx context.Context, m *sweep.Measure) (value, error) {
	n, load, window, err := t.simulated(m)
	if err != nil {
		return value{}, err
	}
	r, err := n.Saturation(ctx, load, window, 0, 1, 0.01)
	switch {
	case err != nil:
		return value{}, err
	case r.Status == packets.Deadlocked:
		return value{}, fmt.Errorf("the network deadlocked at a load of %g", r.Above)
	}
	return plainly(r.Offered)
}

// completion sends the messages of a pattern once.
func (t *taking) completion(ctx context.Context, m *sweep.Measure) (value, error) {
	pattern, at, err := t.traffic(m)
	if err != nil {
		return value{}, err
	}
	phases, err := packets.Phases(pattern, at, int64(whole(m, "message")), traffic.Stream(t.point.Seed, 0))
	if err != nil {
		return value{}, err
	}
	n, err := t.packetNetwork(m.Setting("preset"))
	if err != nil {
		return value{}, err
	}
	r, err := n.Complete(ctx, phases, t.point.Seed, 0)
	switch {
	case err != nil:
		return value{}, err
	case r.Deadlock != nil:
		return value{}, fmt.Errorf("the network deadlocked: %s", r.Deadlock)
	}
	return plainly(float64(r.Makespan) / 1e6)
}

// NeverStopped is why a network has no time after which it stopped.
const NeverStopped = "the network did not stop in any run"

func (t *taking) stops(ctx context.Context, m *sweep.Measure) (value, error) {
	after, err := stopsOf(ctx, t.result.Tables, t.result.Verdict.Cycle, whole(m, "repeats"), t.point.Seed)
	switch {
	case err != nil:
		return value{}, err
	case len(after) == 0:
		return value{}, errors.New(NeverStopped)
	}
	sum := 0.0
	for _, v := range after {
		sum += v
	}
	return value{mean: sum / float64(len(after)), runs: after}, nil
}

// memory is the peak of the process: the pool starts one for this point alone.
func memory() (value, error) {
	if runtime.GOOS != "linux" {
		return value{}, fmt.Errorf("only Linux says how much memory a process had at the peak")
	}
	return plainly(peakMemory())
}
