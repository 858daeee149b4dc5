// Package campaigns takes measurements by the thousand: weft sweep, and weft reproduce, which
// has the papers' figures measured again.
package campaigns

import (
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/result"
)

// Outputs is what the commands print for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/experiments/1", Command: "weft reproduce --list, a list", Form: []result.Experiment{}},
		{Schema: "weft/reproduce/1", Command: "weft reproduce", Form: result.Reproduce{}},
		{Schema: "weft/reproduce-plan/1", Command: "weft reproduce --dry-run", Form: result.ReproducePlan{}},
		{Schema: "weft/sweep/1", Command: "weft sweep", Form: result.Sweep{}},
		{Schema: "weft/sweep-merge/1", Command: "weft sweep merge", Form: result.SweepMerge{}},
		{Schema: "weft/sweep-plan/1", Command: "weft sweep --dry-run", Form: result.SweepPlan{}},
	}
}
