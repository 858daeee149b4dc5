package route

import (
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/sturdy"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing/engines"
)

// summary is the result for programs: that of all tables, and what only weft route has.
func (j *routeRun) summary() *result.Route {
	s := j.Judged.Summary()
	if s.Auto != nil {
		s.Auto.InForce, s.Auto.AnyRouting = j.inForce, j.bound
	}
	s.Multicast, s.Compared, s.Survival = j.treeSummary(), j.compared, j.survival
	j.Add(s, j.Folder())
	return s
}

// report prints the result.
func (j *routeRun) report() error {
	o := j.o
	unwritten := o.out != "" && j.Out == ""
	notMended := slices.ContainsFunc(j.survival, func(s *result.Survival) bool { return s.NotMended > 0 })
	err := j.Answer(o.json, j.summary(), func() error { return j.Show(j.screen()) }, !unwritten && (j.Apart || notMended || j.treeless != nil || !j.Verdict.Free()))
	if err == nil && unwritten {
		err = exit.Finding("nothing was written to %s: the tables have a credit loop (--write-unproven writes them all the same)", o.out)
	}
	return err
}

// screen is the result for people.
func (j *routeRun) screen() *console.Page {
	p := j.NewAnswer()
	j.FactVerdict(p)
	j.factFigures(p)
	j.FactLanes(p, j.treeText())
	j.FactApart(p)
	for _, s := range j.survival {
		p.Fact("without", "%s", outputs.SurvivalText(s))
	}
	p.Spare("fabric", "%s", report.Counts(j.Fabric))
	p.Detail("fabric", "%s", report.NetworkAndCables(j.Name, j.Fabric))
	j.factEngine(p)
	if j.Loads.Hottest != fabric.None {
		p.Detail("load", "%s on the fullest channel, %s", words.Plural(j.Loads.Max, "route"), j.Fabric.ChannelLabel(j.Loads.Hottest))
	}
	if len(j.compared) > 1 {
		p.Detail("compared", "%s", comparedText(j.compared))
	}
	p.Detail("time", "%s", j.timeText())
	p.Short("next", "%s", j.NextInShort(j.Verdict.Free()))
	p.Detail("next", "%s", j.Next(j.Verdict.Free()))
	return p
}

// factEngine prints which engine made the tables, what was tried beside it, and how good they are.
func (j *routeRun) factEngine(p *console.Page) {
	trust, short := trustOf(j.Engine), ""
	if j.Choice != nil { // proven under a contract that may ask less of clients than the engine does
		trust = "the best of those proven for this network\n" + j.Choice.Why
		short = ", the best of " + words.Plural(j.proven(), "engine") + " proven here"
		if j.best != "" {
			trust = "as good as " + j.best + ", of those proven for this network, and with fewer exceptions among the repairs of failures\n" + j.Choice.Why
		}
	}
	p.Short("engine", "%s%s", j.Engine.Name, short)
	p.Detail("engine", "%s (%s): %s", j.Engine.Name, j.Engine.Paper, trust)
	for _, note := range j.Tables.Forwarding.Notes {
		p.Detail("", "%s", note)
	}
	if j.Choice != nil {
		p.Detail("tried", "%s", j.triedText())
	}
}

// timeText says what took how long.
func (j *routeRun) timeText() string {
	more := ""
	if j.o.multicast != 0 {
		more = ", tree " + words.Seconds(j.Spent.Multicast)
	}
	if len(j.o.survives) > 0 {
		more += ", repairs " + words.Seconds(j.Spent.Repairs)
	}
	if j.o.out != "" {
		more += ", write " + words.Seconds(j.Spent.Write)
	}
	routed := "paths " + words.Seconds(j.Spent.Paths) + ", lanes " + words.Seconds(j.Spent.Lanes)
	if j.Choice != nil {
		routed = "choose " + words.Seconds(j.Spent.Choose)
	}
	return fmt.Sprintf("read %s, %s, verify %s%s; %s at the peak", words.Seconds(j.Spent.Read), routed, words.Seconds(j.Spent.Verify), more, words.Bytes(console.PeakMemory()))
}

// comparedText says whose tables were taken, and what speaks for them.
func comparedText(list []*result.Candidate) string {
	text := ""
	for _, c := range list {
		if c.Taken {
			text = fmt.Sprintf("%s: of %d tables those with the fewest exceptions among %s (bandwidth at most %.0f %% less)",
				flagsOf(c), len(list), words.Plural(c.Tried, "sampled failure"), 100*sturdy.Loss)
		}
	}
	for _, c := range list {
		text += fmt.Sprintf("\n  %s: %s not mended, for %s others make way, %s in one step; bandwidth %.3f", flagsOf(c), words.Thousands(c.NotMended), words.Thousands(c.Rebuilt), words.Thousands(c.OneStep), c.Bandwidth)
	}
	return text
}

// flagsOf is what weft route takes to compute these tables.
func flagsOf(c *result.Candidate) string {
	e, err := engines.Named(c.Engine)
	if err != nil { // a pair of --paths and --lanes
		return fmt.Sprintf("%s, seed %d", c.Engine, c.Seed)
	}
	text := "--engine " + c.Engine
	if e.Uses&option.Seed != 0 {
		text += fmt.Sprintf(" --seed %d", c.Seed)
	}
	if c.Root != "" {
		text += " --roots " + c.Root
	}
	return text
}
