package campaigns

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
	"github.com/weft-fabric/weft/internal/reproduce"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/campaign"
	"github.com/weft-fabric/weft/internal/sweep/meter"
	"github.com/weft-fabric/weft/internal/sweep/pool"
	"github.com/weft-fabric/weft/internal/sweep/results"
)

type sweepFlags struct {
	out, estimates, files string
	set                   string   // of the SPEC's
	have                  []string // results that count as taken
	shard                 sweep.Shard
	workers, memory       int
	wait                  time.Duration
	dryRun, json          bool
	slurm                 slurmFlags
}

// Sweep makes the command weft sweep.
func Sweep(a *console.Console) *cobra.Command {
	o := sweepFlags{shard: sweep.Shard{I: 1, N: 1}}
	c := &cobra.Command{
		Use:   "sweep SPEC -o DIR",
		Short: "Measure many networks under many engines: campaigns from a file",
		Long: `Measure many networks under many engines. SPEC is a YAML file with networks,
engines and measures; every network with every engine is a point, and every
measure of a point a row of the results (docs/sweep.md).

Points are taken side by side, each in a process of its own on one core, and kept in
the folder as they are finished: what is killed goes on from there when it is called
again, and takes no finished point twice. A point is known by what it describes, so
that a SPEC can grow, and results of one SPEC count for another. What an engine
answers is a result, refusals included.

At the end the folder has results.parquet; weft sweep csv, plot and merge take it
from there. On several machines: --shard 3/16 takes one part of sixteen, by the
estimates of about the same length, into a folder of its own; --slurm has a cluster
take all of them, submits again what failed, was preempted or lost its node, and
merges.

Exit code 4: weft itself failed at some points; the rows say at which and how.`,
		Example: `  weft sweep examples/sweeps/random-networks.yaml --dry-run
  weft sweep examples/sweeps/random-networks.yaml -o random
  weft sweep plot random --x links --y lanes --by engine -o lanes.svg
  weft sweep SPEC.yaml -o part-3 --shard 3/16
  weft sweep SPEC.yaml -o all --slurm --partition batch --array-limit 64`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runSweep(cmd.Context(), a, args[0], &o) },
	}
	f := c.Flags()
	f.StringVarP(&o.out, "out", "o", "", "folder for results, which also keeps finished points")
	f.BoolVar(&o.dryRun, "dry-run", false, "list the points, and what they are expected to take, instead")
	flags.Parse(f, &o.shard, "shard", "", sweep.ParseShard, "take one part of several, i/n (default: all)")
	flags.Whole(f, &o.workers, "workers", runtime.GOMAXPROCS(0), 1, 4096, "it is from 1 to 4096", "points to take side by side")
	flags.Whole(f, &o.memory, "memory", 4096, 1, math.MaxInt>>20, "it is MiB, at least 1", "MiB that points may use together, about: what needs more than its part is taken alone")
	f.StringVar(&o.estimates, "estimates", "", "file of weft sweep estimates, in place of the built-in figures")
	f.StringVar(&o.files, "files", "", "folder that relative names of files in SPEC start from (default: where SPEC is)")
	f.StringArrayVar(&o.have, "have", nil, "results that are there already, a folder or a Parquet file: their points are not taken; may be repeated")
	f.StringVar(&o.set, "set", "", "which of its sets SPEC is read as, where it has a line sets: (default: the last)")
	f.DurationVar(&o.wait, "wait", 0, "how long to wait for another process that is at the folder (default: not at all)")
	o.slurm.addTo(f)
	flags.AddJSON(f, &o.json)
	c.AddCommand(sweepWorkerCommand(a))
	c.AddCommand(sweepResultsCommands(a)...)
	return c
}

// sweepJob is a SPEC with what is needed to take its points.
type sweepJob struct {
	*console.Console
	o         *sweepFlags
	spec      *sweep.Spec
	text      []byte // of the SPEC
	filesFrom string // folder that its relative names start from
	estimates *sweep.Estimates
	meter     *meter.Meter
	plan      *campaign.Plan
}

// runSweep reads the SPEC and does with its points what the flags say: list them, have a cluster
// take them, or take them here.
func runSweep(ctx context.Context, a *console.Console, name string, o *sweepFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	j := &sweepJob{Console: a, o: o, estimates: sweep.BuiltIn(), meter: sweepMeter(a)}
	if err := j.read(name); err != nil {
		return err
	}
	if o.dryRun {
		return j.dryRun()
	}
	if o.slurm.use {
		return j.slurm(ctx)
	}
	return j.run(ctx)
}

// sweepMeter measures points, and says of their rows who did.
func sweepMeter(a *console.Console) *meter.Meter {
	quiet := *a
	quiet.Quiet = true // oddities of a fabric are not told for each point
	return &meter.Meter{
		Open:    func(name string) (*fabric.Fabric, error) { return input.Fabric(&quiet, name) },
		Version: version.Current().Version + " " + version.Current().Revision, Machine: reproduce.Machine(),
	}
}

// read reads the SPEC and makes the plan.
func (j *sweepJob) read(name string) (err error) {
	j.filesFrom = cmp.Or(j.o.files, filepath.Dir(name))
	read := func(r io.Reader, name string) (*sweep.Spec, error) {
		var text bytes.Buffer
		s, err := sweep.ReadSet(io.TeeReader(r, &text), name, filesIn(j.Console, j.filesFrom), j.o.set)
		j.text = text.Bytes()
		return s, err
	}
	if j.spec, err = console.ReadFile(j.Console, name, read); err != nil {
		return err
	}
	if j.o.estimates != "" {
		if j.estimates, err = console.ReadFile(j.Console, j.o.estimates, sweep.ReadEstimates); err != nil {
			return err
		}
	}
	j.plan = campaign.NewPlan(j.spec.Points, j.estimates, j.meter)
	if j.o.shard.N > 1 {
		j.plan = j.plan.Shard(j.o.shard)
	}
	return nil
}

// filesIn finds files of fabrics and their digests, by names that are relative to a folder.
func filesIn(a *console.Console, dir string) sweep.Files {
	return func(name string) (path, digest string, err error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		info, err := os.Stat(name)
		if err != nil {
			return "", "", err
		}
		if info.IsDir() {
			return "", "", fmt.Errorf("%s is a folder; a network is a file, or a spec", name)
		}
		text, err := a.ReadPlain(name)
		if err != nil {
			return "", "", err
		}
		return name, digestOf(text), nil
	}
}

// digestOf is 16 hexadecimal digits that follow from a text.
func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// run takes the points on this machine.
func (j *sweepJob) run(ctx context.Context) error {
	start, err := startWorkers()
	if err != nil {
		return err
	}
	have, err := readHave(ctx, j.o.have)
	if err != nil {
		return err
	}
	show := showPoints(j.Console)
	s, err := j.plan.Run(ctx, campaign.Options{
		Dir: j.o.out, Wait: j.o.wait, Have: have, Workers: j.o.workers, Memory: int64(j.o.memory) << 20, Meter: j.meter, Progress: func(done, total int) { show.tell(done, total, "") }, Start: start,
	})
	show.stage.Done()
	if ctx.Err() != nil {
		return show.interrupted(j.o.out)
	}
	if err != nil {
		return err
	}
	return j.sweepReport(s)
}

// readHave is the rows of --have.
func readHave(ctx context.Context, names []string) (rows []results.Row, err error) {
	for _, name := range names {
		some, err := results.Of(ctx, name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

// startWorkers is how the pool starts a process that takes points: this program, as weft sweep
// worker.
func startWorkers() (func(cores int) (pool.Worker[sweep.Point, []results.Row], error), error) {
	program, err := os.Executable()
	return func(cores int) (pool.Worker[sweep.Point, []results.Row], error) {
		return pool.Start[sweep.Point, []results.Row](cores, program, "sweep", "worker")
	}, err
}

// sweepWorkerCommand is the process that startWorkers starts: see package pool.
func sweepWorkerCommand(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "worker", Hidden: true, Args: cobra.NoArgs,
		Short: "Take the points that weft sweep sends to standard input",
		RunE: func(cmd *cobra.Command, _ []string) error {
			signal.Ignore(os.Interrupt) // of a terminal: it is for the parent, which ends its workers
			m := sweepMeter(a)
			return pool.Serve(cmd.Context(), a.Stdin, a.Stdout, m.Take)
		},
	}
}
