package experiments

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// OpenSMPrefix is what the lines of OpenSM's own tables are called by, before the
// engine.
const OpenSMPrefix = "OpenSM "

// Reference is what OpenSM's own tables have on networks of the experiments, by spec
// and engine: most of what the papers compare with is OpenSM. The test that writes
// one says how (TestWriteOpenSMReference).
type Reference struct {
	Version string // of OpenSM
	rows    map[[3]string]Result
	engines []string // in order of appearance
}

var referenceHeader = []string{"opensm", "network", "hosts_taking_part", "engine", "bandwidth", "stderr", "edge_forwarding_index"}

// ReadReference reads a reference. Errors name file and line.
func ReadReference(r io.Reader, file string) (*Reference, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = len(referenceHeader)
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("experiments: %s: %w", file, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], referenceHeader) {
		return nil, fmt.Errorf("experiments: %s:1: a reference begins with the columns %v", file, referenceHeader)
	}
	ref := &Reference{rows: map[[3]string]Result{}}
	for i, row := range rows[1:] {
		var figures [3]float64
		for k := range figures {
			if figures[k], err = strconv.ParseFloat(row[4+k], 64); err != nil {
				return nil, fmt.Errorf("experiments: %s:%d: %s %q is no number", file, i+2, referenceHeader[4+k], row[4+k])
			}
		}
		ref.Version = row[0]
		ref.rows[[3]string{row[1], row[2], row[3]}] = Result{
			Value: figures[0], Low: figures[0] - figures[1], High: figures[0] + figures[1], Count: 1, Index: figures[2],
		}
		if !slices.Contains(ref.engines, row[3]) {
			ref.engines = append(ref.engines, row[3])
		}
	}
	return ref, nil
}

// withReference is an experiment about bandwidth with lines for what OpenSM's tables
// have, where they are at hand.
func (e Experiment) withReference(ref *Reference) Experiment {
	if ref == nil || e.Measure != Bandwidth {
		return e
	}
	lines := slices.Clone(e.Lines)
	for _, l := range e.Lines {
		if !slices.Contains(ref.engines, l.Engine) || l.Engine == "sssp" || l.Engine == "p2sssp" || l.Engine == "dfsssp" {
			continue // those are the papers' own
		}
		theirs := Line{Name: OpenSMPrefix + l.Engine, Engine: l.Engine, Like: l.Name, given: true}
		for _, n := range l.Networks {
			if _, ok := ref.at(n, l.Engine); ok {
				theirs.Networks = append(theirs.Networks, n)
			}
		}
		if len(theirs.Networks) > 0 {
			lines = append(lines, theirs)
		}
	}
	e.Lines = lines
	return e
}

// at is the result of a network.
func (ref *Reference) at(n Network, engine string) (Result, bool) {
	job := ""
	if n.Job > 0 {
		job = strconv.Itoa(n.Job)
	}
	r, ok := ref.rows[[3]string{n.Spec, job, engine}]
	return r, ok
}

// addReference adds what OpenSM's tables have at the places that were measured.
func (o *Outcome) addReference(options Options) {
	for _, l := range o.Lines {
		for _, n := range l.Networks {
			if r, ok := options.OpenSM.given(l, n); ok && (n.Quick || !options.Quick) {
				ours := o.results[slot(l.Like, n.Label)]
				r.Switches, r.Hosts, r.Cables = ours.Switches, ours.Hosts, ours.Cables
				o.results[slot(l.Name, n.Label)] = r
			}
		}
	}
}

func (ref *Reference) given(l Line, n Network) (Result, bool) {
	if !l.given {
		return Result{}, false
	}
	return ref.at(n, l.Engine)
}
