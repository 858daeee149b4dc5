package main

import (
	"context"
	"fmt"

	"github.com/weft-fabric/weft"
	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing/engines"
)

const (
	sturdySeeds  = 4    // seeds whose tables are compared
	sturdySample = 24   // failures of a kind that are tried for each
	sturdyLoss   = 0.01 // of the bandwidth that fewer exceptions may cost
)

// seedSummary is what failures take under the tables of a seed.
type seedSummary struct {
	Seed      uint64  `json:"seed"`
	Bandwidth float64 `json:"bandwidth"`
	Tried     int     `json:"tried"`
	OneStep   int     `json:"mended_in_one_step"`
	Rebuilt   int     `json:"mended_by_rebuilding"`
	NotMended int     `json:"not_mended"`
	Taken     bool    `json:"taken"`
}

// sturdiest takes the tables of another seed if fewer failures of a sample are exceptions
// under them, for hardly less bandwidth. It asks only where some are, the engine chooses by
// chance, and nobody gave a seed.
func (j *routeJob) sturdiest(ctx context.Context, kinds []string, o change.Options) error {
	if len(kinds) == 0 || j.Engine.Uses&engines.Seed == 0 || j.o.Set.Changed("seed") {
		return nil
	}
	s := j.Stage("seeds", &j.spent.Repairs)
	defer s.Done()
	var failures []change.Failure
	for _, kind := range kinds {
		failures = append(failures, change.Sample(survivals[kind](j.fabric), sturdySample)...)
	}
	var best *change.Survival
	first, taken := j.Result, 0
	for i := range uint64(sturdySeeds) {
		r := first
		if i > 0 {
			ask := j.request()
			ask.Custom, ask.Contract, ask.Stages, ask.Options.Seed = &first.Engine, &first.Contract, nil, j.o.Seed+i
			other, err := weft.Route(ctx, j.fabric, ask)
			if err != nil {
				return err
			}
			r = other
		}
		survival, err := change.Survive(ctx, r.Tables, failures, o)
		if err != nil {
			return err
		}
		random, err := bisect(ctx, r.Tables, congestion.Options{Placement: j.Scope.Endpoints(j.fabric), Seed: j.o.Seed})
		bandwidth := lambdaOf(random)
		if err != nil || bandwidth == nil {
			return err
		}
		j.seeds = append(j.seeds, &seedSummary{j.o.Seed + i, *bandwidth, len(failures), survival.OneStep, survival.Rebuilt, survival.NotMended, false})
		if best == nil || survival.Fewer(best) && *bandwidth >= (1-sturdyLoss)*j.seeds[0].Bandwidth {
			best, taken = survival, int(i)
			j.Result, j.Choice = r, first.Choice
		}
		if best.NotMended+best.Rebuilt == 0 {
			break
		}
	}
	j.seeds[taken].Taken = true
	return nil
}

// seedsText says which seed was taken, and what speaks for it.
func seedsText(seeds []*seedSummary) string {
	text := ""
	for _, s := range seeds {
		if s.Taken {
			text = fmt.Sprintf("--seed %d: of the tables of %s those with the fewest exceptions among %s (bandwidth at most %.0f %% less)",
				s.Seed, words.Plural(len(seeds), "seed"), words.Plural(s.Tried, "sampled failure"), 100*sturdyLoss)
		}
	}
	for _, s := range seeds {
		text += fmt.Sprintf("\n  seed %d: %s not mended, for %s others make way, %s in one step; bandwidth %.3f", s.Seed, words.Thousands(s.NotMended), words.Thousands(s.Rebuilt), words.Thousands(s.OneStep), s.Bandwidth)
	}
	return text
}
