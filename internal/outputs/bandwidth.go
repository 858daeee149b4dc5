package outputs

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/internal/bandwidths"
	"github.com/weft-fabric/weft/result"
)

// Bandwidths is what was measured before and after a change, with the names of the jobs, [index in c.Jobs].
func Bandwidths(c *bandwidths.Changed, jobs []string) result.Bandwidths {
	b := result.Bandwidths{Before: lambdaOf(c.Before), After: lambdaOf(c.After), Tiers: []result.TierBandwidth{}, Jobs: []result.JobBandwidth{}}
	if c.Before != nil {
		b.Tiers = tiersOf(c)
	}
	for i, j := range c.Jobs {
		b.Jobs = append(b.Jobs, result.JobBandwidth{Name: jobs[i], Ranks: j.Ranks, Stay: j.Stay, Before: lambdaOf(j.Before), After: lambdaOf(j.After)})
	}
	return b
}

// lambdaOf is the bandwidth that was measured; nil: it was not.
func lambdaOf(r *congestion.Result) *float64 {
	if r == nil {
		return nil
	}
	return &r.Lambda
}

// tiersOf is a row for each pair of levels that trunks join before or after, with both.
func tiersOf(c *bandwidths.Changed) []result.TierBandwidth {
	all := []result.TierBandwidth{}
	for side, r := range [...]*congestion.Result{c.Before, c.After} {
		tiers := c.Tiers[side]
		for i, levels := range tiers.Levels {
			k := slices.IndexFunc(all, func(t result.TierBandwidth) bool { return t.From == levels[0] && t.To == levels[1] })
			if k < 0 {
				k = len(all)
				all = append(all, result.TierBandwidth{From: levels[0], To: levels[1]})
			}
			channels, share := &all[k].ChannelsBefore, &all[k].Before
			if side == 1 {
				channels, share = &all[k].ChannelsAfter, &all[k].After
			}
			for _, tier := range tiers.Of {
				if int(tier) == i {
					*channels++
				}
			}
			if r.Tiers[i].Flows > 0 {
				*share = &r.Tiers[i].Share
			}
		}
	}
	slices.SortFunc(all, func(a, b result.TierBandwidth) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return all
}
