package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// command runs one of Slurm's and returns what it printed.
func command(ctx context.Context, name string, args ...string) (string, error) {
	var out, said bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Env = environment(os.Environ())
	c.Stdout, c.Stderr = &out, &said
	err := c.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("there is no %s here; --slurm is for a machine from which jobs can be submitted", name)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}

// environment is what is set for Slurm's commands, without what a user has set for squeue: with
// SQUEUE_STATES=RUNNING the tasks that wait would seem lost.
func environment(all []string) []string {
	return slices.DeleteFunc(all, func(v string) bool { return strings.HasPrefix(v, "SQUEUE_") })
}

// ours is the flags of sbatch that a caller cannot give, and why.
var ours = []struct{ long, short, why string }{
	{"job-name", "J", "tasks are found again by their name"},
	{"array", "a", "the tasks of an array are parts of the campaign"},
	{"clusters", "M", "tasks are looked for where squeue looks"},
	{"wrap", "", "what a task runs is a part of the campaign"},
	{"test-only", "", "nothing would be submitted"},
	{"wait", "W", "the queue is looked at instead"},
}

// CheckFlags refuses flags for sbatch with which tasks would be others, or not be found
// again.
func CheckFlags(flags []string) error {
	for _, f := range flags {
		name, _, _ := strings.Cut(f, "=")
		for _, o := range ours {
			if name == "--"+o.long || o.short != "" && strings.HasPrefix(name, "-"+o.short) {
				return fmt.Errorf("%s cannot be given to sbatch: %s", name, o.why)
			}
		}
	}
	return nil
}

// queue is the tasks of the campaign that Slurm has, whatever their state, in hidden
// partitions too.
func (f *follower) queue(ctx context.Context) (Queue, error) {
	text, err := f.command(ctx, "squeue", "--all", "--noheader", "--array", "--name="+f.Name, "--format=%F|%K|%T|%r")
	if err != nil {
		return nil, err
	}
	q := Queue{}
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), "|", 4)
		if len(parts) < 4 {
			return nil, fmt.Errorf("squeue printed %q", line)
		}
		n, err := strconv.Atoi(parts[1])
		if err != nil {
			return nil, fmt.Errorf("squeue printed %q", line)
		}
		q[n] = Seen{Job: parts[0], State: parts[2], Reason: parts[3]}
	}
	return q, nil
}

// why is what Slurm says of the end of a task: from its accounts, or where it keeps none,
// from what it remembers for some minutes.
func (f *follower) why(ctx context.Context, job string, n int) string {
	id := fmt.Sprintf("%s_%d", job, n)
	if text, err := f.command(ctx, "sacct", "--noheader", "--allocations", "--parsable2", "--jobs="+id, "--format=State,ExitCode,NodeList"); err == nil && strings.TrimSpace(text) != "" {
		parts := strings.Split(strings.TrimSpace(strings.SplitN(text, "\n", 2)[0]), "|")
		return strings.Join(parts, " ")
	}
	text, err := f.command(ctx, "scontrol", "--oneliner", "show", "job", id)
	if err != nil {
		return "Slurm does not remember how it ended"
	}
	var facts []string
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "JobState", "Reason", "ExitCode", "NodeList":
			facts = append(facts, value)
		}
	}
	return strings.Join(facts, " ")
}

// MostTasks is how many tasks an array may have here.
func MostTasks(ctx context.Context) (int, error) {
	text, err := command(ctx, "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "MaxArraySize" {
			if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n > 1 {
				return n - 1, nil // numbers are below it
			}
		}
	}
	return 1000, nil // Slurm's default
}
