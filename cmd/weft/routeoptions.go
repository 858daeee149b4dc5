package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weft-fabric/weft/cmd/weft/internal/exit"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/fabric/names"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/routing/lanes/layer"
	"github.com/weft-fabric/weft/routing/paths/balance"
	"github.com/weft-fabric/weft/routing/weave"
	"github.com/weft-fabric/weft/traffic"
)

// takeOptions reads what engines can be told. What the one asked for would not
// heed is a mistake.
func (j *routeJob) takeOptions(o *routeFlags) (err error) {
	j.options.Seed = o.seed
	if o.prefer != "" {
		if j.options.Prefer, err = weave.ParsePrefer(o.prefer); err != nil {
			return exit.Usage("--prefer: %w", err)
		}
	}
	if o.aim != "" {
		if j.options.Aim, err = balance.ParseAim(o.aim); err != nil {
			return exit.Usage("--aim: %w", err)
		}
	}
	if j.weights, err = parseWeights(o.weights); err != nil {
		return err
	}
	if j.options.Order, err = layer.ParseOrder(o.order); err != nil {
		return exit.Usage("--order: %w", err)
	}
	return j.heeded(o)
}

// asked is the engine that was asked for; of auto j.engine is the one chosen.
func (j *routeJob) asked() string {
	if j.auto {
		return engines.AutoName
	}
	return j.engine.Name
}

// heeded refuses what the engine would not look at.
func (j *routeJob) heeded(o *routeFlags) error {
	uses := j.engine.Uses
	if j.auto {
		uses = engines.AutoUses()
	} else if o.timeBudget != 0 {
		return exit.Usage("--%s is for %s; %s takes the time it takes", j.typed("time-budget"), engines.AutoName, j.engine.Name)
	}
	given := j.options.Given() &^ engines.Seed
	for option, yes := range map[engines.Option]bool{
		engines.Roots: len(o.roots) > 0, engines.Weights: len(j.weights) > 0, engines.Before: o.before != "",
		engines.Seed: o.seeded != nil && o.seeded.Changed,
	} {
		if yes {
			given |= option
		}
	}
	if unused := (*engines.Unused)(nil); errors.As(engines.FirstUnused(j.asked(), uses, given), &unused) {
		return exit.Usage("--%s", unused.Sentence())
	}
	return nil
}

// rootGUIDs finds switches by name.
func rootGUIDs(f *fabric.Fabric, roots []string) ([]fabric.GUID, error) {
	if len(roots) == 0 {
		return nil, nil
	}
	switches, err := namedSwitches(f, "--roots", roots)
	guids := make([]fabric.GUID, len(switches))
	for i, n := range switches {
		guids[i] = f.Node(n).GUID
	}
	return guids, err
}

// namedSwitches is the switches of some names and patterns, each of them once, in
// the order they are named.
func namedSwitches(f *fabric.Fabric, flag string, list []string) ([]fabric.NodeID, error) {
	index := names.New(f)
	var all []fabric.NodeID
	for _, name := range list {
		switches, err := index.Switches(name)
		if err != nil {
			return nil, exit.Usage("%s: %w", flag, err)
		}
		for _, s := range switches {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// balanceFlags adds what balance, and weave and weave-any after it, can be told.
func balanceFlags(c *cobra.Command, o *routeFlags) {
	f := c.Flags()
	f.StringVar(&o.aim, "aim", balance.Bisection.String(), "what balance is good for: bisection (pairs at random) or alltoall (the fullest channel)")
	f.StringArrayVar(&o.weights, "weight", nil, "traffic of hosts by name, as 'storage-*=40', 0 to 100; others have 10; the last that fits counts")
}

// parseWeights reads the flags --weight.
func parseWeights(texts []string) ([]traffic.Weighting, error) {
	var all []traffic.Weighting
	for _, text := range texts {
		w, err := traffic.ParseWeighting(text)
		if err != nil {
			return nil, exit.Usage("--weight %w", err)
		}
		all = append(all, w)
	}
	return all, nil
}

// weigh is the weight of every endpoint, or nil if none was given. A name of no host
// is a mistake.
func weigh(f *fabric.Fabric, all []traffic.Weighting) ([]uint8, error) {
	weights, unknown := traffic.Weigh(names.New(f), f, all)
	if len(unknown) > 0 {
		return nil, exit.Usage("--weight: %w", unknown[0])
	}
	return weights, nil
}
