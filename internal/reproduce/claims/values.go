package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// In this file are checks of the values of single lines.

// Ranges says between which values a line lies, whiskers included; it agrees if
// that is inside low and high.
func Ranges(line string, low, high float64) Check {
	return func(r *Results) Answer {
		e, refused := r.extentOf(line)
		if e.empty() {
			return NotMeasured
		}
		text := number(e.least)
		if e.least != e.most {
			text += " to " + number(e.most)
		}
		if refused > 0 {
			text += fmt.Sprintf("; %d networks refused", refused)
		}
		return answer(e.within(low, high) && refused == 0, "%s", text)
	}
}

// Everywhere agrees if there is a value, a number of rounds, for every network of a line; what is what
// the answer then says.
func Everywhere(line, what string) Check {
	return func(r *Results) Answer {
		e, refused := r.extentOf(line)
		if e.empty() && refused == 0 {
			return NotMeasured
		}
		if refused > 0 {
			return answer(false, "not on %d networks", refused)
		}
		return answer(true, "%s, after %s to %s rounds", what, number(e.least), number(e.most))
	}
}

// RangesLike says between which values a line lies, whiskers included; it agrees if the
// least and the most are both within one of the paper's.
func RangesLike(line string, low, high float64) Check {
	return func(r *Results) Answer {
		a := Ranges(line, low, high)(r)
		if e, refused := r.extentOf(line); a.Agreement != Open {
			a = answer(math.Abs(e.least-low) <= 1 && math.Abs(e.most-high) <= 1 && refused == 0, "%s", a.Ours)
		}
		return a
	}
}

// RangesAt is Ranges at one place.
func RangesAt(line, place string, low, high float64) Check {
	return func(r *Results) Answer {
		v, ok := r.At(line, place)
		if !ok {
			return NotMeasured
		}
		text := number(v.Low)
		if v.Low != v.High {
			text += " to " + number(v.High) + ", mean " + number(v.Value)
		}
		return answer(v.Low >= low && v.High <= high, "%s", text)
	}
}

// Enough says on which share of the networks of a place a number of lanes is enough; it
// agrees from a share on, if no network needs more than most.
func Enough(line, place string, lanes, share, most float64) Check {
	return func(r *Results) Answer {
		v, ok := r.At(line, place)
		if !ok || len(v.Each) == 0 {
			return NotMeasured
		}
		n := 0
		for _, each := range v.Each {
			if each > 0 && each <= lanes {
				n++
			}
		}
		return answer(float64(n) >= share*float64(len(v.Each)) && v.High <= most && v.Refusals == 0,
			"%s on %d of %d networks, %s at the most", number(lanes), n, len(v.Each), number(v.High))
	}
}

// InSome says in how many of the ways to read a paper, each of them a result of the place, a line has
// a value; it agrees if in one at least, for the paper does not say which it took.
func InSome(line, place string, want float64, ways string) Check {
	return func(r *Results) Answer {
		v, ok := r.At(line, place)
		if !ok || len(v.Each) == 0 {
			return NotMeasured
		}
		n := 0
		for _, each := range v.Each {
			if each == want {
				n++
			}
		}
		text := fmt.Sprintf("%s in %d of %d %s", number(want), n, len(v.Each), ways)
		if n < len(v.Each) {
			text += fmt.Sprintf(", of all %s to %s", number(v.Low), number(v.High))
		}
		return answer(n > 0, "%s", text)
	}
}

// RangesUpTo is Ranges over the places up to some x.
func RangesUpTo(line string, x, low, high float64) Check {
	return func(r *Results) Answer {
		e, n := noExtent(), 0
		for _, v := range r.Values(line) {
			if v.X <= x {
				e.add(v.Low, v.High)
				n += v.Count
			}
		}
		if n == 0 {
			return NotMeasured
		}
		return answer(e.within(low, high), "%s to %s over %d networks", number(e.least), number(e.most), n)
	}
}

// Between says between which values lines lie at some places.
func Between(lines, places []string, low, high float64) Check {
	return func(r *Results) Answer {
		e := noExtent()
		for _, l := range lines {
			for _, p := range places {
				if v, _, ok := r.other(l, p); ok {
					e.add(v.Value, v.Value)
				}
			}
		}
		if e.empty() {
			return NotMeasured
		}
		return answer(e.within(low, high), "%.3f to %.3f", e.least, e.most)
	}
}

// Longest says what the largest value of lines is; it agrees if all of them reach a
// limit.
func Longest(lines []string, limit float64) Check {
	return func(r *Results) Answer {
		var all list
		for _, l := range lines {
			if e, _ := r.extentOf(l); !e.empty() {
				all.add(e.most >= limit, "%s at most %s s", l, number(e.most))
			}
		}
		return all.answer(", ")
	}
}

// Absolute says what time a line takes at a place. It is open whether that agrees: the
// machine is another.
func Absolute(line, place string, paper float64) Check {
	return func(r *Results) Answer {
		v, ok := r.At(line, place)
		if !ok {
			return Answer{Ours: "not in a run of this size", Agreement: Open}
		}
		return Answer{Ours: fmt.Sprintf("%s s, %s times as fast", number(v.Value), ratio(paper/v.Value)), Agreement: Open}
	}
}

// OneAt says what a line has at some places; it agrees if that is one number at
// all of those measured.
func OneAt(line string, places []string, want float64) Check {
	return func(r *Results) Answer {
		var all list
		for _, p := range places {
			if v, ok := r.At(line, p); ok {
				all.add(v.Value == want, "%s: %s", p, number(v.Value))
			}
		}
		return all.answer(", ")
	}
}

// FirstIs says what every line has at its first place; it agrees if that is the wanted value.
func FirstIs(want float64) Check {
	return ends(func(string) bool { return true }, want, func(all []Place) Place { return all[0] })
}

// LastIs says what lines have at their last place, likewise.
func LastIs(lines []string, want float64) Check {
	return ends(func(l string) bool { return slices.Contains(lines, l) }, want, func(all []Place) Place { return all[len(all)-1] })
}

// ends checks the value of the lines that are wanted at the place that end picks.
func ends(wanted func(line string) bool, want float64, end func([]Place) Place) Check {
	return func(r *Results) Answer {
		var all list
		for _, l := range r.lines {
			if !wanted(l.Name) {
				continue
			}
			if v, ok := r.At(l.Name, end(l.Places).Label); ok {
				all.add(v.Low == want && v.High == want, "%s: %s", l.Name, number(v.Value))
			}
		}
		return all.answer(", ")
	}
}

// Refuses reports whether a line has no value at a place because the engine refused.
func Refuses(line, place string) Check {
	return func(r *Results) Answer {
		v, ok := r.Get(line, place)
		switch {
		case !ok:
			return NotMeasured
		case v.Refused != "":
			return Answer{Ours: "refuses: " + v.Refused, Agreement: Agrees}
		}
		return Answer{Ours: "routes it: " + number(v.Value), Agreement: Differs}
	}
}

// RoutesAll reports whether a line has a value everywhere.
func RoutesAll(line string) Check {
	return func(r *Results) Answer {
		routed := len(r.Values(line))
		_, refused := r.extentOf(line)
		if routed == 0 && refused == 0 {
			return NotMeasured
		}
		return answer(refused == 0, "%d places routed, %d refused", routed, refused)
	}
}

// Falling reports whether a line falls from place to place, up to a fraction.
func Falling(line string, slack float64) Check {
	return func(r *Results) Answer {
		values, from := r.trend(line, nil)
		if len(values) < 2 {
			return NotMeasured
		}
		yes := true
		for i := 1; i < len(values); i++ {
			yes = yes && values[i].Value <= values[i-1].Value*(1+slack)
		}
		return answer(yes, "%s from %s to %s", from, number(values[0].Value), number(values[len(values)-1].Value))
	}
}

// Steady says by how much a line varies over some places; it agrees up to a fraction
// of the largest value.
func Steady(line string, places []string, fraction float64) Check {
	return func(r *Results) Answer {
		values, from := r.trend(line, places)
		e := noExtent()
		for _, v := range values {
			e.add(v.Value, v.Value)
		}
		if len(values) < 2 {
			return NotMeasured
		}
		return answer((e.most-e.least)/e.most <= fraction, "%s between %.3f and %.3f", from, e.least, e.most)
	}
}

// trend is the values of a line at some places (nil: at all) for a claim about how it goes from
// place to place, all of one program: OpenSM's where these have two places or more, else ours. from
// says which, and the first and last place if OpenSM has not all.
func (r *Results) trend(line string, places []string) (values []At, from string) {
	at := func(name string) (some []At) {
		for _, v := range r.Values(name) {
			if places == nil || slices.Contains(places, v.Label) {
				some = append(some, v)
			}
		}
		return some
	}
	values, from = at(OpenSMPrefix+line), OpenSMPrefix+line
	ours := at(line)
	if len(values) < 2 {
		return ours, line
	}
	if len(values) < max(len(places), len(ours)) {
		from += fmt.Sprintf(" (%s to %s)", values[0].Label, values[len(values)-1].Label)
	}
	return values, from
}

// Spread says how far the networks of one place lie apart at most; it agrees up to a
// limit.
func Spread(lines []string, limit float64) Check {
	return func(r *Results) Answer {
		most, n, over := 0.0, 0, 0
		for _, l := range lines {
			for _, v := range r.Values(l) {
				n++
				most = max(most, v.High-v.Low)
				if v.High-v.Low > limit {
					over++
				}
			}
		}
		if n == 0 {
			return NotMeasured
		}
		return answer(20*over <= n, "at most %s apart; more than %s at %d of %d places", number(most), number(limit), over, n)
	}
}

// Peak says between which places the mean of each line is largest: all of those whose means are no
// further below the largest than their errors. It agrees if that is about the paper's for every line,
// differs if it is nowhere about it for one, and else is open.
func Peak(lines []string, paper float64) Check {
	return func(r *Results) Answer {
		var all list
		for _, l := range lines {
			values := r.Values(l)
			if len(values) == 0 {
				continue
			}
			best := slices.MaxFunc(values, func(a, b At) int { return cmp.Compare(a.Value, b.Value) })
			e := noExtent()
			for _, v := range values {
				if best.Value-v.Value <= math.Hypot(best.spread(), v.spread())+1e-9 {
					e.add(v.X, v.X)
				}
			}
			text := number(e.least)
			if e.least != e.most {
				text += " to " + number(e.most)
			}
			a := Open
			switch {
			case e.within(paper/About, paper*About):
				a = Agrees
			case e.least > paper*About || e.most < paper/About:
				a = Differs
			}
			all.take(a, "%s: %s", l, text)
		}
		return all.answer(", ")
	}
}

// spread is twice the standard error of the mean over several networks, 0 of one.
func (r *Result) spread() float64 {
	return twiceJackknifed(len(r.Each), func(i int) float64 { return r.without(i) })
}

// RisesWithLinks reports whether a line rises only where the number of cables does.
func RisesWithLinks(line string) Check {
	return func(r *Results) Answer {
		values := r.Values(line)
		if len(values) < 2 {
			return NotMeasured
		}
		rises, without := 0, 0
		for i := 1; i < len(values); i++ {
			a, b := values[i-1], values[i]
			if b.Value <= a.Value*(1+Sampling) {
				continue
			}
			rises++
			if b.Cables <= a.Cables {
				without++
			}
		}
		return answer(without == 0, "%d increases, %d of them with more links", rises, rises-without)
	}
}

// Logarithmic says how well a line fits a + b·log x: by how much of its variance
// that explains, against a line through x itself. Within the error of the difference it is open.
func Logarithmic(line string) Check {
	return func(r *Results) Answer {
		values := r.Values(line)
		if len(values) < 3 {
			return NotMeasured
		}
		networks := math.MaxInt
		var xs, logs, ys []float64
		for _, v := range values {
			xs, logs, ys = append(xs, v.X), append(logs, math.Log2(v.X)), append(ys, v.Value)
			networks = min(networks, len(v.Each))
		}
		slope, byLog := Fit(logs, ys)
		_, straight := Fit(xs, ys)
		e := estimate{byLog - straight, twiceJackknifed(networks, func(i int) float64 {
			var without []float64
			for _, v := range values {
				without = append(without, v.without(i))
			}
			_, byLog := Fit(logs, without)
			_, straight := Fit(xs, without)
			return byLog - straight
		})}
		a := e.answer(e.value, "%.2f layers more for each doubling; R² %.3f by the logarithm, %.3f by a straight line (%+.3f ± %.3f)",
			slope, byLog, straight, e.value, e.error)
		if byLog <= 0.9 {
			a.Agreement = Differs
		}
		return a
	}
}

// Fit is the least-squares line through points: its slope, and the share of the
// variance of y that it explains.
func Fit(xs, ys []float64) (slope, r2 float64) {
	mx, my := Mean(xs), Mean(ys)
	var sxx, sxy, syy float64
	for i := range xs {
		sxx += (xs[i] - mx) * (xs[i] - mx)
		sxy += (xs[i] - mx) * (ys[i] - my)
		syy += (ys[i] - my) * (ys[i] - my)
	}
	if sxx == 0 || syy == 0 {
		return 0, 0
	}
	return sxy / sxx, sxy * sxy / (sxx * syy)
}

// HostsAsLabelled reports whether every network has as many hosts as its label says.
func HostsAsLabelled(r *Results) Answer {
	n := 0
	for _, l := range r.lines {
		for _, v := range r.Values(l.Name) {
			if strconv.Itoa(v.Hosts) != v.Label {
				return answer(false, "%s %s has %d", l.Name, v.Label, v.Hosts)
			}
			n++
		}
	}
	if n == 0 {
		return NotMeasured
	}
	return answer(true, "all %d have", n)
}
