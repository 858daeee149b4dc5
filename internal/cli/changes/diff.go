package changes

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/deadlock/transition"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/bandwidths"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/repair"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

// DiffFlags is what weft diff is told.
type DiffFlags struct {
	tables    []string
	Contract  *routing.Contract
	Scope     routing.Scope
	LMC       int
	Seed      uint64
	Precision float64
	jobs      flags.Allocations
	JSON      bool
}

// Diff makes the command weft diff.
func Diff(a *console.Console) *cobra.Command {
	var o DiffFlags
	c := &cobra.Command{
		Use:   "diff OLD [NEW]",
		Short: "Compare two fabrics and their tables, and judge the way from one to the other",
		Long: `Say what differs between two fabrics (files or specs; without NEW, the second is the
first), and with tables for both what the change from one to the other does: how
many entries a subnet manager has to write, whether packets can deadlock while it
does, who is cut off before, for a while and after, and the bandwidth before and
after.

A subnet manager writes switch by switch. Meanwhile packets meet any mixture of old
entries and new, which can have a credit loop though neither of the tables has one.
All mixtures are judged at once, on the cables of NEW: the verdict is that none can
deadlock, in whatever order tables are written, or a shortest credit loop, with a
route for each of its steps and the switches that forward it by old and by new
entries. Then the exit code is 1; weft repair plans a way that is safe. It is 1 too
if the new tables cut pairs off.`,
		Example: `  weft diff monday.ibnetdiscover tuesday.ibnetdiscover
  weft diff fabric.ibnetdiscover --tables old=installed --tables new=planned
  weft diff before.ibnetdiscover now.ibnetdiscover --tables old=t1 --tables new=t2/lfts.dump --json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return runDiff(cmd.Context(), a, args, &o) },
	}
	f := c.Flags()
	flags.AddNamed(f, &o.tables, "tables of both fabrics, --tables old=PATH --tables new=PATH")
	flags.AddContract(f, &o.Contract, flags.ContractStated)
	flags.AddScope(f, &o.Scope)
	flags.AddLMC(f, &o.LMC)
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the pairs whose bandwidth is measured")
	flags.AddPrecision(f, &o.Precision)
	o.jobs.AddTo(f)
	flags.AddJSON(f, &o.JSON)
	return c
}

// diffJob is a call of weft diff; DiffOf runs its stages: read, judge, simulate, summary.
type diffJob struct {
	*console.Console
	o        *DiffFlags
	old, new DiffSide
	scope    routing.Scope
	contract routing.Contract
	other    string // which contract may serve in place of contract (input.Given.OtherContract)
	parts    transition.Parts

	// With tables.
	before  *routing.Tables     // the old ones as they act on the new fabric
	verdict *transition.Verdict // of all mixtures
	jobs    []flags.Allocation
	ebb     result.Bandwidths // of the tables before and after, on the endpoints that both have
	spent   result.DiffSeconds
}

// DiffSide is one of the two fabrics, with its tables if there are any.
type DiffSide struct {
	Name, File string // of the fabric: what it is called, and its file or spec
	Source     string // the tables' file or folder; empty: there are none
	Shown      string // what the tables are called, if not as Source
	fabric     *fabric.Fabric
	tables     *routing.Tables
	unowned    map[fabric.LID][]uint8 // rows of these tables for LIDs that nobody has in the fabric
	fit        result.Fit
	alone      *deadlock.Verdict // of the tables, on their own fabric
}

// runDiff takes the two sides from the command line.
func runDiff(ctx context.Context, a *console.Console, args []string, o *DiffFlags) error {
	old, next := args[0], args[len(args)-1]
	of := map[string]string{}
	list, err := flags.NamedTables(o.tables, map[string]bool{})
	if err != nil {
		return err
	}
	for _, t := range list {
		of[t.Name] = t.Path
	}
	if len(of) > 0 && (len(of) != 2 || of["old"] == "" || of["new"] == "") {
		return exit.Usage("--tables: weft diff takes those of both fabrics or none, --tables old=PATH --tables new=PATH")
	}
	return DiffOf(ctx, a, o, DiffSide{Name: old, File: old, Source: of["old"]}, DiffSide{Name: next, File: next, Source: of["new"]})
}

// DiffOf compares two fabrics, wherever they are read from: weft watch compares two looks.
func DiffOf(ctx context.Context, a *console.Console, o *DiffFlags, old, next DiffSide) error {
	j := &diffJob{Console: a, o: o, scope: o.Scope, old: old, new: next}
	if err := j.read(); err != nil {
		return err
	}
	j.parts = transition.PartsOf(j.old.fabric, j.new.fabric)
	if j.old.tables != nil {
		if err := j.judge(ctx); err != nil {
			return err
		}
		if err := j.simulate(ctx); err != nil {
			return err
		}
	}
	s := j.summary()
	print := func() error {
		if err := j.Show(j.screen(s)); err != nil || s.Change == nil {
			return err
		}
		showBandwidths(j.Console, &s.Change.Bandwidth)
		return nil
	}
	return j.Answer(j.o.JSON, s, print, j.verdict != nil && (!j.verdict.Free() || j.verdict.CutAfter() > 0 || len(j.new.alone.Absent) > 0))
}

// read reads both fabrics and, if there are any, their tables.
func (j *diffJob) read() (err error) {
	s := j.Stage("reading", &j.spent.Read)
	defer s.Done()
	if j.old.fabric, err = input.FabricWithLMC(j.Console, j.old.File, j.o.LMC); err != nil {
		return err
	}
	if j.new.fabric = j.old.fabric; j.new.File != j.old.File {
		if j.new.fabric, err = input.FabricWithLMC(j.Console, j.new.File, j.o.LMC); err != nil {
			return err
		}
	}
	if j.old.Source == "" {
		if len(j.o.jobs) > 0 {
			return exit.Usage("--job: it is about bandwidth, which takes tables: --tables old=PATH --tables new=PATH")
		}
		return nil
	}
	if j.jobs, err = j.o.jobs.Place(j.old.fabric, j.scope); err != nil {
		return err
	}
	var made [2]routing.Contract
	for i, s := range []*DiffSide{&j.old, &j.new} {
		v, err := input.TablesOf(j.Console, s.Name, s.fabric, &flags.Tables{LFTs: s.Source})
		if err != nil {
			return err
		}
		s.tables, s.unowned, s.fit = v.Tables, v.Unowned, v.Fit()
		made[i] = v.Contract(j.o.Contract)
		j.other = cmp.Or(j.other, v.OtherContract(j.o.Contract))
	}
	if j.contract = made[0]; made[0] != made[1] {
		j.contract, j.other = flags.ContractOf(nil, j.old.tables, j.new.tables), ""
	}
	return nil
}

// judge has each side's tables judged by themselves, and all mixtures of the two.
func (j *diffJob) judge(ctx context.Context) (err error) {
	s := j.Stage("verify", &j.spent.Verify)
	defer s.Done()
	o := deadlock.Options{Contract: j.contract, Scope: j.scope, Lost: -1}
	for _, s := range []*DiffSide{&j.old, &j.new} {
		if s.alone, err = deadlock.Verify(ctx, s.tables, o); err != nil {
			return err
		}
	}
	if j.before, err = transition.On(j.new.fabric, j.old.tables, j.new.tables); err != nil {
		return err
	}
	repair.PutUnowned(j.before, j.old.fabric, j.old.unowned)
	o.Progress = s.Progress()
	j.verdict, err = transition.Verify(ctx, j.before, j.new.tables, o)
	return err
}

// simulate measures the bandwidth before and after.
func (j *diffJob) simulate(ctx context.Context) (err error) {
	s := j.Stage("simulate", &j.spent.Simulate)
	defer s.Done()
	j.ebb, err = bandwidthsOf(ctx, bandwidths.Change{Before: j.old.tables, After: j.new.tables, Stays: j.new.fabric, Scope: j.scope, Seed: j.o.Seed, Precision: j.o.Precision}, j.jobs)
	return err
}
