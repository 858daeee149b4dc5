package reproduce

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/internal/sweep/measures"
)

// Reference is what OpenSM's own tables have on networks of the experiments, by network
// and engine: most of what the papers compare with is OpenSM. The test that writes
// one says how (TestWriteOpenSMReference).
type Reference struct {
	Version string // of OpenSM
	rows    map[referenceKey]claims.Result
	engines []string // in order of appearance
}

// referenceKey is what a row of a reference is about.
type referenceKey struct {
	measure                papers.Measure
	network, hosts, engine string // hosts: how many take part; empty: all
}

// referenceHeader is the columns of the file of a reference.
var referenceHeader = []string{"opensm", "measure", "network", "hosts_taking_part", "engine", "value", "low", "high", "count", "edge_forwarding_index", "networks_with_credit_loops"}

// ReadReference reads a reference. Errors name file and line.
func ReadReference(r io.Reader, file string) (*Reference, error) {
	c := reading.NewCSV(r, file)
	c.FieldsPerRecord = len(referenceHeader)
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], referenceHeader) {
		return nil, fmt.Errorf("%s:1: a reference begins with the columns %v", file, referenceHeader)
	}
	ref := &Reference{rows: map[referenceKey]claims.Result{}}
	for i, row := range rows[1:] {
		const first = 5 // of the columns with numbers
		var figures [6]float64
		for k := range figures {
			if figures[k], err = strconv.ParseFloat(row[first+k], 64); err != nil {
				return nil, fmt.Errorf("%s:%d: %s %q is no number", file, i+2, referenceHeader[first+k], row[first+k])
			}
		}
		ref.Version = row[0]
		result := claims.Result{
			Value: figures[0], Low: figures[1], High: figures[2], Count: int(figures[3]), Index: figures[4], Loops: int(figures[5]),
		}
		if result.Count == 0 && row[1] == string(papers.Stops) {
			result.Refused, result.Refusals = measures.NeverStopped, 1
		}
		ref.rows[referenceKey{measure: papers.Measure(row[1]), network: row[2], hosts: row[3], engine: row[4]}] = result
		if !slices.Contains(ref.engines, row[4]) {
			ref.engines = append(ref.engines, row[4])
		}
	}
	return ref, nil
}

// referenceMeasures is the measures of which a reference has rows.
var referenceMeasures = []papers.Measure{papers.Bandwidth, papers.Stops}

// addLines is an experiment with a line more beside each of ours for which the reference has rows:
// what OpenSM's own tables of the engine have there. values is those of the experiment.
func (ref *Reference) addLines(e papers.Experiment, values []papers.Value) papers.Experiment {
	if ref == nil || !slices.Contains(referenceMeasures, e.Measure) {
		return e
	}
	lines := slices.Clone(e.Lines)
	for _, l := range e.Lines {
		if !slices.Contains(ref.engines, l.Engine) || e.Measure == papers.Bandwidth && slices.Contains(papersOwn, l.Engine) {
			continue
		}
		theirs := claims.Line{Name: claims.OpenSMPrefix + l.Name, Engine: l.Engine, Like: l.Name, Given: true, Band: l.Band, Unseen: l.Unseen, Beside: l.Beside}
		if l.Band {
			theirs.Like = claims.OpenSMPrefix + l.Like
		}
		for _, at := range l.Places {
			if _, ok := ref.result(e.Measure, at, l.Engine, valueAt(values, l.Name, at.Label)); ok {
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

// valueAt is the value of a line at a place; nil if it is none of these.
func valueAt(values []papers.Value, line, place string) *papers.Value {
	for i := range values {
		if v := &values[i]; v.Line == line && v.Place == place {
			return v
		}
	}
	return nil
}

// papersOwn is the papers' own engines, of which OpenSM's versions are none of the things compared.
var papersOwn = []string{"sssp", "p2sssp", "dfsssp"}

// result is what OpenSM has on the networks of a value: of one network, or of several their
// mean with the least and the most.
func (ref *Reference) result(m papers.Measure, at claims.Place, engine string, v *papers.Value) (r claims.Result, ok bool) {
	if v == nil || at.Missing > 0 {
		return r, false
	}
	job := ""
	if at.Job > 0 {
		job = strconv.Itoa(at.Job)
	}
	if len(v.Samples) == 1 {
		r, ok = ref.rows[referenceKey{measure: m, network: v.Samples[0].Network, hosts: job, engine: engine}]
		return r, ok
	}
	var values, indexes []float64
	for i := range v.Samples {
		one, ok := ref.rows[referenceKey{measure: m, network: v.Samples[i].Network, hosts: job, engine: engine}]
		r.Each = append(r.Each, one.Value)
		if ok {
			values, indexes = append(values, one.Value), append(indexes, one.Index)
		}
	}
	if len(values) == 0 {
		return r, false
	}
	r.Count, r.Value, r.Index = len(values), claims.Mean(values), claims.Mean(indexes)
	r.Low, r.High = slices.Min(values), slices.Max(values)
	return r, true
}

// addResults sets, for the lines that addLines added, what OpenSM's tables have at the places that
// were measured.
func (ref *Reference) addResults(out *Outcome) {
	for _, l := range out.Lines {
		if !l.Given {
			continue
		}
		ours := strings.TrimPrefix(l.Name, claims.OpenSMPrefix)
		for _, at := range l.Places {
			if r, ok := ref.result(out.Measure, at, l.Engine, valueAt(out.values, ours, at.Label)); ok {
				like, _ := out.Get(ours, at.Label)
				r.Switches, r.Hosts, r.Cables = like.Switches, like.Hosts, like.Cables
				out.Set(l.Name, at.Label, r)
			}
		}
	}
}
