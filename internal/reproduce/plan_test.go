package reproduce

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/internal/reproduce/papers"
)

// A dry run has every point once, in the first experiment that has it, and knows the times
// of experiments that there are.
func TestPlan(t *testing.T) {
	list := papers.All()
	for _, quick := range []bool{true, false} {
		took, err := readSpent(quick)
		if err != nil {
			t.Fatal(err)
		}
		for id, seconds := range took {
			if !slices.ContainsFunc(list, func(e papers.Experiment) bool { return e.ID == id }) || seconds <= 0 {
				t.Errorf("spent.csv: %s, %g s", id, seconds)
			}
		}
		all, err := Plan(list, Options{Quick: quick, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		keys := map[string]bool{}
		for _, e := range list {
			for _, p := range e.Points(quick, 1, nil) {
				keys[p.Key()] = true
			}
		}
		points := 0
		for i, x := range all {
			points += x.Points
			if x.ID != list[i].ID || x.Points > 0 && x.Seconds != took[x.ID] || x.Points == 0 && x.Seconds != 0 {
				t.Errorf("%s is planned as %s, for %g s", list[i].ID, x.ID, x.Seconds)
			}
		}
		again, err := Plan([]papers.Experiment{list[0], list[0]}, Options{Quick: quick, Seed: 1})
		if err != nil || again[1].Points != 0 || again[1].Seconds != 0 {
			t.Errorf("%v: %d points come twice, for %g s", err, again[1].Points, again[1].Seconds)
		}
		if points != len(keys) {
			t.Errorf("quick %t: %d points planned, %d different ones", quick, points, len(keys))
		}
	}
}
