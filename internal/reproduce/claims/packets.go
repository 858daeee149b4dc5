package claims

import (
	"fmt"
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
		return answer(withinFactor(v.Value, paper, Timing),
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
		return answer(withinFactor(most(ours), most(paper), Timing) && peak(ours) == peak(paper),
			"%s µs: the longest is %s times the shortest, in the paper %s times", strings.Join(text, ", "), ratio(most(ours)), ratio(most(paper)))
	}
}

// stopping is a check of whether a network stood still. If it did not, that agrees if never is what
// the paper says; if it did, stopped has the answer.
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

// loopText says what the judge finds of the tables.
func loopText(r Result) string {
	if r.Loops > 0 {
		return "the judge finds a credit loop"
	}
	return "proven free of credit loops"
}

// More reports whether a line has the larger throughput than each of others.
func More(line string, others []string, place string) Check {
	return throughputRatio(line, others, place, func(ratio float64) float64 { return ratio - 1 })
}

// NotFarBelow reports whether a line has almost the throughput of another, or more.
func NotFarBelow(line, other, place string) Check {
	return throughputRatio(line, []string{other}, place, func(ratio float64) float64 { return ratio - (1 - Nearly) })
}

// Near reports whether two lines have almost the same throughput.
func Near(line, other, place string) Check {
	return throughputRatio(line, []string{other}, place, func(ratio float64) float64 { return Nearly - math.Abs(ratio-1) })
}

// Less reports whether a line has the smaller throughput than each of others.
func Less(line string, others []string, place string) Check {
	return throughputRatio(line, others, place, func(ratio float64) float64 { return 1 - ratio })
}

// All reports whether several checks agree.
func All(checks ...Check) Check {
	return func(r *Results) Answer {
		var all list
		for _, check := range checks {
			a := check(r)
			if a == NotMeasured {
				return a
			}
			all.take(a.Agreement, "%s", a.Ours)
		}
		return all.answer("; ")
	}
}

// Apart says how far lines lie apart at a place, as a fraction of the largest; it agrees up
// to a fraction.
func Apart(lines []string, place string, fraction float64) Check {
	return func(r *Results) Answer {
		t, ok := r.throughputs(place, lines...)
		if !ok {
			return NotMeasured
		}
		e := noExtent()
		for _, l := range lines {
			e.add(t.mean(l), t.mean(l))
		}
		apart := t.estimate(func(mean means) float64 {
			of := noExtent()
			for _, l := range lines {
				of.add(mean(l), mean(l))
			}
			return 1 - of.least/of.most
		})
		return apart.answer(fraction-apart.value, "%.3f to %.3f: at most %s below the best", e.least, e.most, apart.share())
	}
}

// throughputRatio checks something about the ratio of a line's throughput to that of each of others. by says
// how clearly it holds of a ratio; negative where it does not.
func throughputRatio(line string, others []string, place string, by func(ratio float64) float64) Check {
	return func(r *Results) Answer {
		var all list
		for _, other := range others {
			t, ok := r.throughputs(place, line, other)
			if !ok {
				return NotMeasured
			}
			gain := t.gain(line, other)
			a := gain.answer(by(1+gain.value), "%s %.3f, %s %.3f (%s)", line, t.mean(line), other, t.mean(other), gain.percent())
			all.take(a.Agreement, "%s", a.Ours)
		}
		return all.answer("; ")
	}
}

// Closer reports whether two lines differ less under pairwise traffic than under uniform: by
// less than so many times as much.
func Closer(line, other, place string, times float64) Check {
	return func(r *Results) Answer {
		t, ok := r.throughputs(place, line, other, line+Pairs, other+Pairs)
		if !ok {
			return NotMeasured
		}
		less := t.estimate(func(mean means) float64 {
			return times*math.Abs(mean(line)/mean(other)-1) - math.Abs(mean(line+Pairs)/mean(other+Pairs)-1)
		})
		return less.answer(less.value, "%s over %s: %s uniform, %s pairwise", line, other, t.gain(line, other).percent(), t.gain(line+Pairs, other+Pairs).percent())
	}
}

// Gains reports whether a line has more, measured by another, under pairwise traffic than under
// uniform.
func Gains(line, other, place string) Check {
	return func(r *Results) Answer {
		t, ok := r.throughputs(place, line, other, line+Pairs, other+Pairs)
		if !ok {
			return NotMeasured
		}
		by := t.estimate(func(mean means) float64 {
			return mean(line+Pairs)/mean(other+Pairs) - mean(line)/mean(other)
		})
		return by.answer(by.value, "%s over %s: %s uniform, %s pairwise", line, other, t.gain(line, other).percent(), t.gain(line+Pairs, other+Pairs).percent())
	}
}

// Wider reports whether a line is further above one other than above another.
func Wider(line, above, other, place string) Check {
	return func(r *Results) Answer {
		t, ok := r.throughputs(place, line, above, other)
		if !ok {
			return NotMeasured
		}
		by := t.estimate(func(mean means) float64 { return mean(line)/mean(above) - mean(line)/mean(other) })
		return by.answer(by.value, "%s over %s, %s over %s", t.gain(line, above).percent(), above, t.gain(line, other).percent(), other)
	}
}

// Read holds a claim against one line, and adds what the line otherwise comes to, which is of another
// way to read the paper.
func Read(check func(line string) Check, line, otherwise string) Check {
	return func(r *Results) Answer {
		a, b := check(line)(r), check(otherwise)(r)
		if a != NotMeasured && b != NotMeasured {
			a.Ours += fmt.Sprintf(". Read otherwise: %s: %s", b.Ours, b.Agreement)
		}
		return a
	}
}
