package reproduce

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/measure"
)

// Estimate is how long the full set of the run's experiments is expected to take on
// the same machine, in seconds, and how many points it has. Points that the run has
// taken count as they were; the others are scaled from the one of the same measure
// and engine whose network is nearest in size, by the growth that these show.
func (r *Run) Estimate() (seconds float64, points int) {
	known := map[string]measure.Result{}
	samples := map[kind][]sized{}
	for _, out := range r.Outcomes {
		for _, p := range out.points {
			key := p.Key()
			result, _ := out.Get(p.Line, p.Place)
			if _, again := known[key]; again || result.Spent == 0 {
				continue
			}
			known[key] = result
			k := kind{p.Measure, p.Engine}
			samples[k] = append(samples[k], sized{size(result.Switches, result.Hosts), result.Spent / p.Work()})
		}
	}
	workers := float64(max(1, r.Options.Workers))
	seen := map[string]bool{}
	for _, out := range r.Outcomes {
		for _, p := range out.Points(false, r.Options.Seed, r.digests) {
			key := p.Key()
			if seen[key] {
				continue
			}
			seen[key] = true
			spent := known[key].Spent
			if _, ok := known[key]; !ok {
				spent = predict(samples[kind{p.Measure, p.Engine}], p.Point)
			}
			if !p.Alone() {
				spent /= workers
			}
			seconds += spent
		}
	}
	return seconds, len(seen)
}

// kind is what points have in common whose times tell of each other.
type kind struct {
	measure measure.Measure
	engine  string
}

type sized struct{ size, seconds float64 }

// size is what time grows with: the entries of the forwarding tables.
func size(switches, hosts int) float64 { return float64(switches) * float64(switches+hosts) }

func predict(samples []sized, p measure.Point) float64 {
	if len(samples) == 0 {
		return 0
	}
	f, err := measure.Build(p.Drawn()[0].Spec)
	if err != nil {
		return 0
	}
	n := f.Count()
	at := size(n.Switches, n.HCA)
	far := func(s sized) float64 { return math.Abs(math.Log(s.size / at)) }
	near := slices.MinFunc(samples, func(a, b sized) int { return cmp.Compare(far(a), far(b)) })
	return near.seconds * math.Pow(at/near.size, exponent(samples)) * p.Work()
}

// exponent is how time grows with size: the slope through the samples on
// logarithmic axes, kept within reason.
func exponent(samples []sized) float64 {
	var xs, ys []float64
	for _, s := range samples {
		xs, ys = append(xs, math.Log(s.size)), append(ys, math.Log(math.Max(s.seconds, 1e-4)))
	}
	slope, r2 := claims.Fit(xs, ys)
	if len(samples) < 3 || r2 < 0.5 {
		slope = 1.2
	}
	return min(max(slope, 1), 2)
}
