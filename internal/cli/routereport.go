package cli

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

func (j *judged) apartSummary() []result.Part {
	var list []result.Part
	for _, part := range j.parts[min(1, len(j.parts)):] {
		p := result.Part{Switches: report.Labels(j.fabric, part), Endpoints: []string{}}
		for _, s := range part {
			for _, e := range j.fabric.Attached(s) {
				if j.Scope.Includes(j.fabric.Endpoint(e).Class) {
					p.Endpoints = append(p.Endpoints, j.fabric.EndpointLabel(e))
				}
			}
		}
		list = append(list, p)
	}
	return list
}

func (j *judged) summary() *result.Route {
	s := &result.Route{
		Fabric: result.FabricOf(j.name, j.fabric),
		Engine: j.Engine.Name, Paths: j.Engine.PathsUnder(j.under), Lanes: j.Engine.Lanes,
		LaneCounts: j.lanes(), Verdict: result.VerdictOf(j.fabric, j.Verdict),
		VLs: j.Tables.Lanes.Needed, VLsUsed: j.Verdict.VLs, VLsAvailable: j.vls, Classes: j.Tables.Lanes.Classes, ClassLevels: j.Tables.Lanes.ClassLevels,
		Hops:    result.Hop{Mean: j.Loads.MeanHops(), Max: j.Loads.MaxHops},
		MaxLoad: j.Loads.Max, Apart: j.apartSummary(),
		Notes: j.Tables.Forwarding.Notes, Warnings: j.fabric.Warnings(),
		Groups:  result.GroupOf(j.Tables),
		Seconds: j.spent, PeakRSS: console.PeakMemory(),
	}
	if j.Loads.Hottest != fabric.None {
		nodes := result.EndsOf(j.fabric, j.Loads.Hottest)
		s.MaxLoadOn, s.MaxLoadNodes = j.fabric.ChannelLabel(j.Loads.Hottest), &nodes
	}
	if j.Choice != nil {
		s.Auto = &result.Auto{Why: j.Choice.Why, Aim: j.Choice.Aim, Tried: trialSummaries(j.Choice.Trials), LimitReached: j.Choice.Stopped > 0}
		s.Seconds.Tried = trialSeconds(j.Choice.Trials)
	}
	if j.Wider != nil {
		s.AllAdapters = result.WordOf(j.Wider)
	}
	return s
}

// summary is also what only weft route has.
func (j *routeRun) summary() *result.Route {
	s := j.judged.summary()
	if s.Auto != nil {
		s.Auto.InForce = j.inForce
	}
	s.Multicast, s.Compared, s.Survival = j.treeSummary(), j.compared, j.survival
	j.add(s, j.folder())
	return s
}

func (j *routeRun) report() error {
	o := j.o
	unwritten := o.out != "" && j.out == ""
	notMended := slices.ContainsFunc(j.survival, func(s *result.Survival) bool { return s.NotMended > 0 })
	err := j.Answer(o.json, j.summary(), func() error { return j.Show(j.screen()) }, !unwritten && (j.fallen || notMended || j.treeless != nil || !j.Verdict.Free()))
	if err == nil && unwritten {
		err = exit.Finding("nothing was written to %s: the tables have a credit loop (--write-unproven writes them all the same)", o.out)
	}
	return err
}

func (j *routeRun) screen() *console.Page {
	o := j.o
	p := j.NewPage()
	p.Fact("fabric", "%s", report.NetworkAndCables(j.name, j.fabric))
	trust := j.Engine.Trust()
	if j.Choice != nil { // proven under a contract that may ask less of clients than the engine does
		trust = "the best of those proven for this network\n" + j.Choice.Why
		if j.best != "" {
			trust = "as good as " + j.best + ", of those proven for this network, and with fewer exceptions among the repairs of failures\n" + j.Choice.Why
		}
	}
	p.Fact("engine", "%s (%s): %s", j.Engine.Name, j.Engine.Paper, trust)
	for _, note := range j.Tables.Forwarding.Notes {
		p.Fact("", "%s", note)
	}
	if j.Choice != nil {
		p.Fact("tried", "%s", j.triedText())
	}
	j.factResult(p, j.treeText())
	if j.Loads.Hottest != fabric.None {
		p.Fact("load", "%s on the fullest channel, %s", words.Plural(j.Loads.Max, "route"), j.fabric.ChannelLabel(j.Loads.Hottest))
	}
	j.factApart(p)
	if len(j.compared) > 1 {
		p.Fact("compared", "%s", comparedText(j.compared))
	}
	for _, s := range j.survival {
		p.Fact("without", "%s", s.Text())
	}
	written := ""
	if o.multicast != 0 {
		written = ", tree " + words.Seconds(j.spent.Multicast)
	}
	if len(o.survives) > 0 {
		written += ", repairs " + words.Seconds(j.spent.Repairs)
	}
	if o.out != "" {
		written += ", write " + words.Seconds(j.spent.Write)
	}
	routed := "paths " + words.Seconds(j.spent.Paths) + ", lanes " + words.Seconds(j.spent.Lanes)
	if j.Choice != nil {
		routed = "choose " + words.Seconds(j.spent.Choose)
	}
	p.Fact("time", "read %s, %s, verify %s%s; %s at the peak", words.Seconds(j.spent.Read), routed, words.Seconds(j.spent.Verify), written, words.Bytes(console.PeakMemory()))
	p.Fact("next", "%s", j.next(j.Verdict.Free()))
	return p
}

// next says what to do with tables that are proven, or are not.
func (j *written) next(free bool) string {
	switch {
	case !free:
		return "--engine auto takes the best engine that is proven for this network and contract"
	case j.out == "":
		return "--out DIR writes the tables, and says how OpenSM takes them"
	}
	return installText(j.install)
}
