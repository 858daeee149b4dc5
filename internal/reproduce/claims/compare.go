package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// In this file are checks that compare a line with others. An engine among the others stands for
// OpenSM's own tables where these were measured (Results.other).

// Gain says by how much a line is above the best of others at a place; it agrees if that is the
// paper's gain up to a tolerance, both fractions.
func Gain(line string, others []string, place string, paper, within float64) Check {
	return func(r *Results) Answer {
		best, of := r.best(others, place)
		v, ok := r.At(line, place)
		if !ok || of == "" {
			return NotMeasured
		}
		return answer(math.Abs(v.Value/best-1-paper) <= within, "%s over %s (%.3f, %.3f)", percent(v.Value, best), of, v.Value, best)
	}
}

// TimesBest says how many times the best of others a line has at a place; it agrees if that is
// the paper's number up to a factor.
func TimesBest(line string, others []string, place string, paper, factor float64) Check {
	return func(r *Results) Answer {
		best, of := r.best(others, place)
		v, ok := r.At(line, place)
		if !ok || of == "" {
			return NotMeasured
		}
		return answer(withinFactor(v.Value/best, paper, factor), "%s times %s (%.3f, %.3f)", ratio(v.Value/best), of, v.Value, best)
	}
}

// Above says at how many places a line is not below any of the others, by more
// than a fraction of slack.
func Above(line string, others []string, slack float64) Check {
	return everywhere(line, others, "below", slack, func(a, b float64) bool { return a >= b*(1-slack) })
}

// Below says at how many places a line is not above any of the others, likewise.
func Below(line string, others []string, slack float64) Check {
	return everywhere(line, others, "above", slack, func(a, b float64) bool { return a <= b*(1+slack) })
}

// everywhere counts the places at which holds is true of a line and all others; word says what it is
// not there. It agrees if that is so everywhere, and at one place at least the line differs from all
// others by more than the slack.
func everywhere(line string, others []string, word string, slack float64, holds func(a, b float64) bool) Check {
	return func(r *Results) Answer {
		compared, clear := 0, 0
		var broken []string
		first := ""
		for _, v := range r.Values(line) {
			text, any, breaks, alike := fmt.Sprintf("%s: %s %s", v.Label, line, number(v.Value)), false, false, false
			for _, other := range others {
				q, name, ok := r.other(other, v.Label)
				if !ok {
					continue
				}
				any = true
				alike = alike || math.Abs(v.Value-q.Value) <= slack*q.Value
				if !breaks && (!holds(v.Value, q.Value) || compared == 0) {
					text += fmt.Sprintf(", %s %s", name, number(q.Value))
				}
				breaks = breaks || !holds(v.Value, q.Value)
			}
			switch {
			case !any:
				continue
			case breaks:
				broken = append(broken, text)
			case !alike:
				clear++
			}
			if compared == 0 {
				first = text
			}
			compared++
		}
		yes := len(broken) == 0 && clear > 0
		switch compared {
		case 0:
			return NotMeasured
		case 1:
			return answer(yes, "%s", first)
		}
		by := ""
		if slack > 0 {
			by = fmt.Sprintf(" by more than %.0f %%", slack*100)
		}
		text := fmt.Sprintf("not %s%s at %d of %d places", word, by, compared-len(broken), compared)
		if slack > 0 {
			text += fmt.Sprintf(", clearly different at %d", clear)
		}
		if len(broken) > 0 {
			text += "; but at " + some(broken)
		}
		return answer(yes, "%s", text)
	}
}

// Significantly says at how many places a line is above the best of others by a
// fraction; it agrees if that is so at all places except those named.
func Significantly(line string, others []string, by float64, except ...string) Check {
	return func(r *Results) Answer {
		n, reached := 0, 0
		var below []string
		for _, v := range r.Values(line) {
			best, of := r.best(others, v.Label)
			if of == "" || slices.Contains(except, v.Label) {
				continue
			}
			n++
			if v.Value >= best*(1+by) {
				reached++
			} else {
				below = append(below, fmt.Sprintf("%s: %s over %s", v.Label, percent(v.Value, best), of))
			}
		}
		if n == 0 {
			return NotMeasured
		}
		text := fmt.Sprintf("%.0f %% or more above the best of them at %d of %d places", by*100, reached, n)
		if len(below) > 0 {
			text += "; not at " + some(below)
		}
		return answer(reached == n, "%s", text)
	}
}

// Within reports whether two lines are alike at every place, up to a fraction.
func Within(line, other string, fraction float64) Check {
	return func(r *Results) Answer {
		worst, at, n := 0.0, "", 0
		for _, v := range r.Values(line) {
			b, _, ok := r.other(other, v.Label)
			if !ok {
				continue
			}
			n++
			if d := v.Value/b.Value - 1; at == "" || math.Abs(d) > math.Abs(worst) {
				worst, at = d, v.Label
			}
		}
		if n == 0 {
			return NotMeasured
		}
		return answer(math.Abs(worst) <= fraction, "at most %+.1f %% apart (at %s) over %d places", worst*100, at, n)
	}
}

// AllWithin says how far lines lie apart at most at one place, as a fraction of the
// best of them.
func AllWithin(lines []string, fraction float64) Check {
	return func(r *Results) Answer {
		worst, at := 0.0, ""
		for _, v := range r.Values(lines[0]) {
			e, low := noExtent(), ""
			for _, l := range lines {
				if q, name, ok := r.other(l, v.Label); ok {
					if q.Value < e.least {
						low = name
					}
					e.add(q.Value, q.Value)
				}
			}
			if d := 1 - e.least/e.most; at == "" || d > worst {
				worst, at = d, fmt.Sprintf("%s, %s", v.Label, low)
			}
		}
		if at == "" {
			return NotMeasured
		}
		return answer(worst <= fraction, "at most %.0f %% below the best (at %s)", worst*100, at)
	}
}

// Times says how many times larger a line is than another, as the median over the
// places or at one; it agrees if that is the paper's number up to a factor.
func Times(line, other, place string, paper, factor float64) Check {
	return func(r *Results) Answer {
		var ratios []float64
		for _, v := range r.Values(line) {
			if place != "" && place != v.Label {
				continue
			}
			if b, ok := r.At(other, v.Label); ok && b.Value > 0 {
				ratios = append(ratios, v.Value/b.Value)
			}
		}
		if len(ratios) == 0 {
			return NotMeasured
		}
		slices.Sort(ratios)
		n := len(ratios)
		median := (ratios[(n-1)/2] + ratios[n/2]) / 2
		text := ratio(median) + " times"
		if n > 1 {
			text += fmt.Sprintf(" (median; %s to %s)", ratio(ratios[0]), ratio(ratios[n-1]))
		}
		return answer(withinFactor(median, paper, factor), "%s", text)
	}
}

// AboveAt reports whether a line is above another at some places.
func AboveAt(line, other string, places []string) Check {
	return atPlaces(line, other, places, func(a, b float64) bool { return a > b })
}

// NearlyAboveAt reports whether a line is clearly above another at some places, by a fraction at
// most.
func NearlyAboveAt(line, other string, places []string, fraction float64) Check {
	return atPlaces(line, other, places, func(a, b float64) bool { return a > b*(1+Sampling) && a <= b*(1+fraction) })
}

// atPlaces says what two lines have at some places; it agrees if holds is true at all of them.
func atPlaces(line, other string, places []string, holds func(a, b float64) bool) Check {
	return func(r *Results) Answer {
		var l list
		for _, p := range places {
			a, ok1 := r.At(line, p)
			b, name, ok2 := r.other(other, p)
			if ok1 && ok2 {
				l.add(holds(a.Value, b.Value), "%s: %s %s, %s %s", p, line, number(a.Value), name, number(b.Value))
			}
		}
		return l.answer("; ")
	}
}

// SmallerIndex says where the edge-forwarding index of a line is below another's;
// it agrees if that is so at half of the places or more.
func SmallerIndex(line, other string) Check {
	return func(r *Results) Answer {
		smaller, n := 0, 0
		var at []string
		for _, a := range r.Values(line) {
			b, ok := r.At(other, a.Label)
			if !ok || a.Index == 0 || b.Index == 0 {
				continue
			}
			n++
			at = append(at, fmt.Sprintf("%s: %s to %s", a.Label, number(a.Index), number(b.Index)))
			if a.Index < b.Index {
				smaller++
			}
		}
		if n == 0 {
			return NotMeasured
		}
		return answer(2*smaller >= n, "at %d of %d places (%s)", smaller, n, some(at))
	}
}

// SameAs reports whether two lines have the same value and index.
func SameAs(line, other string) Check {
	return func(r *Results) Answer {
		same := true
		var text []string
		for _, a := range r.Values(line) {
			if b, ok := r.At(other, a.Label); ok {
				same = same && math.Abs(a.Value-b.Value) < 1e-12 && a.Index == b.Index
				text = append(text, fmt.Sprintf("%.4f and %.4f, index %s and %s", a.Value, b.Value, number(a.Index), number(b.Index)))
			}
		}
		if len(text) == 0 {
			return NotMeasured
		}
		return answer(same, "%s", some(text))
	}
}

// withinFactor reports whether a value is the paper's up to a factor.
func withinFactor(value, paper, factor float64) bool {
	return value >= paper/factor && value <= paper*factor
}

// Growth compares how two lines scale between two places: the exponents of their
// growth, of which the ratio must be between low and high.
func Growth(line, other, from, to string, low, high float64) Check {
	return func(r *Results) Answer {
		a, ok1 := r.At(line, from)
		b, ok2 := r.At(line, to)
		c, ok3 := r.At(other, from)
		d, ok4 := r.At(other, to)
		if !ok1 || !ok2 || !ok3 || !ok4 || a.Value == 0 || c.Value == 0 || d.Value == c.Value {
			return NotMeasured
		}
		ours, theirs := b.Value/a.Value, d.Value/c.Value
		exponents := math.Log(ours) / math.Log(theirs)
		return answer(exponents >= low && exponents <= high,
			"from %s to %s %s grows %s times, %s %s times: exponents as %.2f to 1", from, to, line, ratio(ours), other, ratio(theirs), exponents)
	}
}

// Widening reports whether the gain over the best of others is larger at one place than
// at another. It is open where they differ by no more than samples may.
func Widening(line string, others []string, from, to string) Check {
	return func(r *Results) Answer {
		gainAt := func(p string) (float64, bool) {
			best, _ := r.best(others, p)
			v, ok := r.At(line, p)
			return v.Value/best - 1, ok && best > 0
		}
		a, ok1 := gainAt(from)
		b, ok2 := gainAt(to)
		if !ok1 || !ok2 {
			return NotMeasured
		}
		return estimate{b - a, Sampling}.answer(b-a, "%+.1f %% at %s, %+.1f %% at %s", a*100, from, b*100, to)
	}
}

// Crossing says where the mean of a line passes above another's, which the paper
// puts at about some place.
func Crossing(line, other string, paper float64) Check {
	return func(r *Results) Answer {
		var xs, differences []float64
		values := r.Values(line)
		slices.SortStableFunc(values, func(a, b At) int { return cmp.Compare(a.X, b.X) })
		for _, a := range values {
			if b, ok := r.At(other, a.Label); ok {
				xs, differences = append(xs, a.X), append(differences, a.Value-b.Value)
			}
		}
		for i := 1; i < len(xs); i++ {
			before, after := differences[i-1], differences[i]
			if before <= 0 && after > 0 {
				x := xs[i-1] + (xs[i]-xs[i-1])*(-before)/(after-before)
				return answer(withinFactor(x, paper, About), "at about %.0f", x)
			}
		}
		if len(xs) < 2 {
			return NotMeasured
		}
		return Answer{Ours: "they do not cross", Agreement: Differs}
	}
}

// Savings says how many lanes fewer other needs than line; it agrees if that is
// between low and high at all places measured.
func Savings(line, other string, places []string, low, high float64) Check {
	return func(r *Results) Answer {
		var l list
		for _, p := range places {
			a, ok1 := r.At(line, p)
			b, ok2 := r.At(other, p)
			if ok1 && ok2 {
				fewer := a.Value - b.Value
				l.add(fewer >= low && fewer <= high, "%s: %s and %s", p, number(a.Value), number(b.Value))
			}
		}
		a := l.answer(", ")
		if a.Agreement != Open {
			a.Ours = line + " and " + other + " at " + a.Ours
		}
		return a
	}
}

// Timed is a check of routing times, which the papers took of programs that are not at hand: where ours differ it is
// open, since other programs were timed.
func Timed(c Check) Check {
	return func(r *Results) Answer {
		a := c(r)
		if a.Agreement == Differs {
			a.Agreement = Open
		}
		return a
	}
}
