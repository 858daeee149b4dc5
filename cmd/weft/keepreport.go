package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
)

// The files of a folder of steps.
const (
	planFile     = "plan.json"
	planTextFile = "plan.txt"
)

// stepFolder is the folders of the steps.
var stepFolder = regexp.MustCompile(`^step-[1-9]\d*$`)

// switchLifetime is how long OpenSM lets a packet stay in a switch by default
// (packet_life_time 0x12: 4.096 µs × 2^18, IBA 14.2.5.4).
const switchLifetime = 4096 * time.Nanosecond << 18

// planSummary is a change in steps for programs, and plan.json.
type planSummary struct {
	Fabric    string     `json:"fabric"`
	Tables    string     `json:"tables"`
	Contract  string     `json:"contract"`
	Endpoints string     `json:"endpoints"`
	Pairs     int64      `json:"pairs"`
	CutNow    int64      `json:"pairs_cut_now"`
	CutAfter  int64      `json:"pairs_cut_after"`
	Apart     int64      `json:"pairs_apart"`
	Steps     []planStep `json:"steps"`
}

// planStep is a step of it, with what has to pass before the next.
type planStep struct {
	Folder string `json:"folder"`
	stepOfPlan
	BySwitch    []switchEntries `json:"by_switch"`
	WaitHops    int             `json:"wait_hops"`
	WaitSeconds float64         `json:"wait_seconds"`
}

// switchEntries is how many entries of a switch a step changes.
type switchEntries struct {
	Switch  nodeSummary `json:"switch"`
	Entries int         `json:"entries"`
}

// summary is the plan for programs.
func (j *keepJob) planSummary() *planSummary {
	p := j.plan
	s := &planSummary{
		Fabric: j.name, Tables: j.o.keep, Contract: j.contract.String(), Endpoints: j.scope.String(),
		Pairs: p.Pairs, CutNow: p.CutBefore, CutAfter: p.CutAfter, Apart: p.Disconnected, Steps: []planStep{},
	}
	for i, step := range stepsOf(p) {
		hops := change.Hops(p.Steps[i].Tables)
		one := planStep{Folder: stepName(i), stepOfPlan: step, WaitHops: hops, WaitSeconds: (time.Duration(hops) * switchLifetime).Seconds()}
		for at, n := range p.Steps[i].Union.BySwitch {
			if n > 0 {
				one.BySwitch = append(one.BySwitch, switchEntries{nodeOf(j.fabric, fabric.NodeID(at), 0), n})
			}
		}
		s.Steps = append(s.Steps, one)
	}
	return s
}

func stepName(i int) string { return fmt.Sprintf("step-%d", i+1) }

// planText is the plan in words.
func (j *keepJob) planText(s *planSummary) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if len(s.Steps) == 0 {
		say("Nothing has to change: the tables of %s are as they should be.", s.Tables)
		return b.String()
	}
	entries, blocks := j.plan.Entries()
	say("From the tables of %s to those %s: %s, %s in %s.", s.Tables, cmp.Or(j.purpose, "that serve "+s.Fabric), plural(len(s.Steps), "step"),
		counted(entries, "entry", "entries"), counted(blocks, "block of 64 LIDs", "blocks of 64 LIDs"))
	say("Service levels and SL2VL maps stay. Of %s pairs %s are cut off now, %s after the last step.", thousands(s.Pairs), thousands(s.CutNow), thousands(s.CutAfter))
	say("Each step may be written in any order of switches: every mixture of the tables before and")
	say("after it is free of credit loops, and so are the tables after it (contract %s, endpoints %s).", s.Contract, s.Endpoints)
	for i, step := range s.Steps {
		say("\nStep %d: write the tables of %s", i+1, step.Folder)
		say("  %s, on %s, %s; %s cut off after it", mendedText(&j.plan.Steps[i]), plural(step.Touched, "switch"),
			counted(step.Blocks, "block", "blocks"), counted(int(step.Cut), "pair", "pairs"))
		for _, at := range step.BySwitch {
			say("    %s %s: %s", at.Switch.GUID, at.Switch.Name, counted(at.Entries, "entry", "entries"))
		}
		next := "any later change"
		if i+1 < len(s.Steps) {
			next = fmt.Sprintf("step %d", i+2)
		}
		say("  Before %s: wait until every switch has confirmed these tables, and from then until the", next)
		say("  packets of the tables before are gone: %d switches times the lifetime of a packet in a", step.WaitHops)
		say("  switch, %.1f s with OpenSM's packet_life_time of 0x12.", step.WaitSeconds)
	}
	return b.String()
}

// writeSteps writes the folder of steps, all of it or nothing.
func (j *keepJob) writeSteps(ctx context.Context) error {
	s := j.stage("write", &j.spent.write)
	defer s.done()
	d, err := newFolder(j.out, j.o.force)
	if err != nil {
		return err
	}
	defer d.discard()
	for i := range j.plan.Steps {
		within := &folder{unfinished: &unfinished{path: d.at(stepName(i))}, final: filepath.Join(j.out, stepName(i))}
		if err := os.Mkdir(within.path, 0o755); err != nil {
			return explain(within.final, err)
		}
		if err := j.stepJob(&j.plan.Steps[i], within.final).fill(ctx, within, func() {}); err != nil {
			return err
		}
	}
	plan := j.planSummary()
	if err := d.write(ctx, planFile, func(w io.Writer) error { return (&app{console: &console{stdout: w}}).printJSON(plan) }); err != nil {
		return err
	}
	if err := d.write(ctx, planTextFile, func(w io.Writer) error {
		_, err := io.WriteString(w, j.planText(plan))
		return err
	}); err != nil {
		return err
	}
	return d.commit()
}

// report prints the result. A network in parts is a finding, as for weft route.
func (j *keepJob) report() error {
	s := j.summary()
	s.Kept = j.planSummary()
	if j.o.steps != "" {
		s.Files = []string{planFile, planTextFile}
		for _, step := range s.Kept.Steps {
			s.Files = append(s.Files, step.Folder)
		}
	}
	return j.answer(j.o.json, s, func() error { return j.show(j.screen()) }, j.fallen)
}

// screen is the result for people.
func (j *keepJob) screen() *page {
	p := j.newPage()
	n := j.fabric.Count()
	p.fact("fabric", "%s: %s, %s, %s between switches", j.name, plural(n.Switches, "switch"), describeEndpoints(j.fabric), plural(n.SwitchCables, "cable"))
	p.fact("kept", "%s", j.o.keep)
	p.fact("cut off", "%s", cutText(j.plan))
	p.fact("repair", "%s", planText(j.plan, "nothing has to change"))
	p.fact("verdict", "%s", j.verdictText())
	p.fact("outside", "%s", outsideText(j.scope))
	p.fact("lanes", "%s; %s", j.lanes(), j.serviceLevels())
	p.fact("hops", "%.2f mean, %d longest, over %s pairs", j.loads.MeanHops(), j.loads.MaxHops, thousands(j.loads.Pairs))
	if j.apart > 0 {
		p.fact("apart", "%s pairs are in different parts of the network and have no route:%s", thousands(j.apart), describeParts(j.fabric, j.parts))
	}
	p.fact("time", "read %s, plan and proofs %s, verify %s", seconds(j.spent.read), seconds(j.spent.paths), seconds(j.spent.verify))
	switch {
	case j.o.steps != "":
		p.fact("next", "%s says what to write, step by step, and when to go on", filepath.Join(j.out, planTextFile))
	case j.out != "" && len(j.plan.Steps) > 1:
		p.fact("next", "these are the tables of the last step. The way there is safe step by step only (--steps DIR in place of --out).\n%s", j.install.text())
	default:
		p.fact("next", "%s", j.next())
	}
	return p
}
