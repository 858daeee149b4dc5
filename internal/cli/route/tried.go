package route

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing/engines"
)

// proven is how many of the engines that auto tried are proven.
func (j *routeRun) proven() (n int) {
	for _, t := range j.Choice.Trials {
		if t.Outcome == choose.Proven {
			n++
		}
	}
	return n
}

// factFigures adds to the answer the bandwidth of the tables and the time of phases, as auto measured
// them, and beside them those of the tables in force. It adds nothing where auto did not measure these
// tables: takeSturdiest took those of another seed or root.
func (j *routeRun) factFigures(p *console.Page) {
	if j.Choice == nil {
		return
	}
	trials := j.Choice.Trials
	at := slices.IndexFunc(trials, func(t choose.Trial) bool { return t.Engine == j.Engine.Name })
	others := slices.ContainsFunc(j.compared[min(1, len(j.compared)):], func(c *result.Candidate) bool { return c.Taken && c.Engine == j.Engine.Name })
	if at < 0 || others || len(j.Choice.Meter.Endpoints) < 2 {
		return
	}
	t := &trials[at]
	bandwidth, phases := []string{fmt.Sprintf("%.3f of full for random pairs", t.Lambda)}, []string{phasesText(j.Choice.Meter.Orders, routed.ShiftsOf(t.Shifts))}
	if len(j.Choice.Meter.Demands) > 0 {
		bandwidth[0] = fmt.Sprintf("traffic takes %.2f; ", t.Traffic) + bandwidth[0]
	}
	for _, r := range j.inForce {
		verdict := ""
		if r.Verdict != result.DeadlockFree {
			verdict = ", with a " + r.Verdict
		}
		bandwidth = append(bandwidth, fmt.Sprintf("%s %.3f%s", r.Name, r.Lambda, verdict))
		phases = append(phases, r.Name+" "+strings.Join(timesOf(r.Shifts), ", "))
	}
	if j.bound != nil {
		bandwidth = append(bandwidth, fmt.Sprintf("bound %.3f", j.bound.Lambda))
		phases = append(phases, "bound "+strings.Join(timesOf(j.bound.Shifts), ", "))
	}
	p.Short("bandwidth", "%s", strings.Join(bandwidth, "; "))
	if len(t.Shifts) > 0 {
		p.Short("phases", "%s", strings.Join(phases, "; "))
	}
}

// phasesText is the time of all to all in phases by each order of ranks.
func phasesText(orders []engines.RankOrder, shifts []result.Shift) string {
	var parts []string
	for i, time := range timesOf(shifts) {
		if i < len(orders) && i < 3 {
			by := " by "
			if orders[i].Name == "random" {
				by = " at "
			}
			parts = append(parts, time+by+orders[i].Name)
		}
	}
	return strings.Join(parts, ", ")
}

// boundTimes is the times that no routing can be below.
func boundTimes(b *result.AnyRouting) []string {
	return list.Of(b.Shifts, func(s result.Shift) string { return fmt.Sprintf("≥ %.2f", s.Time) })
}

// timesOf is the times of shifts as text; 1 is without congestion.
func timesOf(shifts []result.Shift) []string {
	return list.Of(shifts, func(s result.Shift) string {
		if s.Time == 0 {
			return "–"
		}
		return fmt.Sprintf("%.2f", s.Time)
	})
}

// triedText is what auto tried, side by side, the tables in force first, and what the
// columns are.
func (j *routeRun) triedText() string {
	trials := j.Choice.Trials
	if len(j.Choice.Meter.Endpoints) < 2 {
		return routed.TrialText(trials)
	}
	orders := list.Of(j.Choice.Meter.Orders, func(o engines.RankOrder) string { return o.Name })
	width := 10
	for _, r := range j.inForce {
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
	withTraffic := len(j.Choice.Meter.Demands) > 0
	figures := func(lambda float64, shifts []result.Shift, load uint32, lanes int, traffic float64) string {
		text := fmt.Sprintf("%5.3f", lambda)
		if withTraffic {
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
	if withTraffic {
		first, legend = "traffic  pairs", "traffic: of the file, by the fullest channel, 1 is the fullest link of a host; "
	}
	lines := []string{fmt.Sprintf("%-*s  %s  %s       load  lanes  time", width, "", first, strings.Join(head, "  "))}
	for _, r := range j.inForce {
		text := figures(r.Lambda, r.Shifts, r.MaxLoad, r.Used, r.Traffic) + "  " + r.Verdict
		if r.Unreachable > 0 {
			text += fmt.Sprintf(", %s without a route", words.Counted(r.Unreachable, "pair", "pairs"))
		}
		if len(r.AbsentLanes) > 0 {
			text += ", packets are dropped for want of a lane"
		}
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, r.Name, text))
	}
	for _, t := range trials {
		what := routed.OutcomeText(&t)
		if t.Outcome == choose.Proven {
			what = figures(t.Lambda, routed.ShiftsOf(t.Shifts), t.MaxLoad, t.VLs, t.Traffic) + "  " + words.Seconds(t.Spent.Seconds())
		}
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, t.Engine, what))
	}
	lines = append(lines, legend+"pairs: bandwidth of random pairs, of full; then the time of all to all in phases, with ranks in that order of hosts, 1 without congestion; load: routes on the fullest channel")
	return strings.Join(append(lines, extra...), "\n")
}
