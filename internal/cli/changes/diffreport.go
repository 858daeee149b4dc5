package changes

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// partsSummaryOf names parts of a fabric that are gone or added.
func partsSummaryOf(f *fabric.Fabric, p *transition.Part) result.Parts {
	return result.Parts{Switches: outputs.Nodes(f, p.Switches), Hosts: outputs.Nodes(f, p.Others), Links: outputs.RemovedLinks(f, p.Cables)}
}

func (s *DiffSide) summary() result.DiffSide {
	o := result.DiffSide{Fabric: s.Name, Tables: cmp.Or(s.Shown, s.Source), Fit: s.fit}
	if s.alone != nil {
		o.Verdict, o.AbsentLanes = outputs.WordOf(s.alone), outputs.AbsentLanes(s.fabric, s.alone.Absent)
	}
	return o
}

// summary is the result for programs; screen shows it to people.
func (j *diffJob) summary() *result.Diff {
	s := &result.Diff{
		Old: j.old.summary(), New: j.new.summary(),
		Gone: partsSummaryOf(j.old.fabric, &j.parts.Gone), Added: partsSummaryOf(j.new.fabric, &j.parts.New),
		Readdressed: list.Of(j.parts.Readdressed, func(e fabric.EndpointID) result.Node { return outputs.Endpoint(j.new.fabric, e) }),
		Seconds:     j.spent,
	}
	if v := j.verdict; v != nil {
		s.Change = &result.Transition{
			Claim: result.Claim{Word: outputs.WordOf(v), Contract: j.contract.String(), Endpoints: j.scope.String()}, Dependencies: v.Dependencies, Cycle: j.mixtures(),
			Entries: v.Entries, Due: v.Due, Least: outputs.Least(j.before, j.scope), Blocks: v.Blocks, Touched: v.Switches, SLs: v.SLs, Maps: v.Maps, Choices: v.Choices,
			Pairs: v.Pairs, CutBefore: v.CutBefore(), Exposed: v.Exposed, CutAfter: v.CutAfter(), Circles: v.Circles,
			Outside: v.Outside(), Bandwidth: j.ebb, BySwitch: outputs.SwitchEntries(j.new.fabric, v.BySwitch),
		}
	}
	return s
}

// mixtures is the credit loop of a mixture: its steps, and for each switch on the way of the packet
// that causes a step, whether it forwards by the old entry or the new one. Nil: there is no loop.
func (j *diffJob) mixtures() []result.Mixture {
	f := j.new.fabric
	plain := list.Of(j.verdict.Cycle, func(s deadlock.MixtureStep) deadlock.LoopStep { return s.LoopStep })
	var all []result.Mixture
	for i, named := range outputs.Loop(f, plain) {
		m := result.Mixture{Step: named}
		for _, c := range j.verdict.Cycle[i].Way {
			word := [...]string{"old", "new"}
			entry := word[c.Entry]
			if transition.SameEntry(j.before, j.new.tables, c.Switch, plain[i].Dst) {
				entry = "same"
			}
			m.Way = append(m.Way, result.Choice{Switch: outputs.Node(f, c.Switch, 0), Entry: entry, Map: word[c.Map]})
		}
		all = append(all, m)
	}
	return all
}

func (j *diffJob) screen(s *result.Diff) *console.Page {
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

// factSide adds what there is to say of one side.
func (j *diffJob) factSide(p *console.Page, label string, s *DiffSide) {
	p.Fact(label, "%s", report.Network(s.Name, s.fabric))
	if s.alone == nil {
		return
	}
	p.Fact("", "tables %s, by themselves %s", cmp.Or(s.Shown, s.Source), outputs.WordOf(s.alone))
	for _, text := range outputs.FitTexts(s.fit) {
		p.Fact("", "%s", text)
	}
	report.FactAbsent(p, "", outputs.AbsentLanes(s.fabric, s.alone.Absent))
}

// partsText names parts of a fabric that are gone or added, for people.
func partsText(f *fabric.Fabric, p *transition.Part) string {
	return cmp.Or(strings.Join(words.Lists(
		words.Kind{Names: report.Labels(f, p.Switches), What: "switch"},
		words.Kind{Names: report.Labels(f, p.Others), What: "adapter"},
		words.Kind{Names: list.Of(outputs.RemovedLinks(f, p.Cables), result.RemovedLink.String), What: "cable"},
	), "\n"), "nothing")
}

// factChange adds what the change from the old tables to the new does.
func (j *diffJob) factChange(p *console.Page, c *result.Transition) {
	p.Fact("churn", "%s of %s on %s differ, %d of them had to%s; %s, %s",
		words.Counted(c.Entries, "entry", "entries"), words.Counted(c.Blocks, "block of 64 LIDs", "blocks of 64 LIDs"), words.Plural(c.Touched, "switch"), c.Due, outputs.LeastText(c.Least),
		words.Counted(c.SLs, "service level", "service levels"), words.Counted(c.Maps, "SL2VL cell", "SL2VL cells"))
	if c.Choices > 0 {
		p.Fact("", "packets choose from other ports by %s", words.Counted(c.Choices, "entry", "entries"))
	}
	if j.verdict.Free() {
		p.Fact("transition", "%s (contract %s, endpoints %s): in whatever order it is written, %s dependencies of all mixtures of old and new, a rank that rises along each",
			c.Word, c.Contract, c.Endpoints, words.Thousands(c.Dependencies))
	} else {
		p.Fact("transition", "%s (contract %s, endpoints %s): while it is written, packets can deadlock. A shortest loop of %d steps:\n%s",
			c.Word, c.Contract, c.Endpoints, len(c.Cycle), j.mixtureText(c.Cycle))
	}
	if j.verdict.Free() && j.verdict.SelfCables {
		p.Fact("outside", "%s", report.OutsideOf(j.verdict))
	}
	p.Fact("cut off", "of %s pairs %s before, %s for a while at most, %s after", words.Thousands(c.Pairs), words.Thousands(c.CutBefore), words.Thousands(c.Exposed), words.Thousands(c.CutAfter))
	if c.Circles > 0 {
		p.Fact("", "packets to %s can circle in some mixture", words.Plural(c.Circles, "destination"))
	}
	p.Fact("bandwidth", "%s", outputs.BandwidthsText(&c.Bandwidth, "endpoints that both have"))
	if !j.verdict.Free() {
		p.Fact("next", "%s", withOther(j.advice(), j.other))
	}
}

// advice is what to do about a credit loop of a mixture.
func (j *diffJob) advice() string {
	switch {
	case !j.new.alone.Free():
		return "the new tables have a credit loop by themselves: weft route makes tables without one"
	case !j.old.alone.Free():
		return "the old tables have a credit loop already: the change does not bring it about, and cannot avoid it"
	}
	return "weft repair changes the least, in steps that are proven; or write these while nothing is sent"
}

// mixtureText is the loop for people: behind each step the switches on the packet's way
// whose entries differ, and which of the two each follows.
func (j *diffJob) mixtureText(cycle []result.Mixture) string {
	steps := list.Of(cycle, func(m result.Mixture) result.Step { return m.Step })
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
