package campaign

import (
	"regexp"

	"github.com/weft-fabric/weft/internal/sweep"
	"github.com/weft-fabric/weft/internal/sweep/measures"
	"github.com/weft-fabric/weft/internal/sweep/results"
)

// seedIn is cut out of specs: what a point took is told by network, whatever its seed.
var seedIn = regexp.MustCompile(`,?seed=\d+`)

// Samples is what the points of results took, of which sweep.Fit makes estimates: routing, once
// for each point that has a measure taken beside others, and every measure that took some time.
func Samples(rows []results.Row) (samples []sweep.Sample) {
	routed := map[string]bool{}
	for i := range rows {
		r := &rows[i]
		if r.Status != results.OK {
			continue
		}
		kind := seedIn.ReplaceAllString(r.Network, "")
		size := sweep.Size{Switches: int(r.Switches), Hosts: int(r.Hosts), Cables: int(r.Cables), LIDs: int(r.Switches + r.Hosts + 1)}
		m := measures.Parse(r.Measure, r.Settings)
		if !m.Alone() && !routed[r.Point] && r.Engine != sweep.NoEngine {
			routed[r.Point] = true
			samples = append(samples, sweep.OfRouting(r.Engine, r.Options, kind, size, r.RoutingSeconds))
		}
		if r.Seconds >= leastTime {
			samples = append(samples, sweep.OfMeasure(&m, kind, size, r.Seconds))
		}
	}
	return samples
}

// leastTime is what a measure takes at least, in seconds, to count: below, the clock of the
// processor is too coarse, and it does not matter.
const leastTime = 0.001
