package papers

import (
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/measure"
)

// Point is what to measure, and for which line and place of the figure.
type Point struct {
	measure.Point
	Line, Place string
}

// BesideRepeats is how often at the most our engines are timed beside the paper's: those of the
// largest networks take minutes.
const BesideRepeats = 3

// Points is what is to be measured for an experiment, line by line. digests is of the
// real fabrics that have been added to it, by name.
func (e *Experiment) Points(quick bool, seed uint64, digests map[string]string) []Point {
	effort := e.Effort(quick)
	var all []Point
	for _, l := range e.Lines {
		for _, at := range l.Places {
			if quick && !at.Quick || l.Given {
				continue
			}
			p := measure.Point{Measure: e.Measure, Version: measure.Version[e.Measure], Network: at.Spec, Engine: l.Engine, Job: at.Job, Missing: at.Missing}
			if name, ok := strings.CutPrefix(at.Spec, measure.RealPrefix); ok {
				p.Digest = digests[name]
			}
			if drawn := strings.Contains(at.Spec, measure.SeedMark) || at.Missing > 0; drawn {
				p.Networks = max(1, effort.Networks)
				if l.Beside && effort.Beside > 0 {
					p.Networks = effort.Beside
				}
				p.Seed = seed
			}
			switch e.Measure {
			case measure.Bandwidth:
				p.Patterns, p.Seed = max(1, effort.Patterns), seed
				if l.Band && effort.Swept > 0 {
					p.Patterns = effort.Swept
				}
			case measure.Risk:
				p.Traffic = l.Traffic
				if l.Traffic == randomPermutations {
					p.Patterns, p.Seed = max(1, effort.Patterns), seed
				}
			case measure.Seconds:
				p.Repeats = max(1, effort.Repeats)
				if l.Beside {
					p.Repeats = min(p.Repeats, BesideRepeats)
				}
			case measure.Stops:
				p.Repeats, p.Seed = max(1, effort.Repeats), seed
			case measure.Delivered:
				p.Patterns, p.Traffic = max(1, effort.Patterns), l.Traffic
			case measure.Accepted:
				p.Patterns, p.Load, p.Traffic = max(1, effort.Patterns), at.Load, l.Traffic
			}
			all = append(all, Point{p, l.Name, at.Label})
		}
	}
	return all
}

// Effort is how often quick or full runs measure.
func (e *Experiment) Effort(quick bool) Effort {
	if quick {
		return e.Quick
	}
	return e.Full
}

// Count is how many points the experiment has in quick and in full runs, real
// fabrics aside.
func (e *Experiment) Count() (quick, full int) {
	return len(e.Points(true, 0, nil)), len(e.Points(false, 0, nil))
}

// WithReal is the experiment with the real fabrics at hand as further places.
func (e Experiment) WithReal(names []string) Experiment {
	if !e.Real {
		return e
	}
	e.Lines = slices.Clone(e.Lines)
	for i := range e.Lines {
		l := &e.Lines[i]
		l.Places = slices.Clone(l.Places)
		for _, name := range names {
			l.Places = append(l.Places, claims.Place{Label: name, Spec: measure.RealPrefix + name, Quick: true})
		}
	}
	return e
}
