package reproduce

import (
	"maps"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/internal/sweep/meter"
	"github.com/weft-fabric/weft/internal/sweep/results"
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
			values, err := e.Selection(quick, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(keys, papers.Points(values))
		}
		points := 0
		for i, x := range all {
			points += x.Points
			if x.ID != list[i].ID || x.Adds && x.Seconds != took[x.ID] || !x.Adds && (x.Seconds != 0 || x.Points != 0) {
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

// Of points that two experiments share, routing counts for the first and every measure for
// the first that shows it.
func TestSharedPointsAreNotFree(t *testing.T) {
	list, err := papers.Select([]string{"micro2020-a2a", "micro2020-sp"})
	if err != nil {
		t.Fatal(err)
	}
	planned, err := Plan(list, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if second := planned[1]; !second.Adds || second.Seconds <= 0 {
		t.Errorf("%s is planned as free: %+v", second.ID, second)
	}
	r := &Run{Options: Options{Dir: t.TempDir(), Quick: true, Seed: 1, Meter: &meter.Meter{}}}
	if err := r.open(list); err != nil {
		t.Fatal(err)
	}
	points := together(r.Outcomes)
	var rows []results.Row
	for i := range points {
		for _, m := range points[i].Measures {
			one := 1.0
			rows = append(rows, results.Row{Point: points[i].ID, Measure: m.Name, Settings: m.Text(), Status: results.OK, Value: &one, Seconds: 1, RoutingSeconds: 1000})
		}
	}
	if err := r.collect(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	first, second := r.Outcomes[0].Spent, r.Outcomes[1].Spent
	if want := float64(len(rows) + 1000*len(points)); first+second != want || r.SpentPoints != want {
		t.Errorf("%g s and %g s, want %g s together", first, second, want)
	}
	if fresh := 1000 * float64(planned[1].Points); second < fresh+1 {
		t.Errorf("the second of two takes %g s", second)
	}
}
