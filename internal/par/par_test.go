package par_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weft-fabric/weft/internal/par"
)

func TestForDoesEveryItemOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		done := make([]atomic.Int32, n)
		busy := make([]atomic.Int32, par.Workers(n))
		if err := par.For(context.Background(), n, func(worker, item int) {
			if busy[worker].Add(1) != 1 {
				t.Errorf("worker %d does two items at once", worker)
			}
			done[item].Add(1)
			busy[worker].Add(-1)
		}); err != nil {
			t.Fatal(err)
		}
		for i := range done {
			if got := done[i].Load(); got != 1 {
				t.Errorf("item %d of %d was done %d times", i, n, got)
			}
		}
	}
}

func TestForStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var done atomic.Int32
	err := par.For(ctx, 1_000_000, func(_, _ int) {
		if done.Add(1) == 10 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || done.Load() > 1000 {
		t.Errorf("%v after %d items", err, done.Load())
	}
}

func TestForPanicsWhereItIsCalled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	defer func() {
		if text, ok := recover().(string); !ok || !strings.Contains(text, "item 7") || !strings.Contains(text, "par_test.go") {
			t.Errorf("recovered %q", text)
		}
	}()
	_ = par.For(context.Background(), 100, func(_, item int) {
		if item == 7 {
			panic("item 7")
		}
	})
	t.Error("did not panic")
}
