package outputs

import (
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/internal/testnet"
)

// A repair of one step for which others make way comes before those of several steps, and hides none.
func TestSeveralStepsAreNamed(t *testing.T) {
	f := testnet.Build(t, "torus:4x4")
	all := change.Switches(f)
	r := &change.Survival{Repairs: []change.Repair{{Failure: all[0], Steps: 1, Rebuilt: true}, {Failure: all[1], Steps: 3}}}
	if sum := Survival(f, "switches", r); len(sum.Worst) != 1 || sum.Worst[0].Steps != 3 {
		t.Errorf("named are %+v, want the repair of 3 steps", sum.Worst)
	}
}

// Whatever is not mended is named, and of the others no more than fill the list up.
func TestNotMendedIsNamed(t *testing.T) {
	f := testnet.Build(t, "torus:4x4")
	for _, c := range []struct{ notMended, want int }{{0, mostWorst}, {2, mostWorst}, {mostWorst + 3, mostWorst + 3}} {
		r := &change.Survival{NotMended: c.notMended}
		for i, x := range change.Switches(f) {
			one := change.Repair{Failure: x, Steps: 2}
			if i < c.notMended {
				one.Left = 1
			}
			r.Repairs = append(r.Repairs, one)
		}
		sum, named := Survival(f, "switches", r), 0
		for _, w := range sum.Worst {
			named += w.Left
		}
		if len(sum.Worst) != c.want || named != c.notMended || sum.Tried != len(r.Repairs) {
			t.Errorf("%d not mended: %d of %d named are such; %d tried", c.notMended, named, len(sum.Worst), sum.Tried)
		}
	}
}
