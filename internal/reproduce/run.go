package reproduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/campaign"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/sweep/meter"
	"github.com/weft-fabric/weft/internal/sweep/pool"
	"github.com/weft-fabric/weft/internal/sweep/results"
)

// Options says how to run experiments.
type Options struct {
	Dir     string // where results go and finished points are kept
	Quick   bool   // the smaller set
	Seed    uint64 // of patterns and drawn networks
	Origin  Origin
	Real    []RealFabric  // real fabrics at hand, by name
	OpenSM  *Reference    // what OpenSM's own tables have; nil: not at hand
	Have    []results.Row // of campaigns elsewhere, that count as taken
	Workers int           // points at a time
	Memory  int64         // bytes that points may use together, about; 0: 4 GiB

	Meter *meter.Meter // measures points, and says of their rows who did

	// Start starts a process that takes points, on so many cores, as pool.Start does.
	Start func(cores int) (pool.Worker[sweep.Point, []results.Row], error)

	// Progress, if not nil, is told of finished points, those kept from before
	// included, and of the one begun last. It is called from one goroutine at a
	// time.
	Progress func(done, total int, begun string)
}

// RealFabric is a dump at hand.
type RealFabric struct {
	Name   string
	File   string
	Digest string // of the file, so that another dump of the same name is another network
	Fabric *fabric.Fabric
}

// Run is what Execute hands back: results, and what they took, in this run and in those
// before it that the folder remembers.
type Run struct {
	Options     Options
	Outcomes    []*Outcome
	Points      int     // of the experiments, each once
	Kept        int     // of them, finished before
	Dropped     int     // finished points in the folder by another weft or machine
	Foreign     int     // points by another weft or machine that count, of Options.Have
	Spent       float64 // seconds by the clock, of this run
	SpentRuns   float64 // of all runs of the folder, quick or full as this one, that took points
	Runs        int     // how many these are
	SpentPoints float64 // of processor time that all points took, whenever that was
	Date        time.Time

	rows taken
}

// Outcome is the results of one experiment.
type Outcome struct {
	*papers.Experiment
	*claims.Results
	Effort papers.Effort
	Spent  float64        // seconds of processor time, of what no experiment before it measures
	values []papers.Value // of the run
}

// Execute takes the points that the folder does not hold yet and keeps each, and makes the results of
// all. An interruption, the context's error, loses the points at hand and no other.
func Execute(ctx context.Context, list []papers.Experiment, o Options) (*Run, error) {
	start := time.Now()
	if o.Memory <= 0 {
		o.Memory = 4 << 30
	}
	r := &Run{Options: o, Date: start}
	if err := r.open(list); err != nil {
		return nil, err
	}
	points := together(r.Outcomes)
	begun, done := "", 0
	tell := func(finished int) {
		done = finished
		if o.Progress != nil {
			o.Progress(done, len(points), begun)
		}
	}
	first := true // nothing was told yet
	sum, err := campaign.NewPlan(points, sweep.BuiltIn(), o.Meter).Run(ctx, campaign.Options{
		Dir: o.Dir, Have: o.Have, Counts: o.isOwn, All: true, Workers: o.Workers, Memory: o.Memory, Meter: o.Meter, Start: o.Start,
		Begun: func(p *sweep.Point) {
			begun = strings.TrimSpace(p.Engine.Name + " on " + p.Network.String())
			tell(done)
		},
		Progress: func(finished, _ int) {
			if first {
				r.Kept, first = finished, false
			}
			begun = ""
			tell(finished)
		},
	})
	r.Points, r.Spent = len(points), time.Since(start).Seconds()
	if !first {
		err = errors.Join(err, r.noteRun(done-r.Kept))
	}
	if err != nil {
		return r, err
	}
	r.Dropped = sum.Dropped
	return r, r.collect(ctx, slices.Concat(o.Have, sum.Rows))
}

// isOwn reports whether a row is of this weft on this machine: of others the folder's points are
// taken again.
func (o *Options) isOwn(r *results.Row) bool {
	return r.Version == o.Meter.Version && r.Machine == o.Meter.Machine
}

// open makes an outcome of every experiment, with the real fabrics and OpenSM's lines
// that are at hand.
func (r *Run) open(list []papers.Experiment) error {
	o := &r.Options
	var names []string
	for _, f := range o.Real {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	for _, e := range list {
		e = e.WithReal(names)
		values, err := e.Selection(o.Quick, o.Seed, o.dumps())
		if err != nil {
			return err
		}
		e = o.OpenSM.addLines(e, values)
		r.Outcomes = append(r.Outcomes, &Outcome{Experiment: &e, Results: claims.NewResults(e.Lines), Effort: e.Effort(values), values: values})
	}
	return nil
}

// dumps is the real fabrics as networks of campaigns, by name.
func (o *Options) dumps() map[string]sweep.Network {
	all := map[string]sweep.Network{}
	for _, f := range o.Real {
		all[f.Name] = sweep.Network{File: f.File, Digest: f.Digest, Kind: f.Digest}
	}
	return all
}

// together is the points of all outcomes, each once, with what is measured for any of them.
func together(outcomes []*Outcome) (points []sweep.Point) {
	at := map[string]int{}
	for _, part := range shares(outcomes) {
		for i := range part {
			p := &part[i].Point
			k, ok := at[p.ID]
			if !ok {
				at[p.ID] = len(points)
				points = append(points, *p)
				continue
			}
			points[k].Measures = append(points[k].Measures, p.Measures...)
		}
	}
	return points
}

// share is what an experiment measures of a point that none before it measures of it.
type share struct {
	sweep.Point
	First bool // no experiment before it has the point at all, and so its routing counts here
}

// shares is, for every outcome, what it adds to those before it: points that several have are in
// the share of each, with the measures that it is the first to have.
func shares(outcomes []*Outcome) [][]share {
	asked := map[[2]string]bool{}
	known := map[string]bool{}
	all := make([][]share, len(outcomes))
	for n, out := range outcomes {
		at := map[string]int{}
		add := func(p *sweep.Point, m measures.Measure) {
			key := [2]string{p.ID, m.Key()}
			if asked[key] {
				return
			}
			asked[key] = true
			i, ok := at[p.ID]
			if !ok {
				i = len(all[n])
				at[p.ID] = i
				point := *p
				point.Measures = nil
				all[n] = append(all[n], share{Point: point, First: !known[p.ID]})
				known[p.ID] = true
			}
			all[n][i].Measures = append(all[n][i].Measures, m)
		}
		for _, v := range out.values {
			for i := range v.Samples {
				s := &v.Samples[i]
				add(s.Point, *s.Measure)
				if m := s.Beside(); m.Name != "" {
					add(s.Point, m)
				}
			}
		}
	}
	return all
}

// collect makes the results of rows, and what they took: it fills in the run and its outcomes.
func (r *Run) collect(ctx context.Context, rows []results.Row) error {
	if err := r.addPastRuns(); err != nil {
		return err
	}
	r.rows = takenOf(rows)
	r.Foreign = r.foreign()
	parts := shares(r.Outcomes)
	for n, out := range r.Outcomes {
		for i := range out.values {
			v := &out.values[i]
			result, err := r.rows.result(out.Measure, v)
			if err != nil {
				return err
			}
			out.Set(v.Line, v.Place, result)
		}
		for i := range parts[n] {
			out.Spent += r.rows.spent(&parts[n][i].Point, parts[n][i].First)
		}
		r.SpentPoints += out.Spent
		if err := out.countOut(ctx); err != nil {
			return err
		}
		r.Options.OpenSM.addResults(out)
	}
	return nil
}

// foreign counts the points that another weft took, or this one on another machine.
func (r *Run) foreign() int {
	points := map[string]bool{}
	for _, p := range together(r.Outcomes) {
		for i := range p.Measures {
			if row := r.rows.of[[2]string{p.ID, p.Measures[i].Key()}]; row != nil && !r.Options.isOwn(row) {
				points[p.ID] = true
			}
		}
	}
	return len(points)
}

// broken is the error of a point at which weft failed.
func broken(r *results.Row) error {
	return fmt.Errorf("%s of %s on %s, seed %d: %s", r.Measure, r.Engine, r.Network, r.Seed, r.Reason)
}
