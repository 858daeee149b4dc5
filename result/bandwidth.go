package result

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-fabric/weft/congestion"
)

// Bandwidths is effective bisection bandwidth before and after a change, as parts of
// full, among the endpoints that are there before and after; nil: fewer than two.
type Bandwidths struct {
	Before *float64        `json:"before"`
	After  *float64        `json:"after"`
	Tiers  []TierBandwidth `json:"tiers"`
	Jobs   []JobBandwidth  `json:"jobs"`
}

// TierBandwidth is what the trunks from switches of one level to those of another leave the
// flows that cross them; nil: no flow does.
type TierBandwidth struct {
	From           int      `json:"from_level"`
	To             int      `json:"to_level"`
	ChannelsBefore int      `json:"channels_before"`
	ChannelsAfter  int      `json:"channels_after"`
	Before         *float64 `json:"before"`
	After          *float64 `json:"after"`
}

// JobBandwidth is the bandwidth of random pairs of a job's endpoints that stay, without
// other traffic; nil: fewer than two.
type JobBandwidth struct {
	Name   string   `json:"name"`
	Ranks  int      `json:"ranks"`
	Stay   int      `json:"ranks_left"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
}

// BandwidthsOf is what was measured, with the names of its jobs.
func BandwidthsOf(c *congestion.Changed, jobs []string) Bandwidths {
	b := Bandwidths{Before: lambdaOf(c.Before), After: lambdaOf(c.After), Tiers: []TierBandwidth{}, Jobs: []JobBandwidth{}}
	if c.Before != nil {
		b.Tiers = tiersOf(c)
	}
	for i, j := range c.Jobs {
		b.Jobs = append(b.Jobs, JobBandwidth{jobs[i], j.Ranks, j.Stay, lambdaOf(j.Before), lambdaOf(j.After)})
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
func tiersOf(c *congestion.Changed) []TierBandwidth {
	all := []TierBandwidth{}
	for side, r := range [...]*congestion.Result{c.Before, c.After} {
		by := c.Tiers[side]
		for i, x := range by.Levels {
			k := slices.IndexFunc(all, func(t TierBandwidth) bool { return t.From == x[0] && t.To == x[1] })
			if k < 0 {
				k = len(all)
				all = append(all, TierBandwidth{From: x[0], To: x[1]})
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
	slices.SortFunc(all, func(a, b TierBandwidth) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return all
}

// Text is the same for people.
func (b *Bandwidths) Text(among string) string {
	if b.Before == nil || b.After == nil {
		return "there are fewer than two " + among
	}
	return fmt.Sprintf("%.3f of full before, %.3f after, random pairs of the %s", *b.Before, *b.After, among)
}
