package changes

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/bandwidths"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/cli/internal/input"
	"github.com/weft-fabric/weft/internal/cli/internal/report"
	"github.com/weft-fabric/weft/internal/cli/internal/routed"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/outputs"
	"github.com/weft-fabric/weft/internal/pulled"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
)

type whatIfFlags struct {
	route       flags.Engine
	tables      flags.Tables
	parts       flags.Parts
	precision   float64
	jobs        flags.Allocations
	Drops, JSON bool
}

// WhatIf makes the command weft what-if.
func WhatIf(a *console.Console) *cobra.Command {
	var o whatIfFlags
	c := &cobra.Command{
		Use:   "what-if FABRIC",
		Short: "Say what becomes of a network without a cable, a switch or a host, and how to mend it",
		Long: `Take cables, switches or hosts away from a fabric, and say who is cut off under the
tables in force, what least change of the tables mends it, step by step, and what
bandwidth is left, in all, by each tier of switches, and for each --job; then how the
tables from before come back when the parts do.

The tables are those of --tables, or those that an engine makes. Service levels and
SL2VL maps stay as they are. Each step is safe while it is written, in whatever
order: every mixture of the tables before and after it is proven free of credit
loops, and so are the tables after it. The exit code is 1 if that does not mend
everything that the cables join.`,
		Example: `  weft what-if fabric.ibnetdiscover --tables tables --switch spine-3
  weft what-if fabric.ibnetdiscover --cable leaf-7:12 --cable leaf-7:13 --json
  weft what-if now.ibnetdiscover --tables tables --switch spine-3 --job lattice=node[001-128]
  weft what-if dragonfly:p=4 --engine weave-any --switch 'sw-g3-*'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runWhatIf(cmd.Context(), a, args[0], &o) },
	}
	o.route.AddTo(c, auto.Name)
	o.route.SeedForMore("seed of bisections, and of engines that choose by chance")
	o.tables.AddTo(c)
	f := c.Flags()
	o.parts.AddTo(f)
	flags.AddPrecision(f, &o.precision)
	o.jobs.AddTo(f)
	f.BoolVar(&o.Drops, "drain", false, "let single destinations drop their packets for a step where there is no other way")
	flags.AddJSON(f, &o.JSON)
	flags.Without(c, "tables", "engine", "paths", "time-budget")
	return c
}

// whatIfJob is a call of weft what-if.
type whatIfJob struct {
	without
	o     *whatIfFlags
	going *pulled.Cut    // who goes with the parts, under the tables in force
	cut   *result.CutOff // who of those who stay is cut off until these are mended; nil: nobody
	ebb   result.Bandwidths
	spent struct{ Read, Plan, Simulate float64 }
}

// runWhatIf reads or routes, takes the parts away, plans the repair and the way back, measures, and
// prints.
func runWhatIf(ctx context.Context, a *console.Console, name string, o *whatIfFlags) error {
	j := &whatIfJob{without: without{Console: a, name: name, scope: o.route.Scope}, o: o}
	if o.parts.None() {
		return exit.Usage("nothing is taken away: give --switch, --cable or --host")
	}
	if err := j.read(ctx); err != nil {
		return err
	}
	if err := j.plan(ctx); err != nil {
		return err
	}
	if err := j.simulate(ctx); err != nil {
		return err
	}
	s := j.summary()
	return j.Answer(o.JSON, s, func() error { return j.print(s) }, len(j.there.Left)+len(j.there.Absent)+len(j.back.Absent) > 0)
}

// read reads the fabric and takes the parts away, and reads its tables, or routes it.
func (j *whatIfJob) read(ctx context.Context) error {
	o := j.o
	if err := o.tables.Settle(); err != nil {
		return err
	}
	take := func(f *fabric.Fabric) error { return j.take(f, &o.parts, o.jobs) }
	if o.tables.LFTs == "" {
		r, err := routed.Route(ctx, j.Console, j.name, &o.route, o.JSON, take)
		if err != nil {
			return err
		}
		j.was, j.contract, j.source = r.Tables, r.Contract, routed.EngineSource(&r.Engine)
		return nil
	}
	s := j.Stage("reading", &j.spent.Read)
	defer s.Done()
	v, err := readChecked(j.Console, j.name, o.route.LMC, &o.tables, take)
	if err != nil {
		return err
	}
	j.was, j.source, j.fit, j.contract = v.Tables, o.tables.LFTs, v.Fit(), v.Contract(o.route.Contract)
	j.other = v.OtherContract(o.route.Contract)
	return nil
}

// plan plans the repair (there) and, from its last tables, the way back to those in force. It finds
// who is cut off before the first step.
func (j *whatIfJob) plan(ctx context.Context) (err error) {
	s := j.Stage("plan", &j.spent.Plan)
	defer s.Done()
	o := change.Options{Contract: j.contract, Scope: j.scope, AllowDrops: j.o.Drops}
	if j.there, err = change.Mend(ctx, j.was, j.live, o); err != nil {
		return planError(j.Console, err, j.source, "", j.other, j.contract, j.o.JSON)
	}
	if j.back, err = change.Return(ctx, cleared(j.there.After), j.was, o); err != nil {
		return err
	}
	j.going = pulled.CutOff(j.was, j.live, j.scope)
	if j.there.CutBefore == 0 {
		return nil
	}
	v, err := deadlock.Verify(ctx, j.there.Before, deadlock.Options{Contract: j.contract, Scope: j.scope, Lost: -1})
	if err == nil {
		j.cut = outputs.CutOff(j.there.Before, v)
	}
	return err
}

// cleared is tables as OpenSM leaves them in the switches: without rows of LIDs that nobody has.
func cleared(t *routing.Tables) *routing.Tables {
	fw := t.Forwarding.Clone()
	for lid := range t.Fabric.TopLID() + 1 {
		if t.Fabric.Owner(lid) == fabric.None {
			row := fw.Row(lid)
			for s := range row {
				row[s] = routing.NoPort
			}
		}
	}
	return &routing.Tables{Fabric: t.Fabric, Forwarding: fw, Lanes: t.Lanes, Groups: t.Groups, Multicast: t.Multicast}
}

// simulate measures the bandwidth before and after.
func (j *whatIfJob) simulate(ctx context.Context) (err error) {
	s := j.Stage("simulate", &j.spent.Simulate)
	defer s.Done()
	j.ebb, err = bandwidthsOf(ctx, bandwidths.Change{Before: j.was, After: j.there.After, Stays: j.live, Scope: j.scope, Seed: j.o.route.Seed, Precision: j.o.precision}, j.jobs)
	return err
}

// summary is the result for programs; print shows it to people.
func (j *whatIfJob) summary() *result.WhatIf {
	s := &result.WhatIf{
		Fabric: j.name, Tables: j.source, Fit: j.fit, Contract: j.contract.String(), Endpoints: j.scope.String(), Without: &j.gone,
		Gone: outputs.Endpoints(j.was.Fabric, j.going.Gone), PairsGone: j.going.PairsGone, CutOff: j.cut, Least: outputs.Least(j.there.Before, j.scope),
		Pairs: j.there.Pairs, CutNow: j.there.CutBefore, CutAfter: j.there.CutAfter, Apart: j.there.Disconnected,
		Steps: outputs.StepsOfPlan(j.there), Left: outputs.Left(j.there),
	}
	s.Bandwidth = j.ebb
	s.Absent, s.Back.Absent = outputs.AbsentLanes(j.there.After.Fabric, j.there.Absent), outputs.AbsentLanes(j.back.After.Fabric, j.back.Absent)
	s.Back.Steps, s.Back.Left = outputs.StepsOfPlan(j.back), outputs.Left(j.back)
	s.Back.HeldBack = outputs.HeldBack(j.back)
	s.Seconds.Plan, s.Seconds.Simulate = j.spent.Plan, j.spent.Simulate
	return s
}

func (j *whatIfJob) print(s *result.WhatIf) error {
	p := j.screen(s)
	if err := j.Show(p); err != nil || j.Brief() {
		return err
	}
	showBandwidths(j.Console, &s.Bandwidth)
	return nil
}

func (j *whatIfJob) screen(s *result.WhatIf) *console.Page {
	f := j.was.Fabric
	p := j.NewAnswer()
	switch n := len(s.Left); {
	case n > 0:
		next := ""
		if !j.o.Drops {
			next = dropsInstead
		}
		p.Finding("left", "no safe steps near these tables make %s reachable again: %s\n%s", words.Counted(n, "destination", "destinations"), leftText(s.Left),
			withOther(next+"weft route routes anew; that changes far more, and nobody has proven the way there", j.other))
	case j.there.CutBefore == 0:
		p.Judged(true, "nobody who stays is cut off (contract %s, endpoints %s)", s.Contract, s.Endpoints)
	default:
		p.Judged(true, "can be mended, each step proven (contract %s, endpoints %s)", s.Contract, s.Endpoints)
	}
	p.Fact("without", "%s", outputs.GoneText(&j.gone))
	if how, who := endpointsText(f, j.going.Gone); len(j.going.Gone) > 0 {
		p.Short("", "gone with it: %s, %s", how, words.Counted(j.going.PairsGone, "pair", "pairs"))
		p.Detail("", "gone with it: %s, %s: %s", how, words.Counted(j.going.PairsGone, "pair", "pairs"), who)
	}
	p.Short("cut off", "%s", cutInShort(j.there))
	p.Detail("cut off", "%s", cutText(j.there))
	if j.cut != nil {
		p.Spare("", "%s", report.CutOffInShort(j.cut))
		p.Detail("", "%s", report.CutOffText(j.Console, j.cut))
	}
	p.Short("repair", "%s", stepsInShort(j.there, "nothing has to change"))
	p.Detail("repair", "%s", stepsText(j.there, "nothing has to change", s.Least))
	report.FactAbsent(p, "dropped", s.Absent)
	p.Short("bandwidth", "%s", outputs.BandwidthsText(&s.Bandwidth, "rest"))
	p.Detail("bandwidth", "%s", outputs.BandwidthsText(&s.Bandwidth, "endpoints that are left"))
	p.Short("and back", "%s", stepsInShort(j.back, "the tables never changed"))
	p.Detail("and back", "%s", stepsText(j.back, "the tables never changed", result.Least{}))
	if n := len(s.Back.Left); n > 0 {
		p.Fact("", "%s cannot be brought back without dropping packets for a step (--drain): %s", words.Plural(n, "destination"), leftText(s.Back.Left))
	}
	if text := outputs.HeldBackText(s.Back.HeldBack); text != "" {
		p.Detail("", "%s", text)
	}
	report.FactAbsent(p, "", s.Back.Absent)
	p.Detail("fabric", "%s", report.Network(j.name, f))
	p.Detail("tables", "%s (contract %s, endpoints %s)", j.source, s.Contract, s.Endpoints)
	input.Facts(p, s.Fit)
	p.Detail("time", "plan and proofs %s, simulate %s", words.Seconds(j.spent.Plan), words.Seconds(j.spent.Simulate))
	if j.o.tables.LFTs != "" && len(s.Steps) > 0 && len(s.Left) == 0 {
		p.Fact("next", "weft repair --steps DIR, for these tables and parts, writes the steps")
	}
	return p
}
