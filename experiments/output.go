package experiments

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/figure"
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
		if errors.Is(err, figure.ErrEmpty) {
			err = nil // the index says that there is nothing
		}
		if err != nil {
			return err
		}
	}
	return r.file(IndexFile, func(w io.Writer) error { return r.Index(w, command) })
}

// file writes a file under another name and then renames it.
func (r *Run) file(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	final := filepath.Join(r.Options.Dir, name)
	temp := filepath.Join(r.Options.Dir, "."+name+".new")
	if err := os.WriteFile(temp, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("experiments: %w", err)
	}
	if err := os.Rename(temp, final); err != nil {
		return fmt.Errorf("experiments: %w", errors.Join(err, os.Remove(temp)))
	}
	return nil
}

// each visits the places that were measured, line by line.
func (o *Outcome) each(visit func(l *Line, n *Network, r Result)) {
	for i := range o.Lines {
		l := &o.Lines[i]
		for k := range l.Networks {
			if r, ok := o.results[slot(l.Name, l.Networks[k].Label)]; ok {
				visit(l, &l.Networks[k], r)
			}
		}
	}
}

// CSV writes every value with the network it is of.
func (o *Outcome) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{{
		"line", "engine", "place", "network", "hosts_taking_part", string(o.Measure), "low", "high", "count", "refused", "reason",
		"edge_forwarding_index", "latency", "networks_with_credit_loops", "switches", "hosts", "cables",
	}}
	o.each(func(l *Line, n *Network, r Result) {
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
		if n.Job > 0 {
			job = min(job, n.Job)
		}
		rows = append(rows, []string{
			l.Name, l.Engine, n.Label, n.Spec, strconv.Itoa(job), value(r.Value), value(r.Low), value(r.High), strconv.Itoa(r.Count),
			strconv.Itoa(r.Refusals), n.reason(r), index, latency, strconv.Itoa(r.Loops), strconv.Itoa(r.Switches), strconv.Itoa(r.Hosts), strconv.Itoa(r.Cables),
		})
	})
	return c.WriteAll(rows)
}

// values is what the axes of a measure show.
var values = map[Measure]string{
	Bandwidth: "effective bisection bandwidth, fraction of full",
	Lanes:     "virtual lanes",
	Seconds:   "routing time, s",
	Loops:     "credit loop: 1 there is one, 0 proven free",
	Stops:     "µs until the network stood still",
	Accepted:  "accepted load, fraction of the hosts' links",
	Ports:     "most ports of a switch",
	Example:   "effective bisection bandwidth, exact",
}

// SVG draws the figure.
func (o *Outcome) SVG(w io.Writer) error {
	axes := figure.Axes{Title: o.Paper + ", " + o.Figure + ": " + o.Title, X: o.X, Y: values[o.Measure], LogX: o.LogX, LogY: o.Measure == Seconds}
	if o.Curves {
		c := figure.Curves{Axes: axes}
		for _, l := range o.Lines {
			if len(o.labels(l.Name)) == 0 {
				continue // refused everywhere; the index says so
			}
			s := newSeries(&l)
			for _, n := range l.Networks {
				if r, ok := o.results[slot(l.Name, n.Label)]; ok {
					s.add(n.X, r)
				}
			}
			c.Series = append(c.Series, s.Series)
		}
		return c.SVG(w)
	}
	return o.bars(axes).SVG(w)
}

// bars is the figure over places that have names, those of all lines in order.
func (o *Outcome) bars(axes figure.Axes) *figure.Bars {
	b := &figure.Bars{Axes: axes}
	for _, l := range o.Lines {
		for _, n := range l.Networks {
			if _, ok := o.results[slot(l.Name, n.Label)]; ok && !slices.Contains(b.Places, n.Label) {
				b.Places = append(b.Places, n.Label)
			}
		}
	}
	for _, l := range o.Lines {
		if len(o.labels(l.Name)) == 0 {
			continue
		}
		s := newSeries(&l)
		for i, place := range b.Places {
			s.add(float64(i), o.results[slot(l.Name, place)])
		}
		b.Series = append(b.Series, s.Series)
	}
	return b
}

// series collects values with whiskers.
type series struct{ figure.Series }

func newSeries(l *Line) *series {
	return &series{figure.Series{Name: l.Name, Of: l.Like}}
}

// add adds a value, or the lack of one.
func (s *series) add(x float64, r Result) {
	y, low, high := r.Value, r.Low, r.High
	if r.Count == 0 {
		y, low, high = math.NaN(), math.NaN(), math.NaN()
	}
	s.X, s.Y = append(s.X, x), append(s.Y, y)
	s.Low, s.High = append(s.Low, low), append(s.High, high)
}

// reason is why a network was refused; of a real fabric the rule only, for its
// nodes' names are its owner's.
func (n *Network) reason(r Result) string {
	if _, rule, ok := strings.Cut(r.Refused, "(rule: "); ok && strings.HasPrefix(n.Spec, realPrefix) {
		return strings.TrimSuffix(rule, ")")
	}
	return r.Refused
}
