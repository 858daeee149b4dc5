// Package slurm has a cluster run tasks under Slurm, as an array of jobs: it submits them,
// follows them, and submits again what failed, was preempted or lost its node.
//
// Whether a task has done its work is asked of what it left, never of Slurm: a task that
// Slurm calls failed may have finished, and one that it calls completed may not. Slurm is
// asked one thing, which tasks it still has (squeue); a task that it does not have and that
// has something left is submitted. So whoever follows may end at any time: the next one
// finds the same answers, and submits nothing twice. While Slurm does not answer, nothing
// is concluded.
package slurm

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options says what to run and how.
type Options struct {
	Name    string   // of the jobs, the same whenever the campaign is followed and never another's
	Tasks   int      // numbered from 1
	Flags   []string // for sbatch, such as --partition=batch, none of those that CheckFlags refuses
	AtATime int      // tasks that may run at a time; 0: any number
	Script  string   // that a task runs, a file; SLURM_ARRAY_TASK_ID says which
	Logs    string   // folder for what tasks print

	// Left is what a task has left to do; 0: it is finished.
	Left func(task int) (int, error)

	Every    time.Duration             // between looks at the queue
	Attempts int                       // how often a task is submitted that gets no further
	Look     func(left []int, q Queue) // told of every look, if not nil: what each task has left, from 0
	Tell     func(text string, args ...any)
}

// Stuck is the error for tasks that were submitted again and again and got no further.
type Stuck struct {
	Tasks []int
	Why   string // of the first
	Log   string // likewise
}

func (s *Stuck) Error() string {
	return fmt.Sprintf("%d tasks got no further however often they were submitted, the first of them task %d: %s; what it printed is in %s", len(s.Tasks), s.Tasks[0], s.Why, s.Log)
}

// task is what is known of one.
type task struct {
	left     int    // as Options.Left says
	absent   int    // looks in a row at which Slurm did not have it
	attempts int    // how often it was submitted since it got further
	before   int    // what it had left when it was submitted last; -1: it was not yet
	job      string // where it was seen last
}

// Run has all tasks run, and returns when none has anything left.
func Run(ctx context.Context, o Options) error {
	return run(ctx, o, command)
}

// run is Run with a function that runs Slurm's commands, which tests replace.
func run(ctx context.Context, o Options, command commands) error {
	if strings.Contains(o.Logs, `\`) {
		return fmt.Errorf("sbatch takes \\ in the name of a file for something else: take another folder than %s", o.Logs)
	}
	f := &follower{Options: o, command: command, tasks: make([]task, o.Tasks)}
	for i := range f.tasks {
		f.tasks[i].before = -1
	}
	for first := true; ; first = false {
		q, err := f.queue(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && first:
			return err
		case err != nil:
			f.Tell("Slurm does not answer, its tasks go on: %v", err)
		default:
			if done, err := f.look(ctx, q, first); done || err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(f.Every):
		}
	}
}

// follower is a campaign that is followed.
type follower struct {
	Options
	command commands
	tasks   []task
}

// commands runs a command of Slurm's and returns what it printed.
type commands func(ctx context.Context, name string, args ...string) (string, error)

// look compares what tasks have left with what Slurm has, and submits those that have something
// left and that Slurm does not have. It is done when no task has anything left, and Slurm has none.
func (f *follower) look(ctx context.Context, q Queue, first bool) (done bool, err error) {
	var due, stuck []int
	left := make([]int, f.Tasks)
	done, open := true, len(q) // open counts tasks of which more is to be heard
	for i := range f.tasks {
		t := &f.tasks[i]
		if t.left, err = f.Left(i + 1); err != nil {
			return false, err
		}
		left[i] = t.left
		seen, inQueue := q[i+1]
		if inQueue {
			t.job, t.absent = seen.Job, 0
			done = false
			continue
		}
		if t.left == 0 {
			continue
		}
		done = false
		// What a task wrote on another machine may show a little after it left the queue.
		if t.absent++; t.absent < looks && !first {
			open++
			continue
		}
		if t.before >= 0 && t.left < t.before {
			t.attempts = 0
		}
		if t.attempts >= f.Attempts {
			stuck = append(stuck, i+1)
			continue
		}
		due = append(due, i+1)
	}
	if f.Look != nil {
		f.Look(left, q)
	}
	if len(due) > 0 {
		return false, f.submit(ctx, due, first)
	}
	if len(stuck) > 0 && open == 0 {
		return false, f.stuck(ctx, stuck)
	}
	f.release(ctx, q)
	return done, nil
}

// looks is how many looks in a row must not find a task before it is submitted again.
const looks = 2

// submit submits tasks. If that fails, it is tried again two looks later; at the first look it is
// an error, since then something is wrong with the flags.
func (f *follower) submit(ctx context.Context, due []int, first bool) error {
	for _, n := range due {
		if t := &f.tasks[n-1]; t.before >= 0 {
			f.Tell("task %d has %d left and is submitted again: %s", n, t.left, f.why(ctx, t.job, n))
		}
	}
	array := ranges(due)
	if f.AtATime > 0 {
		array += "%" + strconv.Itoa(f.AtATime)
	}
	// Those by which tasks are found again come last, and of the same flag twice sbatch takes the last.
	args := append([]string{"--output=" + filepath.Join(strings.ReplaceAll(f.Logs, "%", "%%"), "%A_%a.log"), "--open-mode=append"}, f.Flags...)
	args = append(args, "--parsable", "--array="+array, "--job-name="+f.Name, f.Script)
	id, err := f.command(ctx, "sbatch", args...)
	if err != nil {
		if first {
			return err
		}
		f.Tell("%v", err)
		for _, n := range due {
			f.tasks[n-1].absent = 0
		}
		return nil
	}
	id, _, _ = strings.Cut(strings.TrimSpace(id), ";") // a name of the cluster may follow
	f.Tell("submitted job %s with %s", id, count(len(due), "task"))
	for _, n := range due {
		t := &f.tasks[n-1]
		t.attempts, t.before, t.absent, t.job = t.attempts+1, t.left, 0, id
	}
	return nil
}

// count is "1 task" or "3 tasks".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// stuck is the error for tasks that got no further.
func (f *follower) stuck(ctx context.Context, list []int) error {
	job := f.tasks[list[0]-1].job
	return &Stuck{Tasks: list, Why: f.why(ctx, job, list[0]), Log: filepath.Join(f.Logs, fmt.Sprintf("%s_%d.log", job, list[0]))}
}

// ranges is numbers, ascending, as sbatch --array has them: 1-3,7.
func ranges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		part := strconv.Itoa(list[i])
		if k > i {
			part += "-" + strconv.Itoa(list[k])
		}
		parts, i = append(parts, part), k+1
	}
	return strings.Join(parts, ",")
}

// release lets tasks go on that Slurm holds because a node could not start them.
func (f *follower) release(ctx context.Context, q Queue) {
	for _, n := range q.tasks() {
		if s := q[n]; s.Reason == "launch failed requeued held" {
			f.Tell("task %d is held, because a node could not start it: released", n)
			if _, err := f.command(ctx, "scontrol", "release", fmt.Sprintf("%s_%d", s.Job, n)); err != nil {
				f.Tell("%v", err)
			}
		}
	}
}

// Queue is the tasks that Slurm has, by number.
type Queue map[int]Seen

// Seen is how Slurm has a task.
type Seen struct{ Job, State, Reason string }

func (q Queue) tasks() []int { return slices.Sorted(maps.Keys(q)) }

// In counts the tasks in a state, such as RUNNING.
func (q Queue) In(state string) int {
	n := 0
	for _, s := range q {
		if s.State == state {
			n++
		}
	}
	return n
}
