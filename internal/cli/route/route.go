package route

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/result"
)

type routeFlags struct {
	flags.Engine
	out             string
	force, unproven bool
	drain           bool
	survives        []string
	adaptive        string
	inForce         []string
	multicast       uint16 // service levels of multicast groups, as bits; 0: none asked for
	json            bool
}

// Command makes the command weft route.
func Command(a *console.Console) *cobra.Command {
	var o routeFlags
	c := &cobra.Command{
		Use:   "route FABRIC",
		Short: "Compute forwarding tables, service levels and lanes, and prove them",
		Long: `Compute forwarding tables, service levels and lanes for a fabric, prove that
they cannot deadlock, and write them for OpenSM.

By default the engine is auto: several engines are tried, and of those proven under
the contract (any, unless --contract says what else clients do) the best for the
--aim wins; with --weight, of those that heed it. All that was tried is shown side
by side; --tables puts the tables in force beside it. An engine
is a path finder and a lane assigner (see weft engines); --paths and --lanes give
other pairs. What needs more lanes than there are is refused, never replaced by
something weaker. With --out the folder gets lfts.dump, sl2vl.dump, paths.psl,
certificate and summary.json, all of them or none, read back and checked; the last
lines say how OpenSM takes them: some from the file, some with a QoS policy (weft
deploy files), the others by the plugin only (weft serve).

Tables with a credit loop are shown, not written, unless --write-unproven. weft
repair mends tables in force, in place of routing anew.`,
		Example: `  weft route fabric.ibnetdiscover
  weft route fabric.ibnetdiscover --contract honored --time-budget 60s
  weft route fabric.ibnetdiscover --engine lash --vls 4 --out tables
  weft route dragonfly:p=4 --paths sssp --lanes first-fit --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("out") && o.out == "" {
				return exit.Usage("--out names no folder")
			}
			return runRoute(cmd.Context(), a, args[0], &o)
		},
	}
	o.AddTo(c, auto.Name)
	o.AddClassesTo(c)
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "folder to write the tables into")
	f.BoolVar(&o.force, "force", false, "replace the files of an earlier run in the folder")
	f.BoolVar(&o.unproven, "write-unproven", false, "write the tables even if they have a credit loop")
	flags.AddNamed(f, &o.inForce, "tables in force to put beside what auto tries")
	o.AddTrafficTo(c)
	flags.AddJSON(f, &o.json)
	f.BoolVar(&o.drain, "drain", false, "with --survive, let single destinations drop their packets for a step where there is no other way")
	f.StringSliceVar(&o.survives, "survive", nil, "plan the repair of every single failure: links, switches or both with a comma between; of tables as good as these by another engine, root or seed, unless given, those with the fewest exceptions are taken; exit 1 if a failure has no plan")
	flags.OneOf(f, &o.adaptive, "adaptive", "minimal: give entries groups of ports to choose from, all that lead nearer and keep the proof, written as groups.far", noGroups, minimalGroups)
	flags.SLs(f, &o.multicast, "multicast-sl", "find a spanning tree for multicast groups on these service levels too, such as 0, 0,2 or any, proven together with the paths, written as multicast.mcfdbs; exit 1 if there is none")
	flags.Without(c, "adaptive", "survive", "multicast-sl")
	flags.Without(c, "multicast-sl", "survive")
	return c
}

// routeRun is weft route: what was routed, and what was asked for with it.
type routeRun struct {
	*routed.Job
	o *routeFlags
	routed.Written
	inForce  []result.InForce    // beside what auto tried
	compared []*result.Candidate // of --survive: tables as good as these, and how they stand failures
	bound    *result.AnyRouting  // what no routing can do better; nil: not known
	best     string              // of --survive: the engine that auto chose, if the tables of another were taken; empty: they are its
	survival []*result.Survival  // [kind of --survive]
	treeless *weft.NoTree        // why there is no spanning tree for multicast that was asked for; nil: there is one, or nobody asked
}

// runRoute routes the fabric and then does, in this order, what flags ask for besides: tables in force
// beside it, groups of ports, a multicast tree, repairs of failures, an output folder.
func runRoute(ctx context.Context, a *console.Console, name string, o *routeFlags) error {
	for _, kind := range o.survives {
		if survivals[kind] == nil {
			return exit.Usage("--survive %s: it is links or switches", kind)
		}
	}
	r, err := routed.New(a, name, &o.Engine)
	if err != nil {
		return err
	}
	j := &routeRun{Job: r, o: o}
	inForce, err := j.tablesBeside(name, o.inForce)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := output.MayWrite(o.out, o.force); err != nil {
			return err
		}
	}
	if err := j.Prepare(); err != nil {
		return err
	}
	if j.Wanted.Adaptive != nil {
		return routeAdaptive(ctx, j.Job, o)
	}
	if err := j.Compute(ctx); err != nil {
		return j.Refusal(ctx, err, o.json)
	}
	if err := j.readInForce(ctx, inForce); err != nil {
		return err
	}
	if o.adaptive == minimalGroups && j.Verdict.Free() {
		if err := j.widen(ctx); err != nil {
			return err
		}
	}
	if o.multicast != 0 && j.Verdict.Free() {
		if err := j.span(ctx, o.multicast); err != nil {
			return err
		}
	}
	if j.Verdict.Free() {
		if err := j.takeSturdiest(ctx, o.survives, change.Options{Contract: j.Contract, Scope: j.Scope, AllowDrops: o.drain}); err != nil {
			return err
		}
		if err := j.planRepairs(ctx, o.survives, o.drain); err != nil {
			return err
		}
	}
	if o.out != "" && (j.Verdict.Free() || o.unproven) {
		if err := j.write(ctx); err != nil {
			return err
		}
	}
	return j.report()
}

// write writes the output folder, and finds how OpenSM takes the tables; of what is not proven nothing
// is said.
func (j *routeRun) write(ctx context.Context) (err error) {
	j.Out = filepath.Clean(j.o.out)
	if j.Verdict.Free() {
		if j.Install, err = j.Installation(ctx, j.Out, j.DeployCommand(j.Out), j.Wanted.String()); err != nil {
			return err
		}
	}
	return j.WriteFolder(ctx, j.Out, j.o.force, j.summary)
}
