package reproduce

import (
	_ "embed"
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/reproduce/papers"
)

// Expected is what an experiment is expected to take, as a dry run says.
type Expected struct {
	*papers.Experiment
	Points  int     // that no experiment before it has
	Adds    bool    // it measures something that none before it measures, of these points or of others
	Seconds float64 // of processor time for that, as after all experiments before it in papers.All; 0 where it adds something: not known
}

// spent is the processor time that every experiment took, in the quick and in the full set,
// on the machine that the file names: cpu_seconds of weft reproduce --json.
//
//go:embed spent.csv
var spent string

// Plan is what the experiments are expected to take, as they took before. It takes nothing and
// writes nothing.
func Plan(list []papers.Experiment, o Options) ([]Expected, error) {
	took, err := readSpent(o.Quick)
	if err != nil {
		return nil, err
	}
	r := &Run{Options: o}
	if err := r.open(list); err != nil {
		return nil, err
	}
	all := make([]Expected, 0, len(list))
	for n, part := range shares(r.Outcomes) {
		out := r.Outcomes[n]
		x := Expected{Experiment: out.Experiment, Adds: len(part) > 0}
		for i := range part {
			if part[i].First {
				x.Points++
			}
		}
		if x.Adds {
			x.Seconds = took[out.ID]
		}
		all = append(all, x)
	}
	return all, nil
}

// readSpent is the processor time by experiment, of the quick or of the full set.
func readSpent(quick bool) (map[string]float64, error) {
	in := csv.NewReader(strings.NewReader(spent))
	in.Comment, in.FieldsPerRecord = '#', 3
	rows, err := in.ReadAll()
	if err != nil {
		return nil, err
	}
	took := map[string]float64{}
	for _, row := range rows[1:] {
		text := row[2]
		if quick {
			text = row[1]
		}
		if text == "" {
			continue
		}
		if took[row[0]], err = strconv.ParseFloat(text, 64); err != nil {
			return nil, err
		}
	}
	return took, nil
}
