package route

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/measured"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/counters/explain"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

type compareFlags struct {
	route        flags.Engine
	engines      []string
	tables       []string
	measured     measured.Flags
	uniformRates bool
	precision    float64
	phases       int
	strict       bool
	json         bool
	csv          bool
	markdown     bool
}

// Compare makes the command weft compare.
func Compare(a *console.Console) *cobra.Command {
	var o compareFlags
	c := &cobra.Command{
		Use:   "compare FABRIC",
		Short: "One table of what engines, and the tables in force, make of a fabric",
		Long: `Route a fabric with several engines and put them side by side, with the tables
that are in force, so that it shows what would change: the verdict and under
which contract, lanes and service levels, hops, the edge-forwarding index (the
most routes over a channel between switches), the effective bisection bandwidth
as a fraction of full, how long all-to-all takes with the ranks in three orders,
and the time and memory that routing took. An engine that refuses is listed with
its reason.

With --measured, counters of the ports are put beside what the routes of each row
predict if all send alike to all: the correlation, and for the first row the cables
that wait longer than their load explains, carry more than it explains, or carry
traffic though no route leads over them. An ibdiagnet2.net_dump_ext has error rates
in place of bytes: it shows, the worst first, which ports receive badly and over
which cables, and cables with two modes of error correction; routes and loads are not
compared with it. It may be given beside the others. All of it makes one list of
cables in trouble, with what to do and the command; --events adds those that flap,
--cabling those that are elsewhere than they should be.

With --traffic FILE, the traffic that is measured or expected gets a column: how long
it takes if the fullest channel is busy all the time, 1 being the fullest link of a
host, which no routing changes. Engines that can make their paths for it do, as weft
route --traffic; FILE is as there.

All-to-all is counted in shift phases, each of which waits for its slowest flow:
the time is that of the fullest channel of each phase, and 1 means that no flow
is in another's way. Ranks sit by switch and port, by the names of hosts, as
schedulers hand them out, and at random. Of more than --phases phases, so many are
taken. "any routing" is what none can do better, links being alike (weft bound).

--tables NAME=PATH takes tables from a folder with opensm-lfts.dump,
opensm.fdbs or lfts.dump and, where they are, opensm-subnet.lst, SL2VL maps
(opensm-sl2vl.dump, sl2vl.dump) and service levels (paths.psl), plain or packed.

Exit code 1: cables in trouble by an error, or found by --measured to wait or to carry what
no route explains; tables of --tables have
a credit loop, leave pairs without a route or do not fit the fabric (which --strict
refuses; see weft verify), or the network is in parts (unless
--within-parts). What engines would do is no finding.`,
		Example: `  weft compare fabric.ibnetdiscover
  weft compare fabric.ibnetdiscover --tables current=/var/log/opensm --engine updn,dfsssp,nue
  weft compare dragonfly:p=4 --engine sssp+first-fit,sssp+break-cycles --markdown`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runCompare(cmd.Context(), a, args[0], &o) },
	}
	f := c.Flags()
	f.StringSliceVar(&o.engines, "engine", engines.Names(func(e engines.Engine) bool { return e.Compared }), "engines (auto is the best proven one), or path finder + lane assigner, with commas between (default: those that weft engines says are compared)")
	f.Lookup("engine").DefValue = "" // help says it
	o.measured.AddTo(f, "to put beside what routes predict")
	o.measured.Complete(c)
	flags.AddNamed(f, &o.tables, "tables in force to put beside")
	f.StringVar(&o.route.Traffic, option.Demands.String(), "", "measured or expected traffic, which gets a column, and for which engines make paths that can: a file of src,dst[,bytes], hosts or groups such as 'gpu-*'")
	o.route.Set = f
	flags.AddVLs(f, &o.route.VLs, routing.DefaultVLs, flags.VLsUsage)
	flags.AddLMC(f, &o.route.LMC)
	flags.AddScope(f, &o.route.Scope)
	flags.AddContract(f, &o.route.Contract, "what each engine is made for")
	f.BoolVar(&o.route.WithinParts, "within-parts", false, flags.WithinPartsUsage)
	f.Uint64Var(&o.route.Seed, "seed", 1, "seed of bisections, and of engines that choose by chance")
	f.BoolVar(&o.uniformRates, "uniform-rates", false, "treat all links alike, as the papers do")
	flags.AddPrecision(f, &o.precision)
	flags.Whole(f, &o.phases, "phases", 1000, 0, math.MaxInt, "it cannot be negative", "at most so many phases of all-to-all; 0: all of them")
	f.BoolVar(&o.strict, "strict", false, flags.StrictUsage)
	flags.AddJSON(f, &o.json)
	f.BoolVar(&o.csv, "csv", false, "print comma-separated values")
	f.BoolVar(&o.markdown, "markdown", false, "print the table in Markdown")
	flags.Complete(c, "engine", flags.ChoiceNames)
	c.MarkFlagsMutuallyExclusive("json", "csv", "markdown")
	return c
}

// compareJob is a call of weft compare: rows, a tables in force or an engine each, which are all
// measured by one meter.
type compareJob struct {
	*console.Console
	name   string
	o      *compareFlags
	tables []flags.Named // in force
	routes []*routed.Job // [engine of the flags]
	scope  routing.Scope

	fabric    *fabric.Fabric
	meter     choose.Meter
	seen      *measured.Seen    // of --measured and what else is known of cables
	explained *result.Measured  // what the routes of the first row explain of the counters; nil: there are none
	waiting   []explain.Finding // what they do not explain, for the list of cables in trouble
	received  *result.Received  // how well ports receive, of --measured; nil: no file says it
	troubled  *result.Trouble   // see inTrouble; nil: not made yet
	rows      []result.CompareRow
	bound     *result.AnyRouting // what no routing can do better; nil: not known
}

// runCompare makes the rows, first those of tables in force, and prints them.
func runCompare(ctx context.Context, a *console.Console, name string, o *compareFlags) error {
	j := &compareJob{Console: a, name: name, o: o}
	if err := j.check(); err != nil {
		return err
	}
	if err := j.prepare(); err != nil {
		return err
	}
	for i := range j.tables {
		d := &j.tables[i]
		d.Strict = j.o.strict
		row := result.CompareRow{Name: d.Name, Source: "tables"}
		if err := j.fillInForce(ctx, &row, &d.Tables); err != nil {
			return err
		}
		j.rows = append(j.rows, row)
	}
	for i, r := range j.routes {
		row := result.CompareRow{Name: o.engines[i], Source: "engine"}
		if err := j.fillRouted(ctx, &row, r); err != nil {
			return err
		}
		j.rows = append(j.rows, row)
	}
	s := j.Stage("bound", new(float64))
	var err error
	j.bound, err = routed.BoundOf(ctx, j.fabric, &j.meter, true)
	s.Done()
	if err != nil {
		return err
	}
	if err := j.print(); err != nil {
		return err
	}
	if slices.ContainsFunc(j.rows, rowFound) || measuredFound(j.explained) || receivedFound(j.received) || trouble.Found(j.inTrouble()) || len(j.routes) > 0 && j.routes[0].Apart {
		return &exit.Error{Code: exit.Found}
	}
	return nil
}

// check checks the flags, and makes a job for each engine.
func (j *compareJob) check() error {
	o := j.o
	if len(o.tables) == 0 && flags.HasTables(j.name) {
		o.tables = []string{j.name}
	}
	switch {
	case !(o.precision > 0):
		return exit.Usage("--precision %g: it is a standard error, above zero", o.precision)
	case len(o.engines) == 0 && len(o.tables) == 0:
		return exit.Usage("nothing to compare: --engine is empty, and no --tables are given")
	}
	seen := map[string]bool{}
	for _, name := range o.engines {
		one := o.route
		one.Name, one.Traffic = name, "" // all are measured by the traffic, also engines that do not look at it
		r, err := routed.New(j.Console, j.name, &one)
		if err != nil {
			return err
		}
		if seen[name] {
			return exit.Usage("%s is named twice", name)
		}
		seen[name] = true
		j.routes = append(j.routes, r)
	}
	var err error
	if j.tables, err = flags.NamedTables(o.tables, seen); err != nil {
		return err
	}
	j.scope = o.route.Scope
	return nil
}

// prepare reads the fabric, once for all engines, and the counters, and makes the meter.
func (j *compareJob) prepare() (err error) {
	s := j.Stage("reading", new(float64))
	defer s.Done()
	if j.fabric, err = input.FabricWithLMC(j.Console, j.name, j.o.route.LMC); err != nil {
		return err
	}
	told, err := input.Options(j.Console, j.fabric, &j.o.route)
	if err != nil {
		return err
	}
	for i, r := range j.routes {
		r.Fabric, r.Options, r.VLs = j.fabric, told, j.o.route.LanesOn(j.fabric)
		if i > 0 {
			r.Console = &console.Console{Context: j.Context, Stderr: j.Stderr, Quiet: true} // the first one has warned
		}
		r.CountApart(j.scope, j.o.route.WithinParts)
		r.Console = j.Console
	}
	if err := j.readCounters(); err != nil {
		return err
	}
	among := j.scope.Endpoints(j.fabric)
	if len(among) < 2 {
		return fmt.Errorf("%s: %s in the scope %s: nobody talks to anybody; --endpoints widens it", j.name, words.Plural(len(among), "endpoint"), j.scope)
	}
	j.meter = choose.Meter{Endpoints: j.fabric.ByPort(among), Uniform: j.o.uniformRates, Seed: j.o.route.Seed, Precision: j.o.precision, Phases: j.o.phases, Demands: told.Demands}
	j.meter.Orders, err = choose.Orders(j.fabric, among, j.o.route.Seed)
	return err
}

// fillInForce fills the row of tables in force: it reads, judges and measures them.
func (j *compareJob) fillInForce(ctx context.Context, row *result.CompareRow, files *flags.Tables) error {
	o := deadlock.Options{Scope: j.scope, Contract: flags.ContractOr(j.o.route.Contract, routing.Honored)}
	s := j.Stage("reading "+row.Name, new(float64))
	v, err := input.TablesOf(j.Console, j.name, j.fabric, files)
	s.Done()
	if err != nil {
		return err
	}
	s = j.Stage("verify "+row.Name, &row.Seconds.Verify)
	o.Progress = s.Progress()
	verdict, err := deadlock.Verify(ctx, v.Tables, o)
	s.Done()
	if err != nil {
		return err
	}
	fillVerdict(row, verdict, 0) // how many lanes a proof needs is not known
	row.VLs = verdict.VLs
	assumed := files.Assumed()
	row.Assumed, row.Fit, row.AbsentLanes = &assumed, v.Fit(), outputs.AbsentLanes(j.fabric, verdict.Absent)
	loads, err := congestion.CountTables(ctx, v.Tables, j.scope)
	if err != nil {
		return err
	}
	return j.measure(ctx, row, v.Tables, loads)
}

// fillRouted fills the row of an engine: it routes, and measures the tables. A refusal is a row, too.
func (j *compareJob) fillRouted(ctx context.Context, row *result.CompareRow, r *routed.Job) error {
	heap := watchHeap()
	if r.Wanted.Adaptive != nil {
		return j.fillAdaptive(ctx, row, r, heap)
	}
	stop := sync.OnceFunc(func() { row.Heap = heap.stop() })
	r.Made = stop // the judge's memory does not count
	err := r.Compute(ctx)
	stop()
	row.Seconds.Paths, row.Seconds.Lanes, row.Seconds.Choose = r.Spent.Paths, r.Spent.Lanes, r.Spent.Choose
	if err != nil {
		return fillRefusal(ctx, row, err)
	}
	if r.Wanted.Auto {
		row.Chosen = r.Engine.Name
	}
	fillVerdict(row, r.Verdict, r.Tables.Lanes.Needed)
	row.LaneCounts = r.Lanes()
	row.Seconds.Verify = r.Spent.Verify
	return j.measure(ctx, row, r.Tables, r.Loads)
}

// fillAdaptive fills the row of an adaptive engine: there are no tables, and so no
// flows to count.
func (j *compareJob) fillAdaptive(ctx context.Context, row *result.CompareRow, r *routed.Job, heap *heapWatch) error {
	t, v, err := r.Adapt(ctx)
	row.Heap = heap.stop()
	row.Seconds.Paths, row.Seconds.Verify = r.Spent.Paths, r.Spent.Verify
	if err != nil {
		return fillRefusal(ctx, row, err)
	}
	row.Verdict, row.Contract, row.VLs, row.VLsUsed = outputs.WordOf(v), "adaptive", v.VLs, v.VLs
	row.LaneCounts = result.LaneCounts{Needed: t.Needed, Used: v.VLs, Available: r.VLs, Limit: outputs.LaneLimit(j.fabric, r.VLs)}
	row.Unreachable = v.Unreachable
	row.Hops = &result.Hop{Max: v.Hops}
	return nil
}

// measure fills in hops, loads, bandwidth and times of tables, and puts counters beside their loads.
func (j *compareJob) measure(ctx context.Context, row *result.CompareRow, t *routing.Tables, loads *congestion.Loads) error {
	row.Hops = &result.Hop{Mean: loads.MeanHops(), Max: loads.MaxHops}
	row.Index = &loads.Max
	j.explain(row, t, loads)
	m := j.meter
	m.Stage = func(what string) (routing.Progress, func()) {
		s := j.Stage(row.Name+": "+what, &row.Seconds.Simulate)
		return s.Progress(), s.Done
	}
	x, err := m.Measure(ctx, t)
	if err != nil {
		return err
	}
	row.EBB, row.StdErr, row.Shifts = &x.Lambda, &x.StdErr, routed.ShiftsOf(x.Shifts)
	if took := x.Shifts[0].Time; took > 0 {
		row.AllToAll = &took
	}
	row.Traffic, row.TrafficMean = x.Traffic, x.TrafficMean
	return nil
}

// fillVerdict fills in a verdict; lanes is how many the proof needs, 0 if that is not known.
func fillVerdict(r *result.CompareRow, v *deadlock.Verdict, lanes int) {
	r.Verdict, r.Contract, r.VLs, r.VLsUsed, r.SLs = outputs.WordOf(v), v.Contract.String(), lanes, v.VLs, v.SLs
	r.LaneCounts = result.LaneCounts{Needed: lanes, Used: v.VLs}
	r.Pairs, r.Unreachable, r.Complete = v.Pairs, v.Unreachable, v.Complete()
}

// fillRefusal fills in why an engine refuses. Only the end of the context is an error.
func fillRefusal(ctx context.Context, r *result.CompareRow, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.Refused = err.Error()
	if few := (*routing.TooFewLanes)(nil); errors.As(err, &few) {
		r.VLs = few.Need
		r.LaneCounts = result.LaneCounts{Needed: few.Need, Available: few.Have}
	}
	return nil
}

// heapWatch looks at the size of the heap while an engine routes.
type heapWatch struct {
	base  uint64
	end   chan struct{}
	found chan uint64
}

// watchHeap begins to look, after a garbage collection.
func watchHeap() *heapWatch {
	runtime.GC()
	w := &heapWatch{base: heapBytes(), end: make(chan struct{}), found: make(chan uint64)}
	go func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		most := w.base
		for {
			select {
			case <-tick.C:
				most = max(most, heapBytes())
			case <-w.end:
				w.found <- max(most, heapBytes())
				return
			}
		}
	}()
	return w
}

// stop ends the looking and returns by how many bytes the heap was larger than
// when it began, garbage not collected yet included.
func (w *heapWatch) stop() int64 {
	close(w.end)
	return int64(<-w.found - w.base)
}

// heapBytes is the size of the heap now.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// rowFound reports whether the tables in force are not as they should be.
func rowFound(r result.CompareRow) bool {
	return r.Source == "tables" && (r.Verdict != result.DeadlockFree || !r.Complete || r.Misfits != nil || len(r.AbsentLanes) > 0)
}
