package route

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing/engines"
)

// triedText is what auto tried, side by side, the tables in force first, and what the
// columns are.
func (j *routeRun) triedText() string {
	inForce, trials := j.inForce, j.Choice.Trials
	if len(j.Choice.Meter.Endpoints) < 2 {
		return routed.TrialText(trials)
	}
	orders := list.Of(j.Choice.Meter.Orders, func(o engines.RankOrder) string { return o.Name })
	width := 10
	for _, r := range inForce {
		width = max(width, len(r.Name))
	}
	// Orders that the user gave have long names, and are numbered.
	var head, extra []string
	for i, order := range orders {
		if i > 2 {
			extra = append(extra, fmt.Sprintf("order %d: %s", i-2, order))
			order = fmt.Sprintf("order %d", i-2)
		}
		head = append(head, fmt.Sprintf("%7s", order))
	}
	served := len(j.Choice.Meter.Demands) > 0
	figures := func(lambda float64, shifts []result.Shift, load uint32, lanes int, traffic float64) string {
		text := fmt.Sprintf("%5.3f", lambda)
		if served {
			text = fmt.Sprintf("%7.2f  %s", traffic, text)
		}
		for i := range orders {
			cell := "–"
			if i < len(shifts) && shifts[i].Time > 0 {
				cell = fmt.Sprintf("%.2f", shifts[i].Time)
			}
			text += fmt.Sprintf("  %7s", cell)
		}
		return text + fmt.Sprintf("  %9s  %5d", words.Thousands(load), lanes)
	}
	first, legend := "pairs", ""
	if served {
		first, legend = "traffic  pairs", "traffic: of the file, by the fullest channel, 1 is the fullest link of a host; "
	}
	lines := []string{fmt.Sprintf("%-*s  %s  %s       load  lanes  time", width, "", first, strings.Join(head, "  "))}
	for _, r := range inForce {
		text := figures(r.Lambda, r.Shifts, r.MaxLoad, r.Used, r.Traffic) + "  " + r.Verdict
		if r.Unreachable > 0 {
			text += fmt.Sprintf(", %s pairs without a route", words.Thousands(r.Unreachable))
		}
		if len(r.AbsentLanes) > 0 {
			text += ", packets are dropped for want of a lane"
		}
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, r.Name, text))
	}
	for _, t := range trials {
		what := routed.OutcomeText(&t)
		if t.Outcome == weft.Proven {
			what = figures(t.Lambda, routed.ShiftsOf(t.Shifts), t.MaxLoad, t.VLs, t.Traffic) + "  " + words.Seconds(t.Spent.Seconds())
		}
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, t.Engine, what))
	}
	lines = append(lines, legend+"pairs: bandwidth of random pairs, of full; then the time of all to all in phases, with ranks in that order of hosts, 1 without congestion; load: routes on the fullest channel")
	return strings.Join(append(lines, extra...), "\n")
}
