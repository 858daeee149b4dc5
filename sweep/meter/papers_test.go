package meter_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/reproduce/measure"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/sweep"
)

// methods is what the papers' experiments call engines of a sweep that are no engine by name.
var methods = map[string]string{
	"shortest+first-fit-plain": "lash" + measure.AsPrinted, "sssp+break-cycles-plain": "dfsssp" + measure.AsPrinted,
	"sssp+hop-dn-plain": "df-dn" + measure.AsPrinted, "minhop+hop-dn-plain": "df-dn-minhop" + measure.AsPrinted,
}

// network is a network of an experiment and the seed of everything that is drawn for it.
type network struct {
	spec string
	seed uint64
}

// The SPEC files that are named after a figure have the networks, engines and measure of
// that experiment of weft reproduce, and come to the same values over as many patterns.
func TestSpecsOfThePapersAreTheirExperiments(t *testing.T) {
	found := 0
	for _, e := range papers.All() {
		file := filepath.Join("../../examples/sweeps", e.ID+".yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		found++
		t.Run(e.ID, func(t *testing.T) {
			s, err := sweep.Read(strings.NewReader(string(text)), file, nil)
			if err != nil {
				t.Fatal(err)
			}
			ours := map[string]map[network]*sweep.Point{}
			for i := range s.Points {
				p := &s.Points[i]
				method := p.Engine.Name
				if name, ok := methods[method]; ok {
					method = name
				}
				if ours[method] == nil {
					ours[method] = map[network]*sweep.Point{}
				}
				ours[method][network{p.Network.Spec, p.Seed}] = p
			}
			theirs := networksOf(&e)
			for method, points := range ours {
				if len(points) != len(theirs[method]) {
					t.Errorf("%s: %d networks, the experiment has %d", method, len(points), len(theirs[method]))
				}
				for n, p := range points {
					if _, ok := theirs[method][n]; !ok {
						t.Errorf("%s on %s with seed %d is none of the experiment", method, n.spec, n.seed)
					}
					if m := p.Measures[0]; m.Name != string(e.Measure) {
						t.Errorf("%s: it measures %s, the experiment %s", method, m.Name, e.Measure)
					}
				}
				compareFirst(t, theirs[method], method, s, points)
			}
		})
	}
	if found < 8 {
		t.Errorf("%d SPEC files are experiments", found)
	}
}

// networksOf is the networks of an experiment, each with one of its points, by method.
func networksOf(e *papers.Experiment) map[string]map[network]measure.Point {
	all := map[string]map[network]measure.Point{}
	for _, p := range e.Points(false, 1, nil) {
		if all[p.Engine] == nil {
			all[p.Engine] = map[network]measure.Point{}
		}
		for _, drawn := range p.Drawn() {
			one := p.Point
			one.Network, one.Networks, one.Seed = drawn.Spec, 0, drawn.Seed
			all[p.Engine][network{one.Network, max(1, one.Seed)}] = one
		}
	}
	return all
}

// compareFirst compares the value of the first point of a method.
func compareFirst(t *testing.T, theirs map[network]measure.Point, method string, s *sweep.Spec, points map[network]*sweep.Point) {
	t.Helper()
	for i := range s.Points {
		p := &s.Points[i]
		n := network{p.Network.Spec, p.Seed}
		if points[n] == nil || points[n].ID != p.ID {
			continue
		}
		one, same := *p, theirs[n] // with few patterns
		if same.Patterns > 0 {
			same.Patterns = 20
			one.Measures = []sweep.Measure{sweep.MeasureOf(one.Measures[0].Name, strings.Replace(one.Measures[0].Text(), "patterns=1000", "patterns=20", 1))}
		}
		want, err := measure.NewMeter(nil).Take(t.Context(), same)
		if err != nil {
			t.Fatal(err)
		}
		got := take(t, newMeter(), &one)[string(theirs[n].Measure)]
		if want.Count == 0 && got.Value == nil {
			return
		}
		if got.Value == nil || *got.Value != want.Value {
			t.Errorf("%s on %s: %s %v, the experiment has %g", method, n.spec, got.Status, got.Outcome(), want.Value)
		}
		return
	}
}
