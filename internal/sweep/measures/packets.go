package measures

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/traffic"
)

// Measures that send packets through the network.

// errNothingArrived refuses the latency of no packets.
var errNothingArrived = errors.New("nothing arrived in the window, so there is no latency")

// simulation is the simulator of the network, and the traffic of a measure for it, for so long as
// the measure says. The load is not set.
func (in *Input) simulation(m *Measure) (*packets.Network, packets.Injection, packets.Window, error) {
	pattern, at, err := in.traffic(m)
	if err != nil {
		return nil, packets.Injection{}, packets.Window{}, err
	}
	if pattern.String() == "uniform" {
		pattern = nil // each message to another, not each run
	}
	n, err := in.packetNetwork(m.Setting("preset"))
	load := packets.Injection{Pattern: pattern, Placement: at, Seed: in.Seed}
	return n, load, packets.Window{Length: packets.Time(m.whole("time")) * 1000}, err
}

func accepted(ctx context.Context, in *Input, m *Measure) (Value, error) {
	r, err := in.offer(ctx, m)
	if err != nil {
		return Value{}, err
	}
	return plainly(r.Accepted)
}

func latency(ctx context.Context, in *Input, m *Measure) (Value, error) {
	r, err := in.offer(ctx, m)
	if err != nil {
		return Value{}, err
	}
	if r.Packets == 0 {
		return Value{}, errNothingArrived
	}
	half := r.Error / 1000 / 1.96 // of a 95 % interval
	return Value{Mean: r.Mean / 1000, Error: &half}, nil
}

// offer sends packets at the load of a measure, once for all measures of the same settings.
func (in *Input) offer(ctx context.Context, m *Measure) (*packets.Result, error) {
	if r := in.sent[m.Text()]; r != nil {
		return r, nil
	}
	n, load, window, err := in.simulation(m)
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
	in.remember(m.Text(), r)
	return r, nil
}

// remember notes a run of packets for other measures of it.
func (in *Input) remember(of string, r *packets.Result) {
	if in.sent == nil {
		in.sent = map[string]*packets.Result{}
	}
	in.sent[of] = r
}

func throughput(ctx context.Context, in *Input, m *Measure) (Value, error) {
	n, load, window, err := in.simulation(m)
	if err != nil {
		return Value{}, err
	}
	r, err := n.Saturation(ctx, load, window, 0, 1, 0.01)
	switch {
	case err != nil:
		return Value{}, err
	case r.Status == packets.Deadlocked:
		return Value{}, fmt.Errorf("the network deadlocked at a load of %g", r.Above)
	}
	return plainly(r.Offered)
}

// completion sends the messages of a pattern once.
func completion(ctx context.Context, in *Input, m *Measure) (Value, error) {
	pattern, at, err := in.traffic(m)
	if err != nil {
		return Value{}, err
	}
	phases, err := packets.Phases(pattern, at, int64(m.whole("message")), traffic.Stream(in.Seed, 0))
	if err != nil {
		return Value{}, err
	}
	n, err := in.packetNetwork(m.Setting("preset"))
	if err != nil {
		return Value{}, err
	}
	r, err := n.Complete(ctx, phases, in.Seed, 0)
	switch {
	case err != nil:
		return Value{}, err
	case r.Deadlock != nil:
		return Value{}, fmt.Errorf("the network deadlocked: %s", r.Deadlock)
	}
	return plainly(float64(r.Makespan) / 1e6)
}
