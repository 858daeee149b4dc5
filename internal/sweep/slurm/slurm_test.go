package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// cluster is Slurm as far as a follower sees it: what squeue prints at each look, and what
// becomes of tasks that are submitted.
type cluster struct {
	t         *testing.T
	looks     []string // what squeue prints, one after the other; "!" is an error
	at        int
	left      []int              // [task-1]
	submitted []string           // arrays
	since     []int              // looks before each
	flags     []string           // of the last
	ran       func(array string) // what becomes of an array
	said      []string
	logs      string   // folder; empty: logs
	commands  []string // but squeue and sbatch
}

func (c *cluster) command(_ context.Context, name string, args ...string) (string, error) {
	switch name {
	case "squeue":
		i := min(c.at, len(c.looks)-1)
		c.at++
		if c.looks[i] == "!" {
			return "", errors.New("slurm_load_jobs error: Unable to contact slurm controller")
		}
		return c.looks[i], nil
	case "sbatch":
		c.flags = args
		array, _ := strings.CutPrefix(args[len(args)-3], "--array=")
		if array == "fails" {
			return "", errors.New("sbatch: error")
		}
		c.submitted, c.since = append(c.submitted, array), append(c.since, c.at)
		if c.ran != nil {
			c.ran(array)
		}
		return fmt.Sprintf("%d;cluster\n", 100+len(c.submitted)), nil
	case "sacct":
		return "", errors.New("Slurm accounting storage is disabled")
	}
	c.commands = append(c.commands, name+" "+strings.Join(args, " "))
	return "JobId=7 JobState=FAILED Reason=NodeFail ExitCode=0:15 NodeList=n1\n", nil
}

func (c *cluster) run(tasks, atATime int) error {
	return run(c.t.Context(), Options{
		Name: "weft-test", Tasks: tasks, AtATime: atATime, Flags: []string{"--partition=p"}, Script: "task.sh", Logs: cmp.Or(c.logs, "logs"), Every: time.Millisecond, Attempts: 3,
		Left: func(n int) (int, error) { return c.left[n-1], nil },
		Tell: func(text string, args ...any) { c.said = append(c.said, fmt.Sprintf(text, args...)) },
	}, c.command)
}

func (c *cluster) finish(string) {
	for i := range c.left {
		c.left[i] = 0
	}
}

func check(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestTasksAreSubmittedOnce(t *testing.T) {
	c := &cluster{t: t, left: []int{5, 5, 0, 5}, looks: []string{"", "101|1|RUNNING|None\n101|2|PENDING|Resources\n", "101|2|RUNNING|None\n", ""}}
	c.ran = c.finish
	if err := c.run(4, 2); err != nil {
		t.Fatal(err)
	}
	check(t, "submitted", c.submitted, []string{"1-2,4%2"})
	check(t, "flags", c.flags, []string{"--output=logs/%A_%a.log", "--open-mode=append", "--partition=p", "--parsable", "--array=1-2,4%2", "--job-name=weft-test", "task.sh"})
}

// What a folder is called is no pattern of sbatch's: tasks would end before they begin, or write elsewhere.
func TestFoldersAreNoPatterns(t *testing.T) {
	c := &cluster{t: t, left: []int{5}, looks: []string{""}, logs: "50%j $(id) '"}
	c.ran = c.finish
	if err := c.run(1, 0); err != nil || c.flags[0] != "--output=50%%j $(id) '/%A_%a.log" {
		t.Errorf("%q, %v", c.flags, err)
	}
	c = &cluster{t: t, left: []int{5}, looks: []string{""}, logs: `a\b`}
	if err := c.run(1, 0); err == nil || !strings.Contains(err.Error(), "take another folder") || c.submitted != nil {
		t.Errorf("submitted %q, %v", c.submitted, err)
	}
}

// With a name of the user's own, tasks that run would not be found in the queue, and be
// submitted again and again.
func TestFlagsThatLoseTasks(t *testing.T) {
	for _, f := range []string{"--job-name=mine", "-Jmine", "-J", "--array=1-9", "-a1-9", "--clusters=b", "-Mb", "--wrap=true", "--wait", "-W", "--test-only"} {
		if CheckFlags([]string{"--partition=p", f}) == nil {
			t.Errorf("%s is taken", f)
		}
	}
	if err := CheckFlags([]string{"--account=a", "-A", "a", "-p", "p", "--wait-all-nodes=1", "--mem=1G", "--comment=--array"}); err != nil {
		t.Error(err)
	}
}

// What a user has set for looks of his own must not hide tasks.
func TestSqueueSeesAll(t *testing.T) {
	if got := environment([]string{"A=1", "SQUEUE_STATES=RUNNING", "SLURM_CONF=c", "SQUEUE_SORT=i"}); !slices.Equal(got, []string{"A=1", "SLURM_CONF=c"}) {
		t.Errorf("the environment is %q", got)
	}
	f := &follower{command: func(_ context.Context, name string, args ...string) (string, error) {
		if name != "squeue" || !slices.Contains(args, "--all") {
			t.Errorf("%s %q leaves out hidden partitions", name, args)
		}
		return "", nil
	}}
	if _, err := f.queue(t.Context()); err != nil {
		t.Error(err)
	}
}

// Whoever begins to follow finds tasks in the queue, and submits the others only.
func TestTasksInTheQueueAreNotSubmittedAgain(t *testing.T) {
	c := &cluster{t: t, left: []int{5, 5}, looks: []string{"90|1|PENDING|Priority\n", "90|1|RUNNING|None\n", ""}}
	c.ran = c.finish
	if err := c.run(2, 0); err != nil {
		t.Fatal(err)
	}
	check(t, "submitted", c.submitted, []string{"2"})
}

func TestNothingLeftIsNothingToDo(t *testing.T) {
	c := &cluster{t: t, left: []int{0, 0}, looks: []string{""}}
	if err := c.run(2, 0); err != nil || c.submitted != nil {
		t.Errorf("%v, submitted %v", err, c.submitted)
	}
}

// A task that is gone and has something left is submitted again, once it was not there at
// two looks; as long as Slurm does not answer, it is not gone.
func TestLostTasksAreSubmittedAgain(t *testing.T) {
	c := &cluster{t: t, left: []int{5, 5}, looks: []string{"", "101|1|RUNNING|None\n101|2|RUNNING|None\n", "!", "!", "101|2|RUNNING|None\n", "101|2|RUNNING|None\n", "102|1|RUNNING|None\n", ""}}
	c.ran = func(string) {
		if len(c.submitted) == 1 {
			c.left = []int{3, 0}
		} else {
			c.finish("")
		}
	}
	if err := c.run(2, 0); err != nil {
		t.Fatal(err)
	}
	check(t, "submitted", c.submitted, []string{"1-2", "1"})
	if said := strings.Join(c.said, "\n"); !strings.Contains(said, "Slurm does not answer, its tasks go on") || !strings.Contains(said, "task 1 has 3 left and is submitted again: FAILED NodeFail 0:15 n1") {
		t.Errorf("said:\n%s", said)
	}
	if len(c.since) != 2 || c.since[1] != 6 {
		t.Errorf("submitted before looks %v", c.since)
	}
}

// A task that one look misses is there.
func TestOneLookIsNotEnough(t *testing.T) {
	c := &cluster{t: t, left: []int{5}, looks: []string{"90|1|RUNNING|None\n", "", "90|1|RUNNING|None\n", "", "90|1|RUNNING|None\n", "", ""}}
	c.ran = c.finish
	if err := c.run(1, 0); err != nil {
		t.Fatal(err)
	}
	if len(c.since) != 1 || c.since[0] != 7 {
		t.Errorf("submitted %v before looks %v", c.submitted, c.since)
	}
}

// What gets further is submitted again however often; what does not is given up.
func TestTasksThatGetNoFurtherAreGivenUp(t *testing.T) {
	c := &cluster{t: t, left: []int{9, 5}, looks: []string{""}}
	c.ran = func(string) { c.left[0] = max(0, c.left[0]-1) }
	err := c.run(2, 0)
	stuck := (*Stuck)(nil)
	if !errors.As(err, &stuck) || !slices.Equal(stuck.Tasks, []int{2}) || !strings.Contains(err.Error(), "FAILED NodeFail") || !strings.HasPrefix(stuck.Log, "logs/") {
		t.Fatalf("got %v", err)
	}
	if c.left[0] != 0 {
		t.Errorf("task 1 has %d left", c.left[0])
	}
	first, second := 0, 0
	for _, array := range c.submitted {
		if strings.HasPrefix(array, "1") {
			first++
		}
		if strings.HasSuffix(array, "2") {
			second++
		}
	}
	if first != 9 || second != 3 {
		t.Errorf("submitted %d and %d times: %v", first, second, c.submitted)
	}
}

func TestMistakesInFlagsShowAtOnce(t *testing.T) {
	c := &cluster{t: t, left: []int{5}, looks: []string{"!"}}
	if err := c.run(1, 0); err == nil || !strings.Contains(err.Error(), "Unable to contact") {
		t.Errorf("no controller: %v", err)
	}
	c = &cluster{t: t, left: []int{5}, looks: []string{"garbage\n"}}
	if err := c.run(1, 0); err == nil || !strings.Contains(err.Error(), "garbage") {
		t.Errorf("what squeue prints is not understood: %v", err)
	}
	c = &cluster{t: t, left: []int{5}, looks: []string{""}}
	refuses := func(ctx context.Context, name string, args ...string) (string, error) {
		if name == "sbatch" {
			return "", errors.New("invalid partition specified")
		}
		return c.command(ctx, name, args...)
	}
	err := run(t.Context(), Options{Tasks: 1, Every: time.Millisecond, Attempts: 3, Left: func(int) (int, error) { return 1, nil }, Tell: func(string, ...any) {}}, refuses)
	if err == nil || !strings.Contains(err.Error(), "invalid partition") {
		t.Errorf("sbatch refuses: %v", err)
	}
}

func TestHeldTasksAreReleased(t *testing.T) {
	c := &cluster{t: t, left: []int{5}, looks: []string{"90|1|PENDING|launch failed requeued held\n", "90|1|RUNNING|None\n", ""}}
	c.ran = c.finish
	if err := c.run(1, 0); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(c.commands, "scontrol release 90_1") {
		t.Errorf("commands: %q", c.commands)
	}
}

func TestFollowerEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	c := &cluster{t: t, left: []int{5}, looks: []string{"90|1|RUNNING|None\n"}}
	err := run(ctx, Options{Tasks: 1, Every: time.Hour, Attempts: 3, Left: func(int) (int, error) { return 1, nil }, Look: func([]int, Queue) { stop() }, Tell: t.Logf}, c.command)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRanges(t *testing.T) {
	for want, list := range map[string][]int{"1": {1}, "1-3": {1, 2, 3}, "1-2,4,6-8": {1, 2, 4, 6, 7, 8}} {
		if got := ranges(list); got != want {
			t.Errorf("%v: %s, want %s", list, got, want)
		}
	}
}
