package reproduce

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/figure"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
)

// IndexFile is the page to read first.
const IndexFile = "index.md"

// Write writes a CSV file and a plot for each experiment, and the index page. Each
// file appears whole. command is how the run was started, without what only this
// machine knows.
func (r *Run) Write(command string) error {
	for _, out := range r.Outcomes {
		if err := r.file(out.ID+".csv", out.CSV); err != nil {
			return err
		}
		err := r.file(out.ID+".svg", out.SVG)
		if err == nil && out.Measure == papers.Accepted {
			err = r.file(out.ID+latencySVG, out.LatencySVG)
		}
		if errors.Is(err, figure.ErrEmpty) {
			err = nil // the index says that there is nothing
		}
		if err != nil {
			return err
		}
	}
	return r.file(IndexFile, func(w io.Writer) error { return r.Index(w, command) })
}

// file writes a file of the folder under another name and then renames it.
func (r *Run) file(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	final := filepath.Join(r.Options.Dir, name)
	temp := filepath.Join(r.Options.Dir, "."+name+".new")
	err := os.WriteFile(temp, b.Bytes(), 0o644)
	if err == nil {
		err = os.Rename(temp, final)
	}
	if err != nil {
		_ = os.Remove(temp) // such as what a full disk took of it
	}
	return err
}

// measured visits the places that have a result, a refusal included, line by line.
func (o *Outcome) measured(visit func(l *claims.Line, at *claims.Place, r claims.Result)) {
	for i := range o.Lines {
		l := &o.Lines[i]
		for k := range l.Places {
			if r, ok := o.Get(l.Name, l.Places[k].Label); ok {
				visit(l, &l.Places[k], r)
			}
		}
	}
}

// CSV writes every value with the network it is of.
func (o *Outcome) CSV(w io.Writer) error {
	c := reading.NewCSVWriter(w)
	rows := [][]string{{
		"line", "engine", "place", "network", "hosts_taking_part", string(o.Measure), "low", "high", "count", "refused", "reason",
		"edge_forwarding_index", "latency", "networks_with_credit_loops", "switches", "hosts", "cables",
	}}
	o.measured(func(l *claims.Line, at *claims.Place, r claims.Result) {
		value := func(v float64) string {
			if r.Count == 0 {
				return ""
			}
			return strconv.FormatFloat(v, 'g', 6, 64)
		}
		index, latency := "", ""
		if r.Index > 0 {
			index = value(r.Index)
		}
		if r.Delay > 0 {
			latency = value(r.Delay)
		}
		job := r.Hosts
		if at.Job > 0 {
			job = min(job, at.Job)
		}
		rows = append(rows, []string{
			l.Name, l.Engine, at.Label, at.Spec, strconv.Itoa(job), value(r.Value), value(r.Low), value(r.High), strconv.Itoa(r.Count),
			strconv.Itoa(r.Refusals), reason(at, r), index, latency, strconv.Itoa(r.Loops), strconv.Itoa(r.Switches), strconv.Itoa(r.Hosts), strconv.Itoa(r.Cables),
		})
	})
	return c.WriteAll(rows)
}

// axes names the axis of each measure, with its unit, as the figures print it.
var axes = map[papers.Measure]string{
	papers.Bandwidth: "effective bisection bandwidth, fraction of full",
	papers.Lanes:     "virtual lanes",
	papers.Seconds:   "routing time, s",
	papers.Stops:     "µs until the network stood still",
	papers.Completed: "time until all has arrived, µs",
	papers.Accepted:  "accepted load, fraction of the hosts' links",
	papers.Delivered: "largest load still delivered, fraction of the hosts' links",
	papers.Rounds:    "rounds of messages until all switches have their tables",
	papers.Ports:     "most ports of a switch",
	papers.Risk:      "congestion risk of the port with most, flows",
	papers.Example:   "effective bisection bandwidth, exact",
	papers.Index:     "edge-forwarding index",
}

// SVG draws the figure. Lines that were refused everywhere are left out; the index
// says so.
func (o *Outcome) SVG(w io.Writer) error {
	a := figure.Axes{Title: o.Paper + ", " + o.Figure + ": " + o.Title, X: o.X, Y: axes[o.Measure], LogX: o.LogX, LogY: o.Measure == papers.Seconds}
	places := o.placeNames()
	var all []figure.Series
	for _, l := range o.Lines {
		if len(o.Values(l.Name)) == 0 || l.Unseen {
			continue
		}
		s := figure.Series{Name: l.Name, Of: l.Like, Band: l.Band, Pale: l.Beside}
		if o.Curves {
			for _, at := range l.Places {
				if r, ok := o.Get(l.Name, at.Label); ok {
					addValue(&s, at.X, r)
				}
			}
		} else {
			for i, place := range places {
				r, _ := o.Get(l.Name, place)
				addValue(&s, float64(i), r)
			}
		}
		all = append(all, s)
	}
	if o.Curves {
		c := figure.Curves{Axes: a, Series: all}
		return c.SVG(w)
	}
	b := figure.Bars{Axes: a, Places: places, Series: all}
	return b.SVG(w)
}

// latencySVG ends the name of the second figure of curves over a load.
const latencySVG = "-latency.svg"

// stillDelivered is which part of what is offered a network must accept for its latency to
// mean anything: else queues at the sources grow for as long as is measured.
const stillDelivered = 0.98

// LatencySVG draws the mean latency of an experiment about accepted load, each line as far
// as the load is delivered.
func (o *Outcome) LatencySVG(w io.Writer) error {
	a := figure.Axes{Title: o.Paper + ", " + o.Figure + ": latency", X: o.X, Y: "mean latency, time units", LogY: true}
	var all []figure.Series
	for _, l := range o.Lines {
		s := figure.Series{Name: l.Name, Of: l.Like, Pale: l.Beside}
		for _, at := range l.Places {
			if r, ok := o.At(l.Name, at.Label); ok && r.Delay > 0 && r.Value >= stillDelivered*at.Load {
				s.X, s.Y = append(s.X, at.X), append(s.Y, r.Delay)
			}
		}
		if len(s.X) > 0 {
			all = append(all, s)
		}
	}
	c := figure.Curves{Axes: a, Series: all}
	return c.SVG(w)
}

// placeNames is the places that were measured, those of all lines in order.
func (o *Outcome) placeNames() (all []string) {
	o.measured(func(_ *claims.Line, at *claims.Place, _ claims.Result) {
		if !slices.Contains(all, at.Label) {
			all = append(all, at.Label)
		}
	})
	return all
}

// addValue adds a result to a series as a point with whiskers, or as a gap where it has no value.
func addValue(s *figure.Series, x float64, r claims.Result) {
	y, low, high := r.Value, r.Low, r.High
	if r.Count == 0 {
		y, low, high = math.NaN(), math.NaN(), math.NaN()
	}
	s.X, s.Y = append(s.X, x), append(s.Y, y)
	s.Low, s.High = append(s.Low, low), append(s.High, high)
}

// reason is why a network was refused; of a real fabric the rule only, for its
// nodes' names are its owner's.
func reason(at *claims.Place, r claims.Result) string {
	if _, rule, ok := strings.Cut(r.Refused, "(rule: "); ok && strings.HasPrefix(at.Spec, papers.RealPrefix) {
		return strings.TrimSuffix(rule, ")")
	}
	return r.Refused
}
