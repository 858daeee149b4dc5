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
	Points  int     // different ones that no experiment before it has
	Seconds float64 // of processor time for them, as after all experiments before it in papers.All; 0 where Points is not: not known
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
	r.open(list)
	seen := map[string]bool{}
	all := make([]Expected, 0, len(list))
	for _, out := range r.Outcomes {
		x := Expected{Experiment: out.Experiment}
		for _, p := range out.points {
			if key := p.Key(); !seen[key] {
				seen[key] = true
				x.Points++
			}
		}
		if x.Points > 0 {
			x.Seconds = took[out.ID]
		}
		all = append(all, x)
	}
	return all, nil
}

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
