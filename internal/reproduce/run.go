package reproduce

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/measure"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/sweep/pool"
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

	// Start starts a process that takes points, on so many cores, as pool.Start does.
	Start func(cores int) (pool.Worker[measure.Point, measure.Result], error)

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
	SpentPoints float64 // of processor time that all points took, whenever that was
	Date        time.Time

	digests map[string]string // of real fabrics, by name
}

// Outcome is the results of one experiment.
type Outcome struct {
	*papers.Experiment
	*claims.Results
	Spent  float64        // seconds of processor time, of points that no experiment before it has
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
	err = r.take(ctx, measure.NewMeter(real), s, left)
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
func (r *Run) open(list []papers.Experiment) measure.Dumps {
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
		r.Outcomes = append(r.Outcomes, &Outcome{Experiment: &e, Results: claims.NewResults(e.Lines), points: e.Points(o.Quick, o.Seed, r.digests)})
	}
	return func(name string) (*fabric.Fabric, error) { return real[name], nil }
}

// left is what is to be done: every point once.
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
	return left
}

// take has the points taken as campaigns have theirs: see package pool.
func (r *Run) take(ctx context.Context, m *measure.Meter, s *store, left []measure.Point) error {
	workers := r.Options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	jobs := make([]pool.Job[measure.Point], len(left))
	for i := range left {
		p := &left[i]
		bytes, seconds, _ := m.Needs(*p) // what is wrong comes out when it is taken
		jobs[i] = pool.Job[measure.Point]{Point: p, Cost: seconds, Large: bytes > r.Options.Memory/int64(workers), Alone: p.Alone()}
	}
	done := r.Kept
	tell := func(begun string) {
		if r.Options.Progress != nil {
			r.Options.Progress(done, r.Points, begun)
		}
	}
	tell("")
	return pool.Run(ctx, jobs, pool.Options[measure.Point, measure.Result]{
		Workers: workers, Cores: runtime.GOMAXPROCS(0), Start: r.Options.Start,
		Begun: func(p *measure.Point) { tell(strings.TrimSpace(p.Engine + " on " + p.Network)) },
		Lost: func(p *measure.Point, why string) (measure.Result, error) {
			return measure.Result{}, fmt.Errorf("reproduce: %s of %s on %s ended its process, twice: %s", p.Measure, p.Engine, p.Network, why)
		},
		Keep: func(p *measure.Point, result measure.Result) error {
			if err := s.put(*p, result); err != nil {
				return err
			}
			done++
			tell("")
			return nil
		},
	})
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
				out.Spent += result.Spent
				r.SpentPoints += result.Spent
			}
		}
		r.Options.OpenSM.addResults(out, &r.Options)
	}
}
