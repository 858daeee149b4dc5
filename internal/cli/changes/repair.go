package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

type repairFlags struct {
	tables, restore      string // the tables, and those that they are to become; empty: they are mended
	before               string // the fabric of the tables; empty: the one to mend them for
	parts                flags.Parts
	out, steps           string // folders, at most one of them
	contract             *routing.Contract
	scope                routing.Scope
	withinParts          bool
	force, drops, asJSON bool
}

// Repair makes the command weft repair.
func Repair(a *console.Console) *cobra.Command {
	var o repairFlags
	c := &cobra.Command{
		Use:   "repair FABRIC --tables OLD",
		Short: "Mend tables in force after a change, by the fewest entries and in safe steps",
		Long: `Mend tables in force when the fabric has lost or got back cables, switches or hosts:
the fewest entries change that serve, and service levels and SL2VL maps stay. The
change is a sequence of steps, usually one. Each is safe while it is written, in
whatever order: every mixture of the tables before and after it is proven free of
credit loops. A step may begin when all switches have confirmed the one before, and
its packets are gone.

FABRIC is the network as it is now, or, with --switch, --cable and --host, as it will
be without these. --before names the fabric that the tables were made for, if it is
another: then it is known how long paths were, and what has moved.

--steps writes all steps, each as weft route --out does, with a plan that says when to
go on; --out writes the last tables alone. When what was broken is back, --restore THEN
leads from the tables of --tables to those of THEN, entry for entry, in steps of the
same kind. What no safe steps mend is named, and nothing is written: exit code 1.`,
		Example: `  weft repair now.ibnetdiscover --tables installed
  weft repair now.ibnetdiscover --tables installed --before then.ibnetdiscover --steps plan
  weft repair fabric.ibnetdiscover --tables installed --switch spine-3 --out mended
  weft repair then.ibnet --tables plan/step-1 --before now.ibnet --restore installed --steps back`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, flag := range []string{"tables", "restore", "out", "steps"} {
				if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() == "" {
					return exit.Usage("--%s names no folder", flag)
				}
			}
			return runRepair(cmd.Context(), a, args[0], &o)
		},
	}
	f := c.Flags()
	flags.AddInForce(f, &o.tables)
	o.parts.AddTo(f)
	f.StringVar(&o.before, "before", "", "the fabric that the tables are of, if it is not FABRIC")
	f.StringVar(&o.restore, "restore", "", "tables of FABRIC, such as those from before a failure: change those of --tables into them, entry for entry, in place of mending")
	f.StringVar(&o.steps, "steps", "", "folder to write each step into, step-1, step-2 and so on, with plan.txt and plan.json")
	f.StringVar(&o.out, "out", "", "folder to write the tables after the last step into")
	f.BoolVar(&o.force, "force", false, "replace the files of an earlier run in the folder")
	f.BoolVar(&o.drops, "drain", false, "let single destinations drop their packets for a step where there is no other way")
	flags.AddContract(f, &o.contract, flags.ContractStated)
	flags.AddScope(f, &o.scope)
	f.BoolVar(&o.withinParts, "within-parts", false, flags.WithinPartsUsage)
	flags.AddJSON(f, &o.asJSON)
	flags.Required(c, "tables")
	c.MarkFlagsMutuallyExclusive("out", "steps")
	flags.Without(c, "restore", "switch", "cable", "host")
	return c
}

// repairJob is a call of weft repair, whose plan and last tables are in planned.
type repairJob struct {
	planned
	o        *repairFlags
	was      *routing.Tables        // in force, on the fabric that they were made for
	unowned  map[fabric.LID][]uint8 // rows of these tables for LIDs that nobody had there
	target   *routing.Tables        // of --restore, for the fabric as it is; else nil
	contract routing.Contract
	other    string // which contract may serve if this one does not; may be empty
}

// runRepair reads, plans the change (mend), writes the steps or the last tables, and prints.
func runRepair(ctx context.Context, a *console.Console, name string, o *repairFlags) (err error) {
	for _, tables := range []string{o.tables, o.restore} {
		if err := stepsBeside("--steps", o.steps, tables); err != nil {
			return err
		}
	}
	j := &repairJob{planned: planned{Judged: routed.Judged{Console: a, Name: name, VLs: routing.MaxDataVLs}, source: o.tables}, o: o}
	if j.Out = cmp.Or(o.out, o.steps); j.Out != "" {
		if err := output.MayWrite(j.Out, o.force); err != nil {
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
	case o.steps != "":
		err = writeSteps(ctx, o.force, &j.planned)
	case o.out != "":
		if j.Install, err = j.Installation(ctx, j.Out, "", keptName); err == nil {
			err = j.WriteFolder(ctx, j.Out, o.force, j.summary)
		}
	}
	if err != nil {
		return err
	}
	return j.report()
}

// read reads the fabric, and the tables for it or for the one before.
func (j *repairJob) read() (err error) {
	s := j.Stage("reading", &j.Spent.Read)
	defer s.Done()
	if j.Fabric, err = input.Fabric(j.Console, j.Name); err != nil {
		return err
	}
	name, f := j.Name, j.Fabric
	if !j.o.parts.None() {
		p, err := input.PartsOf(f, &j.o.parts)
		if err != nil {
			return err
		}
		var gone result.GoneParts
		if j.Fabric, gone, err = p.Without(f); err != nil {
			return err
		}
		j.without = &gone
		j.purpose = "that serve " + j.Name + " without " + strings.ReplaceAll(outputs.GoneText(&gone), "\n", " and ")
	}
	j.CountApart(j.o.scope, j.o.withinParts)
	if j.o.before != "" {
		name = j.o.before
		if f, err = input.Fabric(j.Console, name); err != nil {
			return fmt.Errorf("--before: %w", err)
		}
		j.moved = outputs.Moved(f, j.Fabric)
	}
	v, err := input.TablesOf(j.Console, name, f, &flags.Tables{LFTs: j.source})
	if err != nil {
		return err
	}
	if err := v.Held(j.source, name); err != nil {
		return err
	}
	j.was, j.unowned, j.fit, j.contract = v.Tables, v.Unowned, v.Fit(), v.Contract(j.o.contract)
	j.other = v.OtherContract(j.o.contract)
	if j.o.restore == "" {
		return nil
	}
	j.purpose = "of " + j.o.restore
	if v, err = input.TablesOf(j.Console, j.Name, j.Fabric, &flags.Tables{LFTs: j.o.restore}); err != nil {
		return err
	}
	if err := v.Held(j.o.restore, j.Name); err != nil {
		return err
	}
	j.target = v.Tables
	return nil
}

// mend plans the change, or the way to the tables of --restore, and has its last tables judged like
// any that weft route writes.
func (j *repairJob) mend(ctx context.Context) (err error) {
	s := j.Stage("plan", &j.Spent.Paths)
	defer s.Done()
	options := change.Options{Contract: j.contract, Scope: j.o.scope, AllowDrops: j.o.drops, Unowned: j.unowned}
	if j.target == nil {
		j.plan, err = change.Mend(ctx, j.was, j.Fabric, options)
	} else {
		j.plan, err = change.Return(ctx, j.was, j.target, options)
	}
	if errors.Is(err, repair.ErrLoopAfter) {
		return j.targetLoops()
	}
	if err != nil {
		return planError(j.Console, err, j.source, j.since(), j.other, j.contract, j.o.asJSON)
	}
	switch {
	case j.target != nil:
		if err := j.checkRestored(ctx); err != nil {
			return err
		}
	case len(j.plan.Left) > 0 || j.plan.CutAfter > j.plan.Disconnected:
		return j.notMended()
	}
	s.Done()
	engine := kept(j.contract)
	j.Result, err = routed.LoopOrResult(weft.Verify(ctx, j.plan.After, weft.Request{Custom: &engine, Contract: &j.contract, Scope: j.o.scope, Stages: j.Timed}))
	if err == nil {
		j.Tables, err = withLanesNeeded(ctx, j.Tables, j.Verdict)
	}
	return err
}

// since is what has changed since the tables were made, behind a sentence about them; empty if that
// is not known.
func (j *repairJob) since() string {
	switch m := j.fit.Misfits; {
	case len(j.moved) > 0:
		return movedText(" now that ", j.moved)
	case m != nil && len(m.OtherLIDs)+len(m.OtherOwners) > 0:
		return " now that " + strings.Join(outputs.StaleTexts(&result.Mismatches{OtherLIDs: m.OtherLIDs, OtherOwners: m.OtherOwners}), " and ")
	}
	return ""
}

// notMended is the answer where the plan leaves pairs cut off that cables join.
func (j *repairJob) notMended() error {
	left := outputs.Left(j.plan)
	why := "no safe steps near these tables make " + words.Counted(len(left), "destination", "destinations") + " reachable again that cables reach: " + leftText(left)
	if len(left) == 0 {
		why = words.Thousands(j.plan.CutAfter-j.plan.Disconnected) + " pairs that the tables have no service level for"
	}
	next := ""
	if len(left) > 0 && !j.o.drops {
		next = dropsInstead
	}
	return j.Refuse(j.o.asJSON, result.Refusal{Engine: keptName, Refused: why, Fits: []result.FittingEngine{}, Left: left}, "%s cannot be kept: %s.\nNothing was written. %s", j.source, why,
		withOther(next+"weft route routes anew, which changes far more, and weft diff says whether the way there is safe.", j.other))
}

// dropsInstead is what to try where no steps are safe that drop nothing.
const dropsInstead = "--drain finds more: it lets single destinations drop their packets for a step. Otherwise "

// report prints the result. A network in parts is a finding, as for weft route.
func (j *repairJob) report() error {
	s := j.summary()
	s.Kept = j.JSON()
	if j.o.steps != "" {
		s.Files = []string{output.Plan, output.PlanText}
		for _, step := range s.Kept.Steps {
			s.Files = append(s.Files, step.Folder)
		}
	}
	return j.Answer(j.o.asJSON, s, func() error { return j.Show(j.screen(s.Kept)) }, j.Apart || len(s.AbsentLanes)+len(j.plan.Absent) > 0)
}

// screen is the result for people.
func (j *repairJob) screen(s *result.Plan) *console.Page {
	p := j.NewAnswer()
	j.FactResult(p, "")
	p.Short("cut off", "%s", cutInShort(j.plan))
	p.Detail("cut off", "%s", cutText(j.plan))
	label := "repair"
	if j.target != nil {
		label = "way back"
	}
	p.Short(label, "%s", stepsInShort(j.plan, "nothing has to change"))
	p.Detail(label, "%s", stepsText(j.plan, "nothing has to change", s.Least))
	if text := outputs.HeldBackText(s.HeldBack); text != "" {
		p.Fact("held back", "%s", text)
	}
	if len(j.moved) > 0 {
		p.Fact("moved", "%s", movedText("", j.moved))
	}
	if n := len(j.plan.Anew); n > 0 {
		p.Fact("", "%s; with the service levels that they had, packets could close a credit loop", anewText(j.plan))
	}
	j.FactApart(p)
	p.Spare("fabric", "%s", report.Counts(j.Fabric))
	p.Detail("fabric", "%s", report.NetworkAndCables(j.Name, j.Fabric))
	if j.without != nil {
		p.Fact("without", "%s", outputs.GoneText(j.without))
	}
	p.Detail("tables", "%s", j.source)
	input.Facts(p, s.Fit)
	p.Detail("time", "read %s, plan and proofs %s, verify %s", words.Seconds(j.Spent.Read), words.Seconds(j.Spent.Paths), words.Seconds(j.Spent.Verify))
	switch {
	case j.o.steps != "":
		p.Fact("next", "%s says what to write, step by step, and when to go on", filepath.Join(j.Out, output.PlanText))
	case j.Out != "" && len(j.plan.Steps) > 1:
		p.Short("next", "these are the tables of the last step. The way there is safe step by step only (--steps DIR in place of --out)")
		p.Detail("next", "these are the tables of the last step. The way there is safe step by step only (--steps DIR in place of --out).\n%s", routed.InstallText(j.Install))
	case j.Out == "" && len(j.plan.Steps) > 0:
		p.Fact("next", "--steps DIR writes each step, and when to go on; --out DIR the last")
	default:
		p.Short("next", "%s", j.NextInShort(j.Verdict.Free()))
		p.Detail("next", "%s", j.Next(j.Verdict.Free()))
	}
	return p
}
