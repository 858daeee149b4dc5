package campaign

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/sweep/results"
)

// TestTimed merges two results that differ in one measure: where its values are others another
// time, that is no difference.
func TestTimed(t *testing.T) {
	for _, k := range measures.Kinds() {
		rows := make([]results.Row, 2)
		for i := range rows {
			v := float64(i + 1)
			rows[i] = results.Row{Point: "p", Measure: k.Name, Status: results.OK, Value: &v}
		}
		_, differ := results.Merge(rows[:1], rows[1:])
		if (len(differ) == 0) != k.Alone {
			t.Errorf("%s: %d differences of values 1 and 2, and it is measured alone: %v", k.Name, len(differ), k.Alone)
		}
		if slices.Contains(results.Timed, k.Name) != k.Alone {
			t.Errorf("%s is in the list of timed measures: %v", k.Name, !k.Alone)
		}
	}
}
