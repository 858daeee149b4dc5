package flags

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/engine/adaptive/choosing"
	"github.com/weft-fabric/weft/internal/engine/auto"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/engine/setting"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/spell"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

// Engine is which engine shall route, what it is told, and for whom its tables are
// proven.
type Engine struct {
	Set *pflag.FlagSet // these flags, and the others of the command

	Name         string            // ignored with Paths and Lanes
	Paths, Lanes string            // a path finder and a lane assigner, in place of an engine
	Contract     *routing.Contract // nil: not given
	Scope        routing.Scope
	VLs, SLs     int
	Classes      int           // of traffic, each with a copy of the lanes
	LMC          int           // NoLMC: as in the fabric
	WithinParts  bool          // that the network is in parts is no finding
	TimeBudget   time.Duration // of auto

	Words   engines.Options // those of setting.Words
	Before  string          // the fabric before it was damaged
	Roots   []string
	Weights []string
	Ranks   []string // orders of ranks that paths are made for
	Traffic string   // file of the traffic that paths are made for; empty: none
	Seed    uint64

	seedIsTheirs bool // --seed is for engines, and for nothing else of the command
}

// AddTo declares the flags; name is the engine that is meant if none is given.
func (o *Engine) AddTo(c *cobra.Command, name string) {
	o.AddPathsTo(c, name)
	f := c.Flags()
	f.StringVar(&o.Lanes, "lanes", "", "lane assigner, with --paths in place of --engine")
	without := "what the engine is made for"
	if name == auto.Name {
		without += "; of auto any"
		f.DurationVar(&o.TimeBudget, "time-budget", 0, TimeBudgetUsage)
	}
	AddContract(f, &o.Contract, without)
	Complete(c, "lanes", assignerNames)
	c.MarkFlagsRequiredTogether("paths", "lanes")
}

// Chosen reports whether the command line names an engine, or a pair of --paths and --lanes.
func (o *Engine) Chosen() bool { return o.Set.Changed("engine") || o.Set.Changed("paths") }

// TimeBudgetUsage describes --time-budget.
const TimeBudgetUsage = "time that auto may spend by its own estimates; the clock ends its search after one and a half times as long (default 10s, more on large networks)"

// VLsUsage describes --vls.
const VLsUsage = "data lanes available, 1 to 15; without, no more than every cable between switches is stated to run"

// AddPathsTo declares those of the flags that say which way paths shall go, and for whom.
func (o *Engine) AddPathsTo(c *cobra.Command, name string) {
	f := c.Flags()
	o.Set, o.seedIsTheirs = f, true
	f.StringVar(&o.Name, "engine", name, "routing engine, see weft engines")
	f.StringVar(&o.Paths, "paths", "", "path finder, in place of --engine")
	AddVLs(f, &o.VLs, routing.DefaultVLs, VLsUsage)
	Whole(f, &o.SLs, "sls", routing.SLs, 0, routing.SLs, "there are 1 to 16 service levels", "service levels available, 1 to 16")
	f.StringSliceVar(&o.Roots, "roots", nil, setting.Usage(option.Roots))
	AddScope(f, &o.Scope)
	f.BoolVar(&o.WithinParts, "within-parts", false, WithinPartsUsage)
	AddLMC(f, &o.LMC)
	for _, one := range setting.Words() {
		read := func(word string) error { return setting.Read(one, &o.Words, word) }
		Take(f, one.String(), setting.Default(one), read, setting.Usage(one))
	}
	f.StringVar(&o.Before, "before", "", setting.Usage(option.Before))
	f.Uint64Var(&o.Seed, "seed", 1, setting.Usage(option.Seed))
	f.StringArrayVar(&o.Ranks, "rank-order", nil, setting.Usage(option.Orders))
	f.StringArrayVar(&o.Weights, "weight", nil, setting.Usage(option.Weights))
	names := EngineNames
	if name == auto.Name {
		names = ChoiceNames
	}
	Complete(c, "engine", names)
	Complete(c, "paths", finderNames)
	c.MarkFlagsMutuallyExclusive("engine", "paths")
}

// LanesOn is the lanes available on a fabric: --vls if it is given, even where a cable between
// switches is stated to run fewer, which package weft refuses; else no more than these run.
func (o *Engine) LanesOn(f *fabric.Fabric) int {
	if o.Set.Changed("vls") {
		return o.VLs
	}
	return routing.LimitOf(f).Within(o.VLs)
}

// AddTrafficTo declares --traffic for commands where it is what paths are made for.
func (o *Engine) AddTrafficTo(c *cobra.Command) {
	c.Flags().StringVar(&o.Traffic, option.Demands.String(), "", setting.Usage(option.Demands))
	Without(c, option.Demands.String(), option.Aim.String(), option.Orders.String(), option.Weights.String())
}

// AddClassesTo declares --classes for commands about lanes.
func (o *Engine) AddClassesTo(c *cobra.Command) {
	Whole(c.Flags(), &o.Classes, "classes", 1, 1, routing.MaxDataVLs, fmt.Sprintf("there are 1 to %d classes, a lane for each", routing.MaxDataVLs),
		"classes of traffic, each with a copy of the lanes within --vls, proven together; senders choose theirs by the service level")
}

// WithinPartsUsage describes --within-parts.
const WithinPartsUsage = "that the network is in parts is known, and no finding"

// SeedForMore says that --seed is for more than engines, as usage says.
func (o *Engine) SeedForMore(usage string) {
	o.seedIsTheirs = false
	o.Set.Lookup("seed").Usage = usage
}

// Wanted is what an engine flag names: an engine, an adaptive one or auto.
type Wanted struct {
	engines.Engine                  // of auto: none as yet
	Adaptive       *choosing.Engine // in place of an engine with tables; nil: there are tables
	Auto           bool
}

// String is the name that was asked for.
func (w *Wanted) String() string {
	if w.Auto {
		return auto.Name
	}
	return w.Name
}

// Find finds the engine. What it would not heed of the other flags is a mistake.
func (o *Engine) Find() (w Wanted, err error) {
	name := o.Name
	if o.Paths != "" {
		name = o.Paths + "+" + o.Lanes
	}
	switch adaptive, noSuch := choosing.Named(name); {
	case name == auto.Name:
		w.Auto = true
	case name == "":
		return w, exit.Usage("name an engine, --engine E; weft engines lists them")
	case noSuch == nil:
		w.Engine, w.Adaptive = engines.Engine{Name: adaptive.Name, Paper: adaptive.Paper}, &adaptive
	default:
		if w.Engine, err = engines.Named(name); err != nil {
			return w, notFound(name, err)
		}
	}
	return w, o.checkUsed(&w)
}

// notFound is the error for a name that no engine has.
func notFound(name string, err error) error {
	switch {
	case strings.Contains(name, "+"):
		return exit.Usage("%w", err)
	case spell.Nearest(name, ChoiceNames()) == auto.Name:
		return exit.Usage("no engine is called %q; nearest is %q, the best proven one (weft engines lists all)", name, auto.Name)
	}
	return exit.Usage("%w, and %s for the best proven one", err, auto.Name)
}

// checkUsed refuses flags that the engine would not look at.
func (o *Engine) checkUsed(w *Wanted) error {
	uses := w.Uses
	switch {
	case w.Auto && o.TimeBudget < 0:
		return exit.Usage("--time-budget %s: time does not run backwards", o.TimeBudget)
	case w.Auto:
		uses = setting.OfAuto()
	case o.TimeBudget != 0:
		return exit.Usage("--time-budget is for %s; %s takes the time it takes", auto.Name, w.Name)
	}
	if unused := (*setting.Unused)(nil); errors.As(setting.FirstUnused(w.String(), uses, o.given()), &unused) {
		return exit.Usage("--%s", unused.Error())
	}
	return nil
}

// given is the options of engines that the command line has.
func (o *Engine) given() option.Set {
	given := o.Words.Given()
	for option, yes := range map[option.Set]bool{
		option.Roots: len(o.Roots) > 0, option.Weights: len(o.Weights) > 0, option.Before: o.Before != "",
		option.Orders: len(o.Ranks) > 0, option.Demands: o.Traffic != "",
		option.Seed: o.seedIsTheirs && o.Set.Changed("seed"),
	} {
		if yes {
			given |= option
		}
	}
	return given
}

// ForFinished refuses what only engines look at, where the tables are finished.
func (o *Engine) ForFinished(t *Tables) error {
	unused := (*setting.Unused)(nil)
	switch {
	case t.LFTs == "" || !errors.As(setting.FirstUnused("", 0, o.given()), &unused):
		return nil
	case unused.Option == option.Orders && o.Set.Lookup("allocation") != nil:
		return exit.Usage("--%s says for which jobs engines make paths, and %s are finished tables: where ranks sit is --allocation", unused.Option, t.LFTs)
	}
	return exit.Usage("--%s is for engines, and %s are finished tables", unused.Option, t.LFTs)
}

// EngineNames is the names of all engines.
func EngineNames() []string {
	return append(engines.Names(func(engines.Engine) bool { return true }), list.Of(choosing.Engines(), func(a choosing.Engine) string { return a.Name })...)
}

// ChoiceNames is the names of all engines, and auto.
func ChoiceNames() []string { return append([]string{auto.Name}, EngineNames()...) }

func finderNames() []string {
	return list.Of(engines.Finders(), func(f engines.Finder) string { return f.Name })
}

func assignerNames() []string {
	return list.Of(engines.Assigners(), func(a engines.Assigner) string { return a.Name })
}
