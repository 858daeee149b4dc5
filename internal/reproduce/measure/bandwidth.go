package measure

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/traffic"
)

// EffectiveBisection is the effective bisection bandwidth of tables over so many random
// patterns, a fraction of full, and its standard error. Of a job, that many hosts
// take part, drawn anew for each pattern; 0: all.
func EffectiveBisection(ctx context.Context, t *routing.Tables, job, patterns int, seed uint64) (mean, stderr float64, err error) {
	bisect := traffic.Bisection()
	hosts := routing.HCA.Endpoints(t.Fabric)
	if job > 0 && job < len(hosts) {
		bisect = part{bisect, job}
	}
	r, err := congestion.Simulate(ctx, t, congestion.Options{
		Pattern: bisect, Placement: hosts, UniformRates: true, Seed: seed, Runs: patterns,
	})
	if err != nil {
		return 0, 0, err
	}
	return r.Lambda, r.StdErr, nil
}

// part is a random pattern among some of the ranks, drawn anew each time: a job on
// part of a machine.
type part struct {
	traffic.Pattern
	ranks int
}

// Phases implements traffic.Pattern.
func (p part) Phases(n int) (int, error) { return p.Pattern.Phases(min(n, p.ranks)) }

// Append implements traffic.Pattern.
func (p part) Append(pairs []traffic.Pair, n, phase int, r *rand.Rand) []traffic.Pair {
	chosen := r.Perm(n)[:min(n, p.ranks)]
	first := len(pairs)
	pairs = p.Pattern.Append(pairs, len(chosen), phase, r)
	for i := range pairs[first:] {
		pair := &pairs[first+i]
		pair.From, pair.To = int32(chosen[pair.From]), int32(chosen[pair.To])
	}
	return pairs
}

// String implements traffic.Pattern.
func (p part) String() string { return fmt.Sprintf("%s of %d ranks", p.Pattern, p.ranks) }
