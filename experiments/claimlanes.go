package experiments

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// neverStops says in how many runs a network stood still; it agrees if in none.
func neverStops(place string) func(*Outcome) Answer {
	return stops(place, Agrees, func(r Result) Answer {
		return Answer{fmt.Sprintf("stopped in %d runs, after %s µs in the mean; %s", r.Count, number(r.Value), loopText(r)), Differs}
	})
}

// stopsAfter says after how long a network stood still; it agrees within a factor of
// ten.
func stopsAfter(place string, paper float64) func(*Outcome) Answer {
	return stops(place, Differs, func(r Result) Answer {
		text := fmt.Sprintf("%s to %s µs in the %d runs that stopped; %s", number(r.Low), number(r.High), r.Count, loopText(r))
		return Answer{text, verdict(r.Value <= 10*paper && r.Value >= paper/10)}
	})
}

// stops says whether a network stood still, how that compares with the paper if it
// never did, and if it did, what stopped says.
func stops(place string, never Agreement, stopped func(Result) Answer) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		r, ok := o.results[slot("sssp", place)]
		switch {
		case !ok:
			return missing("not measured")
		case r.Count == 0:
			return Answer{"never stopped; " + loopText(r), never}
		}
		return stopped(r)
	}
}

func loopText(r Result) string {
	if r.Loops > 0 {
		return "the judge finds a credit loop"
	}
	return "proven free of credit loops"
}

// oneAt says what a line has at some places; it agrees if that is one number at
// all of those measured.
func oneAt(line string, places []string, want float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		var text []string
		yes := true
		for _, p := range places {
			if r, ok := o.At(line, p); ok {
				yes = yes && r.Value == want
				text = append(text, p+": "+number(r.Value))
			}
		}
		if len(text) == 0 {
			return missing("not measured")
		}
		return Answer{strings.Join(text, ", "), verdict(yes)}
	}
}

// rangesAt is ranges at one place.
func rangesAt(line, place string, low, high float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		r, ok := o.At(line, place)
		if !ok {
			return missing("not measured")
		}
		text := number(r.Low)
		if r.Low != r.High {
			text += " to " + number(r.High) + ", mean " + number(r.Value)
		}
		return Answer{text, verdict(r.Low >= low && r.High <= high)}
	}
}

// rangesUpTo is ranges over the places up to some x.
func rangesUpTo(line string, x, low, high float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		least, most, n := math.Inf(1), math.Inf(-1), 0
		for _, l := range o.Lines {
			for _, p := range l.Networks {
				if r, ok := o.At(line, p.Label); l.Name == line && ok && p.X <= x {
					least, most, n = min(least, r.Low), max(most, r.High), n+r.Count
				}
			}
		}
		if n == 0 {
			return missing("not measured")
		}
		return Answer{fmt.Sprintf("%s to %s over %d networks", number(least), number(most), n), verdict(least >= low && most <= high)}
	}
}

// savings says how many lanes fewer other needs than line; it agrees if that is
// between low and high at all places measured.
func savings(line, other string, places []string, low, high float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		var text []string
		yes := true
		for _, p := range places {
			a, ok1 := o.At(line, p)
			b, ok2 := o.At(other, p)
			if ok1 && ok2 {
				d := a.Value - b.Value
				yes = yes && d >= low && d <= high
				text = append(text, fmt.Sprintf("%s: %s and %s", p, number(a.Value), number(b.Value)))
			}
		}
		if len(text) == 0 {
			return missing("not measured")
		}
		return Answer{line + " and " + other + " at " + strings.Join(text, ", "), verdict(yes)}
	}
}

// atMost says what a line has at a place; it agrees if that is no more than the
// paper's.
func atMost(line, place string, paper float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		r, ok := o.At(line, place)
		if !ok {
			return missing("not in a run of this size")
		}
		return Answer{fmt.Sprintf("%s s, %s times as fast", number(r.Value), fold(paper/r.Value)), verdict(r.Value <= paper)}
	}
}

// firstIs says what every line begins with.
func firstIs(want float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		var lines []string
		for _, l := range o.Lines {
			lines = append(lines, l.Name)
		}
		return endsIn(o, lines, want, func(n []Network) Network { return n[0] })
	}
}

// lastIs says what lines end with.
func lastIs(lines []string, want float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		return endsIn(o, lines, want, func(n []Network) Network { return n[len(n)-1] })
	}
}

func endsIn(o *Outcome, lines []string, want float64, pick func([]Network) Network) Answer {
	n, yes := 0, true
	var text []string
	for _, l := range o.Lines {
		for _, name := range lines {
			if l.Name != name {
				continue
			}
			if r, ok := o.At(name, pick(l.Networks).Label); ok {
				n++
				yes = yes && r.Low == want && r.High == want
				text = append(text, name+": "+number(r.Value))
			}
		}
	}
	if n == 0 {
		return missing("not measured")
	}
	return Answer{strings.Join(text, ", "), verdict(yes)}
}

// logarithmic says how well a line fits a + b·log x: by how much of its variance
// that explains, against a line through x itself.
func logarithmic(line string) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		var xs, ys []float64
		for _, l := range o.Lines {
			for _, p := range l.Networks {
				if r, ok := o.At(line, p.Label); l.Name == line && ok {
					xs, ys = append(xs, p.X), append(ys, r.Value)
				}
			}
		}
		if len(xs) < 3 {
			return missing("not measured")
		}
		logs := make([]float64, len(xs))
		for i, x := range xs {
			logs[i] = math.Log2(x)
		}
		slope, byLog := fit(logs, ys)
		_, straight := fit(xs, ys)
		return Answer{
			fmt.Sprintf("%.2f layers more for each doubling; R² %.3f by the logarithm, %.3f by a straight line", slope, byLog, straight),
			verdict(byLog > straight && byLog > 0.9),
		}
	}
}

// fit is the least-squares line through points: its slope, and the share of the
// variance of y that it explains.
func fit(xs, ys []float64) (slope, r2 float64) {
	mx, my := mean(xs), mean(ys)
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

// missingSwitch compares the largest Slim Fly with the table of the paper.
func missingSwitch(o *Outcome) Answer {
	r, ok := o.At("sssp", "338")
	if !ok {
		return missing("not measured")
	}
	return Answer{strconv.Itoa(r.Switches) + " switches, 6,422 hosts at 19 on each", Differs}
}
