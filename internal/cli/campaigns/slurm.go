package campaigns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/journal"
	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/campaign"
	"github.com/weft-fabric/weft/internal/sweep/results"
	"github.com/weft-fabric/weft/internal/sweep/slurm"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/internal/words"
)

// slurmFlags is what weft sweep is told about a cluster.
type slurmFlags struct {
	use                bool
	tasks, atATime     int
	partition, account string
	sbatch             []string
	every              time.Duration
}

func (o *slurmFlags) addTo(f *pflag.FlagSet) {
	f.BoolVar(&o.use, "slurm", false, "have a cluster take the points: submit an array of jobs, follow it, merge")
	flags.Whole(f, &o.tasks, "tasks", 0, 0, math.MaxInt32, "it cannot be negative", "with --slurm: jobs of the array (default: as many as make an hour each, by the estimates)")
	flags.Whole(f, &o.atATime, "array-limit", 0, 0, math.MaxInt32, "it cannot be negative", "with --slurm: jobs that may run at a time (default: no limit)")
	f.StringVar(&o.partition, "partition", "", "with --slurm: partition of the jobs")
	f.StringVar(&o.account, "account", "", "with --slurm: account of the jobs")
	f.StringArrayVar(&o.sbatch, "sbatch", nil, "with --slurm: a further flag for sbatch, as in --sbatch=--cpus-per-task=4; may be repeated")
	f.DurationVar(&o.every, "every", 10*time.Second, "with --slurm: between looks at the queue")
}

// check refuses what makes no sense together.
func (o *sweepFlags) check() error {
	s := &o.slurm
	switch {
	case o.out == "" && !o.dryRun:
		return exit.Usage("where shall the results go? -o DIR; --dry-run lists the points only")
	case s.use && o.shard.N > 1:
		return exit.Usage("--slurm deals the points out by itself; --shard is what its tasks are called with")
	case s.use && s.every <= 0:
		return exit.Usage("--every %s: give a time above 0", s.every)
	case !s.use && (s.tasks > 0 || s.atATime > 0 || s.partition != "" || s.account != "" || s.sbatch != nil):
		return exit.Usage("--tasks, --array-limit, --partition, --account and --sbatch are for --slurm")
	}
	if err := slurm.CheckFlags(s.sbatch); err != nil {
		return exit.Usage("--sbatch: %v", err)
	}
	return nil
}

// slurmJob is a campaign on a cluster, while it is followed. Its folder has slurm/, with what was
// submitted and what tasks printed, and shards/, a folder for each task. A task is weft sweep
// --shard on some machine of the cluster; tasks are numbered from 1.
type slurmJob struct {
	*sweepJob
	dir   string // absolute
	tasks int
	parts []part        // [task-1]
	have  []results.Row // of the folder itself
}

// part is the points of one task.
type part struct {
	plan *campaign.Plan
	size int64 // of its log when it was read last; -1: not yet
	left int   // how many points had something left then
}

// submitted is what the folder remembers, so that the same tasks are followed when the command is
// run again.
type submitted struct {
	Tasks int    `json:"tasks"`
	Spec  string `json:"spec"` // digest
}

// slurm has a cluster take the points (--slurm): it submits the tasks, follows them until they end,
// and brings their rows together.
func (j *sweepJob) slurm(ctx context.Context) error {
	dir, err := filepath.Abs(j.o.out)
	if err != nil {
		return err
	}
	s := &slurmJob{sweepJob: j, dir: dir}
	if err := os.MkdirAll(s.in("slurm"), 0o755); err != nil {
		return err
	}
	alone, err := journal.Hold(s.in("slurm/followed"))
	if err != nil {
		return fmt.Errorf("is there another weft sweep --slurm that follows the tasks of %s? %w", j.o.out, err)
	}
	defer alone.Close()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	j.Tell("%s of %s in %s, named %s (scancel --name=%s ends them)", words.Plural(s.tasks, "task"), words.Plural(len(j.plan.Points), "point"), j.o.out, s.jobName(), s.jobName())
	err = s.follow(ctx)
	if ctx.Err() != nil {
		fmt.Fprintf(j.Stderr, "weft: interrupted; the tasks go on, and the same command follows them again (scancel --name=%s ends them)\n", s.jobName())
		return &exit.Error{Code: exit.Interrupted}
	}
	stuck := (*slurm.Stuck)(nil)
	if err != nil && !errors.As(err, &stuck) {
		return err
	}
	sum, collected := s.collect()
	if err := errors.Join(err, collected); err != nil {
		return err
	}
	return j.sweepReport(sum)
}

// in is a file or folder in that of the campaign.
func (s *slurmJob) in(name string) string { return filepath.Join(s.dir, name) }

// jobName is the same for one folder, and another for another.
func (s *slurmJob) jobName() string { return "weft-" + digestOf([]byte(s.dir)) }

// shard is the folder of a task.
func (s *slurmJob) shard(task int) string { return s.in(fmt.Sprintf("shards/%04d", task)) }

// prepare sets how many tasks there are and which points each has, as an earlier call settled it
// where there was one, and writes what tasks need.
func (s *slurmJob) prepare(ctx context.Context) error {
	digest := digestOf(append([]byte(s.o.set), s.text...))
	var was submitted
	text, err := s.ReadPlain(s.in("slurm/submitted.json"))
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	case json.Unmarshal(text, &was) != nil || was.Tasks < 1:
		return fmt.Errorf("%s is damaged: take another folder, and merge the shards of this one into it", s.in("slurm/submitted.json"))
	case was.Spec != digest:
		return fmt.Errorf("the tasks of %s are of another SPEC, or of this one before it was changed: weft sweep merge %s -o NEW keeps what they have, and --slurm -o NEW takes the rest",
			s.o.out, filepath.Join(s.o.out, "shards", "*"))
	}
	if err := s.readFolder(); err != nil {
		return err
	}
	if s.tasks = was.Tasks; s.tasks == 0 {
		if s.tasks, err = s.howMany(ctx); err != nil {
			return err
		}
	}
	if err := s.write(digest); err != nil {
		return err
	}
	shards := sweep.Deal(s.plan.Points, s.plan.Costs, s.tasks)
	s.parts = make([]part, s.tasks)
	for i := range s.parts {
		s.parts[i] = part{plan: s.plan.Pick(func(point int) bool { return shards[point] == i }), size: -1}
	}
	return nil
}

// readFolder reads what the folder itself has into s.have: no task takes it again.
func (s *slurmJob) readFolder() error {
	log, err := results.Open(s.dir)
	if err != nil {
		return err
	}
	s.have = log.Rows
	return log.Close()
}

// taskSeconds is how long a task shall take: long beside what a scheduler takes to start
// it, short beside its patience.
const taskSeconds = 3600

// howMany is the number of tasks of --tasks, or as many as are left with about taskSeconds of work
// each.
func (s *slurmJob) howMany(ctx context.Context) (int, error) {
	most, err := slurm.MostTasks(ctx)
	if err != nil {
		return 0, err
	}
	seconds := 0.0
	jobs := s.plan.Left(s.have, s.meter.Version, 0)
	for _, job := range jobs {
		seconds += job.Cost
	}
	wanted := s.o.slurm.tasks
	if wanted > most {
		return 0, exit.Usage("--tasks %d: an array has at most %d jobs here (MaxArraySize)", wanted, most)
	}
	if wanted == 0 {
		wanted = int(math.Ceil(seconds / taskSeconds))
	}
	return max(1, min(wanted, most, len(jobs))), nil
}

// write writes into slurm/ the SPEC, so that tasks read it as it is now, the script that a task
// runs, and last what the folder remembers.
func (s *slurmJob) write(digest string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	files, err := filepath.Abs(s.filesFrom)
	if err != nil {
		return err
	}
	command := []string{words.ShellQuoted(program), "sweep", words.ShellQuoted(s.in("slurm/spec.yaml")), "--out", words.ShellQuoted(s.in("shards")) + `/"$(printf %04d "$i")"`, "--shard", fmt.Sprintf(`"$i/%d"`, s.tasks),
		"--have", words.ShellQuoted(s.dir), "--files", words.ShellQuoted(files), "--memory", fmt.Sprint(s.o.memory), "--workers", `"${SLURM_CPUS_PER_TASK:-1}"`, "--wait", "2m"}
	script := "#!/bin/sh\n# One part of a campaign, by its number: see weft sweep --slurm.\ni=$SLURM_ARRAY_TASK_ID\n"
	if s.o.set != "" {
		command = append(command, "--set", words.ShellQuoted(s.o.set))
	}
	if s.o.estimates != "" {
		command = append(command, "--estimates", words.ShellQuoted(s.in("slurm/estimates.csv")))
	}
	root, err := os.OpenRoot(s.in("slurm"))
	if err != nil {
		return err
	}
	defer root.Close()
	write := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if s.o.estimates != "" {
		if err := whole.Write(root, "estimates.csv", 0o644, s.estimates.Write); err != nil {
			return err
		}
	}
	return errors.Join(
		whole.Write(root, "spec.yaml", 0o644, write(string(s.text))),
		whole.Write(root, "task.sh", 0o755, write(script+"exec "+strings.Join(command, " ")+"\n")),
		whole.Write(root, "submitted.json", 0o644, whole.JSON(submitted{s.tasks, digest})),
	)
}

// attemptsOfTask is how often a task is submitted that gets no further.
const attemptsOfTask = 3

// follow has Slurm run all tasks, and returns when none has anything left.
func (s *slurmJob) follow(ctx context.Context) error {
	o := &s.o.slurm
	var args []string
	if o.partition != "" {
		args = append(args, "--partition="+o.partition)
	}
	if o.account != "" {
		args = append(args, "--account="+o.account)
	}
	show := showPoints(s.Console)
	defer show.stage.Done()
	total := len(s.plan.Points)
	return slurm.Run(ctx, slurm.Options{
		Name: s.jobName(), Tasks: s.tasks, AtATime: o.atATime, Flags: append(args, o.sbatch...), Script: s.in("slurm/task.sh"), Logs: s.in("slurm"),
		Every: o.every, Attempts: attemptsOfTask, Left: s.left, Tell: s.Tell,
		Look: func(left []int, q slurm.Queue) {
			sum := 0
			for _, n := range left {
				sum += n
			}
			show.tell(total-sum, total, fmt.Sprintf("%s running, %d waiting", words.Plural(q.In("RUNNING"), "task"), q.In("PENDING")))
		},
	})
}

// left is how many points a task has left, by the log in its folder, which is read when it has grown.
func (s *slurmJob) left(task int) (int, error) {
	p := &s.parts[task-1]
	var rows []results.Row
	size := int64(0)
	switch info, err := os.Stat(filepath.Join(s.shard(task), results.LogFile)); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return 0, err
	default:
		size = info.Size()
	}
	if size == p.size {
		return p.left, nil
	}
	if size > 0 {
		var err error
		if rows, err = results.Of(s.Context, s.shard(task)); err != nil {
			return 0, err
		}
	}
	p.size, p.left = size, len(p.plan.Left(slices.Concat(s.have, rows), s.meter.Version, 0))
	return p.left, nil
}

// collect brings what tasks took into the folder itself, and is the summary of that.
func (s *slurmJob) collect() (*campaign.Summary, error) {
	var sets [][]results.Row
	for task := 1; task <= s.tasks; task++ {
		if console.Missing(filepath.Join(s.shard(task), results.LogFile)) {
			continue // it had nothing left from the start
		}
		rows, err := results.Of(s.Context, s.shard(task))
		if err != nil {
			return nil, err
		}
		sets = append(sets, rows)
	}
	return s.plan.Collect(s.dir, sets...)
}
