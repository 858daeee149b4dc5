package measures

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/weft-fabric/weft/packets"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// Packets as TPDS 2006, section 8, sends them: a window after the latency, or what arrives,
// has settled.

// gridOfLoads is how many loads a throughput is looked for among: 0.02, 0.04 … 1.
const gridOfLoads = 50

func settled(ctx context.Context, in *Input, m *Measure) (Value, error) {
	r, err := in.settledRun(ctx, m)
	if err != nil {
		return Value{}, err
	}
	return plainly(r.Accepted)
}

func settledLatency(ctx context.Context, in *Input, m *Measure) (Value, error) {
	r, err := in.settledRun(ctx, m)
	if err != nil {
		return Value{}, err
	}
	if r.Packets == 0 {
		return Value{}, errNothingArrived
	}
	return plainly(r.Mean)
}

func delivered(ctx context.Context, in *Input, m *Measure) (Value, error) {
	d, err := in.largestLoad(ctx, m)
	if err != nil {
		return Value{}, err
	}
	return plainly(d.load)
}

func deliveredLatency(ctx context.Context, in *Input, m *Measure) (Value, error) {
	d, err := in.largestLoad(ctx, m)
	if err != nil {
		return Value{}, err
	}
	if d.latency == 0 {
		return Value{}, errNothingArrived
	}
	return plainly(d.latency)
}

// settledRun sends packets at the load of a measure until they have settled, once for all measures of
// the same settings.
func (in *Input) settledRun(ctx context.Context, m *Measure) (*packets.Result, error) {
	if r := in.sent["settled "+m.Text()]; r != nil {
		return r, nil
	}
	n, err := in.packetNetwork("unit")
	if err != nil {
		return nil, err
	}
	load, err := strconv.ParseFloat(m.Setting("load"), 64)
	if err != nil {
		return nil, err
	}
	// "For pairwise traffic, a new set of pairs was drawn for each topology and load."
	r, err := in.send(ctx, n, m, load, uint64(math.Round(load*gridOfLoads*2)), false) // all that arrives is asked
	if err != nil {
		return nil, err
	}
	in.remember("settled "+m.Text(), r)
	return r, nil
}

// largest is the largest load of the grid that a network still delivers, and the mean
// latency there; 0 if nothing arrived in the window.
type largest struct{ load, latency float64 }

// largestLoad searches for it by halving, once for all measures of the same settings. It takes for
// granted that a network which delivers a load delivers smaller ones; so pairs are the same at all
// loads (run 0).
func (in *Input) largestLoad(ctx context.Context, m *Measure) (d largest, err error) {
	if known, ok := in.delivered[m.Text()]; ok {
		return known, nil
	}
	n, err := in.packetNetwork("unit")
	if err != nil {
		return d, err
	}
	for low, high := 0, gridOfLoads+1; high-low > 1; {
		mid := (low + high) / 2
		load := float64(mid) / gridOfLoads
		r, err := in.send(ctx, n, m, load, 0, true)
		if err != nil {
			return d, err
		}
		if r.Status == packets.Saturated {
			high = mid
		} else {
			low, d = mid, largest{load, r.Mean}
		}
	}
	if in.delivered == nil {
		in.delivered = map[string]largest{}
	}
	in.delivered[m.Text()] = d
	return d, nil
}

// send sends packets at a load; runs of another number draw other pairs. If deliveredOnly, all that is
// asked is whether the load is delivered, and the run ends as soon as it is clear that it is not.
func (in *Input) send(ctx context.Context, n *packets.Network, m *Measure, offered float64, run uint64, deliveredOnly bool) (*packets.Result, error) {
	load := packets.Injection{Offered: offered, Placement: routing.HCA.Endpoints(n.Fabric), Seed: in.Seed, Run: run}
	if pattern := m.Setting("pattern"); pattern != "uniform" {
		var err error
		if load.Pattern, err = traffic.Parse(pattern); err != nil {
			return nil, err
		}
	}
	// Section 8: "until the average latency had stabilized ... Thereafter, the
	// simulation was run for another 50,000 time units." Past saturation it never
	// stabilizes, and what is accepted does.
	length := packets.Time(m.whole("window"))
	r, err := n.Measure(ctx, load, packets.Window{Length: length, WarmUp: length, Throughput: true, Verdict: deliveredOnly})
	switch {
	case err != nil:
		return nil, err
	case r.Status == packets.Interrupted:
		return nil, ctx.Err()
	case r.Deadlock != nil:
		return nil, fmt.Errorf("the network deadlocked: %s", r.Deadlock)
	}
	return r, nil
}
