package measures

import (
	"context"
	"fmt"
	"runtime"
	"slices"
)

// What a process needs for its tables.

// clock is the least time of paths and lanes of several runs. The first is the one that was
// judged; of the others, which make the same tables, the clock alone is asked, and they end
// where the judge would begin.
func clock(ctx context.Context, in *Input, m *Measure) (Value, error) {
	runs := []float64{in.Spent.Seconds()}
	for len(runs) < m.whole("repeats") && !enough(runs) {
		spent, err := in.Again(ctx)
		if err != nil {
			return Value{}, err
		}
		runs = append(runs, spent.Seconds())
	}
	return Value{Mean: slices.Min(runs), Runs: runs}, nil // what else the machine did only adds
}

// enough reports whether further runs would take long and tell little: those there were took long
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

// memory is the peak of the process: the pool starts one for this point alone.
func memory(_ context.Context, in *Input, _ *Measure) (Value, error) {
	if runtime.GOOS != "linux" {
		return Value{}, fmt.Errorf("only Linux says how much memory a process had at the peak")
	}
	return plainly(in.Peak())
}
