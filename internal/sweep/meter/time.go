package meter

import (
	"context"
	"errors"
	"time"

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

// errRouted ends a run that is not judged.
var errRouted = errors.New("routed")

// again routes once more, up to the judge.
func (t *taking) again(ctx context.Context) (time.Duration, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var w stopwatch
	_, err := t.routed(ctx, t.of.Fabric, func(stage string) (routing.Progress, func()) {
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
