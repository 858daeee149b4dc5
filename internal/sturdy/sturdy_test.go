package sturdy

import (
	"testing"

	"github.com/weft-fabric/weft/change"
)

// What is not mended counts more than what others make way for, and that more than steps.
func TestFewer(t *testing.T) {
	order := []change.Survival{{OneStep: 9}, {OneStep: 3}, {Rebuilt: 1, OneStep: 9}, {Rebuilt: 2, OneStep: 9}, {NotMended: 1, OneStep: 9}}
	for i := range order {
		for j := range order {
			if got := fewer(&order[i], &order[j]); got != (i < j) {
				t.Errorf("%d before %d: %v", i, j, got)
			}
		}
	}
}
