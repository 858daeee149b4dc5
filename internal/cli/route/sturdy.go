package route

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/bandwidths"
	"github.com/weft-fabric/weft/internal/choose"
	"github.com/weft-fabric/weft/internal/engine/option"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
)

const (
	sturdySeeds   = 4    // seeds whose tables are compared
	sturdyRoots   = 4    // roots, of engines that have one
	sturdyEngines = 4    // engines, where auto chooses
	sturdySample  = 24   // failures of a kind that are tried for each
	sturdyLoss    = 0.01 // of the bandwidth that fewer exceptions may cost
)

// candidate is tables that could be had as well.
type candidate struct {
	result.Candidate
	ask weft.Request
}

// sturdiest takes other tables if fewer failures of a sample are exceptions under them, for
// hardly less bandwidth: those of another engine where auto chooses, of another root or
// another seed, as far as nobody gave them. It asks only where some failures are exceptions.
func (j *routeRun) sturdiest(ctx context.Context, kinds []string, o change.Options) error {
	list := j.candidates()
	if len(kinds) == 0 || len(list) == 1 {
		return nil
	}
	s := j.Stage("candidates", &j.Spent.Repairs)
	defer s.Done()
	var failures []change.Failure
	for _, kind := range kinds {
		failures = append(failures, change.Sample(survivals[kind](j.Fabric), sturdySample)...)
	}
	var best *change.Survival
	var taken *result.Candidate
	first := j.Result
	for i := range list {
		c, r := &list[i], first
		if i > 0 {
			other, err := weft.Route(ctx, j.Fabric, c.ask)
			if err != nil && routing.Refused(err) {
				continue
			} else if err != nil {
				return err
			}
			r = other
		}
		survival, err := change.Survive(ctx, r.Tables, failures, o)
		if err != nil {
			return err
		}
		random, err := bandwidths.Bisect(ctx, r.Tables, congestion.Options{Placement: j.Scope.Endpoints(j.Fabric), Seed: j.o.Seed})
		if err != nil || random == nil {
			return err
		}
		c.Bandwidth, c.Tried, c.OneStep, c.Rebuilt, c.NotMended = random.Lambda, len(failures), survival.OneStep, survival.Rebuilt, survival.NotMended
		j.compared = append(j.compared, &c.Candidate)
		if best == nil || survival.Fewer(best) && random.Lambda >= (1-sturdyLoss)*j.compared[0].Bandwidth {
			best, taken = survival, &c.Candidate
			j.Result = r
			j.Choice = first.Choice
			if j.best = ""; r.Engine.Name != first.Engine.Name {
				j.best = first.Engine.Name
			}
		}
		if best.NotMended+best.Rebuilt == 0 {
			break
		}
	}
	taken.Taken = true
	return nil
}

// candidates is the tables that were made, first, and what else is to be compared with them.
func (j *routeRun) candidates() []candidate {
	ask := j.Request()
	ask.Custom, ask.Contract, ask.Stages = &j.Engine, &j.Contract, nil
	made := candidate{result.Candidate{Engine: j.Engine.Name, Seed: j.o.Seed}, ask}
	list := []candidate{made}
	if j.Engine.Uses&option.Seed != 0 && !j.o.Set.Changed("seed") {
		for i := range uint64(sturdySeeds - 1) {
			c := made
			c.Seed += i + 1
			c.ask.Options.Seed = c.Seed
			list = append(list, c)
		}
	}
	if j.Engine.Uses&option.Roots != 0 && len(j.Options.Roots) == 0 {
		for _, s := range mostCentral(j.Fabric, sturdyRoots) {
			c := made
			c.Root = j.Fabric.Label(s)
			c.ask.Options.Roots = []fabric.GUID{j.Fabric.Node(s).GUID}
			list = append(list, c)
		}
	}
	for _, e := range j.enginesAsGood() {
		c := made
		c.Engine, c.ask.Custom = e.Name, &e
		list = append(list, c)
	}
	return list
}

// enginesAsGood is the engines that auto found hardly worse than the one it chose, by all
// that it measures.
func (j *routeRun) enginesAsGood() []engines.Engine {
	if j.Choice == nil {
		return nil
	}
	trials := j.Choice.Trials
	chosen := slices.IndexFunc(trials, func(t choose.Trial) bool { return t.Engine == j.Engine.Name })
	var list []engines.Engine
	for i, t := range trials {
		if e, err := engines.Named(t.Engine); err == nil && i != chosen && chosen >= 0 && asGood(&t, &trials[chosen]) && len(list) < sturdyEngines-1 {
			list = append(list, e)
		}
	}
	return list
}

func asGood(t, chosen *choose.Trial) bool {
	if t.Outcome != choose.Proven || t.Lambda < (1-sturdyLoss)*chosen.Lambda || t.Traffic > (1+sturdyLoss)*chosen.Traffic || len(t.Shifts) != len(chosen.Shifts) {
		return false
	}
	for i, s := range t.Shifts {
		if s.Time > (1+sturdyLoss)*chosen.Shifts[i].Time {
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

// comparedText says whose tables were taken, and what speaks for them.
func comparedText(list []*result.Candidate) string {
	text := ""
	for _, c := range list {
		if c.Taken {
			text = fmt.Sprintf("%s: of %d tables those with the fewest exceptions among %s (bandwidth at most %.0f %% less)",
				flagsOf(c), len(list), words.Plural(c.Tried, "sampled failure"), 100*sturdyLoss)
		}
	}
	for _, c := range list {
		text += fmt.Sprintf("\n  %s: %s not mended, for %s others make way, %s in one step; bandwidth %.3f", flagsOf(c), words.Thousands(c.NotMended), words.Thousands(c.Rebuilt), words.Thousands(c.OneStep), c.Bandwidth)
	}
	return text
}

// flagsOf is what weft route takes to compute these tables.
func flagsOf(c *result.Candidate) string {
	e, err := engines.Named(c.Engine)
	if err != nil { // a pair of --paths and --lanes
		return fmt.Sprintf("%s, seed %d", c.Engine, c.Seed)
	}
	text := "--engine " + c.Engine
	if e.Uses&option.Seed != 0 {
		text += fmt.Sprintf(" --seed %d", c.Seed)
	}
	if c.Root != "" {
		text += " --roots " + c.Root
	}
	return text
}
