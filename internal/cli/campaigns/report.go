package campaigns

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/campaign"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/sweep/results"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// summary is what came of a run, for programs; printSweep prints the same for people.
func (j *sweepJob) summary(s *campaign.Summary) *result.Sweep {
	sum := &result.Sweep{
		Name: j.spec.Name, Set: j.spec.Set, Out: j.o.out, Results: filepath.Join(j.o.out, results.ParquetFile), Points: s.Points, Kept: s.Kept, Rows: len(s.Rows), Others: s.Others,
		Seconds: s.Seconds, CPU: s.Spent, Own: s.Own, Expected: j.plan.Seconds(),
		Measures: summarised(s.Rows), Refusals: refusals(s.Rows), Broken: brokenPoints(s.Rows),
	}
	if j.o.shard.N > 1 {
		sum.Shard = j.o.shard.String()
	}
	return sum
}

// summarised is least, mean and most of every measure under every engine, over all networks.
func summarised(rows []results.Row) []result.SweepMeasure {
	at := map[[4]string]int{} // index in all
	all := []result.SweepMeasure{}
	for i := range rows {
		r := &rows[i]
		key := [4]string{r.Engine, r.Options, r.Measure, r.Settings}
		n, ok := at[key]
		if !ok {
			n = len(all)
			at[key] = n
			all = append(all, result.SweepMeasure{Engine: r.Engine, Options: r.Options, Measure: r.Measure, Settings: r.Settings, Unit: r.Unit})
		}
		m := &all[n]
		m.Points++
		switch {
		case r.Status == results.Broken:
			m.Broken++
		case r.Value == nil:
			m.Refused++
		default:
			if with := m.Points - m.Broken - m.Refused; with == 1 {
				m.Least, m.Most = *r.Value, *r.Value
			}
			m.Least, m.Most, m.Mean = min(m.Least, *r.Value), max(m.Most, *r.Value), m.Mean+*r.Value
		}
	}
	for i := range all {
		all[i].Mean /= float64(max(1, all[i].Points-all[i].Broken-all[i].Refused))
	}
	slices.SortStableFunc(all, func(a, b result.SweepMeasure) int {
		return cmp.Or(cmp.Compare(a.Measure, b.Measure), cmp.Compare(a.Settings, b.Settings), cmp.Compare(a.Engine, b.Engine), cmp.Compare(a.Options, b.Options))
	})
	return all
}

// ruleOf is the rule that a refusal names, which is the same for many networks, or else the first
// line of the reason.
func ruleOf(reason string) string {
	if _, rule, ok := strings.Cut(reason, "(rule: "); ok {
		return "not so here: " + strings.TrimSuffix(rule, ")")
	}
	return words.FirstLine(reason)
}

// refusals is why engines refused, the most frequent reasons first.
func refusals(rows []results.Row) []result.SweepReason {
	type key struct{ engine, reason string }
	by, counted := map[key]*result.SweepReason{}, map[[2]string]bool{} // counted: point and reason, which are in a row for each measure
	for i := range rows {
		r := &rows[i]
		if r.Status != results.Refused || counted[[2]string{r.Point, r.Reason}] {
			continue
		}
		counted[[2]string{r.Point, r.Reason}] = true
		k := key{r.Engine, ruleOf(r.Reason)}
		if by[k] == nil {
			by[k] = &result.SweepReason{Engine: r.Engine, Network: r.Network, Reason: k.reason}
		}
		by[k].Points++
	}
	all := []result.SweepReason{}
	for _, r := range by {
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b result.SweepReason) int {
		return cmp.Or(b.Points-a.Points, cmp.Compare(a.Engine, b.Engine), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

// brokenPoints is the points that broke, each once: a point has a row for each measure, which follow
// each other, all with one reason.
func brokenPoints(rows []results.Row) []result.SweepBroken {
	all := []result.SweepBroken{}
	for i := range rows {
		r := &rows[i]
		if r.Status == results.Broken && (len(all) == 0 || all[len(all)-1].Point != r.Point) {
			all = append(all, result.SweepBroken{Point: r.Point, Network: r.Network, Seed: r.Seed, Engine: r.Engine, Options: r.Options, Reason: r.Reason})
		}
	}
	return all
}

// sweepReport prints what came of a run; where points broke, that is the error.
func (j *sweepJob) sweepReport(s *campaign.Summary) error {
	sum := j.summary(s)
	if err := j.Answer(j.o.json, sum, func() error { return j.printSweep(sum) }, false); err != nil {
		return err
	}
	if n := len(sum.Broken); n > 0 {
		b := &sum.Broken[0]
		return exit.Internal("weft failed at %s; the first, %s of %s, seed %d: %s\nPlease report this with the SPEC; the rows with status broken have the rest.",
			words.Plural(n, "point"), b.Engine, b.Network, b.Seed, b.Reason)
	}
	return nil
}

// fewReasons is how many reasons of refusals are shown to people.
const fewReasons = 5

// printSweep prints the summary of a run for people.
func (j *sweepJob) printSweep(s *result.Sweep) error {
	t := j.NewTable("measure", "settings", "engine", "options", "points", "refused", "least", "mean", "most", "unit")
	t.AtMost(1, 48)
	t.Right(4, 8)
	for _, m := range s.Measures {
		if m.Points == m.Refused+m.Broken {
			t.Row(m.Measure, measures.Unusual(m.Measure, m.Settings), m.Engine, m.Options, m.Points, m.Refused, "", "", "", m.Unit)
			continue
		}
		t.Row(m.Measure, measures.Unusual(m.Measure, m.Settings), m.Engine, m.Options, m.Points, m.Refused, words.Figure(m.Least), words.Figure(m.Mean), words.Figure(m.Most), m.Unit)
	}
	t.Render()
	page := j.NewPage()
	for i, r := range s.Refusals {
		if i == fewReasons {
			page.Fact("", "%s more (column reason of the results)", words.Plural(len(s.Refusals)-fewReasons, "reason"))
			break
		}
		label := ""
		if i == 0 {
			label = "refusals"
		}
		page.Fact(label, "%s, %s: %s", r.Engine, words.Plural(r.Points, "point"), r.Reason)
	}
	j.setFact(page)
	page.Fact("points", "%s, %s of them from before; %s", words.Thousands(s.Points), words.Thousands(s.Kept), s.Results)
	if s.Others > 0 {
		page.Fact("", "the folder also has %s of points that are not in this SPEC; they stay in its log only", words.Plural(s.Others, "row"))
	}
	if s.CPU > 0 && s.Kept < s.Points {
		page.Fact("time", "%s by the clock, %s of processors, %.1f %% of that by the points themselves", words.Seconds(s.Seconds), words.Seconds(s.CPU), 100*s.Own/max(s.CPU, 1e-9))
	}
	return j.Show(page)
}

// setFact says as which of its sets the SPEC was read, where it has several.
func (j *sweepJob) setFact(page *console.Page) {
	if j.spec.Set != "" {
		page.Fact("set", "%s (of %s)", j.spec.Set, strings.Join(j.spec.Sets, ", "))
	}
}

// dryRun lists the points and what they are expected to take; those that the folder holds
// are left out of the times.
func (j *sweepJob) dryRun() error {
	rows, err := j.rowsSoFar()
	if err != nil {
		return err
	}
	have, err := readHave(j.Context, j.o.have)
	if err != nil {
		return err
	}
	rows = append(rows, have...)
	s := &result.SweepPlan{Name: j.spec.Name, Set: j.spec.Set, Points: len(j.plan.Points), Workers: j.o.workers, Engines: []result.SweepCost{}, Scheduled: []result.SweepPoint{}}
	if j.o.shard.N > 1 {
		s.Shard = j.o.shard.String()
	}
	by := map[string]*result.SweepCost{}
	for _, job := range j.plan.Left(rows, j.meter.Version, 0) {
		p := job.Point
		s.Left++
		s.Rows += len(p.Measures)
		s.CPU += job.Cost
		if by[p.Engine.Name] == nil {
			by[p.Engine.Name] = &result.SweepCost{Engine: p.Engine.Name}
		}
		by[p.Engine.Name].Points++
		by[p.Engine.Name].CPU += job.Cost
		s.Scheduled = append(s.Scheduled, result.SweepPoint{
			Point: p.ID, Network: p.Network.String(), Cables: string(p.Network.Damage.Cables), Gone: string(p.Network.Damage.Switches),
			Seed: p.Seed, Engine: p.Engine.Name, Options: p.Engine.Options(), CPU: job.Cost,
		})
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		s.Engines = append(s.Engines, *by[name])
	}
	s.Seconds = s.CPU / float64(s.Workers)
	return j.Answer(j.o.json, s, func() error { return j.printPlan(s) }, false)
}

// rowsSoFar is the rows of the folder of results, if there is one.
func (j *sweepJob) rowsSoFar() ([]results.Row, error) {
	if j.o.out == "" || console.Missing(filepath.Join(j.o.out, results.LogFile)) {
		return nil, nil
	}
	return results.Of(j.Context, j.o.out)
}

// fewPoints is how many points a dry run shows to people on a terminal.
const fewPoints = 20

// printPlan prints a dry run for people.
func (j *sweepJob) printPlan(s *result.SweepPlan) error {
	t := j.NewTable("point", "network", "damage", "seed", "engine", "options", "processor time")
	t.AtMost(1, 60)
	shown := s.Scheduled[:j.AtMost(fewPoints, len(s.Scheduled))]
	for _, p := range shown {
		damage := sweep.Damage{Cables: sweep.Amount(p.Cables), Switches: sweep.Amount(p.Gone)}
		t.Row(p.Point, p.Network, damage.String(), p.Seed, p.Engine, p.Options, words.Seconds(p.CPU))
	}
	t.Render()
	page := j.NewPage()
	if more := len(s.Scheduled) - len(shown); more > 0 {
		page.Fact("", "and %s more (all of them where the output is no terminal)", words.Plural(more, "point"))
	}
	for i, e := range s.Engines {
		label := ""
		if i == 0 {
			label = "engines"
		}
		page.Fact(label, "%s: %s, %s", e.Engine, words.Plural(e.Points, "point"), words.Seconds(e.CPU))
	}
	j.setFact(page)
	page.Fact("points", "%s, %s of them left to take: %s rows", words.Thousands(s.Points), words.Thousands(s.Left), words.Thousands(s.Rows))
	page.Fact("time", "%.3g core hours expected: %s on %s", s.CPU/3600, words.Seconds(s.Seconds), words.Plural(s.Workers, "core"))
	return j.Show(page)
}
