package outputs

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/congestion"
	"github.com/weft-fabric/weft/internal/bandwidths"
	"github.com/weft-fabric/weft/result"
)

// Bandwidths is what was measured, with the names of its jobs.
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

func lambdaOf(r *congestion.Result) *float64 {
	if r == nil {
		return nil
	}
	return &r.Lambda
}

// tiersOf joins tiers of the same levels.
func tiersOf(c *bandwidths.Changed) []result.TierBandwidth {
	all := []result.TierBandwidth{}
	for side, r := range [...]*congestion.Result{c.Before, c.After} {
		by := c.Tiers[side]
		for i, x := range by.Levels {
			k := slices.IndexFunc(all, func(t result.TierBandwidth) bool { return t.From == x[0] && t.To == x[1] })
			if k < 0 {
				k = len(all)
				all = append(all, result.TierBandwidth{From: x[0], To: x[1]})
			}
			channels, share := &all[k].ChannelsBefore, &all[k].Before
			if side == 1 {
				channels, share = &all[k].ChannelsAfter, &all[k].After
			}
			for _, of := range by.Of {
				if int(of) == i {
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
