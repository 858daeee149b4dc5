package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	"github.com/weft-fabric/weft/routing/lanes/layer"
	"github.com/weft-fabric/weft/routing/weave"
	"github.com/weft-fabric/weft/traffic"
)

// routeFlags is the command line of weft route.
type routeFlags struct {
	flags                *pflag.FlagSet
	engine, paths, lanes string
	vls, sls, lmc        int
	seed                 uint64
	seeded               *pflag.Flag // --seed, where it is for engines only
	order, before        string
	prefer, aim          string
	weights              []string
	roots                []string
	contract, endpoints  string
	withinParts          bool
	timeBudget           time.Duration
	out                  string
	force, unproven      bool
	keep, steps          string
	drain                bool
	survives             []string
	json                 bool
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
	engineFlags(c, &o, engines.AutoName)
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "folder to write the tables into")
	f.BoolVar(&o.force, "force", false, "replace the files of an earlier run in the folder")
	f.BoolVar(&o.unproven, "write-unproven", false, "write the tables even if they have a credit loop")
	f.BoolVar(&o.json, "json", false, "print the result for programs")
	keepFlags(c, &o)
	return c
}

// engineFlags adds the flags that say which engine shall do what.
func engineFlags(c *cobra.Command, o *routeFlags, engine string) {
	pathFlags(c, o, engine)
	f := c.Flags()
	f.StringVar(&o.lanes, "lanes", "", "lane assigner, with --paths in place of --engine")
	f.StringVar(&o.contract, "contract", "", "what clients do with service levels: honored, directed, single:N or any (default: what the engine is made for)")
	if engine == engines.AutoName {
		f.DurationVar(&o.timeBudget, "time-budget", 0, timeBudgetUsage)
	}
	flags.Complete(c, "lanes", assignerNames)
	c.MarkFlagsRequiredTogether("paths", "lanes")
}

// pathFlags adds those of them that say which way the paths shall go, and for whom.
func pathFlags(c *cobra.Command, o *routeFlags, engine string) {
	f := c.Flags()
	o.flags = f
	f.StringVar(&o.engine, "engine", engine, "routing engine, see weft engines")
	f.StringVar(&o.paths, "paths", "", "path finder, in place of --engine")
	f.IntVar(&o.vls, "vls", routing.DefaultVLs, "data lanes available, 1 to 15")
	f.IntVar(&o.sls, "sls", routing.SLs, "service levels available, 1 to 16")
	f.StringSliceVar(&o.roots, "roots", nil, "root switches of updn, by name, GUID or LID, with commas between; * is any text")
	f.StringVar(&o.endpoints, "endpoints", "hca", "who sends and receives in the proof: hca, ca (aggregation nodes, routers too) or all (port 0 of switches too)")
	f.BoolVar(&o.withinParts, "within-parts", false, "that the network is in parts is known, and no finding")
	f.IntVar(&o.lmc, "lmc", -1, flags.LMCUsage)
	f.StringVar(&o.order, "order", layer.Suited.String(), "order in which first-fit takes paths: "+orderNames()+" (default: by-destination, under contract honored shortest-first)")
	f.StringVar(&o.prefer, "prefer", weave.Bandwidth.String(), "what weave gives up last where it cannot have both: bandwidth or lanes")
	f.StringVar(&o.before, "before", "", "the fabric before it was damaged: torus-2qos then changes no service level, and --keep knows how long paths were")
	f.Uint64Var(&o.seed, "seed", 1, "seed of what chooses by chance")
	o.seeded = f.Lookup("seed")
	balanceFlags(c, o)
	names := engineNames
	if engine == engines.AutoName {
		names = choiceNames
	}
	flags.Complete(c, "engine", names)
	flags.Complete(c, "paths", finderNames)
	c.MarkFlagsMutuallyExclusive("engine", "paths")
}

func orderNames() string {
	names := make([]string, len(layer.Orders))
	for i, o := range layer.Orders {
		names[i] = o.String()
	}
	return strings.Join(names, ", ")
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

	weights  []traffic.Weighting
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
	spent   struct{ read, choose, paths, lanes, verify, repairs, write time.Duration }

	survival []*survivalSummary // of --survive
}

func (a *app) route(ctx context.Context, name string, o *routeFlags) error {
	j, err := a.newRouteJob(name, o)
	if err != nil {
		return err
	}
	if err := j.prepare(o); err != nil {
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
		err = j.prepare(o)
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
func (j *routeJob) prepare(o *routeFlags) error {
	read := j.Stage("reading", &j.spent.read)
	defer read.Done()
	var err error
	if j.fabric, err = input.Fabric(j.Console, j.name); err != nil {
		return err
	}
	if j.fabric, err = input.WithLMC(j.fabric, o.lmc); err != nil {
		return err
	}
	j.countApart(o.withinParts)
	if j.options.Weights, err = weigh(j.fabric, j.weights); err != nil {
		return err
	}
	if o.before != "" {
		if j.options.Before, err = input.Fabric(j.Console, o.before); err != nil {
			return fmt.Errorf("--before: %w", err)
		}
	}
	j.options.Roots, err = rootGUIDs(j.fabric, o.roots)
	return err
}

// newRouteJob checks the flags.
func (a *app) newRouteJob(name string, o *routeFlags) (*routeJob, error) {
	j := &routeJob{app: a, name: name}
	err := checkSurvive(o.survives)
	if err != nil {
		return nil, err
	}
	if err := j.takeEngine(o); err != nil {
		return nil, err
	}
	if o.vls < 1 || o.vls > routing.MaxDataVLs {
		return nil, exit.Usage("--vls %d: there are 1 to %d data lanes", o.vls, routing.MaxDataVLs)
	}
	if o.sls < 0 || o.sls > routing.SLs {
		return nil, exit.Usage("--sls %d: there are 1 to %d service levels", o.sls, routing.SLs)
	}
	if err := j.takeOptions(o); err != nil {
		return nil, err
	}
	if j.scope, err = routing.ParseScope(o.endpoints); err != nil {
		return nil, exit.Usage("%w", err)
	}
	// Aggregation nodes shall be safe too where that is possible; the proof is
	// for what was asked.
	j.budget = routing.Budget{VLs: o.vls, SLs: o.sls, Scope: max(j.scope, routing.Adapters)}
	j.contract = routing.Any
	if !j.auto {
		j.contract = j.engine.Contract
	}
	if o.contract != "" {
		if j.contract, err = routing.ParseContract(o.contract); err != nil {
			return nil, exit.Usage("%w", err)
		}
		contract := j.contract
		j.contracted = &contract
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
	spent := &j.spent.paths
	switch name {
	case "choose":
		name, spent = "choosing", &j.spent.choose
	case "lanes":
		spent = &j.spent.lanes
	case "verify":
		spent = &j.spent.verify
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
