package reproduce

import (
	"slices"

	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/campaign"
	"github.com/weft-fabric/weft/internal/sweep/measures"
)

// Estimate is how long the full set of the run's experiments is expected to take on
// the same machine, in seconds, and how many points it has. Points that the run has
// taken count as they were; the others are foretold from these, as a dry run of a campaign
// foretells from others.
func (r *Run) Estimate() (seconds float64, points int, err error) {
	o := &r.Options
	const fullSet = false
	list := make([]*Outcome, 0, len(r.Outcomes))
	for _, out := range r.Outcomes {
		values, err := out.Selection(fullSet, o.Seed, o.dumps())
		if err != nil {
			return 0, 0, err
		}
		list = append(list, &Outcome{values: values})
	}
	all := together(list)
	plan := campaign.NewPlan(all, sweep.Fit(campaign.Samples(r.rows.list())), o.Meter)
	for i := range all {
		took := plan.Costs[i]
		if r.rows.has(&all[i]) {
			took = r.rows.spent(&all[i], true)
		}
		if !slices.ContainsFunc(all[i].Measures, func(m measures.Measure) bool { return m.Alone() }) {
			took /= float64(max(1, o.Workers))
		}
		seconds += took
	}
	return seconds, len(all), nil
}
