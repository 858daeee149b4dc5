// Package pool takes the points of a campaign, many at a time, each in a process that does
// nothing else.
//
// Processes and not goroutines, because the processor time and the memory of a point are
// then those of its process, a point uses one core and the machine as many as it has, and
// a point that brings its process down (a panic nobody catches, the kernel when memory is
// out) brings down nothing else: it is begun once more and, if its process ends again,
// recorded as broken.
//
// Three rounds: points side by side on a core each; then those that need much memory, one
// at a time on all cores; then measures that must be taken alone, each in a process of its
// own.
package pool

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Worker measures points P, one at a time, of which come results R.
type Worker[P, R any] interface {
	// Take measures a point. The error is *Ended if the worker came to an end, after which
	// it is of no more use; any other is none of the point's, and the end of the run.
	Take(ctx context.Context, point *P) (R, error)
	Close() error
}

// Ended is the error of a worker that came to an end by itself.
type Ended struct{ Why string }

func (e *Ended) Error() string { return "the process that took a point ended: " + e.Why }

// Job is a point to be taken.
type Job[P any] struct {
	Point *P
	Cost  float64 // seconds that it is expected to take
	Large bool    // needs so much memory that nothing else shall run beside it
	Alone bool    // times or memory are measured: nothing else may run beside it, nor before it in its process
}

// Options says how to run.
type Options[P, R any] struct {
	Workers int // side by side
	Cores   int // of a worker that is alone

	Start func(cores int) (Worker[P, R], error)
	Begun func(point *P)                        // told of every point that is begun, from one goroutine at a time; may be nil
	Lost  func(point *P, why string) (R, error) // what comes of a point that broke its worker twice
	Keep  func(point *P, result R) error        // called from one goroutine at a time
}

// Run takes the jobs, in the three rounds above. It ends with the first error that is none of a
// point's.
func Run[P, R any](ctx context.Context, jobs []Job[P], o Options[P, R]) error {
	var together, large, alone []Job[P]
	for _, j := range jobs {
		switch {
		case j.Alone:
			alone = append(alone, j)
		case j.Large:
			large = append(large, j)
		default:
			together = append(together, j)
		}
	}
	longestFirst(together)
	const sameWorkers, freshWorkers = false, true
	if err := o.round(ctx, together, o.Workers, 1, sameWorkers); err != nil {
		return err
	}
	if err := o.round(ctx, large, 1, o.Cores, sameWorkers); err != nil {
		return err
	}
	return o.round(ctx, alone, 1, o.Cores, freshWorkers)
}

// longestFirst puts the longest first, so that no core is left with a long one at the end.
// Points that take about as long stay in their order: a worker keeps the network of the
// point before.
func longestFirst[P any](jobs []Job[P]) {
	bucket := func(j Job[P]) int {
		n := 0
		for c := j.Cost; c > 0.25; c /= 2 {
			n++
		}
		return n
	}
	slices.SortStableFunc(jobs, func(a, b Job[P]) int { return bucket(b) - bucket(a) })
}

// round takes jobs with some workers, of so many cores each; with fresh every job has a new
// worker.
func (o *Options[P, R]) round(ctx context.Context, jobs []Job[P], workers, cores int, fresh bool) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	next := 0
	take := func() *P {
		mu.Lock()
		defer mu.Unlock()
		if next == len(jobs) || ctx.Err() != nil {
			return nil
		}
		next++
		if o.Begun != nil {
			o.Begun(jobs[next-1].Point)
		}
		return jobs[next-1].Point
	}
	keep := func(p *P, r R) error {
		mu.Lock()
		defer mu.Unlock()
		return o.Keep(p, r)
	}
	var group sync.WaitGroup
	for range min(workers, len(jobs)) {
		group.Go(func() {
			if err := o.work(ctx, take, keep, cores, fresh); err != nil {
				stop(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// work is one of the goroutines of a round: it asks take for a point after the other until that
// is nil, has a worker take each, and gives what comes of it to keep. A worker that ended is
// replaced.
func (o *Options[P, R]) work(ctx context.Context, take func() *P, keep func(*P, R) error, cores int, fresh bool) error {
	var w Worker[P, R]
	defer func() {
		if w != nil {
			w.Close()
		}
	}()
	for p := take(); p != nil; p = take() {
		var result R
		for try, done := 1, false; !done; try++ {
			if w == nil {
				var err error
				if w, err = o.Start(cores); err != nil {
					return err
				}
			}
			var err error
			result, err = w.Take(ctx, p)
			done = err == nil
			ended := (*Ended)(nil)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.As(err, &ended):
				w.Close()
				w = nil
				if try == attempts {
					if result, err = o.Lost(p, ended.Why); err != nil {
						return err
					}
					done = true
				}
			case err != nil:
				return err
			}
		}
		if err := keep(p, result); err != nil {
			return err
		}
		if fresh && w != nil {
			w.Close()
			w = nil
		}
	}
	return nil
}

// attempts is how often a point that ends its process is begun. More than once, since a
// process may be ended from outside.
const attempts = 2
