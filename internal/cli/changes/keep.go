package changes

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// KeepFlags is what weft route is told about tables in force.
type KeepFlags struct {
	*flags.Engine
	Keep, Restore string // the tables, and those that they are to become; empty: they are mended
	Out, Steps    string // folders, at most one of them
	Force, Drops  bool
	JSON          bool
}

// keepJob mends tables. Its own are those after the last step.
type keepJob struct {
	planned
	o        *KeepFlags
	was      *routing.Tables        // for the fabric they were made for
	unowned  map[fabric.LID][]uint8 // its rows of LIDs that nobody had there
	target   *routing.Tables        // of --restore, for the fabric as it is; else nil
	contract routing.Contract
}

// RunKeep changes as little as possible of tables, instead of routing from scratch.
func RunKeep(ctx context.Context, a *console.Console, name string, o *KeepFlags) (err error) {
	for _, tables := range []string{o.Keep, o.Restore} {
		if err := stepsBeside("--steps", o.Steps, tables); err != nil {
			return err
		}
	}
	j := &keepJob{planned: planned{Judged: routed.Judged{Console: a, Name: name, VLs: routing.MaxDataVLs}, source: o.Keep}, o: o}
	if j.Out = cmp.Or(o.Out, o.Steps); j.Out != "" {
		if err := output.MayWrite(j.Out, o.Force); err != nil {
			return err
		}
		j.Out = filepath.Clean(j.Out)
	}
	if err := j.read(); err != nil {
		return err
	}
	j.VLs = routing.LimitOf(j.Fabric).Within(j.VLs)
	if err := j.mend(ctx); err != nil {
		return err
	}
	switch {
	case o.Steps != "":
		err = j.writeSteps(ctx, o.Force)
	case o.Out != "":
		if j.Install, err = j.Installation(ctx, j.Out, "", keptName); err == nil {
			err = j.WriteFolder(ctx, j.Out, o.Force, j.summary)
		}
	}
	if err != nil {
		return err
	}
	return j.report()
}

// read reads the fabric, and the tables for it or for the one before.
func (j *keepJob) read() (err error) {
	s := j.Stage("reading", &j.Spent.Read)
	defer s.Done()
	if j.Fabric, err = input.FabricWithLMC(j.Console, j.Name, j.o.LMC); err != nil {
		return err
	}
	j.CountApart(j.o.Scope, j.o.WithinParts)
	name, f := j.Name, j.Fabric
	if j.o.Before != "" {
		name = j.o.Before
		if f, err = input.Fabric(j.Console, name); err != nil {
			return fmt.Errorf("--before: %w", err)
		}
		j.moved = result.MovedOf(f, j.Fabric)
	}
	v, err := input.TablesOf(j.Console, name, f, &flags.Tables{LFTs: j.source})
	if err != nil {
		return err
	}
	if err := v.Held(j.source, name); err != nil {
		return err
	}
	j.was, j.unowned, j.fit, j.contract = v.Tables, v.Unowned, v.Fit(), flags.ContractOf(j.o.Contract, v.Tables)
	if j.o.Restore == "" {
		return nil
	}
	j.purpose = "of " + j.o.Restore
	if v, err = input.TablesOf(j.Console, j.Name, j.Fabric, &flags.Tables{LFTs: j.o.Restore}); err != nil {
		return err
	}
	if err := v.Held(j.o.Restore, j.Name); err != nil {
		return err
	}
	j.target = v.Tables
	return nil
}

// mend plans the change and has its last tables judged, like any tables that weft route
// writes.
func (j *keepJob) mend(ctx context.Context) (err error) {
	s := j.Stage("plan", &j.Spent.Paths)
	defer s.Done()
	options := change.Options{Contract: j.contract, Scope: j.o.Scope, AllowDrops: j.o.Drops, Unowned: j.unowned}
	if j.target == nil {
		j.plan, err = change.Mend(ctx, j.was, j.Fabric, options)
	} else {
		j.plan, err = change.Return(ctx, j.was, j.target, options)
	}
	if err != nil {
		return planError(j.Console, err, j.source, j.since(), j.contract, j.o.JSON)
	}
	switch {
	case j.target != nil:
		if err := j.restored(); err != nil {
			return err
		}
	case len(j.plan.Left) > 0 || j.plan.CutAfter > j.plan.Disconnected:
		return j.notMended()
	}
	s.Done()
	engine := kept(j.contract)
	j.Result, err = routed.LoopOrResult(weft.Verify(ctx, j.plan.After, weft.Request{Custom: &engine, Contract: &j.contract, Scope: j.o.Scope, Stages: j.Timed}))
	if err == nil {
		j.Tables = withLanesNeeded(j.Tables, j.Verdict.VLs)
	}
	return err
}

// since is what has changed since the tables were made, behind a sentence about them; empty if that
// is not known.
func (j *keepJob) since() string {
	switch m := j.fit.Misfits; {
	case len(j.moved) > 0:
		return movedText(" now that ", j.moved)
	case m != nil && len(m.OtherLIDs)+len(m.OtherOwners) > 0:
		return " now that " + strings.Join((&result.Mismatches{OtherLIDs: m.OtherLIDs, OtherOwners: m.OtherOwners}).Stale(), " and ")
	}
	return ""
}

func (j *keepJob) notMended() error {
	left := result.LeftOf(j.plan)
	why := "no safe steps near these tables make " + words.Counted(len(left), "destination", "destinations") + " reachable again that cables reach: " + leftText(left)
	if len(left) == 0 {
		why = words.Thousands(j.plan.CutAfter-j.plan.Disconnected) + " pairs that the tables have no service level for"
	}
	next := ""
	if len(left) > 0 && !j.o.Drops {
		next = dropsInstead
	}
	return j.Refuse(j.o.JSON, result.Refusal{Engine: keptName, Refused: why, Fits: []result.FittingEngine{}, Left: left}, "%s cannot be kept: %s.\nNothing was written. %sweft route without --keep routes anew, which changes far more, and weft diff says whether the way there is safe.", j.source, why, next)
}

// dropsInstead is what to try where no steps are safe that drop nothing.
const dropsInstead = "--drain finds more: it lets single destinations drop their packets for a step. Otherwise "

// report prints the result. A network in parts is a finding, as for weft route.
func (j *keepJob) report() error {
	s := j.summary()
	s.Kept = j.JSON()
	if j.o.Steps != "" {
		s.Files = []string{output.Plan, output.PlanText}
		for _, step := range s.Kept.Steps {
			s.Files = append(s.Files, step.Folder)
		}
	}
	return j.Answer(j.o.JSON, s, func() error { return j.Show(j.screen(s.Kept)) }, j.Apart || len(s.AbsentLanes)+len(j.plan.Absent) > 0)
}

func (j *keepJob) screen(s *result.Plan) *console.Page {
	p := j.NewPage()
	p.Fact("fabric", "%s", report.NetworkAndCables(j.Name, j.Fabric))
	p.Fact("kept", "%s", j.source)
	input.Facts(p, s.Fit)
	if len(j.moved) > 0 {
		p.Fact("moved", "%s", movedText("", j.moved))
	}
	if n := len(j.plan.Anew); n > 0 {
		p.Fact("", "%s; with the service levels that they had, packets could close a credit loop", anewText(j.plan))
	}
	p.Fact("cut off", "%s", cutText(j.plan))
	label := "repair"
	if j.target != nil {
		label = "way back"
	}
	p.Fact(label, "%s", stepsText(j.plan, "nothing has to change", s.Least))
	if text := s.HeldBack.Text(); text != "" {
		p.Fact("", "%s", text)
	}
	j.FactResult(p, "")
	j.FactApart(p)
	p.Fact("time", "read %s, plan and proofs %s, verify %s", words.Seconds(j.Spent.Read), words.Seconds(j.Spent.Paths), words.Seconds(j.Spent.Verify))
	switch {
	case j.o.Steps != "":
		p.Fact("next", "%s says what to write, step by step, and when to go on", filepath.Join(j.Out, output.PlanText))
	case j.Out != "" && len(j.plan.Steps) > 1:
		p.Fact("next", "these are the tables of the last step. The way there is safe step by step only (--steps DIR in place of --out).\n%s", routed.InstallText(j.Install))
	default:
		p.Fact("next", "%s", j.Next(j.Verdict.Free()))
	}
	return p
}
