package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/cmd/weft/internal/flags"
	"github.com/weft-fabric/weft/cmd/weft/internal/input"
	"github.com/weft-fabric/weft/cmd/weft/internal/output"
	"github.com/weft-fabric/weft/cmd/weft/internal/report"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/repair"
)

type drainFlags struct {
	partFlags
	contract    *routing.Contract
	scope       routing.Scope
	lmc         int
	tables      string
	steps, back string
	seed        uint64
	precision   float64
	jobs        flags.Allocations
	force, json bool
}

func drainCommand(a *app) *cobra.Command {
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
there again. --steps and --back-steps write the two, each with its plan. The exit
code is 1 where there is no such plan.`,
		Example: `  weft drain fabric.ibnetdiscover --tables installed --switch spine-3
  weft drain fabric.ibnetdiscover --tables installed --cable leaf-7:12 --steps away --back-steps back`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.drain(cmd.Context(), args[0], &o) },
	}
	f := c.Flags()
	f.StringVar(&o.tables, "tables", "", "tables in force: a folder, of OpenSM's dumps or of weft route --out, or a file of forwarding tables")
	o.addTo(f, "")
	f.StringVar(&o.steps, "steps", "", "folder to write the steps away into, step-1, step-2 and so on, with plan.txt and plan.json")
	f.StringVar(&o.back, "back-steps", "", "folder to write the steps of the way back into")
	f.BoolVar(&o.force, "force", false, "replace the files of an earlier run in these folders")
	flags.AddContract(f, &o.contract, contractOfTables)
	flags.AddScope(f, &o.scope)
	flags.AddLMC(f, &o.lmc)
	f.Uint64Var(&o.seed, "seed", 1, "seed of the pairs whose bandwidth is measured")
	flags.AddPrecision(f, &o.precision)
	o.jobs.AddTo(f)
	flags.AddJSON(f, &o.json)
	flags.Required(c, "tables")
	return c
}

type drainJob struct {
	without
	o   *drainFlags
	ebb bandwidths
}

func (a *app) drain(ctx context.Context, name string, o *drainFlags) error {
	if len(o.switches)+len(o.cables) == 0 {
		return exit.Usage("nothing is taken: give --switch or --cable")
	}
	if o.steps != "" && o.steps == o.back {
		return exit.Usage("--steps and --back-steps are two folders")
	}
	v, err := input.Read(a.Console, name, o.lmc, &flags.Tables{LFTs: o.tables, StaticOnly: true})
	if err != nil {
		return err
	}
	j := &drainJob{without: without{app: a, name: name, source: o.tables, was: v.Tables, contract: contractOf(o.contract, v.Tables), scope: o.scope}, o: o}
	if err := j.take(&o.partFlags); err != nil {
		return err
	}
	jobs, err := o.jobs.Place(j.was.Fabric, j.scope)
	if err != nil {
		return err
	}
	if err := j.planBoth(ctx); err != nil {
		return err
	}
	if err := j.simulate(ctx, jobs); err != nil {
		return err
	}
	away := j.way(j.there, o.steps, "without "+j.goneText())
	back := j.way(j.back, o.back, "of before, with all of its parts")
	back.source += ", drained,"
	for _, w := range []*planned{away, back} {
		if w.out == "" {
			continue
		}
		if err := w.writeSteps(ctx, j.o.force); err != nil {
			return err
		}
	}
	s := drainSummary{j.name, j.source, j.contract.String(), j.scope.String(), &j.gone, j.there.Exposed(), j.back.Exposed(), away.jsonPlan(), back.jsonPlan(), j.ebb}
	return j.answer(o.json, s, func() error { return j.print(away, back) }, false)
}

// planBoth plans the way out, and refuses where there is none, and the way back: that of the
// fewest steps, at most as many as the way out has, which can be gone back.
func (j *drainJob) planBoth(ctx context.Context) (err error) {
	s := j.Stage("plan", new(float64))
	defer s.Done()
	o := change.Options{Contract: j.contract, Scope: j.scope}
	if j.there, err = change.Remove(ctx, j.was, j.live, o); err != nil {
		return planError(err, j.source, j.contract)
	}
	if left := leftOf(j.there); len(left) > 0 {
		return j.refuse(left, j.noWayOut(left))
	}
	if j.back, err = change.Return(ctx, j.there.After, j.was, o); err != nil {
		return planError(err, j.source, j.contract)
	}
	if len(j.back.Left) > 0 || len(j.back.Steps) > len(j.there.Steps) {
		if j.back, err = j.there.Undo(ctx, o); err != nil {
			return err
		}
	}
	if n := max(j.there.Cuts(), j.back.Cuts()); n > 0 {
		return j.refuse(nil, fmt.Sprintf("no steps were found by which all packets leave %s while it is there and come back, each safe and without cutting a pair: %s would be cut meanwhile",
			j.goneText(), words.Counted(int(n), "pair", "pairs")))
	}
	return nil
}

// noWayOut says why some destinations still need the parts.
func (j *drainJob) noWayOut(left []leftOver) string {
	counted := words.Counted(len(left), "destination", "destinations")
	if j.there.Apart {
		return fmt.Sprintf("no plan takes %s out of use without cutting a pair: %s cannot do without, since nothing else joins %s to the rest: %s",
			j.goneText(), counted, words.FirstOf(j.aside()), leftText(left))
	}
	return fmt.Sprintf("no steps were found by which all packets leave %s while it is there, each safe and without cutting a pair: %s would go on using it: %s",
		j.goneText(), counted, leftText(left))
}

// aside is the switches with sources in scope that pulling the parts cuts off from the largest
// part of the network.
func (j *drainJob) aside() []string {
	f := j.was.Fabric
	largest := j.live.Parts()[0]
	var names []string
	for s := range f.Switches() {
		if i := j.live.NodeByGUID(f.Node(fabric.NodeID(s)).GUID); !slices.Contains(largest, i) &&
			slices.ContainsFunc(j.there.Left, func(l repair.Left) bool { return slices.Contains(l.Switches, fabric.NodeID(s)) }) {
			names = append(names, f.Label(fabric.NodeID(s)))
		}
	}
	return names
}

// simulate measures the bandwidth between the endpoints that stay.
func (j *drainJob) simulate(ctx context.Context, jobs []flags.Allocation) (err error) {
	s := j.Stage("simulate", new(float64))
	defer s.Done()
	two := twoTables{j.was, j.there.After, j.live, j.scope, j.o.seed, j.o.precision, jobs}
	j.ebb, err = two.bandwidths(ctx)
	return err
}

func (j *drainJob) refuse(left []leftOver, why string) error {
	return j.app.refuse(j.o.json, refusalSummary{Engine: keptName, Refused: why, Fits: []fitSummary{}, Left: left}, "%s.\nNothing was written. weft what-if says which pairs are cut off when it is pulled all the same, and plans their repair.", why)
}

func (j *drainJob) goneText() string { return strings.ReplaceAll(j.gone.text(), "\n", " and ") }

// way is one of the two ways, as weft route --keep writes it.
func (j *drainJob) way(p *change.Proven, out, purpose string) *planned {
	r := &weft.Result{Engine: kept(j.contract), Contract: j.contract, Scope: j.scope, Planned: j.scope, Tables: p.After}
	return &planned{judged{app: j.app, name: j.name, fabric: j.was.Fabric, Result: r, vls: routing.MaxDataVLs, out: out}, j.source, p, purpose}
}

type drainSummary struct {
	Fabric      string       `json:"fabric"`
	Tables      string       `json:"tables"`
	Contract    string       `json:"contract"`
	Endpoints   string       `json:"endpoints"`
	Drained     *goneParts   `json:"drained"`
	ExposedAway int64        `json:"pairs_cut_meanwhile_away"`
	ExposedBack int64        `json:"pairs_cut_meanwhile_back"`
	Away        *planSummary `json:"away"`
	Back        *planSummary `json:"back"`
	Bandwidth   bandwidths   `json:"bandwidth"`
}

func (j *drainJob) print(away, back *planned) error {
	f := j.was.Fabric
	p := j.NewPage()
	p.Fact("fabric", "%s", report.Network(j.name, f))
	p.Fact("tables", "%s (contract %s, endpoints %s)", j.source, j.contract, j.scope)
	p.Fact("drained", "%s", j.gone.text())
	p.Fact("way out", "%s", stepsText(j.there, "it carries nothing already"))
	p.Fact("way back", "%s", stepsText(j.back, "nothing has to change"))
	p.Fact("cut off", "of %s pairs %s at any time while the way out is written, %s on the way back", words.Thousands(j.there.Pairs), words.Thousands(j.there.Exposed()), words.Thousands(j.back.Exposed()))
	p.Fact("bandwidth", "%s", j.ebb.text("endpoints that stay"))
	next := "--steps DIR and --back-steps DIR write the two ways"
	if away.out != "" {
		next = fmt.Sprintf("%s/%s says what to write, step by step; pull the parts when its last wait is over", away.out, output.PlanText)
		if back.out != "" {
			next += fmt.Sprintf(",\nand go back by %s/%s when they are there again", back.out, output.PlanText)
		}
	}
	p.Fact("next", "%s", next)
	if err := j.Show(p); err != nil {
		return err
	}
	showBandwidths(j.Console, &j.ebb)
	return nil
}
