package experiments

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weft-fabric/weft/fabric"
)

// Options says how to run experiments.
type Options struct {
	Dir     string // where results go and finished points are kept
	Quick   bool   // the smaller set
	Seed    uint64 // of patterns and drawn networks
	Origin  Origin
	Real    []RealFabric // real fabrics at hand, by name
	OpenSM  *Reference   // what OpenSM's own tables have; nil: not at hand
	Workers int          // points at a time; 0: as many as there are cores
	Memory  int64        // bytes that points may use together, about; 0: 4 GiB

	// Progress, if not nil, is told of finished points, those kept from before
	// included, and of the one begun last. It is called from one goroutine at a
	// time.
	Progress func(done, total int, begun string)
}

// RealFabric is a dump at hand.
type RealFabric struct {
	Name   string
	Digest string // of the file, so that another dump of the same name is another point
	Fabric *fabric.Fabric
}

// Run is what came of a run.
type Run struct {
	Options     Options
	Outcomes    []*Outcome
	Points      int     // different points of the experiments
	Kept        int     // of them, finished before
	Dropped     int     // finished points in the folder by another weft or machine
	Spent       float64 // seconds by the clock, of this run
	SpentRuns   float64 // of all runs of the folder, quick or full as this one, that took points
	Runs        int     // how many these are
	SpentPoints float64 // that all points took, whenever that was
	Date        time.Time
}

// Execute takes the points that the folder does not hold yet and keeps each. An
// interruption, the context's error, loses the points at hand and no other.
func Execute(ctx context.Context, list []Experiment, o Options) (*Run, error) {
	start := time.Now()
	names, digests, fabrics := o.realFabrics()
	s, dropped, err := openStore(o.Dir, o.Origin)
	if err != nil {
		return nil, err
	}
	r := &Run{Options: o, Dropped: dropped, Date: start}
	left := r.open(list, names, digests, s)
	b := &bench{real: fabrics, gate: newGate(o.memory())}
	had := len(s.done)
	err = r.takeAll(ctx, b, s, left)
	r.Spent = time.Since(start).Seconds()
	err = errors.Join(err, s.ended(pastRun{o.Quick, r.Spent, len(s.done) - had}), s.close())
	if err != nil {
		return r, err
	}
	for _, past := range s.runs {
		if past.Quick == o.Quick {
			r.Runs, r.SpentRuns = r.Runs+1, r.SpentRuns+past.Seconds
		}
	}
	for _, out := range r.Outcomes {
		for _, p := range out.places(o.Quick, o.Seed, digests) {
			l := out.Lines[p.line]
			out.results[slot(l.Name, l.Networks[p.at].Label)], _ = s.get(p.Point)
		}
		out.addReference(o)
	}
	for key := range r.keys(digests) {
		r.SpentPoints += s.done[key].Spent
	}
	return r, nil
}

func (o Options) memory() int64 {
	if o.Memory > 0 {
		return o.Memory
	}
	return 4 << 30
}

func (o Options) realFabrics() (names []string, digests map[string]string, fabrics map[string]*fabric.Fabric) {
	digests, fabrics = map[string]string{}, map[string]*fabric.Fabric{}
	for _, f := range o.Real {
		names = append(names, f.Name)
		digests[f.Name], fabrics[f.Name] = f.Digest, f.Fabric
	}
	slices.Sort(names)
	return names, digests, fabrics
}

// open lists what is to be done: every point once, those that may run beside
// others first.
func (r *Run) open(list []Experiment, names []string, digests map[string]string, s *store) (left []Point) {
	seen := map[string]bool{}
	for _, e := range list {
		e = e.withReal(names).withReference(r.Options.OpenSM)
		r.Outcomes = append(r.Outcomes, &Outcome{Experiment: &e, results: map[string]Result{}})
		for _, p := range e.places(r.Options.Quick, r.Options.Seed, digests) {
			key := p.Key()
			if seen[key] {
				continue
			}
			seen[key] = true
			if _, ok := s.get(p.Point); ok {
				r.Kept++
				continue
			}
			left = append(left, p.Point)
		}
	}
	r.Points = len(seen)
	slices.SortStableFunc(left, func(a, b Point) int {
		switch {
		case a.alone() == b.alone():
			return 0
		case b.alone():
			return -1
		}
		return 1
	})
	return left
}

// keys is every point of the run.
func (r *Run) keys(digests map[string]string) map[string]bool {
	keys := map[string]bool{}
	for _, out := range r.Outcomes {
		for _, p := range out.places(r.Options.Quick, r.Options.Seed, digests) {
			keys[p.Key()] = true
		}
	}
	return keys
}

// takeAll takes the points, on several cores as far as they may run together.
func (r *Run) takeAll(ctx context.Context, b *bench, s *store, left []Point) error {
	together := 0
	for together < len(left) && !left[together].alone() {
		together++
	}
	workers := r.Options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	c := &crew{run: r, bench: b, store: s, done: r.Kept}
	c.tell("")
	if err := c.take(ctx, left[:together], workers); err != nil {
		return err
	}
	return c.take(ctx, left[together:], 1)
}

// crew is the workers of a run.
type crew struct {
	run   *Run
	bench *bench
	store *store

	mu   sync.Mutex
	done int
}

// take takes points in order, some at a time, and stops at the first error.
func (c *crew) take(ctx context.Context, left []Point, workers int) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan Point)
	var wg sync.WaitGroup
	for range min(workers, len(left)) {
		wg.Go(func() {
			for p := range next {
				if err := c.one(ctx, p); err != nil {
					stop(err)
				}
			}
		})
	}
feed:
	for _, p := range left {
		select {
		case next <- p:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// one takes a point and keeps it.
func (c *crew) one(ctx context.Context, p Point) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.tell(strings.TrimSpace(p.Engine + " on " + p.Network))
	r, err := c.bench.take(ctx, p)
	if err != nil {
		return err
	}
	if err := c.store.put(p, r); err != nil {
		return err
	}
	c.mu.Lock()
	c.done++
	c.mu.Unlock()
	c.tell("")
	return nil
}

func (c *crew) tell(begun string) {
	if c.run.Options.Progress == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run.Options.Progress(c.done, c.run.Points, begun)
}
