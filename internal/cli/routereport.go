package cli

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/words"
)

type routeSummary struct {
	Fabric fabricSummary `json:"fabric"`
	Engine string        `json:"engine"`
	Paths  string        `json:"paths"`
	Lanes  string        `json:"lanes"`
	report.LaneCounts
	VLs          int                  `json:"vls"`                            // as lanes_needed
	VLsUsed      int                  `json:"vls_used"`                       // as lanes_used
	VLsAvailable int                  `json:"vls_available"`                  // as lanes_available
	SLs          int                  `json:"sls"`                            // service levels that the tables give out
	Classes      int                  `json:"classes,omitempty"`              // of --classes: of traffic, each with a copy of the lanes
	ClassLevels  int                  `json:"class_service_levels,omitempty"` // of each of them
	Verdict      string               `json:"verdict"`
	Contract     string               `json:"contract"`
	Endpoints    string               `json:"endpoints"`
	NotCovered   []string             `json:"not_covered"`                    // by any verdict of these endpoints
	AllAdapters  string               `json:"verdict_all_adapters,omitempty"` // with aggregation nodes and routers, where there are any
	Hops         hopSummary           `json:"hops"`
	MaxLoad      uint32               `json:"max_load"`
	MaxLoadOn    string               `json:"max_load_channel,omitempty"`
	MaxLoadNodes *report.ChannelNodes `json:"max_load_nodes,omitempty"` // of that channel
	Pairs        int64                `json:"pairs"`
	Unreachable  int64                `json:"unreachable"`
	Apart        []partSummary        `json:"apart,omitempty"` // the parts of a network that has fallen apart, but the largest
	Dependencies int                  `json:"dependencies"`
	Cycle        []report.Step        `json:"cycle,omitempty"`
	AbsentLanes  []absentLane         `json:"absent_lanes,omitempty"`    // of --keep: lanes of the tables kept that a cable does not run
	Groups       *groupSummary        `json:"adaptive_groups,omitempty"` // of --adaptive
	Multicast    *treeSummary         `json:"multicast,omitempty"`       // of --multicast-sl
	Notes        []string             `json:"notes,omitempty"`
	Warnings     []string             `json:"warnings,omitempty"`
	Auto         *autoSummary         `json:"auto,omitempty"`     // where the engine was chosen
	Compared     []*candidateSummary  `json:"seeds,omitempty"`    // of --survive: tables that were compared, of other seeds at first
	Survival     []*survivalSummary   `json:"survival,omitempty"` // of --survive: repairs of single failures
	Seconds      stageSeconds         `json:"seconds"`
	PeakRSS      int64                `json:"peak_rss_bytes"`
	Files        []string             `json:"files,omitempty"`
	Install      *installation        `json:"install,omitempty"` // how OpenSM takes what was written
	Kept         *planSummary         `json:"kept,omitempty"`    // of --keep: what changes
}

type fabricSummary struct {
	Name      string `json:"name"`
	Switches  int    `json:"switches"`
	Endpoints int    `json:"endpoints"` // adapter and router ports with a cable
	Links     int    `json:"links"`     // all cables
}

func summariseFabric(name string, f *fabric.Fabric) fabricSummary {
	n := f.Count()
	return fabricSummary{name, n.Switches, n.HCA + n.Aggregation + n.Router, n.SwitchCables + n.AdapterCables + n.SelfCables}
}

// partSummary is a part of a network that no cable joins to others.
type partSummary struct {
	Switches  []string `json:"switches"`
	Endpoints []string `json:"endpoints"` // in scope
}

func (j *judged) apartSummary() []partSummary {
	var list []partSummary
	for _, part := range j.parts[min(1, len(j.parts)):] {
		p := partSummary{Switches: report.Labels(j.fabric, part), Endpoints: []string{}}
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

type hopSummary struct {
	Mean float64 `json:"mean"`
	Max  int     `json:"max"`
}

type stageSeconds struct {
	Read      float64 `json:"read"`
	Choose    float64 `json:"choose,omitempty"` // of auto: all engines it tried, in place of paths and lanes
	Paths     float64 `json:"paths"`
	Lanes     float64 `json:"lanes"`
	Verify    float64 `json:"verify"`
	Multicast float64 `json:"multicast,omitempty"` // of --multicast-sl
	Repairs   float64 `json:"repairs,omitempty"`   // of --survive
	Write     float64 `json:"write"`

	Tried map[string]float64 `json:"tried,omitempty"` // of auto: by engine
}

func (j *judged) summary() *routeSummary {
	s := &routeSummary{
		Fabric: summariseFabric(j.name, j.fabric),
		Engine: j.Engine.Name, Paths: j.Engine.PathsUnder(j.under), Lanes: j.Engine.Lanes,
		LaneCounts: j.lanes(), NotCovered: j.Verdict.Outside(),
		VLs: j.Tables.Lanes.Needed, VLsUsed: j.Verdict.VLs, VLsAvailable: j.vls, SLs: j.Verdict.SLs, Classes: j.Tables.Lanes.Classes, ClassLevels: j.Tables.Lanes.ClassLevels,
		Verdict: report.Verdict(j.Verdict), Contract: j.Contract.String(), Endpoints: j.Scope.String(),
		Hops:    hopSummary{j.Loads.MeanHops(), j.Loads.MaxHops},
		MaxLoad: j.Loads.Max, Pairs: j.Verdict.Pairs, Unreachable: j.Verdict.Unreachable, Apart: j.apartSummary(),
		Dependencies: j.Verdict.Dependencies, Cycle: report.Steps(j.fabric, j.Verdict.Cycle),
		Notes: j.Tables.Forwarding.Notes, Warnings: j.fabric.Warnings(),
		Groups: groupsOf(j.Tables), Multicast: j.treeSummary(), AbsentLanes: absentLanes(j.fabric, j.Verdict.Absent),
		Seconds: j.spent, PeakRSS: console.PeakMemory(), Compared: j.compared, Survival: j.survival,
	}
	if j.Loads.Hottest != fabric.None {
		nodes := report.EndsOf(j.fabric, j.Loads.Hottest)
		s.MaxLoadOn, s.MaxLoadNodes = j.fabric.ChannelLabel(j.Loads.Hottest), &nodes
	}
	if j.Choice != nil {
		s.Auto = &autoSummary{j.Choice.Why, j.Choice.Aim, trialSummaries(j.Choice.Trials), j.inForce, j.Choice.Stopped > 0}
		s.Seconds.Tried = trialSeconds(j.Choice.Trials)
	}
	if j.Wider != nil {
		s.AllAdapters = report.Verdict(j.Wider)
	}
	if j.out != "" {
		s.Files = []string{output.LFTs, output.SL2VL, output.PSL}
		if j.Tables.Groups != nil {
			s.Files = append(s.Files, output.Groups)
		}
		if j.Tables.Multicast != nil {
			s.Files = append(s.Files, output.Multicast)
		}
		if j.Verdict.Free() {
			s.Files = append(s.Files, output.Certificate)
		}
		s.Files, s.Install = append(s.Files, output.Summary), j.install
	}
	return s
}

func (j *routeJob) report(o *routeFlags) error {
	unwritten := o.out != "" && j.out == ""
	notMended := slices.ContainsFunc(j.survival, func(s *survivalSummary) bool { return s.NotMended > 0 })
	err := j.Answer(o.json, j.summary(), func() error { return j.Show(j.screen(o)) }, !unwritten && (j.fallen || notMended || j.treeless != nil || !j.Verdict.Free()))
	if err == nil && unwritten {
		err = exit.Finding("nothing was written to %s: the tables have a credit loop (--write-unproven writes them all the same)", o.out)
	}
	return err
}

func (j *routeJob) screen(o *routeFlags) *console.Page {
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
	j.factResult(p)
	if j.Loads.Hottest != fabric.None {
		p.Fact("load", "%s on the fullest channel, %s", words.Plural(j.Loads.Max, "route"), j.fabric.ChannelLabel(j.Loads.Hottest))
	}
	j.factApart(p)
	if len(j.compared) > 1 {
		p.Fact("compared", "%s", comparedText(j.compared))
	}
	for _, s := range j.survival {
		p.Fact("without", "%s", s.text())
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
	p.Fact("next", "%s", j.next())
	return p
}

func (j *judged) next() string {
	switch {
	case !j.Verdict.Free():
		return "--engine auto takes the best engine that is proven for this network and contract"
	case j.out == "":
		return "--out DIR writes the tables, and says how OpenSM takes them"
	}
	return j.install.text()
}
