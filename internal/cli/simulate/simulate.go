package simulate

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/internal/cli/ethernet"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/loads"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

type simulateFlags struct {
	route        flags.Engine
	tables       flags.Tables
	job          flags.Job
	model        congestion.Model
	uniformRates bool
	runs         int
	precision    float64
	hot          int
	json         bool
}

// Command makes the command weft simulate.
func Command(a *console.Console) *cobra.Command {
	var o simulateFlags
	c := &cobra.Command{
		Use:   "simulate FABRIC [--engine ENGINE | --tables FILE]",
		Short: "Count the flows of a traffic pattern: effective bisection bandwidth, hot channels",
		Long: `Put a traffic pattern on the routes of an engine, or of finished tables, and
count how many flows meet on each channel. A flow gets the rate of the fullest
channel on its route divided by the flows there (--model bottleneck, the papers'
model), or its max-min fair share (--model maxmin). For the pattern bisect the
mean over flows and runs is the effective bisection bandwidth, a fraction of full.

Where switches choose among ports (--groups, or the folder of ibdiagnet), a flow is
split at every switch into equal parts for all ports that its packets may take; a pair
has no route if some choice leads nowhere.

weft help patterns lists the patterns, and how ranks are placed on endpoints.
` + flags.HostNamesHelp + `

Runs of random patterns go on until the standard error is at most --precision, or
--runs.

Tables that are older or newer than the fabric are counted as far as they go;
--strict refuses them (see weft verify).

Exit code 1: some pairs have no route, or tables do not fit the fabric.`,
		Example: `  weft simulate fabric.ibnetdiscover --engine dfsssp
  weft simulate fabric.ibnetdiscover --tables opensm.fdbs --lst opensm-subnet.lst --uniform-rates
  weft simulate dragonfly:p=4 --pattern shifts --allocation random:256 --json
  weft simulate fabric.ibnetdiscover --traffic job.csv --model maxmin`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSimulate(cmd.Context(), a, args[0], &o)
		},
	}
	o.addTo(c, "bisect", "seed of random patterns and placements, and of engines that choose by chance")
	f := c.Flags()
	flags.Word(f, &o.model, "model", congestion.Bottleneck, congestion.ParseModel, "bandwidth model: bottleneck or maxmin")
	f.BoolVar(&o.uniformRates, "uniform-rates", false, "treat all links alike, as the papers do")
	flags.Whole(f, &o.runs, "runs", 0, 0, math.MaxInt, "it cannot be negative", "runs of a random pattern (default: until the precision is reached)")
	f.Float64Var(&o.precision, "precision", 0, fmt.Sprintf("standard error at which runs end (default %g without --runs)", congestion.DefaultPrecision))
	flags.Whole(f, &o.hot, "hot", 10, 0, math.MaxInt, "it cannot be negative", "how many of the hottest channels to list")
	return ethernet.Simulate(a, c, &o.job)
}

// addTo declares what tells routes, which may be finished tables, and the job that uses
// them; pattern is the one that is meant if none is given, seed what --seed is of.
func (o *simulateFlags) addTo(c *cobra.Command, pattern, seed string) {
	o.route.AddTo(c, auto.Name)
	o.route.SeedForMore(seed)
	o.tables.AddTo(c)
	o.job.AddTo(c, pattern)
	flags.AddJSON(c.Flags(), &o.json)
	flags.Without(c, "tables", "engine", "paths", "contract", "time-budget")
}

// simulateJob is a call of weft simulate, stage by stage: check, obtain, place, count. weft place takes
// the first three, too.
type simulateJob struct {
	*console.Console
	name    string
	o       *simulateFlags
	scope   routing.Scope
	options congestion.Options // by check, but the placement by place
	source  string             // what the tables are called
	tables  *routing.Tables    // by obtain, as is fit
	fit     result.Fit         // of finished tables
	result  *congestion.Result // by count, as are the rest
	loads   *congestion.Loads
	lanes   []loads.Lane
	times   *congestion.Times // of the traffic of a file; nil: a pattern
	spent   result.SimulateSeconds
}

// runSimulate is the whole command.
func runSimulate(ctx context.Context, a *console.Console, name string, o *simulateFlags) error {
	j := &simulateJob{Console: a, name: name, o: o}
	if err := j.check(); err != nil {
		return err
	}
	if err := j.obtain(ctx); err != nil {
		return err
	}
	if err := j.place(); err != nil {
		return err
	}
	if err := j.count(ctx); err != nil {
		return err
	}
	s := j.summary()
	return j.Answer(o.json, s, func() error { return j.screen(s) }, s.NoRoute > 0 || s.Misfits != nil)
}

// check checks the flags.
func (j *simulateJob) check() (err error) {
	o := j.o
	j.scope = o.route.Scope
	if j.options.Pattern, err = o.job.Parse(j.Console); err != nil {
		return err
	}
	if !(o.precision >= 0) { // not a number is not
		return exit.Usage("--precision %g: it cannot be negative", o.precision)
	}
	settle := func() error { return o.tables.SettleFor(j.name) }
	if o.route.Chosen() {
		settle = o.tables.Settle
	}
	if err := cmp.Or(settle(), o.route.ForFinished(&o.tables)); err != nil {
		return err
	}
	j.options.Model, j.options.UniformRates, j.options.Seed = o.model, o.uniformRates, o.route.Seed
	j.options.Runs, j.options.Precision = o.runs, o.precision
	return nil
}

// obtain reads finished tables, or computes them.
func (j *simulateJob) obtain(ctx context.Context) error {
	if j.o.tables.LFTs != "" {
		return j.readTables()
	}
	return j.route(ctx)
}

// readTables reads finished tables.
func (j *simulateJob) readTables() error {
	s := j.Stage("reading", &j.spent.Read)
	defer s.Done()
	v, err := input.Read(j.Console, j.name, j.o.route.LMC, &j.o.tables)
	if err != nil {
		return err
	}
	j.tables, j.fit, j.source = v.Tables, v.Fit(), fmt.Sprintf("%s, destinations found by %s", j.o.tables.LFTs, v.Rule)
	return nil
}

// route has an engine make the tables.
func (j *simulateJob) route(ctx context.Context) error {
	r, err := routed.Route(ctx, j.Console, j.name, &j.o.route, j.o.json, nil)
	if err != nil {
		return err
	}
	j.tables, j.source = r.Tables, routed.EngineSource(&r.Engine)
	if r.Wanted.Auto {
		j.source += fmt.Sprintf(", the best of those proven under contract %s", r.Contract)
	}
	j.spent = result.SimulateSeconds{Read: r.Spent.Read, Choose: r.Spent.Choose, Paths: r.Spent.Paths, Lanes: r.Spent.Lanes}
	return nil
}

// place puts the ranks of the pattern on endpoints.
func (j *simulateJob) place() (err error) {
	f := j.tables.Fabric
	among := j.scope.Endpoints(f)
	if len(among) == 0 {
		return fmt.Errorf("%s: it has no endpoints in the scope %s; --endpoints widens it", j.name, j.scope)
	}
	j.options.Pattern, j.options.Placement, err = j.o.job.Place(j.Console, f, among, j.options.Pattern, j.o.route.Seed)
	return err
}

// count counts the flows of the pattern, and besides it the routes over each channel and lane.
func (j *simulateJob) count(ctx context.Context) (err error) {
	s := j.Stage("simulate", &j.spent.Simulate)
	j.options.Progress, j.options.Tiers = s.Progress(), loads.Trunks(j.tables.Fabric, loads.Levels(j.tables.Fabric, j.scope))
	j.result, err = congestion.Simulate(ctx, j.tables, j.options)
	s.Done()
	if err != nil {
		return err
	}
	if j.o.job.IsFile() && j.result.Flows > 0 {
		if j.times, err = congestion.TimesOf(ctx, j.tables, j.options); err != nil {
			return err
		}
	}
	if j.loads, err = congestion.CountTables(ctx, j.tables, j.scope); err != nil {
		return err
	}
	lanes, err := congestion.CountLanes(ctx, j.tables, j.scope)
	if err != nil {
		return err
	}
	j.lanes = loads.Lanes(lanes)
	return nil
}
