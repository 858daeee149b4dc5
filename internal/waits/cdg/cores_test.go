package cdg

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

// What breaks on one core of many breaks in the goroutine of the caller, who may
// recover: a daemon lives on.
func TestPanicsWhereItIsCalled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	items := make([]int, 100)
	for i := range items {
		items[i] = i
	}
	start := func() *int { return new(int) }
	sums, err := OnAllCores(context.Background(), items, nil, start, func(sum *int, item int) { *sum += item })
	if err != nil || len(sums) != 3 || *sums[0]+*sums[1]+*sums[2] != 4950 {
		t.Errorf("%d workers, %v", len(sums), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := OnAllCores(ctx, items, nil, start, func(*int, int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	defer func() {
		if got := recover(); got != 7 {
			t.Errorf("recovered %v", got)
		}
	}()
	_, _ = OnAllCores(context.Background(), items, nil, start, func(_ *int, item int) {
		if item == 7 {
			panic(item)
		}
	})
	t.Error("did not panic")
}
