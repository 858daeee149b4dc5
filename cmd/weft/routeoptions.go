package main

import (
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/fabric/names"
	"github.com/weft-fabric/weft/routing/lanes/layer"
	"github.com/weft-fabric/weft/routing/paths/balance"
	"github.com/weft-fabric/weft/routing/weave"
)

// takeOptions reads what engines can be told. What the one asked for would not
// heed is a mistake.
func (j *routeJob) takeOptions(o *routeFlags) (err error) {
	j.options.Seed = o.seed
	if o.prefer != "" {
		if j.options.Prefer, err = weave.ParsePrefer(o.prefer); err != nil {
			return usage("--prefer: %w", err)
		}
	}
	if o.aim != "" {
		if j.options.Aim, err = balance.ParseAim(o.aim); err != nil {
			return usage("--aim: %w", err)
		}
	}
	if j.weights, err = parseWeights(o.weights); err != nil {
		return err
	}
	if j.options.Order, err = layer.ParseOrder(o.order); err != nil {
		return usage("--order: %w", err)
	}
	return j.heeded(o)
}

// asked is the engine that was asked for; of auto j.engine is the one chosen.
func (j *routeJob) asked() string {
	if j.auto {
		return autoEngine
	}
	return j.engine.Name
}

// heeded refuses what the engine would not look at.
func (j *routeJob) heeded(o *routeFlags) error {
	paths, lanes := j.engine.PathsName(), j.engine.LanesName()
	balanced := slices.Contains([]string{"balance", "weave", "weave-any"}, paths)
	for _, f := range []struct {
		name, does string
		given      bool
		heeded     bool
	}{
		{"roots", "is for updn; %s has no roots", len(o.roots) > 0, j.auto || paths == "updn"},
		{"before", "is for torus-2qos; %s does not look back", o.before != "", paths == "torus-2qos"},
		{"aim", "is for balance, weave and weave-any; %s has an aim of its own", j.options.Aim != balance.Bisection, j.auto || balanced},
		{"weight", "is for balance, weave and weave-any; to %s all hosts are alike", len(j.weights) > 0, j.auto || balanced},
		{"prefer", "is for weave; %s has no such choice", j.options.Prefer != weave.Bandwidth, j.auto || paths == "weave"},
		{"order", "is for first-fit; %s takes paths in an order of its own", j.options.Order != layer.Suited, j.auto || strings.HasPrefix(lanes, "first-fit")},
		{"time-budget", "is for auto; %s takes the time it takes", o.timeBudget != 0, j.auto},
	} {
		if f.given && !f.heeded {
			return usage("--"+j.typed(f.name)+" "+f.does, j.asked())
		}
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
			return nil, usage("%s: %w", flag, err)
		}
		for _, s := range switches {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all, nil
}
