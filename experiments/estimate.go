package experiments

import (
	"math"
	"slices"

	"github.com/weft-fabric/weft/topology"
)

// Estimate is how long the full set of the run's experiments is expected to take on
// the same machine, in seconds, and how many points it has. Points that the run has
// taken count as they were; the others are scaled from the one of the same measure
// and engine whose network is nearest in size, by the growth that these show.
func (r *Run) Estimate() (seconds float64, points int) {
	known := map[string]Result{}
	samples := map[string][]sized{}
	_, digests, _ := r.Options.realFabrics()
	for _, out := range r.Outcomes {
		for _, p := range out.places(r.Options.Quick, r.Options.Seed, digests) {
			key := p.Key()
			result := out.results[slot(out.Lines[p.line].Name, out.Lines[p.line].Networks[p.at].Label)]
			if _, again := known[key]; again || result.Spent == 0 {
				continue
			}
			known[key] = result
			kind := string(p.Measure) + " " + p.Engine
			samples[kind] = append(samples[kind], sized{size(result.Switches, result.Hosts), result.Spent / p.work()})
		}
	}
	workers := float64(max(1, r.Options.Workers))
	seen := map[string]bool{}
	for _, out := range r.Outcomes {
		for _, p := range out.places(false, r.Options.Seed, digests) {
			key := p.Key()
			if seen[key] {
				continue
			}
			seen[key] = true
			spent := known[key].Spent
			if _, ok := known[key]; !ok {
				spent = predict(samples[string(p.Measure)+" "+p.Engine], p.Point)
			}
			if !p.alone() {
				spent /= workers
			}
			seconds += spent
		}
	}
	return seconds, len(seen)
}

// sized is what one network took.
type sized struct{ size, seconds float64 }

// size is what time grows with: the entries of the forwarding tables.
func size(switches, hosts int) float64 { return float64(switches) * float64(switches+hosts) }

// work is how many times a point does the same.
func (p Point) work() float64 {
	return float64(max(1, p.Networks)) * float64(max(1, p.Repeats)) * math.Max(1, float64(p.Patterns)/1000)
}

// predict is what a point is expected to take.
func predict(samples []sized, p Point) float64 {
	if len(samples) == 0 {
		return 0
	}
	family, err := topology.Parse(p.drawn(0))
	if err != nil {
		return 0
	}
	f, err := family.Build()
	if err != nil {
		return 0
	}
	n := f.Count()
	at := size(n.Switches, n.HCA)
	near := slices.MinFunc(samples, func(a, b sized) int {
		da, db := math.Abs(math.Log(a.size/at)), math.Abs(math.Log(b.size/at))
		switch {
		case da < db:
			return -1
		case da > db:
			return 1
		}
		return 0
	})
	return near.seconds * math.Pow(at/near.size, exponent(samples)) * p.work()
}

// exponent is how time grows with size: the slope through the samples on
// logarithmic axes, kept within reason.
func exponent(samples []sized) float64 {
	var xs, ys []float64
	for _, s := range samples {
		xs, ys = append(xs, math.Log(s.size)), append(ys, math.Log(math.Max(s.seconds, 1e-4)))
	}
	slope, r2 := fit(xs, ys)
	if len(samples) < 3 || r2 < 0.5 {
		slope = 1.2
	}
	return min(max(slope, 1), 2)
}
