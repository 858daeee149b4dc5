package cdg

import (
	"context"
	"runtime"
	"sync"

	"github.com/weft-fabric/weft/routing"
)

// OnAllCores starts one worker for each core. Worker i of n does items i, i+n, i+2n, …,
// because the cost of neighbouring items is similar. It returns the workers. A panic in
// a worker is passed on to the caller.
func OnAllCores[W, I any](ctx context.Context, items []I, p routing.Progress, start func() W, do func(W, I)) ([]W, error) {
	workers := make([]W, max(1, min(runtime.GOMAXPROCS(0), len(items)/16)))
	var wg sync.WaitGroup
	broken := make([]any, len(workers))
	for i := range workers {
		workers[i] = start()
		wg.Go(func() {
			defer func() { broken[i] = recover() }()
			for n := i; n < len(items) && ctx.Err() == nil; n += len(workers) {
				do(workers[i], items[n])
				if i == 0 && n%64 == 0 {
					p.Report(n, len(items))
				}
			}
		})
	}
	wg.Wait()
	for _, b := range broken {
		if b != nil {
			panic(b)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.Report(len(items), len(items))
	return workers, nil
}
