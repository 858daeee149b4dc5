package route

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/internal/cli/changes"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing/engines"
)

type routeFlags struct {
	flags.Engine
	out             string
	force, unproven bool
	keep, steps     string
	restore         string
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
by side; --lfts-dir puts the tables in force beside it. An engine
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
--steps writes them all, each as --out does, with a plan that says when to go on.
When what was broken is back, --restore THEN leads from the tables of --keep to those
of THEN, entry for entry, in steps of the same kind.`,
		Example: `  weft route fabric.ibnetdiscover
  weft route fabric.ibnetdiscover --contract honored --time-budget 60s
  weft route fabric.ibnetdiscover --engine lash --vls 4 --out tables
  weft route dragonfly:p=4 --paths sssp --lanes first-fit --json
  weft route now.ibnetdiscover --keep tables --before then.ibnetdiscover --steps plan
  weft route then.ibnetdiscover --keep plan/step-1 --before now.ibnet --restore tables --steps back`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, flag := range []string{"out", "keep", "steps", "restore"} {
				if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() == "" {
					return exit.Usage("--%s names no folder", flag)
				}
			}
			if o.keep != "" {
				return changes.RunKeep(cmd.Context(), a, args[0], &changes.KeepFlags{
					Engine: &o.Engine, Keep: o.keep, Restore: o.restore, Out: o.out, Steps: o.steps, Force: o.force, Drops: o.drain, JSON: o.json,
				})
			}
			if o.steps != "" || o.restore != "" {
				return exit.Usage("--steps and --restore are about tables in force: they need --keep")
			}
			return runRoute(cmd.Context(), a, args[0], &o)
		},
	}
	o.AddTo(c, engines.AutoName)
	o.AddClassesTo(c)
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "folder to write the tables into")
	f.BoolVar(&o.force, "force", false, "replace the files of an earlier run in the folder")
	f.BoolVar(&o.unproven, "write-unproven", false, "write the tables even if they have a credit loop")
	addTableDirs(f, &o.inForce)
	o.AddTrafficTo(c)
	flags.AddJSON(f, &o.json)
	f.StringVar(&o.keep, "keep", "", "mend these tables, of this fabric or of the one --before: a folder, of OpenSM's dumps or of --out, or a file of forwarding tables")
	f.StringVar(&o.steps, "steps", "", "with --keep, folder to write each step into, step-1, step-2 and so on, with plan.txt and plan.json")
	f.StringVar(&o.restore, "restore", "", "with --keep, change these tables into those, entry for entry, in place of mending them: tables of this fabric, such as those from before a failure")
	f.BoolVar(&o.drain, "drain", false, "with --keep and --survive, let single destinations drop their packets for a step where there is no other way")
	f.StringSliceVar(&o.survives, "survive", nil, "plan the repair of every single failure: links, switches or both with a comma between; of tables as good as these by another engine, root or seed, unless given, those with the fewest exceptions are taken; exit 1 if a failure has no plan")
	flags.OneOf(f, &o.adaptive, "adaptive", "minimal: give entries groups of ports to choose from, all that lead nearer and keep the proof, written as groups.far", noGroups, minimalGroups)
	flags.SLs(f, &o.multicast, "multicast-sl", "find a spanning tree for multicast groups on these service levels too, such as 0, 0,2 or any, proven together with the paths, written as multicast.mcfdbs; exit 1 if there is none")
	flags.Without(c, "adaptive", "survive", "multicast-sl")
	flags.Without(c, "multicast-sl", "survive")
	flags.Without(c, "keep", "classes", "lfts-dir", "adaptive", "multicast-sl", "engine", "paths", "lanes", "vls", "sls", "roots", "lmc", "order", "prefer", "aim", "traffic", "weight", "seed", "time-budget", "write-unproven", "survive")
	c.MarkFlagsMutuallyExclusive("out", "steps")
	return c
}

// routeRun is weft route: what was routed, and what was asked for with it.
type routeRun struct {
	*routed.Job
	o *routeFlags
	routed.Written
	inForce  []result.InForce    // beside what auto tried
	compared []*result.Candidate // tables that could be had as well
	best     string              // the engine that auto chose, if another has fewer exceptions; empty: it is the same
	survival []*result.Survival
	treeless *weft.NoTree // why there is no spanning tree for multicast that was asked for; nil: there is one, or nobody asked
}

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
	dirs, err := j.inForceDirs(name, o.inForce)
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
	if err := j.readInForce(ctx, dirs); err != nil {
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
		if err := j.sturdiest(ctx, o.survives, change.Options{Contract: j.Contract, Scope: j.Scope, AllowDrops: o.drain}); err != nil {
			return err
		}
		if err := j.survive(ctx, o.survives, o.drain); err != nil {
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

// write writes the output folder. What is not proven is never installed.
func (j *routeRun) write(ctx context.Context) (err error) {
	j.Out = filepath.Clean(j.o.out)
	if j.Verdict.Free() {
		if j.Install, err = j.Installation(ctx, j.Out, j.DeployCommand(j.Out), j.Wanted.String()); err != nil {
			return err
		}
	}
	return j.WriteFolder(ctx, j.Out, j.o.force, j.summary)
}
