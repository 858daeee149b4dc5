package campaigns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/format/files"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
	"github.com/weft-fabric/weft/internal/reproduce"
	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/papers"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

type reproduceFlags struct {
	quick, list, json    bool
	dryRun               bool
	out, fabrics, opensm string
	have                 []string // results that count as taken
	seed                 uint64
	memory               int
}

// Reproduce makes the command weft reproduce.
func Reproduce(a *console.Console) *cobra.Command {
	var o reproduceFlags
	c := &cobra.Command{
		Use:   "reproduce LIST...|all",
		Short: "Run the experiments of the papers and compare with what they state",
		Long: `Run the experiments of the papers and compare with what they state.

LIST is ids of experiments (hoti2009-4a; see --list), papers (hoti2009, which is
all of its figures) or all. The folder gets a CSV file and an SVG plot for each
figure and index.md, the page to read: every sentence of the papers about a
figure, beside what came out here.

Points are kept in the folder as they are finished. A run that was interrupted
goes on where it was; points that another weft, another machine or another
definition came to are taken again. What is measured is campaigns of weft sweep
(internal/reproduce/papers/specs), kept as its results are: --have counts points
that it took, on a cluster for one. Figures about bandwidth and lanes use all
cores; times are taken alone, so leave the machine alone meanwhile.

--dry-run says what the experiments took as part of all: what several show counts
for the first of them, routing for the first that has the point, so that of a part
of the list those seconds may be too few.

The real systems of the papers are not public but for two. With --fabrics (or
$WEFT_CORPUS) the ibnetdiscover dumps of a folder are measured beside them. With
--opensm what OpenSM's own tables have on the same networks stands beside ours,
and the papers' comparisons with OpenSM are made with it.`,
		Example: `  weft reproduce --list
  weft reproduce all --dry-run
  weft reproduce all --quick --out results
  weft reproduce hoti2016 ipdps2011-9 --out results`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !o.list {
				return errors.New("which experiments? all, papers or ids; --list shows them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"all"}
			}
			var words []string
			for _, arg := range args {
				words = append(words, strings.Split(arg, ",")...)
			}
			if o.seed < 1 || o.seed > math.MaxInt64 {
				return exit.Usage("--seed %d: it is from 1 to %d", o.seed, math.MaxInt64)
			}
			list, err := papers.Select(words)
			if err != nil {
				return exit.Usage("%w", err)
			}
			if o.list {
				return listExperiments(a, list, &o)
			}
			if o.dryRun {
				return planReproduce(a, list, &o)
			}
			return runReproduce(cmd.Context(), a, list, words, &o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.quick, "quick", false, "smaller networks and fewer repetitions: less than half of the time")
	f.BoolVar(&o.dryRun, "dry-run", false, "list the experiments and what they are expected to take instead")
	f.StringVarP(&o.out, "out", "o", "weft-reproduce", "folder for results, which also keeps finished points")
	f.StringVar(&o.fabrics, "fabrics", "", "folder with ibnetdiscover dumps of real fabrics (default: fabrics in $WEFT_CORPUS)")
	f.StringVar(&o.opensm, "opensm", "", "file with what OpenSM's own tables have (docs/results/opensm.csv in the repository)")
	f.StringArrayVar(&o.have, "have", nil, "results that are there already, of weft sweep or weft reproduce, a folder or a Parquet file: their points are not taken; may be repeated")
	f.Uint64Var(&o.seed, "seed", 1, "of the random patterns and networks")
	f.IntVar(&o.memory, "memory", 4096, "MiB that points may use together, about")
	f.BoolVar(&o.list, "list", false, "list the experiments instead")
	flags.AddJSON(f, &o.json)
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		ids := []string{"all"}
		for _, e := range papers.All() {
			ids = append(ids, e.ID)
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

// runReproduce takes the points of the experiments, writes their pages into the folder, and prints
// how many sentences of the papers came out. words is LIST as it was given.
func runReproduce(ctx context.Context, a *console.Console, list []papers.Experiment, words []string, o *reproduceFlags) error {
	if o.memory < 1 {
		return exit.Usage("--memory %d: it is MiB, at least 1", o.memory)
	}
	if o.out == "" {
		return exit.Usage("the name of the output folder is empty")
	}
	real, err := realFabrics(a, o)
	if err != nil {
		return err
	}
	reference, err := readReference(a, o.opensm)
	if err != nil {
		return err
	}
	start, err := startWorkers()
	if err != nil {
		return err
	}
	have, err := readHave(a.Context, o.have)
	if err != nil {
		return err
	}
	show := showPoints(a)
	run, err := reproduce.Execute(ctx, list, reproduce.Options{
		Dir: o.out, Quick: o.quick, Seed: o.seed, Real: real, OpenSM: reference, Have: have, Workers: runtime.GOMAXPROCS(0), Memory: int64(o.memory) << 20,
		Meter: sweepMeter(a), Origin: reproduce.Origin{Weft: version.Text(version.Current()), Machine: reproduce.Machine()},
		Progress: show.tell, Start: start,
	})
	show.stage.Done()
	if ctx.Err() != nil {
		return show.interrupted(o.out)
	}
	if err != nil {
		return err
	}
	if run.Dropped > 0 {
		a.Tell("%d points in %s came of another weft or machine and were taken again", run.Dropped, o.out)
	}
	if err := run.Write(commandLine(words, o, len(real) > 0)); err != nil {
		return err
	}
	s, err := summariseReproduce(run, o)
	if err != nil {
		return err
	}
	return a.Answer(o.json, s, func() error { return printRun(a, &s) }, false)
}

// commandLine is the command for the page to read, without what only this machine knows.
func commandLine(words []string, o *reproduceFlags, real bool) string {
	line := "weft reproduce " + strings.Join(words, " ")
	if o.quick {
		line += " --quick"
	}
	if o.seed != 1 {
		line += fmt.Sprintf(" --seed %d", o.seed)
	}
	if real {
		line += " --fabrics DIR"
	}
	if len(o.have) > 0 {
		line += " --have DIR"
	}
	if o.opensm != "" {
		line += " --opensm " + filepath.Base(o.opensm)
	}
	return line
}

// leastSwitches is how many switches a dump must have to be an experiment: samples
// out of manuals have one or two.
const leastSwitches = 4

// realFabrics reads the dumps at hand. What cannot be used is said and left out.
func realFabrics(a *console.Console, o *reproduceFlags) ([]reproduce.RealFabric, error) {
	dir := o.fabrics
	if dir == "" {
		if corpus := os.Getenv("WEFT_CORPUS"); corpus != "" {
			dir = filepath.Join(corpus, "fabrics")
		}
	}
	if dir == "" {
		return nil, nil
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.ibnetdiscover"))
	if err == nil && o.fabrics != "" && len(names) == 0 {
		err = fmt.Errorf("--fabrics %s: there is no file *.ibnetdiscover in it", dir)
	}
	if err != nil {
		return nil, err
	}
	var list []reproduce.RealFabric
	for _, name := range names {
		text, err := a.ReadPlain(name)
		if err != nil {
			return nil, err
		}
		label := strings.TrimSuffix(filepath.Base(name), ".ibnetdiscover")
		f, err := files.Fabric(strings.NewReader(string(text)), filepath.Base(name))
		switch {
		case err != nil:
			a.Tell("%s is left out: %s", label, err)
			continue
		case f.Switches() < leastSwitches:
			continue
		case len(f.Parts()) > 1:
			a.Tell("%s is left out: it falls into parts", label)
			continue
		}
		list = append(list, reproduce.RealFabric{Name: label, File: name, Digest: digestOf(text), Fabric: f})
	}
	return list, nil
}

// readReference reads the file of --opensm; nil: none is named.
func readReference(a *console.Console, name string) (*reproduce.Reference, error) {
	if name == "" {
		return nil, nil
	}
	return console.ReadFile(a, name, func(r io.Reader, name string) (*reproduce.Reference, error) {
		return reproduce.ReadReference(r, filepath.Base(name))
	})
}

// points shows how many points are done while a campaign runs: a line that is replaced on a
// terminal, else one now and then.
type points struct {
	a           *console.Console
	stage       *console.Stage
	last        time.Time
	done, total int
}

// patienceWithLines is how long there is no line after one.
const patienceWithLines = 30 * time.Second

// showPoints begins to show points; the caller ends the stage.
func showPoints(a *console.Console) *points {
	p := &points{a: a, last: time.Now()}
	p.stage = a.Stage("points", new(float64))
	return p
}

// tell shows how many points are done; begun is the last that was begun, or empty.
func (p *points) tell(done, total int, begun string) {
	p.done, p.total = done, total
	if show := p.stage.Progress(); show != nil {
		show(done, total)
		return
	}
	if time.Since(p.last) < patienceWithLines {
		return
	}
	p.last = time.Now()
	if begun != "" {
		begun = "; now " + begun
	}
	p.a.Tell("%d of %d points%s", done, total, begun)
}

// interrupted says what is kept of a run that the user ended, and is its error.
func (p *points) interrupted(out string) error {
	fmt.Fprintf(p.a.Stderr, "weft: interrupted; %d of %d points are kept in %s: the same command goes on from there\n", p.done, p.total, out)
	return &exit.Error{Code: exit.Interrupted}
}

// describe is what is known of an experiment before it is run.
func describe(e papers.Experiment) (s result.Experiment, err error) {
	s = result.Experiment{ID: e.ID, Paper: e.Paper, Figure: e.Figure, Title: e.Title, Measure: string(e.Measure)}
	if s.Quick, err = e.Count(true); err != nil {
		return s, err
	}
	s.Full, err = e.Count(false)
	return s, err
}

// summariseReproduce is what came of a run, for programs.
func summariseReproduce(run *reproduce.Run, o *reproduceFlags) (s result.Reproduce, err error) {
	s = result.Reproduce{
		Out: o.out, Index: filepath.Join(o.out, reproduce.IndexFile), Quick: o.quick, Seed: o.seed,
		Points: run.Points, Kept: run.Kept, Seconds: run.Spent,
	}
	if o.quick {
		if s.FullSeconds, _, err = run.Estimate(); err != nil {
			return s, err
		}
	}
	for _, out := range run.Outcomes {
		e, err := describe(*out.Experiment)
		if err != nil {
			return s, err
		}
		e.CPU = out.Spent
		answers, t := out.Answers()
		s.Agree, s.Differ, s.Open = s.Agree+t.Agree, s.Differ+t.Differ, s.Open+t.Open
		for _, c := range answers {
			claim := result.PaperClaim{Section: c.Where, Paper: c.Says, Ours: c.Ours, Agreement: string(c.Agreement), By: string(c.By)}
			if c.Agreement != claims.Agrees {
				claim.Reason = c.Why
			}
			e.Claims = append(e.Claims, claim)
		}
		s.Experiments = append(s.Experiments, e)
	}
	return s, nil
}

// printRun prints what came of a run for people.
func printRun(a *console.Console, s *result.Reproduce) error {
	t := a.NewTable("experiment", "figure", "title", "agrees", "differs", "open")
	for _, e := range s.Experiments {
		came := map[claims.Agreement]int{}
		for _, c := range e.Claims {
			came[claims.Agreement(c.Agreement)]++
		}
		t.Row(e.ID, e.Paper+", "+e.Figure, e.Title, came[claims.Agrees], came[claims.Differs], came[claims.Open])
	}
	t.Footer("", "", "claims of the papers", s.Agree, s.Differ, s.Open)
	t.Render()
	fmt.Fprintf(a.Stdout, "%s, %d of them from before, in %s; read %s\n",
		words.Plural(s.Points, "point"), s.Kept, words.Seconds(s.Seconds), s.Index)
	if s.Quick {
		fmt.Fprintf(a.Stdout, "the full set of these would take about %s here\n", words.Seconds(s.FullSeconds))
	}
	return nil
}

// listExperiments is weft reproduce --list.
func listExperiments(a *console.Console, all []papers.Experiment, o *reproduceFlags) error {
	summaries := make([]result.Experiment, len(all))
	for i, e := range all {
		var err error
		if summaries[i], err = describe(e); err != nil {
			return err
		}
	}
	if o.json {
		return a.JSON(summaries)
	}
	t := a.NewTable("experiment", "figure", "title", "measure", "points, quick", "full")
	t.AtMost(2, 60)
	for _, s := range summaries {
		t.Row(s.ID, s.Paper+", "+s.Figure, s.Title, s.Measure, s.Quick, s.Full)
	}
	t.Render()
	return nil
}
