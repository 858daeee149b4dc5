// Command mutants measures the tests: it changes the code in one place at a time, and
// runs the tests that should fail then.
//
// It mutates the code listed in plan.go: the judge, the engines, what they are built
// on, and what brings tables to the machine. A mutant exchanges an operator, negates a
// condition, adds one to a number or subtracts one, or leaves out a statement.
// Messages, sizes of buffers and the steps of loops are left alone. A mutant is killed
// if a test fails or does not end; if it does not compile it does not count. Mutants
// that behave exactly like the program are listed in equivalent.txt, with the reason.
//
//	go run ./build/scripts/mutants                         a sample of 200
//	go run ./build/scripts/mutants -sample 50 deadlock     of some packages
//	go run ./build/scripts/mutants -match dor.go:67        all on one line
//	go run ./build/scripts/mutants -cases -match plugin/prove.c plugin
//	                                                       all of a file, against the proven checker alone
//
// The sample depends only on the seed and the code. Results are stored as they come
// (-results), so that an interrupted run can be continued; survivors are tried again
// with -again. The exit status is 1 if there are survivors.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type options struct {
	seed     uint64
	sample   int
	budget   time.Duration
	patience time.Duration
	results  string
	match    []string
	again    bool
	skip     string
	json     bool
	list     bool
	cases    bool
	drawn    string
	packages []string
}

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "of the sample")
	flag.IntVar(&o.sample, "sample", 200, "how many mutants that compile; 0: all")
	flag.DurationVar(&o.budget, "budget", 0, "stop after this time, with what there is; 0: never")
	flag.DurationVar(&o.patience, "patience", 90*time.Second, "how much processor time the tests of a package may take; four times as much, or five times what they take without a mutant, by the clock")
	flag.StringVar(&o.results, "results", "bin/mutants.jsonl", "where results are kept")
	flag.Func("match", "only mutants whose \"file:line:column in function: change\" contains this, or another if it is given several times; all of them, no sample", func(text string) error {
		o.match = append(o.match, text)
		return nil
	})
	flag.StringVar(&o.skip, "skip", "", "folders to leave out, with commas between")
	flag.BoolVar(&o.again, "again", false, "try those that survived once more")
	flag.BoolVar(&o.json, "json", false, "print the report as JSON")
	flag.BoolVar(&o.cases, "cases", false, "try mutants of the plugin on small cases alone, with the verdicts of the proven checker, and nothing else")
	flag.StringVar(&o.drawn, "drawn", "", "keep these cases in a folder, or take those that are there")
	flag.BoolVar(&o.list, "list", false, "only list the mutants")
	flag.Parse()
	o.packages = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	r, err := run(ctx, &o)
	stop()
	if r != nil && !o.list {
		err = errors.Join(err, r.print(os.Stdout, o.json))
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(4)
	case r != nil && (len(r.Survivors) > 0 || r.Untested > 0):
		os.Exit(1)
	}
}

type report struct {
	Seed        uint64   `json:"seed"`
	Mutants     int      `json:"mutants"` // in all, those that do not compile included
	Tried       int      `json:"tried"`   // of the sample, those that compile
	Killed      int      `json:"killed"`
	ByTheClock  int      `json:"killed_by_the_clock"` // of those killed
	Equivalent  int      `json:"equivalent"`          // counted neither as killed nor as surviving
	NotCompiled int      `json:"do_not_compile"`
	Untested    int      `json:"untested"` // mutants whose tests fail even without them
	Rate        float64  `json:"killed_share"`
	Survivors   []mutant `json:"survivors"`
	Unused      []string `json:"equivalents_that_fit_no_mutant"`
	Complete    bool     `json:"complete"` // the whole sample was tried
}

func run(ctx context.Context, o *options) (*report, error) {
	root, err := repository(ctx)
	if err != nil {
		return nil, err
	}
	allow, err := readEquivalents(filepath.Join(root, "build", "scripts", "mutants", "equivalent.txt"))
	if err != nil {
		return nil, err
	}
	all, err := mutants(root, o.packages)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m mutant) bool {
		return o.skip != "" && matches(strings.Split(o.skip, ","), path.Dir(m.File))
	})
	shuffle(all, o.seed)
	r := &report{Seed: o.seed, Mutants: len(all), Survivors: []mutant{}}
	if len(o.packages) == 0 && o.skip == "" {
		r.Unused = allow.stale(all)
	}
	if len(o.match) > 0 {
		all = slices.DeleteFunc(all, func(m mutant) bool {
			return !slices.ContainsFunc(o.match, func(text string) bool { return strings.Contains(m.String(), text) })
		})
		o.sample = 0
	}
	if o.list {
		for i := range all {
			fmt.Println(&all[i])
		}
		return r, nil
	}
	known, err := openResults(root, filepath.Join(root, o.results), o.again)
	if err != nil {
		return nil, err
	}
	defer known.file.Close()
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := &bench{root: root, dir: dir, patience: o.patience, rapid: map[string]bool{}, sound: map[string]outcome{}, takes: map[string]time.Duration{}, only: o.cases, drawn: o.drawn}
	return r, r.sample(ctx, o, b, all, known, allow)
}

// sample tries mutants in their order until enough of them compile.
func (r *report) sample(ctx context.Context, o *options, b *bench, all []mutant, known *results, allow *equivalents) error {
	began := time.Now()
	r.Complete = true
	for i := range all {
		m := &all[i]
		if o.sample > 0 && r.Tried == o.sample {
			return nil
		}
		if allow.reason(m) != "" {
			r.Equivalent++
			continue
		}
		got, done, err := known.of(m)
		if err != nil {
			return err
		}
		if !done {
			if ctx.Err() != nil || o.budget > 0 && time.Since(began) > o.budget {
				r.Complete = false
				return nil
			}
			start := time.Now()
			if got, err = b.try(ctx, m); ctx.Err() != nil {
				r.Complete = false
				return nil
			} else if err != nil {
				return err
			}
			if got.Fate != untested { // which is for another day
				if err := known.add(m, got, time.Since(start).Seconds()); err != nil {
					return err
				}
			}
			fmt.Fprintf(os.Stderr, "%4d %s: %s %s (%.0f s)\n", r.Tried+1, m, got.Fate, got.By, time.Since(start).Seconds())
		}
		r.count(m, got)
	}
	return nil
}

func (r *report) count(m *mutant, got outcome) {
	switch got.Fate {
	case notCompiled:
		r.NotCompiled++
		return
	case untested:
		r.Untested++
		return
	case survived:
		r.Survivors = append(r.Survivors, *m)
	case timedOut:
		r.ByTheClock++
		fallthrough
	default:
		r.Killed++
	}
	r.Tried++
	r.Rate = float64(r.Killed) / float64(r.Tried)
}

func (r *report) print(w io.Writer, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	for i := range r.Survivors {
		fmt.Fprintf(w, "survived  %s\n", &r.Survivors[i])
	}
	for _, stale := range r.Unused {
		fmt.Fprintf(w, "no such mutant any more, in equivalent.txt: %s\n", stale)
	}
	left := ""
	if r.Untested > 0 {
		left = fmt.Sprintf(", %d whose tests fail without them", r.Untested)
	}
	if !r.Complete {
		left += "; stopped before the whole sample was tried"
	}
	_, err := fmt.Fprintf(w, "killed    %d of %d (%.1f %%), %d of them by the clock; seed %d of %d mutants; beside: %d equivalent, %d that do not compile%s\n",
		r.Killed, r.Tried, 100*r.Rate, r.ByTheClock, r.Seed, r.Mutants, r.Equivalent, r.NotCompiled, left)
	return err
}

// repository is the folder with go.mod.
func repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
