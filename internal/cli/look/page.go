package look

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/measured"
	"github.com/weft-fabric/weft/internal/cli/internal/output"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
	"github.com/weft-fabric/weft/internal/counters/explain"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/page"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/trouble"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

type reportFlags struct {
	route     flags.Engine
	tables    flags.Tables
	out       string
	title     string
	with      []string
	jobs      flags.Allocations
	precision float64
	measured  measured.Flags
	json      bool
}

// Report makes the command weft report.
func Report(a *console.Console) *cobra.Command {
	var o reportFlags
	c := &cobra.Command{
		Use:   "report FABRIC...",
		Short: "Write one page to look at: verdict, map with loads, lanes and paths, charts and tables",
		Long: `Write one HTML file that shows a fabric and its tables: the verdict and any credit
loop, a map of the switches that can be searched, coloured by load, lane, rate or
tier and asked for the path between two hosts, charts, and tables of switches,
cables and endpoints. The file needs nothing but a browser: it opens from disk and
loads nothing from anywhere. Without scripts it shows the map as a drawing.

The tables are those of an engine, or those of --tables; with both, the two are shown
side by side, with what would change. --tables NAME=PATH gives those in force a name
on the page. Several fabrics make one page.

--with FILE adds what other commands found: the output of weft compare --json,
packets --json, diff --json or what-if --json. --job NAME=HOSTS adds what random
pairs of a job's hosts get; HOSTS is a list such as a[1-3,7],b02.

--measured, --events and --cabling add the cables in trouble, with what to do and the
command, as weft compare --measured has them; they are marked on the map.

Exit code 1: the tables have a credit loop, leave pairs without a route or do not
fit the fabric, or cables are in trouble by an error. The page is written all the same.`,
		Example: `  weft report fabric.ibnetdiscover -o report.html
  weft report fabric.ibnetdiscover --tables /var/log/opensm --engine auto -o report.html
  weft report fattree:ports=24 dragonfly:p=4 --with compared.json -o report.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeReport(cmd.Context(), a, args, &o)
		},
	}
	o.route.AddTo(c, auto.Name)
	o.tables.AddTo(c)
	f := c.Flags()
	f.StringVarP(&o.out, "out", "o", "report.html", "file to write; - is standard output")
	f.StringVar(&o.title, "title", "", "title of the page (default: the names of the fabrics)")
	f.StringArrayVar(&o.with, "with", nil, "JSON output of another command to show; may be repeated")
	o.jobs.AddTo(f)
	f.Float64Var(&o.precision, "precision", 0.002, "standard error of the bandwidth of random pairs")
	o.measured.AddTo(f, "to show which cables are in trouble")
	o.measured.Complete(c)
	flags.AddJSON(f, &o.json)
	return c
}

// reportJob is a call of weft report, or of weft export with tables: add fills in data, a network
// each.
type reportJob struct {
	*console.Console
	o           *reportFlags
	options     page.Options
	scope       routing.Scope
	inForceName string                                  // of the tables of --tables
	data        *result.Report                          // what the page shows
	fabrics     int                                     // how many there will be
	found       bool                                    // what the exit code tells: a loop, pairs without a route, a misfit
	spent       struct{ Read, Verify, Measure float64 } // seconds
}

// writeReport fills in the page, fabric by fabric, and writes it.
func writeReport(ctx context.Context, a *console.Console, fabrics []string, o *reportFlags) error {
	j := &reportJob{Console: a, o: o, data: &result.Report{Made: "weft " + version.Current().Version, Networks: []*result.ReportNetwork{}, Results: []*result.ReportResult{}}}
	if err := j.check(fabrics); err != nil {
		return err
	}
	for _, name := range fabrics {
		if err := j.add(ctx, name); err != nil {
			return err
		}
	}
	if err := j.addResults(); err != nil {
		return err
	}
	if j.data.Title = o.title; o.title == "" {
		j.data.Title = strings.Join(list.Of(fabrics, filepath.Base), ", ")
	}
	return j.print()
}

// check refuses what makes no sense, and takes over what the flags say.
func (j *reportJob) check(fabrics []string) error {
	o := j.o
	var err error
	if j.inForceName, o.tables.LFTs, err = flags.NamedPath(o.tables.LFTs, "in force"); err != nil {
		return err
	}
	settle := o.tables.Settle
	if len(fabrics) == 1 {
		settle = func() error { return o.tables.SettleFor(fabrics[0]) }
	}
	if err := settle(); err != nil {
		return err
	}
	switch {
	case !(o.precision > 0):
		return exit.Usage("--precision %g: it is a standard error, above zero", o.precision)
	case o.tables.LFTs != "" && len(fabrics) > 1:
		return exit.Usage("--tables are those of one fabric, and %d are given", len(fabrics))
	case o.measured.Given() && len(fabrics) > 1:
		return exit.Usage("--measured, --events and --cabling are of one fabric, and %d are given", len(fabrics))
	case !o.json && o.out == "":
		return exit.Usage("--out names no file; - is standard output")
	}
	for i, name := range fabrics {
		if slices.Contains(fabrics[:i], name) {
			return exit.Usage("%s is named twice", name)
		}
	}
	if err := o.measured.Check(); err != nil {
		return err
	}
	j.scope = o.route.Scope
	j.fabrics = len(fabrics)
	j.options = page.Options{Seed: o.route.Seed, Precision: o.precision}
	return nil
}

// add adds a fabric with its tables: those in force, ours, or both.
func (j *reportJob) add(ctx context.Context, name string) error {
	var given []*page.Given // those in force, if there are any, then ours
	if j.o.tables.LFTs != "" {
		g, err := j.inForce(ctx, name)
		if err != nil {
			return err
		}
		given = append(given, g)
	}
	if j.o.tables.LFTs == "" || j.o.route.Chosen() {
		g, err := j.ours(ctx, name, given)
		if err != nil {
			return err
		}
		given = append(given, g)
	}
	f := given[0].Tables.Fabric
	n := page.NewNetwork(name, f)
	o := j.options
	var err error
	if o.Jobs, err = j.jobs(f); err != nil {
		return err
	}
	o.PathBytes = page.PathBytes / (len(given) * j.fabrics) // all tables on the page share them
	for _, g := range given {
		s := j.Stage("measuring "+g.Name, &j.spent.Measure)
		o.Progress = s.Progress()
		err := page.Add(ctx, n, g, o)
		s.Done()
		if err != nil {
			return err
		}
		v := g.Verdict
		j.found = j.found || !v.Free() || v.Unreachable > j.scope.Disconnected(f) || v.Loops > 0 || v.Dropped > 0 || len(v.Absent) > 0
	}
	if len(given) == 2 {
		if err := page.Compare(ctx, n, given[0].Tables, given[1].Tables, deadlock.Options{Contract: given[1].Verdict.Contract, Scope: j.scope, NoCycle: true}); err != nil {
			return err
		}
	}
	j.data.Networks = append(j.data.Networks, n)
	if j.o.measured.Given() {
		return j.trouble(ctx, n, given[0].Tables)
	}
	return nil
}

// trouble adds the cables in trouble, by what the tables in force explain.
func (j *reportJob) trouble(ctx context.Context, n *result.ReportNetwork, t *routing.Tables) error {
	seen, err := j.o.measured.Read(j.Console, t.Fabric)
	if err != nil {
		return err
	}
	var waiting []explain.Finding
	if c := seen.Sent; c != nil && c.Ports > 0 {
		loads, err := congestion.CountTables(ctx, t, j.scope)
		if err != nil {
			return err
		}
		waiting = explain.Trunks(t, loads, j.o.measured.Counted(c)).Findings
	}
	l := seen.Trouble(waiting)
	page.AddTrouble(n, t.Fabric, l)
	j.found = j.found || trouble.Found(l)
	return nil
}

// addResults adds what other commands found.
func (j *reportJob) addResults() error {
	for _, file := range j.o.with {
		text, err := console.ReadFile(j.Console, file, func(r io.Reader, name string) ([]byte, error) { return reading.ReadAll(r, name, reading.MaxSize) })
		if err != nil {
			return err
		}
		r, err := page.ReadResult(text, file, j.data.Networks)
		if err != nil {
			return err
		}
		if r.Foreign != "" {
			j.Note("%s: %s", file, r.Foreign)
		}
		j.data.Results = append(j.data.Results, r)
	}
	return nil
}

// inForce is the tables of --tables, judged: those that the network has now.
func (j *reportJob) inForce(ctx context.Context, name string) (*page.Given, error) {
	s := j.Stage("reading", &j.spent.Read)
	v, err := input.Read(j.Console, name, j.o.route.LMC, &j.o.tables)
	s.Done()
	if err != nil {
		return nil, err
	}
	g := &page.Given{Name: j.inForceName, Source: j.o.tables.LFTs, Tables: v.Tables}
	contract := v.Contract(j.o.route.Contract)
	s = j.Stage("verify", &j.spent.Verify)
	g.Verdict, err = deadlock.Verify(ctx, v.Tables, deadlock.Options{Contract: contract, Scope: j.scope, Lost: -1, Progress: s.Progress()})
	s.Done()
	if err != nil {
		return nil, err
	}
	assumed := j.o.tables.Assumed()
	g.Notes = append(g.Notes, "service levels: "+assumed.ServiceLevels, "lanes: "+assumed.Lanes)
	for _, text := range outputs.FitTexts(v.Fit()) {
		g.Notes = append(g.Notes, strings.Split(text, "\n")...)
	}
	if v.Mismatches != nil {
		j.found = true
		g.Next = append(g.Next, "the tables and the fabric are of different times: take both anew")
	}
	g.Next = append(g.Next, j.nextFor(name, v.Tables.Fabric, g.Verdict)...)
	return g, nil
}

// ours is the tables of an engine, judged. beside is the tables in force, if there are any:
// they share one Fabric, so that nodes and LIDs are the same in both.
func (j *reportJob) ours(ctx context.Context, name string, beside []*page.Given) (*page.Given, error) {
	r, err := routed.New(j.Console, name, &j.o.route)
	if err == nil {
		err = r.NeedsTables()
	}
	if err == nil {
		err = r.Prepare()
	}
	if err != nil {
		return nil, err
	}
	if len(beside) > 0 {
		r.Fabric = beside[0].Tables.Fabric
	}
	if err := r.Compute(ctx); err != nil {
		return nil, r.Refusal(ctx, err, j.o.json)
	}
	g := &page.Given{
		Name: r.Engine.Name, Source: routed.EngineSource(&r.Engine), Tables: r.Tables, Verdict: r.Verdict, Available: r.VLs,
		Notes: slices.Clone(r.Tables.Forwarding.Notes),
	}
	if r.Choice != nil {
		g.Notes = append(g.Notes, r.Choice.Why)
	}
	if text := strings.TrimSpace(outputs.LimitText(r.Lanes(), r.Fabric)); text != "" {
		for _, line := range strings.Split(text, "\n") {
			g.Notes = append(g.Notes, "lanes: "+line)
		}
	}
	g.Next = j.nextFor(name, r.Fabric, g.Verdict)
	j.found = j.found || r.Apart // the network has fallen apart, and nobody said that this is known
	return g, nil
}

// nextFor is what to do about a verdict; name is the FABRIC argument.
// Pairs that no cable joins are not for tables to mend.
func (j *reportJob) nextFor(name string, f *fabric.Fabric, v *deadlock.Verdict) []string {
	var next []string
	apart := j.scope.Disconnected(f)
	switch {
	case !v.Free():
		next = append(next, fmt.Sprintf("weft route %s computes tables that are proven", name))
	case v.Unreachable > apart || v.Loops > 0 || v.Dropped > 0:
		next = append(next, fmt.Sprintf("weft repair %s --tables TABLES mends tables after a failure; weft verify says who is cut off, and where", name))
	}
	if apart > 0 && !j.o.route.WithinParts {
		next = append(next, fmt.Sprintf("No cable joins %s of %s pairs: look for the cable or switch that is gone between the %d parts of the network (weft info); if it is meant to be in parts, say so with --within-parts", words.Thousands(apart), words.Thousands(v.Pairs), len(f.Parts())))
	}
	return next
}

// jobs finds the endpoints of the jobs of --job.
func (j *reportJob) jobs(f *fabric.Fabric) ([]page.Job, error) {
	placed, err := j.o.jobs.Place(f, j.scope)
	return list.Of(placed, func(a flags.Allocation) page.Job { return page.Job(a) }), err
}

// print writes the page and says what is on it, or prints its data as JSON.
func (j *reportJob) print() error {
	if j.o.json {
		return j.Answer(true, j.data, nil, j.found)
	}
	size := &sized{}
	err := output.WriteFile(j.Console, j.o.out, func(w io.Writer) error {
		size.to = w
		return page.Write(size, j.data)
	})
	if err != nil {
		return err
	}
	return j.Answer(false, nil, func() error {
		if j.o.out == "-" {
			return nil
		}
		return j.Show(j.screen(size.n))
	}, j.found)
}

// sized counts what is written.
type sized struct {
	to io.Writer
	n  int64 // bytes
}

func (s *sized) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.n += int64(n)
	return n, err
}
