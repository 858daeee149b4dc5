package meter

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/routing"
)

// stopwatch adds up what paths and lanes take, and leaves out the judge.
type stopwatch time.Duration

func (w *stopwatch) stages(stage string) (routing.Progress, func()) {
	if stage == judging {
		return nil, func() {}
	}
	begun := time.Now()
	return nil, func() { *w += stopwatch(time.Since(begun)) }
}

// judging is the stage in which the judge works, after paths and lanes.
const judging = "verify"

// time is the least time of paths and lanes of several runs. The first is the one that was
// judged; of the others, which make the same tables, the clock alone is asked, and they end
// where the judge would begin.
func (t *taking) time(ctx context.Context, m *sweep.Measure) (value, error) {
	runs := []float64{time.Duration(t.clock).Seconds()}
	for len(runs) < whole(m, "repeats") && !enough(runs) {
		spent, err := t.again(ctx)
		if err != nil {
			return value{}, err
		}
		runs = append(runs, spent.Seconds())
	}
	return value{mean: slices.Min(runs), runs: runs}, nil // what else the machine did only adds
}

// enough says whether further runs would take long and tell little: those there were took long
// and the two fastest are alike, or they took very long.
func enough(runs []float64) bool {
	spent := 0.0
	for _, r := range runs {
		spent += r
	}
	if len(runs) < 2 || spent < long {
		return false
	}
	sorted := slices.Sorted(slices.Values(runs))
	return spent >= veryLong || sorted[1] <= sorted[0]*alike
}

const (
	long, veryLong = 2, 6 // seconds, of all runs of a network together
	alike          = 1.05
)

// errRouted ends a run that is not judged.
var errRouted = errors.New("routed")

// again routes once more, up to the judge.
func (t *taking) again(ctx context.Context) (time.Duration, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var w stopwatch
	_, err := t.routed(ctx, func(stage string) (routing.Progress, func()) {
		if stage == judging {
			stop(errRouted)
		}
		return w.stages(stage)
	})
	if errors.Is(context.Cause(ctx), errRouted) {
		err = nil
	}
	return time.Duration(w), err
}
