package reproduce

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/measure"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
)

// Reference is what OpenSM's own tables have on networks of the experiments, by network
// and engine: most of what the papers compare with is OpenSM. The test that writes
// one says how (TestWriteOpenSMReference).
type Reference struct {
	Version string // of OpenSM
	rows    map[referenceKey]measure.Result
	engines []string // in order of appearance
}

// referenceKey is what a row of a reference is about.
type referenceKey struct {
	measure                measure.Measure
	network, hosts, engine string // hosts: how many take part; empty: all
}

var referenceHeader = []string{"opensm", "measure", "network", "hosts_taking_part", "engine", "value", "low", "high", "count", "edge_forwarding_index", "networks_with_credit_loops"}

// ReadReference reads a reference. Errors name file and line.
func ReadReference(r io.Reader, file string) (*Reference, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = len(referenceHeader)
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reproduce: %s: %w", file, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], referenceHeader) {
		return nil, fmt.Errorf("reproduce: %s:1: a reference begins with the columns %v", file, referenceHeader)
	}
	ref := &Reference{rows: map[referenceKey]measure.Result{}}
	for i, row := range rows[1:] {
		const first = 5 // of the columns with numbers
		var figures [6]float64
		for k := range figures {
			if figures[k], err = strconv.ParseFloat(row[first+k], 64); err != nil {
				return nil, fmt.Errorf("reproduce: %s:%d: %s %q is no number", file, i+2, referenceHeader[first+k], row[first+k])
			}
		}
		ref.Version = row[0]
		result := measure.Result{
			Value: figures[0], Low: figures[1], High: figures[2], Count: int(figures[3]), Index: figures[4], Loops: int(figures[5]),
		}
		if result.Count == 0 && row[1] == string(measure.Stops) {
			result.Refused, result.Refusals = measure.NeverStopped, 1
		}
		ref.rows[referenceKey{measure.Measure(row[1]), row[2], row[3], row[4]}] = result
		if !slices.Contains(ref.engines, row[4]) {
			ref.engines = append(ref.engines, row[4])
		}
	}
	return ref, nil
}

// referenceMeasures is the measures of which a reference has rows.
var referenceMeasures = []measure.Measure{measure.Bandwidth, measure.Stops}

// addLines is an experiment with lines for what OpenSM's tables have, where they are at
// hand.
func (ref *Reference) addLines(e papers.Experiment, o *Options) papers.Experiment {
	if ref == nil || !slices.Contains(referenceMeasures, e.Measure) {
		return e
	}
	lines := slices.Clone(e.Lines)
	for _, l := range e.Lines {
		if !slices.Contains(ref.engines, l.Engine) || e.Measure == measure.Bandwidth && slices.Contains(papersOwn, l.Engine) {
			continue
		}
		theirs := claims.Line{Name: claims.OpenSMPrefix + l.Name, Engine: l.Engine, Like: l.Name, Given: true, Band: l.Band, Unseen: l.Unseen, Beside: l.Beside}
		if l.Band {
			theirs.Like = claims.OpenSMPrefix + l.Like
		}
		for _, at := range l.Places {
			if _, ok := ref.result(&e, at, l.Engine, o); ok {
				theirs.Places = append(theirs.Places, at)
			}
		}
		if len(theirs.Places) > 0 {
			lines = append(lines, theirs)
		}
	}
	e.Lines = lines
	return e
}

// papersOwn is the engines that the papers compare with OpenSM's.
var papersOwn = []string{"sssp", "p2sssp", "dfsssp"}

// result is what OpenSM has at a place: of one network, or of several their mean with the
// least and the most.
func (ref *Reference) result(e *papers.Experiment, at claims.Place, engine string, o *Options) (r measure.Result, ok bool) {
	job := ""
	if at.Job > 0 {
		job = strconv.Itoa(at.Job)
	}
	if at.Missing > 0 {
		return r, false
	}
	networks := measure.Networks(at.Spec, o.Seed, e.Effort(o.Quick).Networks, false)
	if len(networks) == 1 {
		r, ok = ref.rows[referenceKey{e.Measure, networks[0].Spec, job, engine}]
		return r, ok
	}
	var values, indexes []float64
	for _, n := range networks {
		one, ok := ref.rows[referenceKey{e.Measure, n.Spec, job, engine}]
		r.Each = append(r.Each, one.Value)
		if ok {
			values, indexes = append(values, one.Value), append(indexes, one.Index)
		}
	}
	if len(values) == 0 {
		return r, false
	}
	r.Count, r.Value, r.Index = len(values), measure.Mean(values), measure.Mean(indexes)
	r.Low, r.High = slices.Min(values), slices.Max(values)
	return r, true
}

// addResults adds what OpenSM's tables have at the places that were measured.
func (ref *Reference) addResults(out *Outcome, o *Options) {
	for _, l := range out.Lines {
		if !l.Given {
			continue
		}
		ours := strings.TrimPrefix(l.Name, claims.OpenSMPrefix)
		for _, at := range l.Places {
			if r, ok := ref.result(out.Experiment, at, l.Engine, o); ok && (at.Quick || !o.Quick) {
				like, _ := out.Get(ours, at.Label)
				r.Switches, r.Hosts, r.Cables = like.Switches, like.Hosts, like.Cables
				out.Set(l.Name, at.Label, r)
			}
		}
	}
}
