package reproduce

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/measure"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
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

// Run is what Execute hands back: results, and what they took, in this run and in those
// before it that the folder remembers.
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

	digests map[string]string // of real fabrics, by name
}

// Outcome is the results of one experiment.
type Outcome struct {
	*papers.Experiment
	*claims.Results
	points []papers.Point // of the run
}

// Execute takes the points that the folder does not hold yet and keeps each. An
// interruption, the context's error, loses the points at hand and no other.
func Execute(ctx context.Context, list []papers.Experiment, o Options) (*Run, error) {
	start := time.Now()
	if o.Memory <= 0 {
		o.Memory = 4 << 30
	}
	s, dropped, err := openStore(o.Dir, o.Origin)
	if err != nil {
		return nil, err
	}
	r := &Run{Options: o, Dropped: dropped, Date: start}
	real := r.open(list)
	left := r.left(s)
	had := len(s.done)
	err = r.take(ctx, measure.NewMeter(real, o.Memory), s, left)
	r.Spent = time.Since(start).Seconds()
	err = errors.Join(err, s.ended(pastRun{o.Quick, r.Spent, len(s.done) - had}), s.close())
	if err != nil {
		return r, err
	}
	r.collect(s)
	return r, nil
}

// open makes an outcome of every experiment, with the real fabrics and OpenSM's lines
// that are at hand, and returns these fabrics.
func (r *Run) open(list []papers.Experiment) map[string]*fabric.Fabric {
	o := &r.Options
	real := map[string]*fabric.Fabric{}
	r.digests = map[string]string{}
	var names []string
	for _, f := range o.Real {
		names = append(names, f.Name)
		r.digests[f.Name], real[f.Name] = f.Digest, f.Fabric
	}
	slices.Sort(names)
	for _, e := range list {
		e = o.OpenSM.addLines(e.WithReal(names), o)
		r.Outcomes = append(r.Outcomes, &Outcome{&e, claims.NewResults(e.Lines), e.Points(o.Quick, o.Seed, r.digests)})
	}
	return real
}

// left is what is to be done: every point once, those that may run beside others
// first.
func (r *Run) left(s *store) (left []measure.Point) {
	seen := map[string]bool{}
	for _, out := range r.Outcomes {
		for _, p := range out.points {
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
	slices.SortStableFunc(left, func(a, b measure.Point) int { return cmp.Compare(rank(a), rank(b)) })
	return left
}

// rank is 1 of a point that must run alone.
func rank(p measure.Point) int {
	if p.Alone() {
		return 1
	}
	return 0
}

// take takes the points, on several cores as far as they may run together.
func (r *Run) take(ctx context.Context, m *measure.Meter, s *store, left []measure.Point) error {
	alone := slices.IndexFunc(left, measure.Point.Alone)
	if alone < 0 {
		alone = len(left)
	}
	workers := r.Options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var mu sync.Mutex
	done := r.Kept
	tell := func(finished int, begun string) {
		mu.Lock()
		defer mu.Unlock()
		done += finished
		if r.Options.Progress != nil {
			r.Options.Progress(done, r.Points, begun)
		}
	}
	one := func(ctx context.Context, p measure.Point) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		tell(0, strings.TrimSpace(p.Engine+" on "+p.Network))
		result, err := m.Take(ctx, p)
		if err != nil {
			return err
		}
		if err := s.put(p, result); err != nil {
			return err
		}
		tell(1, "")
		return nil
	}
	tell(0, "")
	if err := each(ctx, left[:alone], workers, one); err != nil {
		return err
	}
	return each(ctx, left[alone:], 1, one)
}

// each calls do for every point, some at a time, in order, until the first error.
func each(ctx context.Context, points []measure.Point, workers int, do func(context.Context, measure.Point) error) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for _, p := range points {
		if inner.Err() != nil {
			break
		}
		group.Go(func() error { return do(inner, p) })
	}
	return cmp.Or(group.Wait(), ctx.Err())
}

// collect takes the results out of the store.
func (r *Run) collect(s *store) {
	for _, past := range s.runs {
		if past.Quick == r.Options.Quick {
			r.Runs, r.SpentRuns = r.Runs+1, r.SpentRuns+past.Seconds
		}
	}
	seen := map[string]bool{}
	for _, out := range r.Outcomes {
		for _, p := range out.points {
			result, _ := s.get(p.Point)
			out.Set(p.Line, p.Place, result)
			if key := p.Key(); !seen[key] {
				seen[key] = true
				r.SpentPoints += result.Spent
			}
		}
		r.Options.OpenSM.addResults(out, &r.Options)
	}
}
