package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/words"
)

type diffSummary struct {
	Old         diffSideSummary    `json:"old"`
	New         diffSideSummary    `json:"new"`
	Gone        partsSummary       `json:"gone"`
	Added       partsSummary       `json:"added"`
	Readdressed []report.Node      `json:"readdressed"` // ports that both fabrics have, with other LIDs
	Change      *transitionSummary `json:"change,omitempty"`
	Seconds     diffSeconds        `json:"seconds"`
}

type diffSideSummary struct {
	Fabric  string `json:"fabric"`
	Tables  string `json:"tables,omitempty"`
	Verdict string `json:"verdict,omitempty"` // of the tables by themselves
	input.Fit
	AbsentLanes []absentLane `json:"absent_lanes,omitempty"`
}

type partsSummary struct {
	Switches []report.Node        `json:"switches"`
	Hosts    []report.Node        `json:"hosts"`
	Links    []report.RemovedLink `json:"links"`
}

type transitionSummary struct {
	Contract     string           `json:"contract"`
	Endpoints    string           `json:"endpoints"`
	Verdict      string           `json:"verdict"`
	Dependencies int              `json:"dependencies"`
	Cycle        []mixtureSummary `json:"cycle,omitempty"`
	Entries      int              `json:"entries"`
	Due          int              `json:"entries_due"`
	leastSummary
	Blocks    int        `json:"blocks"`
	Touched   int        `json:"switches"`
	SLs       int64      `json:"sls"`
	Maps      int        `json:"sl2vl_cells"`
	Pairs     int64      `json:"pairs"`
	CutBefore int64      `json:"pairs_cut_before"`
	Exposed   int64      `json:"pairs_cut_meanwhile"`
	CutAfter  int64      `json:"pairs_cut_after"`
	Circles   int64      `json:"destinations_circled"`
	Bandwidth bandwidths `json:"bandwidth"`

	BySwitch []switchEntries `json:"by_switch"`
}

type mixtureSummary struct {
	report.Step
	Way []choiceSummary `json:"way"`
}

// choiceSummary is by which of the tables a switch forwards.
type choiceSummary struct {
	Switch report.Node `json:"switch"`
	Entry  string      `json:"entry"` // old, new, or same
	Map    string      `json:"map"`   // old, where both agree too, or new
}

type diffSeconds struct {
	Read     float64 `json:"read"`
	Verify   float64 `json:"verify"`
	Simulate float64 `json:"simulate"`
}

func partsSummaryOf(f *fabric.Fabric, p *transition.Part) partsSummary {
	return partsSummary{report.NodesOf(f, p.Switches), report.NodesOf(f, p.Others), report.RemovedLinks(f, p.Cables)}
}

func (s *diffSide) summary() diffSideSummary {
	o := diffSideSummary{Fabric: s.name, Tables: cmp.Or(s.shown, s.source), Fit: s.fit}
	if s.alone != nil {
		o.Verdict, o.AbsentLanes = report.Verdict(s.alone), absentLanes(s.fabric, s.alone.Absent)
	}
	return o
}

func (j *diffJob) summary() *diffSummary {
	s := &diffSummary{
		Old: j.old.summary(), New: j.new.summary(),
		Gone: partsSummaryOf(j.old.fabric, &j.parts.Gone), Added: partsSummaryOf(j.new.fabric, &j.parts.New),
		Readdressed: list.Of(j.parts.Readdressed, func(e fabric.EndpointID) report.Node { return report.EndpointNode(j.new.fabric, e) }),
		Seconds:     j.spent,
	}
	if v := j.verdict; v != nil {
		s.Change = &transitionSummary{
			Contract: j.contract.String(), Endpoints: j.scope.String(),
			Verdict: report.Verdict(v), Dependencies: v.Dependencies, Cycle: j.mixtures(),
			Entries: v.Entries, Due: v.Due, leastSummary: leastOf(j.before, j.scope), Blocks: v.Blocks, Touched: v.Switches, SLs: v.SLs, Maps: v.Maps,
			Pairs: v.Pairs, CutBefore: v.CutBefore(), Exposed: v.Exposed, CutAfter: v.CutAfter(), Circles: v.Circles,
			Bandwidth: j.ebb, BySwitch: entriesBySwitch(j.new.fabric, v.BySwitch),
		}
	}
	return s
}

func (j *diffJob) mixtures() []mixtureSummary {
	f := j.new.fabric
	plain := list.Of(j.verdict.Cycle, func(s deadlock.MixtureStep) deadlock.LoopStep { return s.LoopStep })
	var all []mixtureSummary
	for i, named := range report.Steps(f, plain) {
		m := mixtureSummary{Step: named}
		for _, c := range j.verdict.Cycle[i].Way {
			word := [...]string{"old", "new"}
			entry := word[c.Entry]
			if dst := plain[i].Dst; j.before.Forwarding.Port(c.Switch, dst) == j.new.tables.Forwarding.Port(c.Switch, dst) {
				entry = "same"
			}
			m.Way = append(m.Way, choiceSummary{report.NodeOf(f, c.Switch, 0), entry, word[c.Map]})
		}
		all = append(all, m)
	}
	return all
}

func (j *diffJob) screen(s *diffSummary) *console.Page {
	p := j.NewPage()
	j.factSide(p, "old", &j.old)
	j.factSide(p, "new", &j.new)
	p.Fact("gone", "%s", partsText(j.old.fabric, &j.parts.Gone))
	p.Fact("added", "%s", partsText(j.new.fabric, &j.parts.New))
	if n := len(j.parts.Readdressed); n > 0 {
		names := list.Of(j.parts.Readdressed, j.new.fabric.EndpointLabel)
		p.Fact("addresses", "%s other LIDs than before: %s", words.Counted(n, "port has", "ports have"), words.FirstOf(names))
	}
	if s.Change != nil {
		j.factChange(p, s.Change)
	}
	return p
}

func (j *diffJob) factSide(p *console.Page, label string, s *diffSide) {
	p.Fact(label, "%s", report.Network(s.name, s.fabric))
	if s.alone == nil {
		return
	}
	p.Fact("", "tables %s, by themselves %s", cmp.Or(s.shown, s.source), report.Verdict(s.alone))
	for _, text := range s.fit.Texts() {
		p.Fact("", "%s", text)
	}
	factAbsent(p, "", absentLanes(s.fabric, s.alone.Absent))
}

func partsText(f *fabric.Fabric, p *transition.Part) string {
	return cmp.Or(strings.Join(words.Lists(
		words.Kind{Names: report.Labels(f, p.Switches), What: "switch"},
		words.Kind{Names: report.Labels(f, p.Others), What: "adapter"},
		words.Kind{Names: report.LinkNames(report.RemovedLinks(f, p.Cables)), What: "cable"},
	), "\n"), "nothing")
}

func (j *diffJob) factChange(p *console.Page, c *transitionSummary) {
	p.Fact("churn", "%s of %s on %s differ, %d of them had to%s; %s, %s",
		words.Counted(c.Entries, "entry", "entries"), words.Counted(c.Blocks, "block of 64 LIDs", "blocks of 64 LIDs"), words.Plural(c.Touched, "switch"), c.Due, c.leastSummary.text(),
		words.Counted(c.SLs, "service level", "service levels"), words.Counted(c.Maps, "SL2VL cell", "SL2VL cells"))
	if j.verdict.Free() {
		p.Fact("transition", "%s (contract %s, endpoints %s): in whatever order it is written, %s dependencies of all mixtures of old and new, a rank that rises along each",
			c.Verdict, c.Contract, c.Endpoints, words.Thousands(c.Dependencies))
	} else {
		p.Fact("transition", "%s (contract %s, endpoints %s): while it is written, packets can deadlock. A shortest loop of %d steps:\n%s",
			c.Verdict, c.Contract, c.Endpoints, len(c.Cycle), j.mixtureText(c.Cycle))
	}
	p.Fact("cut off", "of %s pairs %s before, %s for a while at most, %s after", words.Thousands(c.Pairs), words.Thousands(c.CutBefore), words.Thousands(c.Exposed), words.Thousands(c.CutAfter))
	if c.Circles > 0 {
		p.Fact("", "packets to %s can circle in some mixture", words.Plural(c.Circles, "destination"))
	}
	p.Fact("bandwidth", "%s", c.Bandwidth.text("endpoints that both have"))
	if !j.verdict.Free() {
		p.Fact("next", "%s", j.advice())
	}
}

func (j *diffJob) advice() string {
	switch {
	case !j.new.alone.Free():
		return "the new tables have a credit loop by themselves: weft route makes tables without one"
	case !j.old.alone.Free():
		return "the old tables have a credit loop already: the change does not bring it about, and cannot avoid it"
	}
	return "weft route --keep changes the least, in steps that are proven; or write these while nothing is sent"
}

// mixtureText is the loop for people: behind each step the switches on the packet's way
// whose entries differ, and which of the two each follows.
func (j *diffJob) mixtureText(cycle []mixtureSummary) string {
	steps := list.Of(cycle, func(m mixtureSummary) report.Step { return m.Step })
	return report.LoopText(j.Console, steps, func(i int) string {
		text, way := "", j.verdict.Cycle[i].Way
		for k, c := range cycle[i].Way {
			if c.Entry != "same" {
				text += fmt.Sprintf(", %s at %s", c.Entry, j.new.fabric.Label(way[k].Switch))
			}
		}
		if text != "" {
			text = "; entries " + strings.TrimPrefix(text, ", ")
		}
		return text
	})
}
