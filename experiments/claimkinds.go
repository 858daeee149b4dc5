package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// smallerIndex says where the edge-forwarding index of a line is below another's;
// it agrees if that is so at half of the places or more.
func smallerIndex(line, other string) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		smaller, n := 0, 0
		var at []string
		for _, p := range o.labels(line) {
			a, _ := o.At(line, p)
			b, ok := o.At(other, p)
			if !ok || a.Index == 0 || b.Index == 0 {
				continue
			}
			n++
			at = append(at, fmt.Sprintf("%s: %s to %s", p, number(a.Index), number(b.Index)))
			if a.Index < b.Index {
				smaller++
			}
		}
		if n == 0 {
			return missing("not measured")
		}
		return Answer{fmt.Sprintf("at %d of %d places (%s)", smaller, n, some(at)), verdict(2*smaller >= n)}
	}
}

// growth compares how two lines scale between two places: the exponents of their
// growth, of which the ratio must be between low and high.
func growth(line, other, from, to string, low, high float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		a, ok1 := o.At(line, from)
		b, ok2 := o.At(line, to)
		c, ok3 := o.At(other, from)
		d, ok4 := o.At(other, to)
		if !ok1 || !ok2 || !ok3 || !ok4 || a.Value == 0 || c.Value == 0 || d.Value == c.Value {
			return missing("not measured")
		}
		mine, theirs := b.Value/a.Value, d.Value/c.Value
		ratio := math.Log(mine) / math.Log(theirs)
		return Answer{
			fmt.Sprintf("from %s to %s %s grows %s times, %s %s times: exponents as %.2f to 1", from, to, line, fold(mine), other, fold(theirs), ratio),
			verdict(ratio >= low && ratio <= high),
		}
	}
}

// longest says what the largest value of lines is; it agrees if all of them reach a
// limit.
func longest(lines []string, limit float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		var text []string
		yes := true
		for _, l := range lines {
			least, most, _ := extent(o, l)
			if least > most {
				continue
			}
			yes = yes && most >= limit
			text = append(text, fmt.Sprintf("%s at most %s s", l, number(most)))
		}
		if len(text) == 0 {
			return missing("not measured")
		}
		return Answer{strings.Join(text, ", "), verdict(yes)}
	}
}

// between says between which values lines lie at some places.
func between(lines, places []string, low, high float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		least, most := math.Inf(1), math.Inf(-1)
		for _, l := range lines {
			for _, p := range places {
				if r, _, ok := o.rival(l, p); ok {
					least, most = min(least, r.Value), max(most, r.Value)
				}
			}
		}
		if least > most {
			return missing("not measured")
		}
		return Answer{fmt.Sprintf("%.3f to %.3f", least, most), verdict(least >= low && most <= high)}
	}
}

// refuses says whether a line has no value at a place because the engine refused.
func refuses(line, place string) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		r, ok := o.results[slot(line, place)]
		switch {
		case !ok:
			return missing("not measured")
		case r.Refused != "":
			return Answer{"refuses: " + r.Refused, Agrees}
		}
		return Answer{"routes it: " + number(r.Value), Differs}
	}
}

// routesAll says whether a line has a value everywhere.
func routesAll(line string) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		least, most, refused := extent(o, line)
		if least > most && refused == 0 {
			return missing("not measured")
		}
		return Answer{fmt.Sprintf("%d places routed, %d refused", len(o.labels(line)), refused), verdict(refused == 0)}
	}
}

// falling says whether a line falls from place to place, up to a fraction.
func falling(line string, slack float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		var values []float64
		from := line
		if len(o.labels(OpenSMPrefix+line)) > 1 {
			from = OpenSMPrefix + line
		}
		for _, p := range o.labels(from) {
			r, _ := o.At(from, p)
			values = append(values, r.Value)
		}
		if len(values) < 2 {
			return missing("not measured")
		}
		yes := true
		for i := 1; i < len(values); i++ {
			yes = yes && values[i] <= values[i-1]*(1+slack)
		}
		return Answer{fmt.Sprintf("%s from %s to %s", from, number(values[0]), number(values[len(values)-1])), verdict(yes)}
	}
}

// steady says by how much a line varies over some places; it agrees up to a fraction
// of the largest value.
func steady(line string, places []string, fraction float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		least, most, from := math.Inf(1), math.Inf(-1), line
		for _, p := range places {
			if r, name, ok := o.rival(line, p); ok {
				least, most, from = min(least, r.Value), max(most, r.Value), name
			}
		}
		if least >= most {
			return missing("not measured")
		}
		return Answer{fmt.Sprintf("%s between %.3f and %.3f", from, least, most), verdict((most-least)/most <= fraction)}
	}
}

// widening says whether the gain over the best of others is larger at one place than
// at another.
func widening(line string, others []string, from, to string) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		gainAt := func(p string) (float64, bool) {
			best := math.Inf(-1)
			for _, other := range others {
				if r, _, ok := o.rival(other, p); ok {
					best = max(best, r.Value)
				}
			}
			r, ok := o.At(line, p)
			return r.Value/best - 1, ok && best > 0
		}
		a, ok1 := gainAt(from)
		b, ok2 := gainAt(to)
		if !ok1 || !ok2 {
			return missing("not measured")
		}
		return Answer{fmt.Sprintf("%+.1f %% at %s, %+.1f %% at %s", a*100, from, b*100, to), verdict(b > a)}
	}
}

// crossing says where the mean of a line passes above another's, which the paper
// puts at some place; it agrees within a tolerance.
func crossing(line, other string, paper, within float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		var xs []float64
		value := map[float64][2]float64{}
		for _, l := range o.Lines {
			for _, n := range l.Networks {
				a, ok1 := o.At(line, n.Label)
				b, ok2 := o.At(other, n.Label)
				if _, seen := value[n.X]; ok1 && ok2 && !seen {
					value[n.X] = [2]float64{a.Value, b.Value}
					xs = append(xs, n.X)
				}
			}
		}
		slices.Sort(xs)
		for i := 1; i < len(xs); i++ {
			before, after := value[xs[i-1]], value[xs[i]]
			d0, d1 := before[0]-before[1], after[0]-after[1]
			if d0 <= 0 && d1 > 0 {
				x := xs[i-1] + (xs[i]-xs[i-1])*(-d0)/(d1-d0)
				return Answer{fmt.Sprintf("at about %.0f", x), verdict(math.Abs(x-paper) <= within)}
			}
		}
		if len(xs) < 2 {
			return missing("not measured")
		}
		return Answer{"they do not cross", Differs}
	}
}

// sameAs says whether two lines have the same value and index.
func sameAs(line, other string) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		same, n := true, 0
		var text []string
		for _, p := range o.labels(line) {
			a, _ := o.At(line, p)
			b, ok := o.At(other, p)
			if !ok {
				continue
			}
			n++
			same = same && math.Abs(a.Value-b.Value) < 1e-12 && a.Index == b.Index
			text = append(text, fmt.Sprintf("%.4f and %.4f, index %s and %s", a.Value, b.Value, number(a.Index), number(b.Index)))
		}
		if n == 0 {
			return missing("not measured")
		}
		return Answer{some(text), verdict(same)}
	}
}

// spread says how far the networks of one place lie apart at most; it agrees up to a
// limit.
func spread(lines []string, limit float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		most, n, over := 0.0, 0, 0
		for _, l := range lines {
			for _, p := range o.labels(l) {
				r, _ := o.At(l, p)
				n++
				most = max(most, r.High-r.Low)
				if r.High-r.Low > limit {
					over++
				}
			}
		}
		if n == 0 {
			return missing("not measured")
		}
		return Answer{fmt.Sprintf("at most %s apart; more than %s at %d of %d places", number(most), number(limit), over, n), verdict(20*over <= n)}
	}
}

// peak says at which place the mean of each line is largest, the middle of all such
// places; it agrees if that is between low and high for every line.
func peak(lines []string, low, high float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		var text []string
		yes := true
		for _, l := range o.Lines {
			if !slices.Contains(lines, l.Name) {
				continue
			}
			best, first, last := math.Inf(-1), 0.0, 0.0
			for _, n := range l.Networks {
				r, ok := o.At(l.Name, n.Label)
				switch {
				case !ok:
				case r.Value > best+1e-9:
					best, first, last = r.Value, n.X, n.X
				case r.Value > best-1e-9:
					last = n.X
				}
			}
			if math.IsInf(best, -1) {
				continue
			}
			x := (first + last) / 2
			yes = yes && x >= low && x <= high
			text = append(text, fmt.Sprintf("%s: %s", l.Name, number(x)))
		}
		if len(text) == 0 {
			return missing("not measured")
		}
		return Answer{strings.Join(text, ", "), verdict(yes)}
	}
}

// aboveAt says whether a line is above another at some places.
func aboveAt(line, other string, places []string) func(*Outcome) Answer {
	return pairAt(line, other, places, func(a, b float64) bool { return a > b })
}

// belowAt says whether a line is below another at some places.
func belowAt(line, other string, places []string) func(*Outcome) Answer {
	return pairAt(line, other, places, func(a, b float64) bool { return a < b })
}

func pairAt(line, other string, places []string, holds func(a, b float64) bool) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		var text []string
		yes := true
		for _, p := range places {
			a, ok1 := o.At(line, p)
			b, name, ok2 := o.rival(other, p)
			if ok1 && ok2 {
				yes = yes && holds(a.Value, b.Value)
				text = append(text, fmt.Sprintf("%s: %s %s, %s %s", p, line, number(a.Value), name, number(b.Value)))
			}
		}
		if len(text) == 0 {
			return missing("not measured")
		}
		return Answer{strings.Join(text, "; "), verdict(yes)}
	}
}

// allWithin says how far lines lie apart at most at one place, as a fraction of the
// best of them.
func allWithin(lines []string, fraction float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		worst, at := 0.0, ""
		for _, p := range o.labels(lines[0]) {
			least, most, low := math.Inf(1), math.Inf(-1), ""
			for _, l := range lines {
				if r, name, ok := o.rival(l, p); ok {
					if r.Value < least {
						least, low = r.Value, name
					}
					most = max(most, r.Value)
				}
			}
			if d := 1 - least/most; at == "" || d > worst {
				worst, at = d, fmt.Sprintf("%s, %s", p, low)
			}
		}
		if at == "" {
			return missing("not measured")
		}
		return Answer{fmt.Sprintf("at most %.0f %% below the best (at %s)", worst*100, at), verdict(worst <= fraction)}
	}
}

// risesWithLinks says whether a line rises only where the number of cables does.
func risesWithLinks(line string) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		places := o.labels(line)
		var odd []string
		rises := 0
		for i := 1; i < len(places); i++ {
			a, _ := o.At(line, places[i-1])
			b, _ := o.At(line, places[i])
			if b.Value <= a.Value*(1+sampling) {
				continue
			}
			rises++
			if b.Cables <= a.Cables {
				odd = append(odd, fmt.Sprintf("from %s to %s", places[i-1], places[i]))
			}
		}
		if len(places) < 2 {
			return missing("not measured")
		}
		return Answer{fmt.Sprintf("%d increases, %d of them with more links", rises, rises-len(odd)), verdict(len(odd) == 0)}
	}
}

// hostsAsLabelled says whether every network has as many hosts as its label says.
func hostsAsLabelled(o *Outcome) Answer {
	n := 0
	for _, l := range o.Lines {
		for _, p := range o.labels(l.Name) {
			r, _ := o.At(l.Name, p)
			if fmt.Sprint(r.Hosts) != p {
				return Answer{fmt.Sprintf("%s %s has %d", l.Name, p, r.Hosts), Differs}
			}
			n++
		}
	}
	if n == 0 {
		return missing("not measured")
	}
	return Answer{fmt.Sprintf("all %d have", n), Agrees}
}

// significantly says at how many places a line is above the best of others by a
// fraction; it agrees if at all but those excepted.
func significantly(line string, others []string, by float64, except ...string) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		n, reached := 0, 0
		var below []string
		for _, p := range o.labels(line) {
			best, of := math.Inf(-1), ""
			for _, other := range others {
				if r, name, ok := o.rival(other, p); ok && r.Value > best {
					best, of = r.Value, name
				}
			}
			if of == "" || slices.Contains(except, p) {
				continue
			}
			n++
			r, _ := o.At(line, p)
			if r.Value >= best*(1+by) {
				reached++
			} else {
				below = append(below, fmt.Sprintf("%s: %s over %s", p, percent(r.Value, best), of))
			}
		}
		if n == 0 {
			return missing("not measured")
		}
		text := fmt.Sprintf("%.0f %% or more above the best of them at %d of %d places", by*100, reached, n)
		if len(below) > 0 {
			text += "; not at " + some(below)
		}
		return Answer{text, verdict(reached == n)}
	}
}
