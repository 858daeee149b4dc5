package papers

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/measures"
)

// Value is a line at a place of a figure: which rows of the campaign it is made of.
type Value struct {
	Line, Place string
	Samples     []Sample // network by network; those that are drawn seed by seed
}

// Sample is one network of a value.
type Sample struct {
	Network string // as places have it, with its seed
	Point   *sweep.Point
	Measure *measures.Measure // of the point
}

// Beside is the measure of the same point that a value shows besides: of bandwidth and risk
// the edge-forwarding index, of packets the latency. Its name is empty where there is none.
func (s *Sample) Beside() measures.Measure {
	switch s.Measure.Name {
	case "bandwidth", "risk":
		return measures.Measure{Name: "load"}
	case "settled", "delivered":
		return measures.Measure{Name: s.Measure.Name + "-latency", Settings: s.Measure.Settings}
	}
	return measures.Measure{}
}

// campaign is the parts of the campaign of an experiment, with seeds from one on in place of 1.
func (e *Experiment) campaign(quick bool, seed uint64) ([]sweep.Part, error) {
	read := func(set string) (*sweep.Spec, error) {
		s, err := sweep.ReadSet(bytes.NewReader(e.Sweep), e.ID+".yaml", nil, set)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := read("")
	if err == nil && quick && s.Sets != nil {
		s, err = read("quick")
	}
	if err != nil {
		return nil, err
	}
	for _, part := range s.Parts {
		for i := range part.Points {
			p := &part.Points[i]
			*p = p.On(p.Network, p.Seed+seed-1)
		}
	}
	return s.Parts, nil
}

// sweptPart is the name of the parts that bands are made of.
const sweptPart = "swept"

// Selection is the values of an experiment in its quick or its full set, line by line. Places
// of which the campaign has no network in that set are left out.
func (e *Experiment) Selection(quick bool, seed uint64, real map[string]sweep.Network) (all []Value, err error) {
	if e.Sweep == nil {
		return nil, nil
	}
	parts, err := e.campaign(quick, seed)
	if err != nil {
		return nil, err
	}
	for i := range e.Lines {
		l := &e.Lines[i]
		if l.Given {
			continue
		}
		points := e.pointsOf(parts, l)
		for k := range l.Places {
			v, err := e.value(l, &l.Places[k], points, seed, real)
			if err != nil {
				return nil, err
			}
			if len(v.Samples) > 0 {
				all = append(all, v)
			}
		}
	}
	return all, nil
}

// kind is what networks have in common that differ in their seed only.
type kind struct {
	spec, ports string
	cables      sweep.Amount // missing
}

// pointsOf is the points of a line, by networks, in the order of seeds.
func (e *Experiment) pointsOf(parts []sweep.Part, l *claims.Line) map[kind][]*sweep.Point {
	engine := e.engineOf(l)
	of := map[kind][]*sweep.Point{}
	for _, part := range parts {
		if (part.Name == sweptPart) != l.Band {
			continue
		}
		for i := range part.Points {
			p := &part.Points[i]
			if p.Engine.Name != engine.Name || p.Engine.Scope != engine.Scope || p.Engine.LanesOf != engine.LanesOf {
				continue
			}
			k := kind{p.Network.Kind, p.Network.Ports, p.Network.Damage.Cables}
			same := func(o *sweep.Point) bool { return o.ID == p.ID }
			if i := slices.IndexFunc(of[k], same); i >= 0 {
				joined := *p // two parts measure it
				joined.Measures = slices.Concat(of[k][i].Measures, p.Measures)
				of[k][i] = &joined
				continue
			}
			of[k] = append(of[k], p)
		}
	}
	return of
}

// value is a line at a place.
func (e *Experiment) value(l *claims.Line, at *claims.Place, points map[kind][]*sweep.Point, seed uint64, real map[string]sweep.Network) (Value, error) {
	v := Value{Line: l.Name, Place: at.Label}
	for text := range strings.SplitSeq(at.Spec, or) {
		k, ranks := networkOf(text, at)
		of := points[k]
		if name, ok := strings.CutPrefix(text, RealPrefix); ok {
			of = onReal(l, points, real[name], seed)
		}
		for _, p := range of {
			m, err := e.measureOf(p, l, at, ranks)
			if err != nil {
				return v, err
			}
			v.Samples = append(v.Samples, Sample{strings.ReplaceAll(text, seedMark, strconv.FormatUint(p.Seed, 10)), p, m})
		}
	}
	return v, nil
}

// onReal is a line's measures on a dump, whose hosts alone are endpoints, as in the papers:
// lanes are not planned for what else has adapters.
func onReal(l *claims.Line, points map[kind][]*sweep.Point, n sweep.Network, seed uint64) []*sweep.Point {
	first, _, _ := strings.Cut(l.Places[0].Spec, or)
	k, _ := networkOf(first, &l.Places[0])
	if len(points[k]) == 0 {
		return nil
	}
	p := *points[k][0]
	p.Engine.Exact = p.Engine.Name != sweep.NoEngine
	p = p.On(n, seed)
	return []*sweep.Point{&p}
}

// networkOf reads a network of a place, and how ranks sit on its hosts.
func networkOf(text string, at *claims.Place) (k kind, ranks string) {
	job := strconv.Itoa(at.Job)
	ranks = "guid"
	if at.Job > 0 {
		ranks = measures.RanksAnew + job
	}
	if spec, ok := strings.CutSuffix(text, hostsPacked); ok {
		text, ranks = spec, "guid:"+job
	}
	if spec, ok := strings.CutSuffix(text, hostsApart); ok {
		text, ranks = spec, measures.RanksApart+job
	}
	if spec, _, ok := strings.Cut(text, portsShuffled); ok {
		text, k.ports = spec, sweep.Shuffled
	}
	k.spec = text
	if at.Missing > 0 {
		k.cables = sweep.Amount(strconv.Itoa(at.Missing))
	}
	return k, ranks
}

// measureOf finds the measure of a point that a line shows at a place.
func (e *Experiment) measureOf(p *sweep.Point, l *claims.Line, at *claims.Place, ranks string) (*measures.Measure, error) {
	name, want := e.wanted(l, at, ranks)
	found := measuresWith(p, name, want)
	if len(found) == 0 && strings.HasPrefix(ranks, measures.RanksAnew) { // a job on all hosts: they are not drawn
		want["ranks"] = "guid"
		found = measuresWith(p, name, want)
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s: %s at %s has %d measures %s %v on %s", e.ID, l.Name, at.Label, len(found), name, want, p.Network.String())
	}
	return found[0], nil
}

// measuresWith is the measures of a point of a name with some settings.
func measuresWith(p *sweep.Point, name string, settings map[string]string) (found []*measures.Measure) {
	for i := range p.Measures {
		m := &p.Measures[i]
		fits := m.Name == name
		for key, value := range settings {
			fits = fits && m.Setting(key) == value
		}
		if fits {
			found = append(found, m)
		}
	}
	return found
}

// wanted is the measure of a campaign that a line shows at a place, and those of its settings
// that tell it from others of the point.
func (e *Experiment) wanted(l *claims.Line, at *claims.Place, ranks string) (name string, settings map[string]string) {
	switch e.Measure {
	case Bandwidth:
		return "bandwidth", map[string]string{"ranks": ranks}
	case Seconds:
		return "time", nil
	case Completed:
		return "completion", map[string]string{"message": strconv.Itoa(int(at.X) * floatBytes)}
	case Risk:
		return "risk", map[string]string{"pattern": l.Traffic}
	case Accepted:
		return "settled", map[string]string{"load": strconv.FormatFloat(at.Load, 'g', -1, 64), "pattern": l.Traffic}
	case Delivered:
		return "delivered", map[string]string{"pattern": l.Traffic}
	case Lanes:
		if e.engineOf(l).Name == sweep.NoEngine {
			return "layers", map[string]string{"of": l.Engine}
		}
	}
	return string(e.Measure), nil
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
			l.Places = append(l.Places, claims.Place{Label: name, Spec: RealPrefix + name})
		}
	}
	return e
}
