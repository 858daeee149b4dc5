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
	seeds       = 4 // whose tables are compared, that of the tables at hand among them
	roots       = 4 // that are tried, for engines that have one
	enginesMost = 4 // that are compared where auto chooses, the one that it chose among them

	// Sample is how many failures of a kind are tried on each candidate, so that hundreds of repairs suffice.
	Sample = 24
	// Loss is the share of the bandwidth that fewer exceptions may cost.
	Loss = 0.01
)

// candidate is tables that could be had as well, with the request that makes them.
type candidate struct {
	result.Candidate
	ask weft.Request
}

// Best is what weft route --survive prints: made, the tables at hand, or others of which fewer of the failures are
// exceptions (change.Survival.Fewer) for hardly less bandwidth; and all that was compared, made first. It stops
// as soon as no failure takes a rebuild or stays unmended. ask is the request that made the tables; if
// seedGiven, other seeds are not tried.
func Best(ctx context.Context, made *weft.Result, ask weft.Request, seedGiven bool, failures []change.Failure, o change.Options) (*weft.Result, []*result.Candidate, error) {
	list := candidates(made, ask, seedGiven)
	if len(failures) == 0 || len(list) == 1 {
		return made, nil, nil
	}
	var compared []*result.Candidate
	var best *change.Survival
	var taken *result.Candidate
	chosen := made
	for i := range list {
		c, r := &list[i], made
		if i > 0 {
			other, err := weft.Route(ctx, made.Tables.Fabric, c.ask)
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
		random, err := bandwidths.Bisect(ctx, r.Tables, congestion.Options{Placement: made.Scope.Endpoints(made.Tables.Fabric), Seed: ask.Options.Seed})
		if err != nil || random == nil {
			return made, compared, err
		}
		c.Bandwidth, c.Tried, c.OneStep, c.Rebuilt, c.NotMended = random.Lambda, len(failures), survival.OneStep, survival.Rebuilt, survival.NotMended
		compared = append(compared, &c.Candidate)
		if best == nil || fewer(survival, best) && random.Lambda >= (1-Loss)*compared[0].Bandwidth {
			best, taken, chosen = survival, &c.Candidate, r
		}
		if best.NotMended+best.Rebuilt == 0 {
			break
		}
	}
	taken.Taken = true
	chosen.Choice = made.Choice
	return chosen, compared, nil
}

// candidates is the tables at hand, first, and what else is to be compared with them: other seeds, other roots,
// other engines, each with all else as it is.
func candidates(made *weft.Result, ask weft.Request, seedGiven bool) []candidate {
	f := made.Tables.Fabric
	ask.Custom, ask.Contract, ask.Stages = &made.Engine, &made.Contract, nil
	first := candidate{Candidate: result.Candidate{Engine: made.Engine.Name, Seed: ask.Options.Seed}, ask: ask}
	list := []candidate{first}
	if made.Engine.Uses&option.Seed != 0 && !seedGiven {
		for i := range uint64(seeds - 1) {
			c := first
			c.Seed += i + 1
			c.ask.Options.Seed = c.Seed
			list = append(list, c)
		}
	}
	if made.Engine.Uses&option.Roots != 0 && len(ask.Options.Roots) == 0 {
		for _, s := range mostCentral(f, roots) {
			c := first
			c.Root = f.Label(s)
			c.ask.Options.Roots = []fabric.GUID{f.Node(s).GUID}
			list = append(list, c)
		}
	}
	for _, e := range enginesAsGood(made) {
		c := first
		c.Engine, c.ask.Custom = e.Name, &e
		list = append(list, c)
	}
	return list
}

// enginesAsGood is the engines that auto found hardly worse than the one it chose, by all
// that it measures: at most enginesMost with that one; nil where the engine was given.
func enginesAsGood(made *weft.Result) []engines.Engine {
	if made.Choice == nil {
		return nil
	}
	trials := made.Choice.Trials
	chosen := slices.IndexFunc(trials, func(t choose.Trial) bool { return t.Engine == made.Engine.Name })
	var list []engines.Engine
	for i, t := range trials {
		if e, err := engines.Named(t.Engine); err == nil && i != chosen && chosen >= 0 && asGood(&t, &trials[chosen]) && len(list) < enginesMost-1 {
			list = append(list, e)
		}
	}
	return list
}

// asGood reports whether a trial is proven and at most Loss worse than the chosen one, by each measure.
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

// mostCentral is at most so many switches, those first from which all others are nearest in the mean; nil if the
// network falls into parts.
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

// fewer reports whether fewer failures are exceptions in s than in other, for different tables: those that are
// not mended count most, then those for which others have to make way, then those that take several steps.
func fewer(s, other *change.Survival) bool {
	return cmp.Or(cmp.Compare(s.NotMended, other.NotMended), cmp.Compare(s.Rebuilt, other.Rebuilt), cmp.Compare(other.OneStep, s.OneStep)) < 0
}
