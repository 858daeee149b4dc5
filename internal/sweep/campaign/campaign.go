// Package campaign runs a SPEC, or a part of it, in a folder: it takes the points that the
// folder does not hold yet, keeps each as soon as it is finished, and writes all of them as
// a Parquet file at the end.
package campaign

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/sweep/meter"
	"github.com/weft-fabric/weft/internal/sweep/pool"
	"github.com/weft-fabric/weft/internal/sweep/results"
	"github.com/weft-fabric/weft/internal/whole"
)

// Plan is the points of a SPEC, or of a shard of it, with what they are expected to take.
type Plan struct {
	Points []sweep.Point
	Costs  []float64 // [point] processor seconds
	Sizes  []sweep.Size
}

// NewPlan is the plan of all points. Networks of one kind are made once, to see how large
// they are; of those that cannot be made the points are expected to take next to no time.
func NewPlan(points []sweep.Point, e *sweep.Estimates, m *meter.Meter) *Plan {
	p := &Plan{Points: points, Costs: make([]float64, len(points)), Sizes: make([]sweep.Size, len(points))}
	known := map[string]sweep.Size{}
	for i := range points {
		kind := points[i].Network.Kind
		size, ok := known[kind]
		if !ok {
			size, _ = m.Size(&points[i].Network) // what is wrong comes out as a result
			known[kind] = size
		}
		p.Costs[i] = least
		if size.Switches > 0 {
			p.Costs[i] += e.Point(&points[i], size)
		}
		p.Sizes[i] = size
	}
	return p
}

// least is what a point takes in any case, in seconds.
const least = 0.001

// Shard is the part of a plan that falls to a shard.
func (p *Plan) Shard(s sweep.Shard) *Plan {
	shards := sweep.Deal(p.Points, p.Costs, s.N)
	return p.Pick(func(i int) bool { return shards[i] == s.I-1 })
}

// Pick is the part of a plan with some of its points.
func (p *Plan) Pick(wanted func(point int) bool) *Plan {
	part := &Plan{}
	for i := range p.Points {
		if wanted(i) {
			part.Points, part.Costs, part.Sizes = append(part.Points, p.Points[i]), append(part.Costs, p.Costs[i]), append(part.Sizes, p.Sizes[i])
		}
	}
	return part
}

// Seconds is what all points are expected to take, in processor seconds.
func (p *Plan) Seconds() (sum float64) {
	for _, c := range p.Costs {
		sum += c
	}
	return sum
}

// Left is what is left of a plan when some rows are there: a job for each point, with those of its
// measures that have no row. What another version of weft broke at is left as well. Points that
// take more than memory, in bytes, are Large.
func (p *Plan) Left(rows []results.Row, version string, memory int64) (jobs []pool.Job[sweep.Point]) {
	done := finished(rows, version)
	for i := range p.Points {
		point := p.Points[i]
		point.Measures = slices.DeleteFunc(slices.Clone(point.Measures), func(m measures.Measure) bool { return done[[2]string{point.ID, m.Key()}] })
		if n := len(point.Measures); n > 0 {
			bytes := p.Sizes[i].Bytes
			if point.Engine.Name == "p2sssp" {
				bytes += p.Sizes[i].Pairs
			}
			jobs = append(jobs, pool.Job[sweep.Point]{Point: &point, Cost: p.Costs[i], Large: bytes > memory})
		}
	}
	return jobs
}

// divided gives a point that has both two jobs: one with the measures that may be taken while
// others run, one with those that must be taken alone. Where the former take no time, it is not
// worth routing the network twice, and they are taken with the latter.
func divided(jobs []pool.Job[sweep.Point]) (all []pool.Job[sweep.Point]) {
	for _, j := range jobs {
		var beside, alone []measures.Measure
		free := true
		for _, m := range j.Point.Measures {
			if m.Alone() {
				alone = append(alone, m)
			} else {
				beside, free = append(beside, m), free && m.Free()
			}
		}
		if free && len(alone) > 0 {
			beside, alone = nil, j.Point.Measures
		}
		for kind, part := range [][]measures.Measure{beside, alone} {
			if len(part) > 0 {
				p := *j.Point
				p.Measures = part
				all = append(all, pool.Job[sweep.Point]{Point: &p, Cost: j.Cost, Large: j.Large, Alone: kind == 1})
			}
		}
	}
	return all
}

// finished is the IDs of points, each with the key of a measure, that have a row: of this version
// of weft, or one that did not break.
func finished(rows []results.Row, version string) map[[2]string]bool {
	done := make(map[[2]string]bool, len(rows))
	for i := range rows {
		if r := &rows[i]; r.Status != results.Broken || r.Version == version {
			done[[2]string{r.Point, r.Key()}] = true
		}
	}
	return done
}

// Options says how to run a plan.
type Options struct {
	Dir  string
	Wait time.Duration // how long to wait for another process that is at the folder
	Have []results.Row // rows from elsewhere, which count as taken

	// Counts, if not nil, says which rows of the folder count as taken; the others are as if
	// they were not there.
	Counts func(*results.Row) bool

	// All says that the Parquet file has all rows of the folder that count, and those of the plan
	// that are in Have, and not only what the folder has of the plan; where there are none, none
	// is written.
	All bool

	Workers int   // points at a time
	Memory  int64 // bytes that points may use together, about
	Meter   *meter.Meter
	Start   func(cores int) (pool.Worker[sweep.Point, []results.Row], error)

	Begun func(*sweep.Point) // told of every point that is begun, from one goroutine at a time; may be nil

	// Progress, if not nil, is told how many points are finished, those kept from before
	// included.
	Progress func(done, total int)
}

// Summary is what a run came to.
type Summary struct {
	Points  int     // of the plan
	Kept    int     // of them, whole from before
	Dropped int     // of the plan, with rows in the folder that do not count
	Others  int     // rows in the folder that are not of the plan, such as of a SPEC before it was changed
	Seconds float64 // by the clock
	Own     float64 // processor seconds that the points took in this run, by themselves
	Spent   float64 // processor seconds of everything in this run: the points and what ran them
	Rows    []results.Row
}

// Run takes what is left of a plan. An interruption, the context's error, loses the points
// at hand and no other. The rows are those of the plan, in the order of files.
func (p *Plan) Run(ctx context.Context, o Options) (*Summary, error) {
	begun, spent := time.Now(), processorTime()
	log, err := results.OpenWithin(ctx, o.Dir, o.Wait)
	if err != nil {
		return nil, err
	}
	s := &Summary{Points: len(p.Points)}
	rows := log.Rows
	if o.Counts != nil {
		var others []results.Row
		rows, others = partition(rows, o.Counts)
		s.Dropped = p.pointsWith(others)
	}
	jobs := p.Left(slices.Concat(o.Have, rows), o.Meter.Version, o.Memory/int64(max(1, o.Workers)))
	s.Kept = len(p.Points) - len(jobs)
	missing := map[string]int{} // by point: measures without a row
	for _, j := range jobs {
		missing[j.Point.ID] = len(j.Point.Measures)
	}
	tell := func() {
		if o.Progress != nil {
			o.Progress(len(p.Points)-len(missing), len(p.Points))
		}
	}
	tell()
	failed := pool.Run(ctx, divided(jobs), pool.Options[sweep.Point, []results.Row]{
		Workers: o.Workers, Cores: o.Workers, Start: o.Start, Begun: o.Begun,
		Lost: func(point *sweep.Point, why string) ([]results.Row, error) { return o.Meter.Lost(point, why), nil },
		Keep: func(_ *sweep.Point, taken []results.Row) error {
			rows = append(rows, taken...)
			s.Own += taken[0].RoutingSeconds
			for i := range taken {
				s.Own += taken[i].Seconds
			}
			if id := taken[0].Point; missing[id] == len(taken) {
				delete(missing, id)
			} else {
				missing[id] -= len(taken)
			}
			tell()
			return log.Append(taken)
		},
	})
	if err := errors.Join(failed, log.Close()); err != nil {
		return s, err
	}
	s.Rows, s.Others = p.rowsOf(rows)
	if err := o.write(p, rows, s.Rows); err != nil {
		return s, err
	}
	s.Seconds, s.Spent = time.Since(begun).Seconds(), (processorTime() - spent).Seconds()
	return s, nil
}

// write writes the Parquet file at the end of a run: the rows of the plan, or under All every row
// of the folder that counts, with those of the plan from elsewhere.
func (o *Options) write(p *Plan, folder, plan []results.Row) error {
	if !o.All {
		return Write(o.Dir, plan)
	}
	elsewhere, _ := p.rowsOf(o.Have)
	if merged, _ := results.Merge(elsewhere, folder); len(merged) > 0 {
		return Write(o.Dir, merged)
	}
	return nil
}

// partition is the rows that count, and the others.
func partition(rows []results.Row, counts func(*results.Row) bool) (these, others []results.Row) {
	for i := range rows {
		if counts(&rows[i]) {
			these = append(these, rows[i])
		} else {
			others = append(others, rows[i])
		}
	}
	return these, others
}

// pointsWith is how many points of the plan have one of the rows.
func (p *Plan) pointsWith(rows []results.Row) (n int) {
	has := map[string]bool{}
	for i := range rows {
		has[rows[i].Point] = true
	}
	for i := range p.Points {
		if has[p.Points[i].ID] {
			n++
		}
	}
	return n
}

// rowsOf is the rows of the plan among those of a folder, sorted, and how many others there are.
func (p *Plan) rowsOf(rows []results.Row) (mine []results.Row, others int) {
	wanted := map[[2]string]bool{}
	for i := range p.Points {
		for k := range p.Points[i].Measures {
			wanted[[2]string{p.Points[i].ID, p.Points[i].Measures[k].Key()}] = true
		}
	}
	merged, _ := results.Merge(rows)
	for _, r := range merged {
		if wanted[[2]string{r.Point, r.Key()}] {
			mine = append(mine, r)
		}
	}
	return mine, len(merged) - len(mine)
}

// Collect adds sets of rows, which others took, to a folder, in place of a run of the plan, and
// returns the summary of a run that finds all of them there.
func (p *Plan) Collect(dir string, sets ...[]results.Row) (*Summary, error) {
	all, _, err := Add(dir, slices.Concat(sets...))
	if err != nil {
		return nil, err
	}
	s := &Summary{Points: len(p.Points)}
	s.Rows, s.Others = p.rowsOf(all)
	return s, Write(dir, s.Rows)
}

// Add adds rows to the log of a folder, those that it does not have yet, and writes its
// Parquet file. It returns all rows of the folder, and where the two differ.
func Add(dir string, rows []results.Row) (all []results.Row, differ []results.Difference, err error) {
	log, err := results.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	all, differ = results.Merge(log.Rows, rows)
	had := map[[2]string]string{} // outcome by point and key
	for i := range log.Rows {
		r := &log.Rows[i]
		had[[2]string{r.Point, r.Key()}] = r.Outcome()
	}
	for first := 0; first < len(all); { // the rows of a point are one record
		end := first + 1
		for end < len(all) && all[end].Point == all[first].Point {
			end++
		}
		fresh := slices.DeleteFunc(slices.Clone(all[first:end]), func(r results.Row) bool {
			outcome, ok := had[[2]string{r.Point, r.Key()}]
			return ok && outcome == r.Outcome()
		})
		if len(fresh) > 0 {
			if err := log.Append(fresh); err != nil {
				return nil, nil, err
			}
		}
		first = end
	}
	return all, differ, Write(dir, all)
}

// Write writes the Parquet file of a folder, whole or not at all.
func Write(dir string, rows []results.Row) error {
	var columns []results.Measured
	for _, k := range measures.Kinds() {
		columns = append(columns, results.Measured{Name: k.Name, Unit: k.Unit, What: k.What})
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return whole.Write(root, results.ParquetFile, 0o644, func(w io.Writer) error { return results.WriteParquet(w, rows, columns) })
}
