package route

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-fabric/weft/internal/cli/internal/measured"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// print prints the rows in the form that the flags ask for.
func (j *compareJob) print() error {
	s := &result.Compare{
		Fabric:    outputs.Fabric(j.name, j.fabric),
		Endpoints: j.scope.String(), Uniform: j.o.uniformRates, Seed: j.o.route.Seed,
		Phases: j.meter.PhasesOf(), PhasesOfAll: len(j.meter.Endpoints) - 1, Rows: j.rows, AnyRouting: j.bound, Measured: j.explained, Received: j.received,
	}
	switch {
	case j.o.json:
		s.Trouble = j.inTrouble()
		return j.JSON(s)
	case j.o.csv:
		return j.printCSV()
	}
	if j.Brief() && !j.o.markdown {
		return j.answer()
	}
	return j.printTable(s)
}

// csvColumns is the columns of --csv; knownOf has their values.
var csvColumns = []string{
	"name", "source", "refused", "verdict", "contract", "vls", "vls_used", "sls", "pairs", "unreachable", "hops_mean", "hops_max",
	"edge_forwarding_index", "ebb", "ebb_stderr", "alltoall", "paths_seconds", "lanes_seconds", "verify_seconds", "simulate_seconds", "heap_bytes",
	"shifts_switch", "shifts_name", "shifts_random", "traffic_time", "traffic_mean",
}

func (j *compareJob) printCSV() error {
	lines := [][]string{csvColumns}
	for i := range j.rows {
		known := knownOf(&j.rows[i])
		lines = append(lines, list.Of(csvColumns, func(name string) string {
			switch v := known[name].(type) {
			case nil:
				return ""
			case float64:
				return strconv.FormatFloat(v, 'g', -1, 64)
			default:
				return fmt.Sprint(v)
			}
		}))
	}
	return reading.NewCSVWriter(j.Stdout).WriteAll(lines)
}

// knownOf is what is known of a row, by column.
func knownOf(r *result.CompareRow) map[string]any {
	k := map[string]any{
		"name": r.Name, "source": r.Source, "refused": r.Refused, "verdict": r.Verdict, "contract": r.Contract,
		"paths_seconds": r.Seconds.Paths, "lanes_seconds": r.Seconds.Lanes, "verify_seconds": r.Seconds.Verify, "simulate_seconds": r.Seconds.Simulate,
	}
	for name, n := range map[string]int{"vls": r.VLs, "sls": r.SLs, "heap_bytes": int(r.Heap)} {
		if n > 0 {
			k[name] = n
		}
	}
	if r.Verdict != "" {
		k["vls_used"], k["pairs"], k["unreachable"] = r.VLsUsed, r.Pairs, r.Unreachable
	}
	if r.Hops != nil {
		k["hops_max"] = r.Hops.Max
	}
	if r.Index != nil {
		k["hops_mean"], k["edge_forwarding_index"], k["ebb"], k["ebb_stderr"] = r.Hops.Mean, *r.Index, *r.EBB, *r.StdErr
	}
	if r.AllToAll != nil {
		k["alltoall"] = *r.AllToAll
	}
	if r.Traffic > 0 {
		k["traffic_time"], k["traffic_mean"] = r.Traffic, r.TrafficMean
	}
	for _, s := range r.Shifts {
		if s.Time > 0 {
			k["shifts_"+s.Order] = s.Time
		}
	}
	return k
}

// answer is the rows that matter, for people who want no more: the tables in force, the engines with
// the most bandwidth, and how many others there are.
func (j *compareJob) answer() error {
	const most = 6
	var rows, engines []*result.CompareRow
	loops, refused := 0, 0
	for i := range j.rows {
		switch r := &j.rows[i]; {
		case r.Refused != "":
			refused++
		case r.Source == "tables":
			rows = append(rows, r)
		case r.Verdict != result.DeadlockFree || r.EBB == nil:
			loops++
		default:
			engines = append(engines, r)
		}
	}
	slices.SortStableFunc(engines, func(a, b *result.CompareRow) int { return cmp.Compare(*b.EBB, *a.EBB) })
	rows = append(rows, engines...)
	lines := []string{answerLine("tables", "verdict", "lanes", "bandwidth", []string{"switch", "name", "random"}, j.withTraffic(nil, "traffic"))}
	for _, r := range rows[:min(most, len(rows))] {
		verdict, lanes, bandwidth, traffic := r.Verdict, r.Needed, "", ""
		if r.Unreachable > 0 {
			verdict += " *"
		}
		if lanes == 0 {
			lanes = r.Used
		}
		if r.EBB != nil {
			bandwidth = fmt.Sprintf("%.3f", *r.EBB)
		}
		if r.Traffic > 0 {
			traffic = fmt.Sprintf("%.2f", r.Traffic)
		}
		lines = append(lines, answerLine(r.Name, verdict, strconv.Itoa(lanes), bandwidth, timesOf(r.Shifts), j.withTraffic(nil, traffic)))
	}
	if j.bound != nil {
		lines = append(lines, answerLine(anyRouting, "", "", fmt.Sprintf("≤ %.3f", j.bound.Lambda), boundTimes(j.bound), j.withTraffic(nil, "")))
	}
	if cut := list.Of(slices.DeleteFunc(slices.Clone(rows), func(r *result.CompareRow) bool { return r.Unreachable == 0 }), func(r *result.CompareRow) string { return r.Name }); len(cut) > 0 {
		lines = append(lines, fmt.Sprintf("* pairs without a route: weft verify says which, of %s", words.FirstOf(cut)))
	}
	if err := errors.Join(j.Say("%s", strings.Join(lines, "\n")), j.sayMeasured(), j.sayReceived(), measured.Say(j.Console, j.inTrouble(), report.MaxSteps)); err != nil {
		return err
	}
	var more []string
	for _, m := range []struct {
		n    int
		what string
	}{{len(rows) - most, "have less bandwidth"}, {loops, "have a credit loop"}, {refused, "refuse"}} {
		if m.n > 0 {
			more = append(more, fmt.Sprintf("%d more %s", m.n, m.what))
		}
	}
	return j.Say("%s", strings.Join(append(more, "-v has all, and says what the columns are"), "; "))
}

// answerLine is a line of an answer, in columns; more is further columns at the end.
func answerLine(name, verdict, lanes, bandwidth string, times []string, more []any) string {
	line := fmt.Sprintf("%-18s %-15s %5s  %9s", name, verdict, lanes, bandwidth)
	for _, time := range times {
		line += fmt.Sprintf("  %6s", time)
	}
	for _, x := range more {
		line += fmt.Sprintf("  %7s", x)
	}
	return line
}

// printTable prints all rows as a table, and below it what the columns are and what was found.
func (j *compareJob) printTable(s *result.Compare) error {
	p := j.NewPage()
	if !j.o.markdown {
		p.Fact("fabric", "%s", report.NetworkAndCables(j.name, j.fabric))
		if err := j.Show(p); err != nil {
			return err
		}
	}
	head := j.withTraffic([]any{"tables", "verdict", "contract", "lanes", "used", "SLs", "load", "bandwidth", "by switch", "by name", "at random", "hops", "longest", "time", "memory"}, "traffic")
	t := j.NewTable(head...)
	t.Right(3, len(head)-1)
	for i := range j.rows {
		r, took := &j.rows[i], ""
		if r.Traffic > 0 {
			took = fmt.Sprintf("%.2f", r.Traffic) + j.change(r, r.Traffic, j.rows[0].Traffic)
		}
		t.Row(j.withTraffic(j.cells(r), took)...)
		if next := i + 1; next < len(j.rows) && j.rows[i].Source != j.rows[next].Source {
			t.Line()
		}
	}
	if j.bound != nil {
		t.Line()
		t.Row(j.withTraffic(j.boundCells(), "")...)
	}
	if j.o.markdown {
		t.RenderMarkdown()
	} else {
		t.Render()
	}
	phases := fmt.Sprintf("all %d", s.Phases)
	if s.Phases < s.PhasesOfAll {
		phases = fmt.Sprintf("%s of %s", words.Thousands(s.Phases), words.Thousands(s.PhasesOfAll))
	}
	rates := "links at their rates"
	if j.o.uniformRates {
		rates = "all links alike"
	}
	if err := errors.Join(j.sayRefusals(), j.sayTables(), j.sayMeasured(), j.sayReceived(), measured.Say(j.Console, j.inTrouble(), report.MaxSteps)); err != nil {
		return err
	}
	available := j.o.route.LanesOn(j.fabric)
	return errors.Join(j.Say(""),
		j.Say("deadlock-free: outside %s. lanes: needed by the proof, of %d available; used: by traffic between switches.", report.Outside(j.scope), available),
		j.sayLimit(available),
		j.Say("load: most routes over a channel between switches. bandwidth: effective bisection bandwidth, of full, ± %g, endpoints %s, %s.", j.o.precision, s.Endpoints, rates),
		j.Say("by switch, by name, at random: the time of all-to-all in shift phases (%s), each as long as on its fullest channel, with ranks in that order of hosts; 1 without congestion.", phases),
		j.sayBound(),
		j.sayTraffic(),
		j.Say("time, memory: of routing, proof not included; what it added to the heap."))
}

// anyRouting is the name of the row of bounds.
const anyRouting = "any routing"

// boundCells is the row of what no routing can do better, as cells.
func (j *compareJob) boundCells() []any {
	cells := []any{anyRouting, "", "", "", "", "", "≥ " + words.Thousands(j.bound.Index), fmt.Sprintf("≤ %.3f", j.bound.Lambda)}
	for i := range 3 {
		cell := ""
		if i < len(j.bound.Shifts) {
			cell = fmt.Sprintf("≥ %.2f", j.bound.Shifts[i].Time)
		}
		cells = append(cells, cell)
	}
	return append(cells, "", "", "", "")
}

// sayBound says what the row of boundCells is.
func (j *compareJob) sayBound() error {
	if routed.OnlyRatesDiffer(j.fabric, &j.meter) {
		return j.Say("%s: not shown, since cables have different rates and are measured at these; --uniform-rates shows it.", anyRouting)
	}
	if j.bound == nil {
		return nil
	}
	return j.Say("%s: what none can do better, by cuts of the network; weft bound says which cables are why.", anyRouting)
}

// sayLimit says which cable limits the lanes available, if one does.
func (j *compareJob) sayLimit(available int) error {
	text := outputs.LimitText(result.LaneCounts{Limit: outputs.LaneLimit(j.fabric, available)}, j.fabric)
	if text == "" {
		return nil
	}
	return j.Say("lanes: %s.", strings.TrimSpace(text))
}

// withTraffic adds to the cells of a row that of --traffic, behind the bandwidth, or at the end of
// fewer cells; without --traffic it is cells.
func (j *compareJob) withTraffic(cells []any, took string) []any {
	if len(j.meter.Demands) == 0 {
		return cells
	}
	return slices.Insert(cells, min(8, len(cells)), any(took))
}

// sayTraffic says what the column of --traffic is.
func (j *compareJob) sayTraffic() error {
	if len(j.meter.Demands) == 0 {
		return nil
	}
	return j.Say("traffic: the time of %s, as long as the fullest channel takes; 1 is the fullest link of a host.", j.o.route.Traffic)
}

// sayRefusals says why engines refuse; in Markdown the table does.
func (j *compareJob) sayRefusals() error {
	for i := range j.rows {
		if r := &j.rows[i]; r.Refused != "" && !j.o.markdown {
			if err := j.Say("%s refuses: %s", r.Name, r.Refused); err != nil {
				return err
			}
		}
	}
	return nil
}

// sayTables says what was assumed of the tables that exist, and which do not fit the
// fabric.
func (j *compareJob) sayTables() error {
	for _, r := range j.rows {
		if r.Source != "tables" {
			continue
		}
		text := fmt.Sprintf("\n%s: service levels %s, lanes %s", r.Name, r.Assumed.ServiceLevels, r.Assumed.Lanes)
		for _, more := range outputs.FitTexts(r.Fit) {
			text += "\n  " + more
		}
		for _, d := range report.Absent(r.AbsentLanes) {
			text += "\n  " + d.What
		}
		if err := j.Say("%s", text); err != nil {
			return err
		}
	}
	return nil
}

// cells is a row for people. Bandwidth and the times of all-to-all are compared with the first
// row, if that is of tables that exist.
func (j *compareJob) cells(r *result.CompareRow) []any {
	time, memory := words.Seconds(r.Seconds.Choose+r.Seconds.Paths+r.Seconds.Lanes), heapText(r.Heap)
	if r.Source == "tables" {
		time, memory = "", ""
	}
	if r.Refused != "" {
		verdict := "refuses" // why is said below
		if j.o.markdown {
			verdict += ": " + r.Refused
		}
		return []any{r.Name, verdict, "", "", "", "", "", "", "", "", "", "", "", time, memory}
	}
	name, verdict := r.Name, r.Verdict
	if r.Chosen != "" {
		name += ": " + r.Chosen
	}
	if r.Unreachable > 0 {
		verdict += fmt.Sprintf(", %s without a route", words.Counted(r.Unreachable, "pair", "pairs"))
	}
	needed := any("")
	if r.Needed > 0 {
		needed = r.Needed
	}
	// As in the head of printTable: 6 load, 7 bandwidth, 8 to 10 the times, 11 hops, 12 the longest.
	row := []any{name, verdict, r.Contract, needed, r.Used, r.SLs, "", "", "", "", "", "", "", time, memory}
	if r.Hops != nil {
		row[12] = r.Hops.Max
	}
	if r.Index == nil {
		row[5] = ""
		return row
	}
	row[11], row[6] = fmt.Sprintf("%.2f", r.Hops.Mean), words.Thousands(*r.Index)
	first := &j.rows[0]
	row[7] = fmt.Sprintf("%.3f", *r.EBB)
	if first.EBB != nil {
		row[7] = fmt.Sprintf("%.3f", *r.EBB) + j.change(r, *r.EBB, *first.EBB)
	}
	for i, s := range r.Shifts {
		if s.Time == 0 {
			continue
		}
		theirs := 0.0
		if i < len(first.Shifts) {
			theirs = first.Shifts[i].Time
		}
		row[8+i] = fmt.Sprintf("%.2f", s.Time) + j.change(r, s.Time, theirs)
	}
	return row
}

// change says how much a figure of a row, ours, differs from that of the first row, theirs, if that is
// of tables that exist. Nothing is compared with 0.
func (j *compareJob) change(r *result.CompareRow, ours, theirs float64) string {
	first := &j.rows[0]
	if first == r || first.Source != "tables" || theirs == 0 {
		return ""
	}
	percent := math.Round(100 * (ours/theirs - 1))
	if percent == 0 {
		return " (±0%)"
	}
	return fmt.Sprintf(" (%+.0f%%)", percent)
}

// heapText writes a size that may be too small to be seen from time to time.
func heapText(n int64) string {
	if n < 1<<20 {
		return "<1 MiB"
	}
	return words.Bytes(n)
}
