package outputs

import (
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/result"
)

// mostWorst is how many failures are named at most, apart from those that leave destinations: these are named all.
const mostWorst = 5

// Survival is how the failures of a kind, links or switches, are mended. It names the worst, at most mostWorst, and
// none that one step mends.
func Survival(f *fabric.Fabric, kind string, r *change.Survival) *result.Survival {
	sum := &result.Survival{Failures: kind, Tried: len(r.Repairs), OneStep: r.OneStep, Mended: r.Mended, Rebuilt: r.Rebuilt, NotMended: r.NotMended, Worst: []result.SurvivalCase{}}
	for _, x := range r.Worst() {
		if x.Left == 0 && (x.Steps <= 1 || len(sum.Worst) >= mostWorst) {
			continue
		}
		sum.Worst = append(sum.Worst, result.SurvivalCase{Without: failureName(f, x.Failure), Steps: x.Steps, Entries: x.Entries, Due: x.Due, Rebuilt: x.Rebuilt, Left: x.Left})
	}
	return sum
}

// failureName names the cable or the switch that fails: Survival is about single ones.
func failureName(f *fabric.Fabric, x change.Failure) string {
	if len(x.Channels) > 0 {
		return RemovedLinks(f, x.Channels[:1])[0].String()
	}
	return f.Label(x.Nodes[0])
}
