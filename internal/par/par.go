// Package par is a loop on several cores.
package par

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Workers is how many workers a loop over n items has: one for each core, and
// never more than items.
func Workers(n int) int { return max(1, min(n, runtime.GOMAXPROCS(0))) }

// For calls do for every item in [0, n), in no order, on Workers(n) goroutines.
// worker, below Workers(n), says whose scratch space the call may use. It stops
// at an end of the context and returns its error.
//
// If do panics, so does For, in the goroutine of its caller, who may recover.
//
// What comes of the items must not depend on who computes them: results belong
// into slots by item, or must be sums of integers.
func For(ctx context.Context, n int, do func(worker, item int)) error {
	workers := Workers(n)
	if workers == 1 {
		for i := 0; i < n && ctx.Err() == nil; i++ {
			do(0, i)
		}
		return ctx.Err()
	}
	var next atomic.Int64
	var broken atomic.Pointer[string]
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					text := fmt.Sprintf("%v\n%s", r, debug.Stack())
					broken.CompareAndSwap(nil, &text)
					next.Store(int64(n))
				}
			}()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(w, i)
			}
		})
	}
	group.Wait()
	if text := broken.Load(); text != nil {
		panic(*text)
	}
	return ctx.Err()
}
