package main

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// heapWatch looks at the heap while something runs.
type heapWatch struct {
	base  uint64
	end   chan struct{}
	found chan uint64
}

// watchHeap begins to look, after a collection.
func watchHeap() *heapWatch {
	runtime.GC()
	w := &heapWatch{base: heapBytes(), end: make(chan struct{}), found: make(chan uint64)}
	go func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		most := w.base
		for {
			select {
			case <-tick.C:
				most = max(most, heapBytes())
			case <-w.end:
				w.found <- max(most, heapBytes())
				return
			}
		}
	}()
	return w
}

// stop ends the looking and returns by how many bytes the heap was larger than
// when it began, garbage not collected yet included.
func (w *heapWatch) stop() int64 {
	close(w.end)
	return int64(<-w.found - w.base)
}

// heapBytes is the bytes of all objects on the heap.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
