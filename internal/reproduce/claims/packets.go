package claims

import (
	"math"
	"slices"
	"strings"
)

// Claims about packets: when a network stops, and how much one accepts.

// NeverStops says in how many runs a network stood still; it agrees if in none.
func NeverStops(line, place string) Check {
	return stopping(line, place, true, func(v Result) Answer {
		return answer(false, "stopped in %d runs, after %s µs in the mean; %s", v.Count, number(v.Value), loopText(v))
	})
}

// StopsAfter says after how long a network stood still.
func StopsAfter(line, place string, paper float64) Check {
	return stopping(line, place, false, func(v Result) Answer {
		return answer(within(v.Value, paper, Timing),
			"%s µs in the mean of the %d runs that stopped, %s to %s; %s", number(v.Value), v.Count, number(v.Low), number(v.High), loopText(v))
	})
}

// StopsBySize says how the time until a network stood still differs between some places, the largest
// over the least; it agrees if that is as much as the paper's, and its largest is where theirs is.
func StopsBySize(line string, places []string, paper []float64) Check {
	return func(r *Results) Answer {
		var ours []float64
		var text []string
		for _, p := range places {
			v, ok := r.At(line, p)
			if !ok {
				return NotMeasured
			}
			ours, text = append(ours, v.Value), append(text, number(v.Value))
		}
		most := func(values []float64) float64 { return slices.Max(values) / slices.Min(values) }
		peak := func(values []float64) int { return slices.Index(values, slices.Max(values)) }
		return answer(within(most(ours), most(paper), Timing) && peak(ours) == peak(paper),
			"%s µs: the longest is %s times the shortest, in the paper %s times", strings.Join(text, ", "), ratio(most(ours)), ratio(most(paper)))
	}
}

// stopping reports whether a network stood still, whether to never do so is what the
// paper says, and if it did, what stopped says.
func stopping(line, place string, never bool, stopped func(Result) Answer) Check {
	return func(r *Results) Answer {
		v, ok := r.Get(line, place)
		switch {
		case !ok:
			return NotMeasured
		case v.Count == 0:
			return answer(never, "never stopped; %s", loopText(v))
		}
		return stopped(v)
	}
}

func loopText(r Result) string {
	if r.Loops > 0 {
		return "the judge finds a credit loop"
	}
	return "proven free of credit loops"
}

// throughputs is the largest load that each of two lines still delivers at a place.
func (r *Results) throughputs(line, other, place string) (a, b float64, ok bool) {
	one, ok1 := r.At(line, place)
	two, ok2 := r.At(other, place)
	return one.Value, two.Value, ok1 && ok2 && one.Value > 0 && two.Value > 0
}

// More reports whether a line clearly has the larger throughput than each of others.
func More(line string, others []string, place string) Check {
	return besides(line, others, place, func(a, b float64) bool { return a > b*(1+Sampling) })
}

// NotFarBelow reports whether a line has almost the throughput of another, or more.
func NotFarBelow(line, other, place string) Check {
	return besides(line, []string{other}, place, func(a, b float64) bool { return a >= b*(1-Nearly) })
}

// Near reports whether two lines have almost the same throughput.
func Near(line, other, place string) Check {
	return besides(line, []string{other}, place, func(a, b float64) bool { return math.Abs(a/b-1) <= Nearly })
}

// Less reports whether a line clearly has the smaller throughput than each of others.
func Less(line string, others []string, place string) Check {
	return besides(line, others, place, func(a, b float64) bool { return a < b*(1-Sampling) })
}

// All reports whether several checks agree.
func All(checks ...Check) Check {
	return func(r *Results) Answer {
		var all list
		for _, check := range checks {
			a := check(r)
			if a.Agreement == Open {
				return a
			}
			all.add(a.Agreement == Agrees, "%s", a.Ours)
		}
		return all.answer("; ")
	}
}

// Apart says how far lines lie apart at a place, as a fraction of the largest; it agrees up
// to a fraction.
func Apart(lines []string, place string, fraction float64) Check {
	return func(r *Results) Answer {
		e := noExtent()
		for _, l := range lines {
			v, ok := r.At(l, place)
			if !ok {
				return NotMeasured
			}
			e.add(v.Value, v.Value)
		}
		apart := 1 - e.least/e.most
		return answer(apart <= fraction, "%.3f to %.3f: at most %.1f %% below the best", e.least, e.most, apart*100)
	}
}

// besides reports whether something holds of a line's throughput and that of each of
// others.
func besides(line string, others []string, place string, holds func(a, b float64) bool) Check {
	return func(r *Results) Answer {
		var all list
		for _, other := range others {
			a, b, ok := r.throughputs(line, other, place)
			if !ok {
				return NotMeasured
			}
			all.add(holds(a, b), "%s %.3f, %s %.3f (%s)", line, a, other, b, percent(a, b))
		}
		return all.answer("; ")
	}
}

// Closer reports whether two lines differ less under pairwise traffic than under uniform: by
// less than so many times as much.
func Closer(line, other, place string, times float64) Check {
	return func(r *Results) Answer {
		a, b, ok1 := r.throughputs(line, other, place)
		c, d, ok2 := r.throughputs(line+Pairs, other+Pairs, place)
		if !ok1 || !ok2 {
			return NotMeasured
		}
		return answer(math.Abs(c/d-1) < math.Abs(a/b-1)*times, "%s over %s: %s uniform, %s pairwise", line, other, percent(a, b), percent(c, d))
	}
}

// Wider reports whether a line is further above one other than above another.
func Wider(line, above, other, place string) Check {
	return func(r *Results) Answer {
		a, b, ok1 := r.throughputs(line, above, place)
		_, c, ok2 := r.throughputs(line, other, place)
		if !ok1 || !ok2 {
			return NotMeasured
		}
		return answer(a/b > a/c, "%s over %s, %s over %s", percent(a, b), above, percent(a, c), other)
	}
}
