// Package par runs a loop on several cores.
package par

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Workers is the number of workers of a loop over n items: one for each core, but no
// more than n.
func Workers(n int) int { return max(1, min(n, runtime.GOMAXPROCS(0))) }

// For calls do for every item in [0, n), in no particular order, on Workers(n)
// goroutines. worker is below Workers(n); calls with the same worker never overlap, so
// it can index scratch space. For stops when the context ends and returns its error.
//
// If do panics, so does For, in the goroutine of its caller, who may recover.
//
// The result must not depend on which worker computes an item: store results in slots
// by item, or as sums of integers.
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
