// Package sturdy looks for tables that survive failures better than those at hand: of another engine
// where auto chose one, of another root or of another seed, as far as nobody gave them.
package sturdy

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/bandwidths"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

const (
	seeds       = 4 // whose tables are compared
	roots       = 4 // of engines that have one
	enginesMost = 4 // where auto chooses

	// Sample is how many failures of a kind are tried for each.
	Sample = 24
	// Loss is the part of the bandwidth that fewer exceptions may cost.
	Loss = 0.01
)

// candidate is tables that could be had as well.
type candidate struct {
	result.Candidate
	ask weft.Request
}

// Best is the tables at hand or others, if fewer of some failures are exceptions under them for
// hardly less bandwidth, and what was compared, the tables at hand first. It asks only where some
// failures are exceptions. The request is the one that made the tables; seedGiven says that its seed
// is wanted.
func Best(ctx context.Context, at *weft.Result, ask weft.Request, seedGiven bool, failures []change.Failure, o change.Options) (*weft.Result, []*result.Candidate, error) {
	list := candidates(at, ask, seedGiven)
	if len(failures) == 0 || len(list) == 1 {
		return at, nil, nil
	}
	var compared []*result.Candidate
	var best *change.Survival
	var taken *result.Candidate
	chosen := at
	for i := range list {
		c, r := &list[i], at
		if i > 0 {
			other, err := weft.Route(ctx, at.Tables.Fabric, c.ask)
			if err != nil && routing.Refused(err) {
				continue
			} else if err != nil {
				return nil, nil, err
			}
			r = other
		}
		survival, err := change.Survive(ctx, r.Tables, failures, o)
		if err != nil {
			return nil, nil, err
		}
		random, err := bandwidths.Bisect(ctx, r.Tables, congestion.Options{Placement: at.Scope.Endpoints(at.Tables.Fabric), Seed: ask.Options.Seed})
		if err != nil || random == nil {
			return at, compared, err
		}
		c.Bandwidth, c.Tried, c.OneStep, c.Rebuilt, c.NotMended = random.Lambda, len(failures), survival.OneStep, survival.Rebuilt, survival.NotMended
		compared = append(compared, &c.Candidate)
		if best == nil || survival.Fewer(best) && random.Lambda >= (1-Loss)*compared[0].Bandwidth {
			best, taken, chosen = survival, &c.Candidate, r
		}
		if best.NotMended+best.Rebuilt == 0 {
			break
		}
	}
	taken.Taken = true
	chosen.Choice = at.Choice
	return chosen, compared, nil
}

// candidates is the tables at hand, first, and what else is to be compared with them.
func candidates(at *weft.Result, ask weft.Request, seedGiven bool) []candidate {
	f := at.Tables.Fabric
	ask.Custom, ask.Contract, ask.Stages = &at.Engine, &at.Contract, nil
	made := candidate{result.Candidate{Engine: at.Engine.Name, Seed: ask.Options.Seed}, ask}
	list := []candidate{made}
	if at.Engine.Uses&option.Seed != 0 && !seedGiven {
		for i := range uint64(seeds - 1) {
			c := made
			c.Seed += i + 1
			c.ask.Options.Seed = c.Seed
			list = append(list, c)
		}
	}
	if at.Engine.Uses&option.Roots != 0 && len(ask.Options.Roots) == 0 {
		for _, s := range mostCentral(f, roots) {
			c := made
			c.Root = f.Label(s)
			c.ask.Options.Roots = []fabric.GUID{f.Node(s).GUID}
			list = append(list, c)
		}
	}
	for _, e := range enginesAsGood(at) {
		c := made
		c.Engine, c.ask.Custom = e.Name, &e
		list = append(list, c)
	}
	return list
}

// enginesAsGood is the engines that auto found hardly worse than the one it chose, by all
// that it measures.
func enginesAsGood(at *weft.Result) []engines.Engine {
	if at.Choice == nil {
		return nil
	}
	trials := at.Choice.Trials
	chosen := slices.IndexFunc(trials, func(t choose.Trial) bool { return t.Engine == at.Engine.Name })
	var list []engines.Engine
	for i, t := range trials {
		if e, err := engines.Named(t.Engine); err == nil && i != chosen && chosen >= 0 && asGood(&t, &trials[chosen]) && len(list) < enginesMost-1 {
			list = append(list, e)
		}
	}
	return list
}

func asGood(t, chosen *choose.Trial) bool {
	if t.Outcome != choose.Proven || t.Lambda < (1-Loss)*chosen.Lambda || t.Traffic > (1+Loss)*chosen.Traffic || len(t.Shifts) != len(chosen.Shifts) {
		return false
	}
	for i, s := range t.Shifts {
		if s.Time > (1+Loss)*chosen.Shifts[i].Time {
			return false
		}
	}
	return true
}

// mostCentral is the switches of one part from which all others are nearest in the mean.
func mostCentral(f *fabric.Fabric, most int) []fabric.NodeID {
	if len(f.Parts()) > 1 {
		return nil
	}
	sum := make([]int64, f.Switches())
	list := slices.Clone(f.Parts()[0])
	for _, s := range list {
		for _, hops := range f.Hops(s) {
			sum[s] += int64(hops)
		}
	}
	slices.SortFunc(list, func(a, b fabric.NodeID) int { return cmp.Or(cmp.Compare(sum[a], sum[b]), cmp.Compare(a, b)) })
	return list[:min(len(list), most)]
}
