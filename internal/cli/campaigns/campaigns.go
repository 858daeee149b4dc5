// Package campaigns takes measurements by the thousand: weft sweep, and weft reproduce, which
// has the papers' figures measured again.
package campaigns

import "github.com/weft-fabric/weft/internal/cli/internal/console"

// Outputs is what the commands print for programs.
func Outputs() []console.Output {
	return []console.Output{
		{Schema: "weft/experiments/1", Command: "weft reproduce --list, a list", Form: []experimentSummary{}},
		{Schema: "weft/reproduce/1", Command: "weft reproduce", Form: reproduceSummary{}},
		{Schema: "weft/reproduce-plan/1", Command: "weft reproduce --dry-run", Form: reproducePlan{}},
		{Schema: "weft/sweep/1", Command: "weft sweep", Form: campaignSummary{}},
		{Schema: "weft/sweep-merge/1", Command: "weft sweep merge", Form: mergeSummary{}},
		{Schema: "weft/sweep-plan/1", Command: "weft sweep --dry-run", Form: sweepPlanSummary{}},
	}
}
