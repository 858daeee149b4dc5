package changes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/bandwidths"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/pulled"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

type drainFlags struct {
	parts       flags.Parts
	contract    *routing.Contract
	scope       routing.Scope
	LMC         int
	tables      string
	steps, back string
	seed        uint64
	precision   float64
	jobs        flags.Allocations
	force, JSON bool
}

// Drain makes the command weft drain.
func Drain(a *console.Console) *cobra.Command {
	var o drainFlags
	c := &cobra.Command{
		Use:   "drain FABRIC --tables DIR",
		Short: "Plan how to take a cable or a switch out of use before it is pulled, and back",
		Long: `Plan how all traffic leaves a cable or a switch while it is still there, so that
pulling it cuts no pair that stays, and how it comes back afterwards to the tables
of today, entry for entry.

Each step is safe while it is written, in whatever order: every mixture of the
tables before and after it is proven free of credit loops, and so are the tables
after it. Service levels and SL2VL maps stay. Pull the parts when all steps are
confirmed and the last wait of the plan is over; take the way back when they are
there again. --steps and --back-steps write the two, each with its plan.

Pulling a switch cuts off its own hosts. If nothing else joins other switches to the
rest, all other traffic leaves, and the output names the hosts that will be cut off:
the exit code is 1 then, and where there is no such plan.`,
		Example: `  weft drain fabric.ibnetdiscover --tables installed --switch spine-3
  weft drain now.ibnetdiscover --tables installed --cable leaf-7:12 --steps away --back-steps back`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runDrain(cmd.Context(), a, args[0], &o) },
	}
	f := c.Flags()
	flags.AddInForce(f, &o.tables)
	o.parts.AddTo(f)
	f.StringVar(&o.steps, "steps", "", "folder to write the steps away into, step-1, step-2 and so on, with plan.txt and plan.json")
	f.StringVar(&o.back, "back-steps", "", "folder to write the steps of the way back into")
	f.BoolVar(&o.force, "force", false, "replace the files of an earlier run in these folders")
	flags.AddContract(f, &o.contract, flags.ContractStated)
	flags.AddScope(f, &o.scope)
	flags.AddLMC(f, &o.LMC)
	f.Uint64Var(&o.seed, "seed", 1, "seed of the pairs whose bandwidth is measured")
	flags.AddPrecision(f, &o.precision)
	o.jobs.AddTo(f)
	flags.AddJSON(f, &o.JSON)
	flags.Required(c, "tables")
	return c
}

// drainJob is a call of weft drain: the tables in force, the way out (there) and the way back.
type drainJob struct {
	without
	o       *drainFlags
	pulling *pulled.Cut // of the tables after the way out
	ebb     result.Bandwidths
}

// runDrain reads, plans both ways, measures, writes the steps of either into its folder, and prints.
func runDrain(ctx context.Context, a *console.Console, name string, o *drainFlags) error {
	if o.parts.None() {
		return exit.Usage("nothing is taken: give --switch, --cable or --host")
	}
	if err := o.checkFolders(); err != nil {
		return err
	}
	j := &drainJob{without: without{Console: a, name: name, source: o.tables, scope: o.scope}, o: o}
	v, err := readChecked(a, name, o.LMC, &flags.Tables{LFTs: o.tables}, func(f *fabric.Fabric) error { return j.take(f, &o.parts, o.jobs) })
	if err != nil {
		return err
	}
	if err := v.Held(o.tables, name); err != nil {
		return err
	}
	j.fit, j.was, j.contract, j.other = v.Fit(), v.Tables, v.Contract(o.contract), v.OtherContract(o.contract)
	if err := j.planBoth(ctx); err != nil {
		return err
	}
	if err := j.simulate(ctx); err != nil {
		return err
	}
	away := j.way(j.there, o.steps, "without "+j.goneText())
	back := j.way(j.back, o.back, "of before, with all of its parts")
	away.pulling = strings.Join(j.pullingText(), "\n")
	back.source += ", drained,"
	if err := writeSteps(ctx, j.o.force, away, back); err != nil {
		return err
	}
	s := j.summary(away, back)
	return j.Answer(o.JSON, s, func() error { return j.print(s, away) }, j.pulling.PairsApart > 0 || len(j.there.Absent)+len(j.back.Absent) > 0)
}

// checkFolders refuses folders of the steps that cannot be written, before anything is done.
func (o *drainFlags) checkFolders() error {
	if o.steps != "" && o.back != "" && (within(o.steps, o.back) || within(o.back, o.steps)) {
		return exit.Usage("--steps and --back-steps are two folders, neither in the other")
	}
	for _, f := range [][2]string{{"--steps", o.steps}, {"--back-steps", o.back}} {
		if f[1] == "" {
			continue
		}
		if err := stepsBeside(f[0], f[1], o.tables); err != nil {
			return err
		}
		if err := output.MayWrite(f[1], o.force); err != nil {
			return err
		}
	}
	return nil
}

// planBoth plans the way out, and refuses where there is none that cuts no pair. Then it plans the
// way back: that of the fewest steps, or where it would be longer than the way out or lead not all
// the way, the steps of the way out undone.
func (j *drainJob) planBoth(ctx context.Context) (err error) {
	s := j.Stage("plan", new(float64))
	defer s.Done()
	o := change.Options{Contract: j.contract, Scope: j.scope}
	if j.there, err = change.Remove(ctx, j.was, j.live, o); err != nil {
		return planError(j.Console, err, j.source, "", j.other, j.contract, j.o.JSON)
	}
	if left := outputs.Left(j.there); len(left) > 0 {
		return j.refuse(left, j.noWayOut(left))
	}
	if j.back, err = change.Return(ctx, j.there.After, j.was, o); err != nil {
		return planError(j.Console, err, j.source, "", j.other, j.contract, j.o.JSON)
	}
	if len(j.back.Left) > 0 || len(j.back.Steps) > len(j.there.Steps) {
		if j.back, err = j.there.Undo(ctx, o); err != nil {
			return err
		}
	}
	if n := max(j.there.Cuts(), j.cutBack()); n > 0 {
		return j.refuse(nil, fmt.Sprintf("no steps were found by which all packets leave %s while it is there and come back, each safe and without cutting a pair: %s would be cut meanwhile",
			j.goneText(), words.Counted(int(n), "pair", "pairs")))
	}
	j.pulling = pulled.CutOff(j.there.After, j.live, j.scope)
	return nil
}

// cutBack is the pairs that today's tables deliver and that are cut while the way back is written.
// Pairs without a path today may have got one on the way out, and lose it again at the end.
func (j *drainJob) cutBack() int64 { return j.back.Exposed() }

// noWayOut says that some destinations still need the parts.
func (j *drainJob) noWayOut(left []result.LeftOver) string {
	return fmt.Sprintf("no steps were found by which all packets leave %s while it is there, each safe and without cutting a pair: %s would go on using it: %s",
		j.goneText(), words.Counted(len(left), "destination", "destinations"), leftText(left))
}

// pullingText says who is cut off when the parts are pulled, a line for those who go with them
// and one for those who stay.
func (j *drainJob) pullingText() (lines []string) {
	f, p := j.was.Fabric, j.pulling
	if how, who := endpointsText(f, p.Gone); len(p.Gone) > 0 {
		lines = append(lines, fmt.Sprintf("%s of what is pulled go with it, %s: %s", how, words.Counted(p.PairsGone, "pair", "pairs"), who))
	}
	if how, who := endpointsText(f, p.Apart); len(p.Apart) > 0 {
		lines = append(lines, fmt.Sprintf("%s that stay are cut off from the rest, %s, since nothing else joins %s to it: %s",
			how, words.Counted(p.PairsApart, "pair", "pairs"), words.FirstOf(report.Labels(f, j.aside())), who))
	}
	return lines
}

// aside is the switches of the endpoints that stay and are cut off.
func (j *drainJob) aside() []fabric.NodeID {
	at := list.Of(j.pulling.Apart, func(e fabric.EndpointID) fabric.NodeID { return j.was.Fabric.Endpoint(e).Switch })
	slices.Sort(at)
	return slices.Compact(at)
}

// simulate measures the bandwidth between the endpoints that stay, and are not cut off.
func (j *drainJob) simulate(ctx context.Context) (err error) {
	s := j.Stage("simulate", new(float64))
	defer s.Done()
	aside := list.Of(j.aside(), func(s fabric.NodeID) fabric.NodeID { return j.live.NodeByGUID(j.was.Fabric.Node(s).GUID) })
	rest, err := j.live.Without(nil, aside)
	if err != nil {
		return err
	}
	j.ebb, err = bandwidthsOf(ctx, bandwidths.Change{Before: j.was, After: j.there.After, Stays: rest, Scope: j.scope, Seed: j.o.seed, Precision: j.o.precision}, j.jobs)
	return err
}

// refuse is the answer where there is no way out; left is the destinations that still need the parts.
func (j *drainJob) refuse(left []result.LeftOver, why string) error {
	return j.Refuse(j.o.JSON, result.Refusal{Engine: keptName, Refused: why, Fits: []result.FittingEngine{}, Left: left}, "%s.\n%s", why,
		withOther("Nothing was written. weft what-if says which pairs are cut off when it is pulled all the same, and plans their repair.", j.other))
}

func (j *drainJob) goneText() string {
	return strings.ReplaceAll(outputs.GoneText(&j.gone), "\n", " and ")
}

// way is one of the two ways, as weft repair writes it.
func (j *drainJob) way(p *change.Proven, out, purpose string) *planned {
	r := &weft.Result{Engine: kept(j.contract), Contract: j.contract, Scope: j.scope, Planned: j.scope, Tables: p.After}
	return &planned{Judged: routed.Judged{Console: j.Console, Name: j.name, Fabric: j.was.Fabric, Result: r, VLs: routing.MaxDataVLs}, Written: routed.Written{Out: out}, source: j.source, plan: p, purpose: purpose}
}

// summary is the result for programs; print shows it to people.
func (j *drainJob) summary(away, back *planned) *result.Drain {
	f := j.was.Fabric
	return &result.Drain{
		Fabric: j.name, Tables: j.source, Fit: j.fit, Contract: j.contract.String(), Endpoints: j.scope.String(), Drained: &j.gone, CutAway: j.there.Cuts(), CutBack: j.cutBack(),
		Gone: outputs.Endpoints(f, j.pulling.Gone), PairsGone: j.pulling.PairsGone, Apart: outputs.Endpoints(f, j.pulling.Apart), PairsApart: j.pulling.PairsApart, Away: away.JSON(), Back: back.JSON(), Bandwidth: j.ebb,
	}
}

func (j *drainJob) print(s *result.Drain, away *planned) error {
	f := j.was.Fabric
	p := j.NewPage()
	p.Fact("fabric", "%s", report.Network(j.name, f))
	p.Fact("tables", "%s (contract %s, endpoints %s)", j.source, j.contract, j.scope)
	input.Facts(p, s.Fit)
	p.Fact("drained", "%s", outputs.GoneText(&j.gone))
	none := "it carries nothing already"
	if s.PairsGone+s.PairsApart > 0 {
		none = "it carries nothing that could go another way"
	}
	p.Fact("way out", "%s", stepsText(j.there, none, result.Least{}))
	report.FactAbsent(p, "", s.Away.AbsentLanes)
	p.Fact("way back", "%s", stepsText(j.back, "nothing has to change", result.Least{}))
	report.FactAbsent(p, "", s.Back.AbsentLanes)
	p.Fact("cut off", "of %s pairs %s at any time while the way out is written, %s on the way back", words.Thousands(j.there.Pairs), words.Thousands(s.CutAway), words.Thousands(s.CutBack))
	if away.pulling != "" {
		p.Fact("pulled", "%s", away.pulling)
	}
	p.Fact("bandwidth", "%s", outputs.BandwidthsText(&j.ebb, "endpoints that stay"))
	next := "--steps DIR and --back-steps DIR write the two ways"
	if away.Out != "" {
		next = fmt.Sprintf("%s/%s says what to write, step by step; pull the parts when its last wait is over", away.Out, output.PlanText)
		if j.o.back != "" {
			next += fmt.Sprintf(",\nand go back by %s/%s when they are there again", j.o.back, output.PlanText)
		}
	}
	p.Fact("next", "%s", next)
	if err := j.Show(p); err != nil {
		return err
	}
	showBandwidths(j.Console, &j.ebb)
	return nil
}
