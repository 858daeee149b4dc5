package claims

import (
	"fmt"
	"math"
)

// How far off a comparison of throughputs may be: they are means over few networks, drawn by lot,
// and each is found on a grid of loads. What is nearer to the limit of a claim than its error is
// open. The same goes for lanes, which are whole numbers: that of the grid is less than their error there.

// step is that of the loads that a throughput is looked for among (measure delivered of package
// measures).
const step = 0.02

// throughputs is the largest loads that lines still deliver at one place, on the same networks.
type throughputs struct {
	of       map[string]Result // by line
	networks []int             // indices in Result.Each on which all lines have one; none where there is only the mean
}

// means is the mean throughput of lines.
type means func(line string) float64

// throughputs is those of some lines; all of them must have one.
func (r *Results) throughputs(place string, lines ...string) (t throughputs, ok bool) {
	t.of = map[string]Result{}
	n := math.MaxInt
	for _, l := range lines {
		v, ok := r.At(l, place)
		if !ok || v.Value <= 0 {
			return t, false
		}
		t.of[l], n = v, min(n, len(v.Each))
	}
	for i := range n {
		whole := true
		for _, v := range t.of {
			whole = whole && v.Each[i] > 0
		}
		if whole {
			t.networks = append(t.networks, i)
		}
	}
	return t, true
}

// mean is the mean throughput of a line over all networks.
func (t *throughputs) mean(line string) float64 { return t.of[line].Value }

// without is the means with one network left out, an index in Result.Each.
func (t *throughputs) without(network int) means {
	return func(line string) float64 {
		each := t.of[line].Each
		sum := 0.0
		for _, i := range t.networks {
			if i != network {
				sum += each[i]
			}
		}
		return sum / float64(len(t.networks)-1)
	}
}

// estimate is a figure made of mean throughputs, with its error.
type estimate struct{ value, error float64 }

// estimate is what a function makes of the means. Its error is twice its standard error by the
// jackknife: how it varies where one network after another is left out. Since it is of all lines
// on the same networks, what these have in common does not count. No error is less than
// that of the grid over as many networks.
func (t *throughputs) estimate(of func(means) float64) estimate {
	e := estimate{value: of(t.mean)}
	least := math.Inf(1)
	for _, v := range t.of {
		least = min(least, v.Value)
	}
	n := len(t.networks)
	e.error = max(step/least/math.Sqrt(max(1, float64(n))), twiceJackknifed(n, func(i int) float64 { return of(t.without(t.networks[i])) }))
	return e
}

// twiceJackknifed is twice the standard error of a figure made of n networks, by what it is without
// one after another of them. Of fewer than two it is not known: 0.
func twiceJackknifed(n int, without func(i int) float64) float64 {
	if n < 2 {
		return 0
	}
	var values []float64
	for i := range n {
		values = append(values, without(i))
	}
	mean, squares := Mean(values), 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return 2 * math.Sqrt(float64(n-1)/float64(n)*squares)
}

// gain is by which share a line is above another.
func (t *throughputs) gain(line, other string) estimate {
	return t.estimate(func(mean means) float64 { return mean(line)/mean(other) - 1 })
}

// answer agrees if by, how clearly something holds, is above the error, differs if it is as far below
// 0, and is open between.
func (e estimate) answer(by float64, format string, values ...any) Answer {
	a := answer(by > 0, format, values...)
	if math.Abs(by) <= e.error {
		a.Agreement = Open
	}
	return a
}

// percent is a gain with its error.
func (e estimate) percent() string { return fmt.Sprintf("%+.1f ± %.1f %%", e.value*100, e.error*100) }

// share is a fraction, which has no sign, with its error.
func (e estimate) share() string { return fmt.Sprintf("%.1f ± %.1f %%", e.value*100, e.error*100) }
