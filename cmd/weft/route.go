package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/cmd/weft/internal/flags"
	"github.com/weft-fabric/weft/cmd/weft/internal/input"
	"github.com/weft-fabric/weft/cmd/weft/internal/output"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

type routeFlags struct {
	flags.Engine
	out             string
	force, unproven bool
	keep, steps     string
	drain           bool
	survives        []string
	json            bool
}

func routeCommand(a *app) *cobra.Command {
	var o routeFlags
	c := &cobra.Command{
		Use:   "route FABRIC",
		Short: "Compute forwarding tables, service levels and lanes, and prove them",
		Long: `Compute forwarding tables, service levels and lanes for a fabric, prove that
they cannot deadlock, and write them for OpenSM.

By default the engine is auto: several engines are tried, and the one with the most
bandwidth among those proven under the contract wins (any, unless --contract says
what else clients do); with --aim or --weight, of those that heed them. An engine
is a path finder and a lane assigner (see weft engines); --paths and --lanes give
other pairs. What needs more lanes than there are is refused, never replaced by
something weaker. With --out the folder gets lfts.dump, sl2vl.dump, paths.psl,
certificate and summary.json, all of them or none, read back and checked; the last
lines say how OpenSM takes them: some from the file, some with a QoS policy (weft
deploy files), the others by the plugin only (weft serve).

Tables with a credit loop are shown, not written, unless --write-unproven.

With --keep, the tables given are mended in place of routing from scratch: when the
fabric has lost or got back cables, switches or hosts, the fewest entries change
that serve, and service levels and SL2VL maps stay. The change is a sequence of
steps, usually one. Each is safe while it is written, in whatever order; a step may
begin when all switches have confirmed the one before, and its packets are gone.
--steps writes them all, each as --out does, with a plan that says when to go on.`,
		Example: `  weft route fabric.ibnetdiscover
  weft route fabric.ibnetdiscover --contract honored --time-budget 60s
  weft route fabric.ibnetdiscover --engine lash --vls 4 --out tables
  weft route dragonfly:p=4 --paths sssp --lanes first-fit --json
  weft route now.ibnetdiscover --keep tables --before then.ibnetdiscover --steps plan`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, flag := range []string{"out", "keep", "steps"} {
				if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() == "" {
					return exit.Usage("--%s names no folder", flag)
				}
			}
			if o.keep != "" {
				return a.keep(cmd.Context(), args[0], &o)
			}
			if o.steps != "" {
				return exit.Usage("--steps are those of a repair: it needs --keep")
			}
			return a.route(cmd.Context(), args[0], &o)
		},
	}
	o.AddTo(c, engines.AutoName)
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "folder to write the tables into")
	f.BoolVar(&o.force, "force", false, "replace the files of an earlier run in the folder")
	f.BoolVar(&o.unproven, "write-unproven", false, "write the tables even if they have a credit loop")
	flags.AddJSON(f, &o.json)
	keepFlags(c, &o)
	return c
}

// routeJob is one run of weft route: what was asked, and what came of it.
type routeJob struct {
	*app
	name     string            // the FABRIC argument
	engine   engines.Engine    // of auto: the one chosen
	adaptive *engines.Adaptive // in place of an engine with tables; nil: there are tables
	auto     bool
	budgeted time.Duration            // of auto
	choice   *weft.Choice             // of auto
	accept   func(*weft.Result) error // of auto: what the tables must be good for; nil: anything
	options  engines.Options
	budget   routing.Budget // scope: of the plan for lanes
	contract routing.Contract
	scope    routing.Scope
	made     func() // called before tables are judged; nil: nobody asks

	contracted *routing.Contract // --contract; nil: not given

	out      string
	underway bool          // a step of several: entries may yet lead into a cable that is gone
	install  *installation // of what is written and proven

	fabric  *fabric.Fabric
	tables  *routing.Tables
	loads   *congestion.Loads
	verdict *deadlock.Verdict
	wider   *deadlock.Verdict // the verdict for all adapters, where that says more
	parts   [][]fabric.NodeID // of the network, if there are pairs in different ones
	apart   int64             // such pairs
	fallen  bool              // and nobody said that this is known
	spent   stageSeconds

	survival []*survivalSummary // of --survive
}

func (a *app) route(ctx context.Context, name string, o *routeFlags) error {
	j, err := a.newRouteJob(name, o)
	if err != nil {
		return err
	}
	if err := j.prepare(&o.Engine); err != nil {
		return err
	}
	if j.adaptive != nil {
		return j.routeAdaptive(ctx, o)
	}
	if err := j.compute(ctx); err != nil {
		return j.refusal(ctx, err, o.json)
	}
	if o.out != "" && j.verdict.Free() {
		if j.install, err = j.installation(ctx, o); err != nil {
			return err
		}
	}
	if j.verdict.Free() {
		if err := j.survive(ctx, o.survives, o.drain); err != nil {
			return err
		}
	}
	wrote, err := j.write(ctx, o)
	if err != nil {
		return err
	}
	return j.report(o, wrote)
}

// routeTables routes a fabric for another command.
func (a *app) routeTables(ctx context.Context, name string, o *routeFlags, asJSON bool) (*routeJob, error) {
	j, err := a.newRouteJob(name, o)
	if err == nil {
		err = j.needsTables()
	}
	if err == nil {
		err = j.prepare(&o.Engine)
	}
	if err != nil {
		return nil, err
	}
	if err := j.compute(ctx); err != nil {
		return nil, j.refusal(ctx, err, asJSON)
	}
	return j, nil
}

// prepare reads the fabric and gives it the addresses that were asked for.
func (j *routeJob) prepare(o *flags.Engine) error {
	read := j.Stage("reading", &j.spent.Read)
	defer read.Done()
	var err error
	if j.fabric, err = input.Fabric(j.Console, j.name); err != nil {
		return err
	}
	if j.fabric, err = input.WithLMC(j.fabric, o.LMC); err != nil {
		return err
	}
	j.countApart(o.WithinParts)
	j.options, err = input.Options(j.Console, j.fabric, o)
	return err
}

// newRouteJob checks the flags.
func (a *app) newRouteJob(name string, o *routeFlags) (*routeJob, error) {
	j := &routeJob{app: a, name: name}
	if err := checkSurvive(o.survives); err != nil {
		return nil, err
	}
	asked, err := o.Find()
	if err != nil {
		return nil, err
	}
	j.engine, j.adaptive, j.auto, j.budgeted = asked.Engine, asked.Adaptive, asked.Auto, o.TimeBudget
	j.scope = o.Scope
	// Aggregation nodes shall be safe too where that is possible; the proof is
	// for what was asked.
	j.budget = routing.Budget{VLs: o.VLs, SLs: o.SLs, Scope: max(j.scope, routing.Adapters)}
	j.contract = routing.Any
	if !j.auto {
		j.contract = j.engine.Contract
	}
	if j.contracted = o.Contract; o.Contract != nil {
		j.contract = *o.Contract
	}
	j.budget.Contract = j.contract
	if o.out != "" {
		j.out = filepath.Clean(o.out)
		err = output.MayWrite(o.out, o.force)
	}
	return j, err
}

// countApart looks whether all pairs can be joined. That a network has fallen apart
// is a finding, unless it is known (--within-parts); it is routed within its parts.
func (j *routeJob) countApart(within bool) {
	if j.apart = j.scope.Disconnected(j.fabric); j.apart > 0 {
		j.parts = j.fabric.Parts()
	}
	if j.fallen = j.apart > 0 && !within; j.fallen {
		j.Note("%s: the network is in %d parts that no cable joins; each is routed by itself (--within-parts: that is known)", j.name, len(j.parts))
	}
}

// request is what is asked of package weft.
func (j *routeJob) request() weft.Request {
	r := weft.Request{
		VLs: j.budget.VLs, SLs: j.budget.SLs, Scope: j.scope, Contract: j.contracted, Options: j.options,
		Time: j.budgeted, Accept: j.accept, Stages: j.timed,
	}
	if !j.auto {
		r.Custom = &j.engine
	}
	return r
}

// timed is told of the stages of routing.
func (j *routeJob) timed(name string) (routing.Progress, func()) {
	spent := &j.spent.Paths
	switch name {
	case "choose":
		name, spent = "choosing", &j.spent.Choose
	case "lanes":
		spent = &j.spent.Lanes
	case "verify":
		spent = &j.spent.Verify
		if j.made != nil {
			j.made()
		}
	}
	s := j.Stage(name, spent)
	return s.Progress(), s.Done
}

// compute routes and has the tables judged. A credit loop is a verdict here.
func (j *routeJob) compute(ctx context.Context) error {
	return j.take(weft.Route(ctx, j.fabric, j.request()))
}

// prove has tables judged that were not made by an engine as they are.
func (j *routeJob) prove(ctx context.Context, t *routing.Tables) error {
	r := j.request()
	r.Custom = &j.engine
	if j.auto { // whatever the engine chosen is made for
		r.Contract = &j.contract
	}
	return j.take(weft.Verify(ctx, t, r))
}

// take takes what package weft answers.
func (j *routeJob) take(r *weft.Result, err error) error {
	loop, broken := (*weft.CreditLoop)(nil), (*weft.EngineDefect)(nil)
	switch {
	case errors.As(err, &loop):
		r = loop.Result
	case errors.As(err, &broken):
		return exit.Internal("%w", err)
	case err != nil:
		return err
	}
	j.engine, j.tables, j.contract, j.verdict, j.wider, j.loads = r.Engine, r.Tables, r.Contract, r.Verdict, r.Wider, r.Loads
	j.budget.Scope = r.Planned
	if r.Choice != nil {
		j.choice = r.Choice
	}
	return nil
}
