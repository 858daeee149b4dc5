package reproduce

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/measure"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
)

// Reference is what OpenSM's own tables have on networks of the experiments, by spec
// and engine: most of what the papers compare with is OpenSM. The test that writes
// one says how (TestWriteOpenSMReference).
type Reference struct {
	Version string // of OpenSM
	rows    map[[3]string]measure.Result
	engines []string // in order of appearance
}

var referenceHeader = []string{"opensm", "network", "hosts_taking_part", "engine", "bandwidth", "stderr", "edge_forwarding_index"}

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
	ref := &Reference{rows: map[[3]string]measure.Result{}}
	for i, row := range rows[1:] {
		var figures [3]float64
		for k := range figures {
			if figures[k], err = strconv.ParseFloat(row[4+k], 64); err != nil {
				return nil, fmt.Errorf("reproduce: %s:%d: %s %q is no number", file, i+2, referenceHeader[4+k], row[4+k])
			}
		}
		ref.Version = row[0]
		ref.rows[[3]string{row[1], row[2], row[3]}] = measure.Result{
			Value: figures[0], Low: figures[0] - figures[1], High: figures[0] + figures[1], Count: 1, Index: figures[2],
		}
		if !slices.Contains(ref.engines, row[3]) {
			ref.engines = append(ref.engines, row[3])
		}
	}
	return ref, nil
}

// addLines is an experiment about bandwidth with lines for what OpenSM's tables have,
// where they are at hand.
func (ref *Reference) addLines(e papers.Experiment) papers.Experiment {
	if ref == nil || e.Measure != measure.Bandwidth {
		return e
	}
	lines := slices.Clone(e.Lines)
	for _, l := range e.Lines {
		if !slices.Contains(ref.engines, l.Engine) || slices.Contains(papersOwn, l.Engine) {
			continue
		}
		theirs := claims.Line{Name: claims.OpenSMPrefix + l.Engine, Engine: l.Engine, Like: l.Name, Given: true}
		for _, at := range l.Places {
			if _, ok := ref.result(at, l.Engine); ok {
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

// result is what OpenSM has of a network.
func (ref *Reference) result(at claims.Place, engine string) (measure.Result, bool) {
	job := ""
	if at.Job > 0 {
		job = strconv.Itoa(at.Job)
	}
	r, ok := ref.rows[[3]string{at.Spec, job, engine}]
	return r, ok
}

// addResults adds what OpenSM's tables have at the places that were measured.
func (ref *Reference) addResults(o *Outcome, quick bool) {
	for _, l := range o.Lines {
		if !l.Given {
			continue
		}
		for _, at := range l.Places {
			if r, ok := ref.result(at, l.Engine); ok && (at.Quick || !quick) {
				ours, _ := o.Get(l.Like, at.Label)
				r.Switches, r.Hosts, r.Cables = ours.Switches, ours.Hosts, ours.Cables
				o.Set(l.Name, at.Label, r)
			}
		}
	}
}
