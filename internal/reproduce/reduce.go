package reproduce

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/example"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/sweep/results"
)

// This file makes the value of a line at a place of the rows of its samples: the last step of a run,
// which Run.collect takes.

// taken is the rows of a run.
type taken struct {
	of      map[[2]string]*results.Row // by ID of the point and key of the measure
	routing map[string]float64         // by ID of the point: processor seconds, once for everything measured of it
}

// takenOf is the rows by what they are about.
func takenOf(rows []results.Row) taken {
	t := taken{of: map[[2]string]*results.Row{}, routing: map[string]float64{}}
	for i := range rows {
		r := &rows[i]
		key := [2]string{r.Point, r.Key()}
		t.of[key] = r
		t.routing[r.Point] = max(t.routing[r.Point], r.RoutingSeconds)
	}
	return t
}

// spent is the processor seconds that the measures of a point took, and its routing if wanted.
func (t *taken) spent(p *sweep.Point, routing bool) float64 {
	seconds := 0.0
	if routing {
		seconds = t.routing[p.ID]
	}
	for _, m := range p.Measures {
		if r := t.of[[2]string{p.ID, m.Key()}]; r != nil {
			seconds += r.Seconds
		}
	}
	return seconds
}

// list is all rows, in the order of files.
func (t *taken) list() (rows []results.Row) {
	for _, r := range t.of {
		rows = append(rows, *r)
	}
	results.Sort(rows)
	return rows
}

// has reports whether there is a row of every measure of a point.
func (t *taken) has(p *sweep.Point) bool {
	return !slices.ContainsFunc(p.Measures, func(m measures.Measure) bool { return t.of[[2]string{p.ID, m.Key()}] == nil })
}

// row is what came of a measure of a point.
func (t *taken) row(p *sweep.Point, m *measures.Measure) (*results.Row, error) {
	r := t.of[[2]string{p.ID, m.Key()}]
	switch {
	case r == nil:
		return nil, fmt.Errorf("there is no %s of %s on %s", m.Name, p.Engine.Name, p.Network.String())
	case r.Status == results.Broken:
		return nil, broken(r)
	}
	return r, nil
}

// result makes one value of the rows of its samples, a network each: the mean, the least and the most.
// A sample may have a second measure beside it, whose mean is the index or the delay of the result.
func (t *taken) result(m papers.Measure, v *papers.Value) (result claims.Result, err error) {
	var values, besides []float64
	var one *results.Row // the last row with a value; where the value is of one network, its own runs or draws count
	for i := range v.Samples {
		s := &v.Samples[i]
		r, err := t.row(s.Point, s.Measure)
		if err != nil {
			return result, err
		}
		if i == 0 {
			result.Switches, result.Hosts, result.Cables = int(r.Switches), int(r.Hosts), int(r.Cables)
		}
		if m != papers.Seconds && r.Verdict == "credit-loop" {
			result.Loops++
		}
		if (m == papers.Bandwidth || m == papers.Lanes || m == papers.Delivered) && len(v.Samples) > 1 {
			each := 0.0
			if r.Value != nil {
				each = *r.Value
			}
			result.Each = append(result.Each, each)
		}
		if r.Value == nil {
			result.Refusals++
			result.Refused = cmp.Or(result.Refused, r.Reason)
			continue
		}
		values, one = append(values, *r.Value), r
		if beside := s.Beside(); beside.Name != "" {
			b, err := t.row(s.Point, &beside)
			if err != nil {
				return result, err
			}
			if b.Value != nil { // no packet arrived, and none was late
				besides = append(besides, *b.Value)
			}
		}
	}
	if len(values) == 0 {
		return result, nil
	}
	result.Count, result.Value, result.Low, result.High = len(values), claims.Mean(values), slices.Min(values), slices.Max(values)
	if len(v.Samples) == 1 {
		setSpread(&result, one)
	}
	if m == papers.Bandwidth || m == papers.Risk {
		result.Index = claims.Mean(besides)
	} else {
		result.Delay = claims.Mean(besides)
	}
	return result, nil
}

// setSpread sets how far apart the runs or draws of one row are: of runs their number, the least and
// the most, of patterns a standard deviation of single ones to either side.
func setSpread(result *claims.Result, r *results.Row) {
	switch {
	case r.Count > 0:
		result.Count, result.Low, result.High = int(r.Count), *r.Low, *r.High
	case r.Error != nil:
		m := measures.Parse(r.Measure, r.Settings)
		patterns, _ := strconv.Atoi(m.Setting("patterns")) // as it was checked
		single := *r.Error * math.Sqrt(float64(patterns))
		result.Low, result.High = result.Value-single, result.Value+single
	}
}

// countOut sets the results of an example that is counted out and not measured.
func (o *Outcome) countOut(ctx context.Context) error {
	if !o.Measure.Counted() {
		return nil
	}
	for _, l := range o.Lines {
		count := figure6
		if o.Measure == papers.Index {
			count = figure3
		}
		result, err := count(ctx, l.Engine)
		if err != nil {
			return err
		}
		for _, at := range l.Places {
			o.Set(l.Name, at.Label, result)
		}
	}
	return nil
}

// figure6 is the example of HOTI 2009, figure 6, under an engine.
func figure6(ctx context.Context, engine string) (claims.Result, error) {
	c, err := example.Count(ctx, engine)
	return claims.Result{
		Value: c.Bandwidth, Low: c.Bandwidth, High: c.Bandwidth, Count: c.Patterns, Index: float64(c.Index),
		Switches: example.Size, Hosts: example.Size, Cables: example.Size,
	}, err
}

// figure3 is that of figures 2 and 3, in all numberings of its switches.
func figure3(ctx context.Context, engine string) (claims.Result, error) {
	all, err := example.Indexes(ctx, engine)
	if err != nil {
		return claims.Result{}, err
	}
	return claims.Result{
		Value: claims.Mean(all), Low: slices.Min(all), High: slices.Max(all), Count: len(all), Each: all,
		Switches: example.SwitchesX, Hosts: example.HostsX, Cables: example.CablesX,
	}, nil
}
