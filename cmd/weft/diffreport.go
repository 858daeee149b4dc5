package main

import (
	"fmt"
	"strings"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/transition"
)

// diffSummary is the result for programs.
type diffSummary struct {
	Old         diffSideSummary    `json:"old"`
	New         diffSideSummary    `json:"new"`
	Gone        partsSummary       `json:"gone"`
	Added       partsSummary       `json:"added"`
	Readdressed []nodeSummary      `json:"readdressed"` // ports that both fabrics have, with other LIDs
	Change      *transitionSummary `json:"change,omitempty"`
	Seconds     diffSeconds        `json:"seconds"`
}

type diffSideSummary struct {
	Fabric  string   `json:"fabric"`
	Tables  string   `json:"tables,omitempty"`
	Verdict string   `json:"verdict,omitempty"` // of the tables by themselves
	Misfits *misfits `json:"misfits,omitempty"`
}

// partsSummary is what one fabric has and the other has not.
type partsSummary struct {
	Switches []nodeSummary `json:"switches"`
	Hosts    []nodeSummary `json:"hosts"`
	Links    []removedLink `json:"links"`
}

// transitionSummary is what a change of tables does.
type transitionSummary struct {
	Contract     string           `json:"contract"`
	Endpoints    string           `json:"endpoints"`
	Verdict      string           `json:"verdict"`
	Dependencies int              `json:"dependencies"`
	Cycle        []mixtureSummary `json:"cycle,omitempty"`
	Entries      int              `json:"entries"`
	Due          int              `json:"entries_due"`
	Blocks       int              `json:"blocks"`
	Touched      int              `json:"switches"`
	SLs          int64            `json:"sls"`
	Maps         int              `json:"sl2vl_cells"`
	Pairs        int64            `json:"pairs"`
	CutBefore    int64            `json:"pairs_cut_before"`
	Exposed      int64            `json:"pairs_cut_meanwhile"`
	CutAfter     int64            `json:"pairs_cut_after"`
	Circles      int64            `json:"destinations_circled"`
	Bandwidth    bandwidths       `json:"bandwidth"`
}

// mixtureSummary is a step of a credit loop with the mixture that brings it about.
type mixtureSummary struct {
	stepSummary
	Way []choiceSummary `json:"way"`
}

// choiceSummary is by which of the tables a switch forwards.
type choiceSummary struct {
	Switch nodeSummary `json:"switch"`
	Entry  string      `json:"entry"` // old, new, or same
	Map    string      `json:"map"`   // old, where both agree too, or new
}

type diffSeconds struct {
	Read     float64 `json:"read"`
	Verify   float64 `json:"verify"`
	Simulate float64 `json:"simulate"`
}

func partsSummaryOf(f *fabric.Fabric, p *transition.Part) partsSummary {
	s := partsSummary{nodesOf(f, p.Switches), nodesOf(f, p.Others), []removedLink{}}
	for _, c := range p.Cables {
		ch := f.Channel(c)
		s.Links = append(s.Links, removedLink{f.Label(ch.From), ch.FromPort, f.Label(ch.To), ch.ToPort, endsOf(f, c)})
	}
	return s
}

func (s *diffSide) summary() diffSideSummary {
	o := diffSideSummary{Fabric: s.name, Tables: s.source, Misfits: s.misfits}
	if s.alone != nil {
		o.Verdict = verdictWord(s.alone)
	}
	return o
}

func (j *diffJob) summary() *diffSummary {
	s := &diffSummary{
		Old: j.old.summary(), New: j.new.summary(),
		Gone: partsSummaryOf(j.old.fabric, &j.parts.Gone), Added: partsSummaryOf(j.new.fabric, &j.parts.New),
		Readdressed: []nodeSummary{},
		Seconds:     diffSeconds{j.spent.read.Seconds(), j.spent.verify.Seconds(), j.spent.simulate.Seconds()},
	}
	for _, e := range j.parts.Readdressed {
		s.Readdressed = append(s.Readdressed, endpointNode(j.new.fabric, e))
	}
	if v := j.verdict; v != nil {
		s.Change = &transitionSummary{
			Contract: j.contract.String(), Endpoints: j.scope.String(),
			Verdict: deadlockFree, Dependencies: v.Dependencies, Cycle: j.mixtures(),
			Entries: v.Entries, Due: v.Due, Blocks: v.Blocks, Touched: v.Switches, SLs: v.SLs, Maps: v.Maps,
			Pairs: v.Pairs, CutBefore: v.CutBefore(), Exposed: v.Exposed, CutAfter: v.CutAfter(), Circles: v.Circles,
			Bandwidth: j.ebb,
		}
		if !v.Free() {
			s.Change.Verdict = creditLoop
		}
	}
	return s
}

// mixtures names the steps of the credit loop.
func (j *diffJob) mixtures() []mixtureSummary {
	f := j.new.fabric
	plain := make([]deadlock.LoopStep, len(j.verdict.Cycle))
	for i, s := range j.verdict.Cycle {
		plain[i] = s.LoopStep
	}
	var list []mixtureSummary
	for i, named := range cycleSummary(f, plain) {
		m := mixtureSummary{stepSummary: named}
		for _, c := range j.verdict.Cycle[i].Way {
			word := [...]string{"old", "new"}
			entry := word[c.Entry]
			if dst := plain[i].Dst; j.before.Forwarding.Port(c.Switch, dst) == j.new.tables.Forwarding.Port(c.Switch, dst) {
				entry = "same"
			}
			m.Way = append(m.Way, choiceSummary{nodeOf(f, c.Switch, 0), entry, word[c.Map]})
		}
		list = append(list, m)
	}
	return list
}

func (j *diffJob) report() error {
	s := j.summary()
	return j.answer(j.o.json, s, func() error { return j.say("%s", strings.TrimSuffix(j.screen(s), "\n")) },
		j.verdict != nil && (!j.verdict.Free() || j.verdict.CutAfter() > 0))
}

// screen is the result for people.
func (j *diffJob) screen(s *diffSummary) string {
	p := j.newPage()
	j.factSide(p, "old", &j.old)
	j.factSide(p, "new", &j.new)
	p.fact("gone", "%s", partsText(j.old.fabric, &j.parts.Gone))
	p.fact("added", "%s", partsText(j.new.fabric, &j.parts.New))
	if n := len(j.parts.Readdressed); n > 0 {
		list := make([]string, n)
		for i, e := range j.parts.Readdressed {
			list[i] = endpointName(j.new.fabric, e)
		}
		p.fact("addresses", "%s other LIDs than before: %s", counted(n, "port has", "ports have"), firstOf(list))
	}
	if s.Change != nil {
		j.factChange(p, s.Change)
	}
	return p.String()
}

func (j *diffJob) factSide(p *page, label string, s *diffSide) {
	p.fact(label, "%s: %s, %s", s.name, plural(s.fabric.Switches(), "switch"), describeEndpoints(s.fabric))
	if s.alone == nil {
		return
	}
	p.fact("", "tables %s, by themselves %s", s.source, verdictWord(s.alone))
	if s.misfits != nil {
		p.fact("", "%s", s.misfits.text())
	}
}

func partsText(f *fabric.Fabric, p *transition.Part) string {
	var lines []string
	add := func(list []string, what string) {
		if len(list) > 0 {
			lines = append(lines, some(list, what))
		}
	}
	add(labels(f, p.Switches), "switch")
	add(labels(f, p.Others), "adapter")
	cables := make([]string, len(p.Cables))
	for i, c := range p.Cables {
		ch := f.Channel(c)
		cables[i] = fmt.Sprintf("%s port %d to %s port %d", f.Label(ch.From), ch.FromPort, f.Label(ch.To), ch.ToPort)
	}
	add(cables, "cable")
	if lines == nil {
		return "nothing"
	}
	return strings.Join(lines, "\n")
}

func (j *diffJob) factChange(p *page, c *transitionSummary) {
	p.fact("churn", "%s of %s on %s differ, %d of them had to; %s, %s",
		counted(c.Entries, "entry", "entries"), counted(c.Blocks, "block of 64 LIDs", "blocks of 64 LIDs"), plural(c.Touched, "switch"), c.Due,
		counted(int(c.SLs), "service level", "service levels"), counted(c.Maps, "SL2VL cell", "SL2VL cells"))
	if j.verdict.Free() {
		p.fact("transition", "%s (contract %s, endpoints %s): in whatever order it is written, %s dependencies of all mixtures of old and new, a rank that rises along each",
			c.Verdict, c.Contract, c.Endpoints, thousands(int64(c.Dependencies)))
	} else {
		p.fact("transition", "%s (contract %s, endpoints %s): while it is written, packets can deadlock. A shortest loop of %d steps:\n%s",
			c.Verdict, c.Contract, c.Endpoints, len(c.Cycle), j.mixtureText(c.Cycle))
	}
	p.fact("cut off", "of %s pairs %s before, %s for a while at most, %s after", thousands(c.Pairs), thousands(c.CutBefore), thousands(c.Exposed), thousands(c.CutAfter))
	if c.Circles > 0 {
		p.fact("", "packets to %s can circle in some mixture", plural(int(c.Circles), "destination"))
	}
	p.fact("bandwidth", "%s", c.Bandwidth.text("endpoints that both have"))
	if !j.verdict.Free() {
		p.fact("next", "%s", j.advice())
	}
}

// advice is what to do about a loop.
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
	steps := make([]stepSummary, len(cycle))
	for i, m := range cycle {
		steps[i] = m.stepSummary
	}
	return loopText(j.console, steps, func(i int) string {
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
