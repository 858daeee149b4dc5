package measures

import "testing"

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
