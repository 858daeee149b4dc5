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

	"github.com/weft-fabric/weft/sweep"
	"github.com/weft-fabric/weft/sweep/results"
)

// Worker measures points, one at a time.
type Worker interface {
	// Take is the rows of a point; *Ended if the worker came to an end, after which it is
	// of no more use.
	Take(ctx context.Context, p *sweep.Point) ([]results.Row, error)
	Close() error
}

// Ended is the error of a worker that came to an end by itself.
type Ended struct{ Why string }

func (e *Ended) Error() string { return "pool: the process that took a point ended: " + e.Why }

// Job is a point with what is left to measure of it.
type Job struct {
	Point *sweep.Point
	Cost  float64 // seconds that it is expected to take
	Large bool    // needs so much memory that nothing else shall run beside it
}

// Options says how to run.
type Options struct {
	Workers int // side by side
	Cores   int // of a worker that is alone

	Start func(cores int) (Worker, error)
	Lost  func(p *sweep.Point, why string) []results.Row // the rows of a point that broke its worker twice
	Keep  func(rows []results.Row) error                 // called from one goroutine at a time
}

// Run takes the jobs. It ends with the first error that is none of a point's.
func Run(ctx context.Context, jobs []Job, o Options) error {
	together, large, alone := divide(jobs)
	o.sort(together)
	if err := o.round(ctx, together, o.Workers, 1, false); err != nil {
		return err
	}
	if err := o.round(ctx, large, 1, o.Cores, false); err != nil {
		return err
	}
	return o.round(ctx, alone, 1, o.Cores, true)
}

// divide is the jobs of the three rounds. A point with measures of both kinds is in two of
// them.
func divide(jobs []Job) (together, large, alone []Job) {
	for _, j := range jobs {
		beside, by := *j.Point, *j.Point
		beside.Measures, by.Measures = split(j.Point.Measures)
		switch {
		case len(beside.Measures) == 0:
		case j.Large:
			large = append(large, Job{&beside, j.Cost, true})
		default:
			together = append(together, Job{&beside, j.Cost, false})
		}
		if len(by.Measures) > 0 {
			alone = append(alone, Job{&by, j.Cost, j.Large})
		}
	}
	return together, large, alone
}

// split is measures that may be taken beside others, and those that must be taken alone.
func split(all []sweep.Measure) (others, alone []sweep.Measure) {
	for _, m := range all {
		if m.Alone() {
			alone = append(alone, m)
		} else {
			others = append(others, m)
		}
	}
	return others, alone
}

// sort puts the longest first, so that no core is left with a long one at the end. Points
// that take about as long stay in their order: a worker keeps the network of the point
// before.
func (o *Options) sort(jobs []Job) {
	bucket := func(j Job) int {
		n := 0
		for c := j.Cost; c > 0.25; c /= 2 {
			n++
		}
		return n
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return bucket(b) - bucket(a) })
}

// round takes jobs with some workers, of so many cores each; fresh has a new worker for
// each job.
func (o *Options) round(ctx context.Context, jobs []Job, workers, cores int, fresh bool) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	next := 0
	take := func() *sweep.Point {
		mu.Lock()
		defer mu.Unlock()
		if next == len(jobs) || ctx.Err() != nil {
			return nil
		}
		next++
		return jobs[next-1].Point
	}
	keep := func(rows []results.Row) error {
		mu.Lock()
		defer mu.Unlock()
		return o.Keep(rows)
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

// work takes points with one worker after another until there are none left.
func (o *Options) work(ctx context.Context, take func() *sweep.Point, keep func([]results.Row) error, cores int, fresh bool) error {
	var w Worker
	defer func() {
		if w != nil {
			w.Close()
		}
	}()
	for p := take(); p != nil; p = take() {
		var rows []results.Row
		for try := 1; rows == nil; try++ {
			if w == nil {
				var err error
				if w, err = o.Start(cores); err != nil {
					return err
				}
			}
			var err error
			rows, err = w.Take(ctx, p)
			ended := (*Ended)(nil)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.As(err, &ended):
				w.Close()
				w = nil
				if try == attempts {
					rows = o.Lost(p, ended.Why)
				}
			case err != nil:
				return err
			}
		}
		if err := keep(rows); err != nil {
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
