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
