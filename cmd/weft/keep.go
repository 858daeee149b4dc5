package main

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/cmd/weft/internal/flags"
	"github.com/weft-fabric/weft/cmd/weft/internal/input"
	"github.com/weft-fabric/weft/cmd/weft/internal/output"
	"github.com/weft-fabric/weft/cmd/weft/internal/report"
	"github.com/weft-fabric/weft/cmd/weft/internal/words"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// keptName is the engine name of kept tables.
const keptName = "kept"

// keptEngine stands for the engine of tables that come from a repair.
func keptEngine(c routing.Contract) engines.Engine {
	return engines.Engine{Name: keptName, Paths: keptName, Lanes: keptName, Contract: c, Safe: true}
}

// keepFlags adds --keep and --steps, and the flags that only work with --keep.
func keepFlags(c *cobra.Command, o *routeFlags) {
	f := c.Flags()
	f.StringVar(&o.keep, "keep", "", "mend these tables, of this fabric or of the one --before: a folder, of OpenSM's dumps or of --out, or a file of forwarding tables")
	f.StringVar(&o.steps, "steps", "", "with --keep, folder to write each step into, step-1, step-2 and so on, with plan.txt and plan.json")
	f.BoolVar(&o.drain, "drain", false, "with --keep and --survive, let single destinations drop their packets for a step where there is no other way")
	f.StringSliceVar(&o.survives, "survive", nil, "plan the repair of every single failure: links, switches or both with a comma between; exit 1 if one has no plan")
	for _, flag := range []string{"engine", "paths", "lanes", "vls", "sls", "roots", "lmc", "order", "prefer", "aim", "weight", "seed", "time-budget", "write-unproven", "survive"} {
		c.MarkFlagsMutuallyExclusive("keep", flag)
	}
	c.MarkFlagsMutuallyExclusive("out", "steps")
}

// keepJob is one run of weft route --keep. Its tables are those of the last step.
type keepJob struct {
	*routeJob
	o    *routeFlags
	was  *routing.Tables // for the fabric they were made for
	plan *change.Proven

	purpose string // of the plan, if it is not to serve the fabric as it is now
}

// keep changes as little as possible of tables, instead of routing from scratch.
func (a *app) keep(ctx context.Context, name string, o *routeFlags) error {
	j := &keepJob{routeJob: &routeJob{app: a, name: name}, o: o}
	j.scope = o.Scope
	var err error
	if j.out = cmp.Or(o.out, o.steps); j.out != "" {
		if err := output.MayWrite(j.out, o.force); err != nil {
			return err
		}
		j.out = filepath.Clean(j.out)
	}
	if err := j.prepare(&o.Engine); err != nil {
		return err
	}
	if err := j.readKept(); err != nil {
		return err
	}
	if err := j.mend(ctx); err != nil {
		return err
	}
	if o.out != "" {
		if j.install, err = j.installation(ctx, o); err != nil {
			return err
		}
	}
	if _, err = j.write(ctx, o); err == nil && o.steps != "" {
		err = j.writeSteps(ctx)
	}
	if err != nil {
		return err
	}
	return j.report()
}

// readKept reads the old tables.
func (j *keepJob) readKept() error {
	s := j.Stage("reading", &j.spent.Read)
	defer s.Done()
	name, f := j.name, j.fabric
	if then := j.options.Before; then != nil {
		name, f = j.o.Before, then
		var news []string
		for _, e := range j.scope.Endpoints(j.fabric) {
			if !alsoIn(then, j.fabric, e) {
				news = append(news, report.Endpoint(j.fabric, e))
			}
		}
		if news != nil {
			return exit.Finding("the tables of %s have no service level for %s that it does not have.\nWithout --before they are taken to be as those of their neighbours.", j.o.Before, words.Some(news, "endpoint"))
		}
	}
	files := flags.Tables{LFTs: j.o.keep}
	if err := files.Settle(); err != nil {
		return err
	}
	v, err := input.TablesOf(j.Console, name, f, &files)
	if err != nil {
		return err
	}
	if v.Mismatches != nil {
		j.Note("%s", v.Mismatches.Text())
	}
	j.was = v.Tables
	j.contract = contractOf(j.o.Contract, j.was)
	j.engine = keptEngine(j.contract)
	j.contracted = &j.contract
	j.budget = routing.Budget{VLs: routing.MaxDataVLs, Contract: j.contract, Scope: j.scope}
	return nil
}

// mend plans the change and has its last tables judged, like any tables that weft route
// writes.
func (j *keepJob) mend(ctx context.Context) error {
	s := j.Stage("plan", &j.spent.Paths)
	defer s.Done()
	var err error
	if j.plan, err = change.Mend(ctx, j.was, j.fabric, change.Options{Contract: j.contract, Scope: j.scope, AllowDrops: j.o.drain}); err != nil {
		return planError(err, j.o.keep, j.contract)
	}
	if len(j.plan.Left) > 0 || j.plan.CutAfter > j.plan.Disconnected {
		return j.notMended()
	}
	s.Done()
	if err = j.prove(ctx, j.plan.After); err == nil {
		j.tables = withLanesNeeded(j.tables, j.verdict.VLs)
	}
	return err
}

// notMended refuses, and names the destinations that no repair reaches.
func (j *keepJob) notMended() error {
	left := leftOf(j.plan)
	why := words.Counted(len(left), "destination", "destinations") + " that cables reach and no repair near these tables does from everywhere: " + leftText(left)
	if len(left) == 0 {
		why = words.Thousands(j.plan.CutAfter-j.plan.Disconnected) + " pairs that the tables have no service level for"
	}
	return j.refuse(j.o.json, refusalSummary{Engine: keptName, Refused: why, Fits: []fitSummary{}, Left: left}, "%s cannot be kept: %s.\nNothing was written. weft route without --keep routes anew, which changes far more, and weft diff says whether the way there is safe.", j.o.keep, why)
}

// withLanesNeeded is tables with the number of lanes they need, which dumps do not
// contain.
func withLanesNeeded(t *routing.Tables, needed int) *routing.Tables {
	lanes := *t.Lanes
	lanes.Needed = needed
	return &routing.Tables{Fabric: t.Fabric, Forwarding: t.Forwarding, Lanes: &lanes}
}

// stepJob writes a step: a folder as weft route writes it.
func (j *keepJob) stepJob(s *change.Step, out string) *routeJob {
	step := *j.routeJob
	step.tables, step.verdict, step.out = withLanesNeeded(s.Tables, s.Alone.VLs), s.Alone, out
	step.loads = congestion.Count(j.fabric, s.Tables.Forwarding, j.scope)
	step.underway = true
	step.wider = nil // it is about the last step's tables
	return &step
}
