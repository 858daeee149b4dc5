package meter

import (
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/sweep"
)

// The run that is judged is the first of those that are timed; the others are not judged.
func TestTimeJudgesOnce(t *testing.T) {
	s, err := sweep.Read(strings.NewReader("networks: ['torus:4x4,hosts=2']\nengines: [lash]\nmeasures: [{measure: time, repeats: 3}]"), "SPEC.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := new(Meter).Take(t.Context(), &s.Points[0])
	if err != nil {
		t.Fatal(err)
	}
	if r := rows[0]; r.Value == nil || *r.Value <= 0 || r.Count != 3 || *r.Low != *r.Value || r.Verdict != "deadlock-free" {
		t.Errorf("%+v", r)
	}
}

func TestEnoughRuns(t *testing.T) {
	for _, c := range []struct {
		runs []float64
		want bool
	}{
		{[]float64{0.9, 0.9}, false},      // they cost little
		{[]float64{20}, false},            // nothing to compare with
		{[]float64{1.4, 1.1, 1.05}, true}, // alike
		{[]float64{1.4, 1.2}, false},      // the first may be slow by chance, or the second fast
		{[]float64{2.5, 2, 1}, false},
		{[]float64{2.5, 2, 1.5}, true}, // whatever they are
	} {
		if got := enough(c.runs); got != c.want {
			t.Errorf("%v: %v", c.runs, got)
		}
	}
}
