package measures

import (
	"context"
	"errors"
	"math"
	"runtime"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// How the tables are repaired after failures, one at a time.

// repaired is what comes of some failures, as sums or by failure: of all failures, those after
// which everything was repaired (whole), without routing anew (near), in one step, and after
// which the tables came back as they were (back).
type repaired struct {
	failures, whole, near, oneStep, back int
	pairs, reached                       int64 // that lost their way, and those that the first step gives one
	changed, due                         int   // entries that were changed, and that had to be
	seconds                              []float64
	bandwidth                            []float64 // with repaired tables, by that with new ones
}

// ofFailures takes a measure of repairs that is a share, of/all; none says why there is no value
// where all is 0.
func ofFailures(figure func(r *repaired) (of, all float64, none string)) func(context.Context, *Input, *Measure) (Value, error) {
	return func(ctx context.Context, in *Input, m *Measure) (Value, error) {
		r, err := in.repairs(ctx, m)
		if err != nil {
			return Value{}, err
		}
		of, all, none := figure(r)
		if all == 0 {
			return Value{}, errors.New(none)
		}
		return plainly(of / all)
	}
}

const noFailure, noLoss = "nothing that could fail", "no failure took a way from a pair"

func wholly(r *repaired) (of, all float64, none string) {
	return float64(r.whole), float64(r.failures), noFailure
}

func nearby(r *repaired) (of, all float64, none string) {
	return float64(r.near), float64(r.failures), noFailure
}

func inOneStep(r *repaired) (of, all float64, none string) {
	return float64(r.oneStep), float64(r.failures), noFailure
}

func atFirst(r *repaired) (of, all float64, none string) {
	return float64(r.reached), float64(r.pairs), noLoss
}

func rewritten(r *repaired) (of, all float64, none string) {
	return float64(r.changed), float64(r.due), "no failure left an entry that has to change"
}

func broughtBack(r *repaired) (of, all float64, none string) {
	return float64(r.back), float64(r.failures), noFailure
}

// ofEach is a measure of repairs that has a value for each failure.
func ofEach(figures func(r *repaired) []float64) func(context.Context, *Input, *Measure) (Value, error) {
	return func(ctx context.Context, in *Input, m *Measure) (Value, error) {
		r, err := in.repairs(ctx, m)
		if err != nil {
			return Value{}, err
		}
		runs := figures(r)
		if len(runs) == 0 {
			return Value{}, errors.New(noFailure)
		}
		return meanOf(runs), nil
	}
}

func repairSeconds(r *repaired) []float64 { return r.seconds }

func repairBandwidth(r *repaired) []float64 { return r.bandwidth }

// repairs repairs the tables after failures of a kind, evenly spread over all of them, has each
// step judged, and brings the tables back.
func (in *Input) repairs(ctx context.Context, m *Measure) (*repaired, error) {
	key := m.Text()
	timed, compared := m.Name == "repair-time", m.Name == "repair-bandwidth"
	if timed || compared {
		key = m.Key() // it has runs of its own
	}
	if r := in.repaired[key]; r != nil {
		return r, nil
	}
	if !in.Result.Verdict.Free() {
		return nil, errors.New("the tables have a credit loop, so no repair of them is proven")
	}
	was := in.Result.Tables
	all := change.Cables(was.Fabric)
	if m.Setting("without") == "switch" {
		all = change.Switches(was.Fabric)
	}
	r := new(repaired)
	o := change.Options{Contract: in.Result.Contract, AllowDrops: m.Setting("drops") == "yes"}
	for _, x := range change.Sample(all, m.whole("failures")) {
		live, err := was.Fabric.Without(x.Channels, x.Nodes)
		if err != nil {
			return nil, err
		}
		before, err := transition.On(live, was, nil)
		if err != nil {
			return nil, err
		}
		if timed {
			err = r.time(ctx, before, was, o, in.Processors)
		} else {
			err = in.repair(ctx, r, before, o, compared)
		}
		if err != nil {
			return nil, err
		}
	}
	if in.repaired == nil {
		in.repaired = map[string]*repaired{}
	}
	in.repaired[key] = r
	return r, nil
}

// time adds what the repair alone takes: the least of some times, since other machines on the same
// hardware can only lengthen it. before is the tables as the failure left them, was those before it.
func (r *repaired) time(ctx context.Context, before, was *routing.Tables, o change.Options, cpu func() time.Duration) error {
	least := math.Inf(1)
	for range 3 {
		runtime.GC() // what others left is not the repair's
		start := cpu()
		if _, err := repair.Mend(ctx, before, was, repair.Options{Contract: o.Contract, AllowDrops: o.AllowDrops}); err != nil {
			return err
		}
		least = min(least, (cpu() - start).Seconds())
	}
	r.seconds = append(r.seconds, least)
	return nil
}

// repair adds a failure to the sums of r, or if compared, a bandwidth; before is the tables as the
// failure left them.
func (in *Input) repair(ctx context.Context, r *repaired, before *routing.Tables, o change.Options, compared bool) error {
	was := in.Result.Tables
	p, err := change.MendFrom(ctx, before, was, o)
	if err != nil {
		return err
	}
	whole, steps, rebuilt := len(p.Left) == 0, 0, false
	if compared && whole {
		return in.compare(ctx, r, p.After)
	}
	if len(p.Steps) > 0 {
		r.pairs += p.CutBefore - p.Disconnected
		r.reached += p.CutBefore - p.Steps[0].Union.CutAfter()
	}
	for _, s := range p.Steps {
		r.changed, r.due = r.changed+s.Union.Entries, r.due+s.Union.Due
		rebuilt = rebuilt || s.Rebuilt
		if s.Mended > 0 {
			steps++
		}
	}
	r.failures++
	r.whole += one(whole)
	r.near += one(whole && !rebuilt)
	r.oneStep += one(whole && steps <= 1)
	back, err := change.Return(ctx, p.After, was, o)
	if err != nil {
		return err
	}
	r.back += one(transition.CostOf(back.After, was).Entries == 0)
	return nil
}

// one is 1 for what is true.
func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// compare adds to r the effective bisection bandwidth of repaired tables, divided by that of new ones.
func (in *Input) compare(ctx context.Context, r *repaired, after *routing.Tables) error {
	anew, err := in.Route(ctx, after.Fabric)
	if err != nil {
		return err
	}
	var lambda [2]float64
	for i, t := range []*routing.Tables{after, anew.Tables} {
		result, err := congestion.Simulate(ctx, t, congestion.Options{
			Pattern: traffic.Bisection(), Placement: routing.HCA.Endpoints(t.Fabric), Seed: in.Seed, Precision: 0.001,
		})
		if err != nil {
			return err
		}
		lambda[i] = result.Lambda
	}
	r.bandwidth = append(r.bandwidth, lambda[0]/lambda[1])
	return nil
}
