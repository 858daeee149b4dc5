package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/cmd/weft/internal/console"
	"github.com/weft-fabric/weft/cmd/weft/internal/output"
	"github.com/weft-fabric/weft/cmd/weft/internal/report"
	"github.com/weft-fabric/weft/cmd/weft/internal/words"
	"github.com/weft-fabric/weft/fabric"
)

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
	Switch  report.Node `json:"switch"`
	Entries int         `json:"entries"`
}

// summary is the plan, as JSON.
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
				one.BySwitch = append(one.BySwitch, switchEntries{report.NodeOf(j.fabric, fabric.NodeID(at), 0), n})
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
	say("From the tables of %s to those %s: %s, %s in %s.", s.Tables, cmp.Or(j.purpose, "that serve "+s.Fabric), words.Plural(len(s.Steps), "step"),
		words.Counted(entries, "entry", "entries"), words.Counted(blocks, "block of 64 LIDs", "blocks of 64 LIDs"))
	say("Service levels and SL2VL maps stay. Of %s pairs %s are cut off now, %s after the last step.", words.Thousands(s.Pairs), words.Thousands(s.CutNow), words.Thousands(s.CutAfter))
	say("Each step may be written in any order of switches: every mixture of the tables before and")
	say("after it is free of credit loops, and so are the tables after it (contract %s, endpoints %s).", s.Contract, s.Endpoints)
	for i, step := range s.Steps {
		say("\nStep %d: write the tables of %s", i+1, step.Folder)
		say("  %s, on %s, %s; %s cut off after it", mendedText(&j.plan.Steps[i]), words.Plural(step.Touched, "switch"),
			words.Counted(step.Blocks, "block", "blocks"), words.Counted(int(step.Cut), "pair", "pairs"))
		for _, at := range step.BySwitch {
			say("    %s %s: %s", at.Switch.GUID, at.Switch.Name, words.Counted(at.Entries, "entry", "entries"))
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
	s := j.Stage("write", &j.spent.Write)
	defer s.Done()
	d, err := output.NewFolder(j.out, j.o.force)
	if err != nil {
		return err
	}
	defer d.Discard()
	for i := range j.plan.Steps {
		within := &output.Folder{Unfinished: &output.Unfinished{Path: d.At(stepName(i))}, Final: filepath.Join(j.out, stepName(i))}
		if err := os.Mkdir(within.Path, 0o755); err != nil {
			return output.Explain(within.Final, err)
		}
		if err := j.stepJob(&j.plan.Steps[i], within.Final).fill(ctx, within, func() {}); err != nil {
			return err
		}
	}
	plan := j.planSummary()
	if err := d.Write(ctx, output.Plan, func(w io.Writer) error { return (&app{Console: &console.Console{Stdout: w}}).printJSON(plan) }); err != nil {
		return err
	}
	if err := d.Write(ctx, output.PlanText, func(w io.Writer) error {
		_, err := io.WriteString(w, j.planText(plan))
		return err
	}); err != nil {
		return err
	}
	return d.Commit()
}

// report prints the result. A network in parts is a finding, as for weft route.
func (j *keepJob) report() error {
	s := j.summary()
	s.Kept = j.planSummary()
	if j.o.steps != "" {
		s.Files = []string{output.Plan, output.PlanText}
		for _, step := range s.Kept.Steps {
			s.Files = append(s.Files, step.Folder)
		}
	}
	return j.answer(j.o.json, s, func() error { return j.Show(j.screen()) }, j.fallen)
}

// screen is the result for people.
func (j *keepJob) screen() *console.Page {
	p := j.NewPage()
	n := j.fabric.Count()
	p.Fact("fabric", "%s: %s, %s, %s between switches", j.name, words.Plural(n.Switches, "switch"), report.Endpoints(j.fabric), words.Plural(n.SwitchCables, "cable"))
	p.Fact("kept", "%s", j.o.keep)
	p.Fact("cut off", "%s", cutText(j.plan))
	p.Fact("repair", "%s", planText(j.plan, "nothing has to change"))
	p.Fact("verdict", "%s", j.verdictText())
	p.Fact("outside", "%s", report.Outside(j.scope))
	p.Fact("lanes", "%s; %s", j.lanes(), j.serviceLevels())
	p.Fact("hops", "%.2f mean, %d longest, over %s pairs", j.loads.MeanHops(), j.loads.MaxHops, words.Thousands(j.loads.Pairs))
	if j.apart > 0 {
		p.Fact("apart", "%s pairs are in different parts of the network and have no route:%s", words.Thousands(j.apart), report.Parts(j.fabric, j.parts))
	}
	p.Fact("time", "read %s, plan and proofs %s, verify %s", words.Seconds(j.spent.Read), words.Seconds(j.spent.Paths), words.Seconds(j.spent.Verify))
	switch {
	case j.o.steps != "":
		p.Fact("next", "%s says what to write, step by step, and when to go on", filepath.Join(j.out, output.PlanText))
	case j.out != "" && len(j.plan.Steps) > 1:
		p.Fact("next", "these are the tables of the last step. The way there is safe step by step only (--steps DIR in place of --out).\n%s", j.install.text())
	default:
		p.Fact("next", "%s", j.next())
	}
	return p
}
