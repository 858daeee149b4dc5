package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Claim is what a paper's text states about a figure, and how to hold it against
// ours.
type Claim struct {
	Where string // the section
	Says  string // the paper's words or figures
	Check func(*Outcome) Answer
	Why   string // shown where ours does not agree, or cannot: the reason as far as it is known
}

// Agreement is how ours compares with a claim.
type Agreement string

// The agreements.
const (
	Agrees  Agreement = "agrees"
	Differs Agreement = "differs"
	Open    Agreement = "open" // cannot be held against anything here, or not in a run of this size
)

// Answer is what ours says to a claim.
type Answer struct {
	Ours      string
	Agreement Agreement
}

// Outcome is the results of one experiment.
type Outcome struct {
	*Experiment
	results map[string]Result // by line and place
}

func slot(line, place string) string { return line + "\x00" + place }

// At is the result of a line at a place, if it has a value.
func (o *Outcome) At(line, place string) (Result, bool) {
	r, ok := o.results[slot(line, place)]
	return r, ok && r.Count > 0
}

// rival is the result of an engine at a place for comparisons that the paper makes
// with OpenSM: OpenSM's own where it was measured, else ours of the same name.
func (o *Outcome) rival(engine, place string) (r Result, name string, ok bool) {
	if r, ok := o.At(OpenSMPrefix+engine, place); ok {
		return r, OpenSMPrefix + engine, true
	}
	r, ok = o.At(engine, place)
	return r, engine, ok
}

// labels is the places of a line at which it has a value, in order.
func (o *Outcome) labels(line string) []string {
	var all []string
	for _, l := range o.Lines {
		if l.Name != line {
			continue
		}
		for _, n := range l.Networks {
			if _, ok := o.At(line, n.Label); ok {
				all = append(all, n.Label)
			}
		}
	}
	return all
}

// verdict is agrees or differs.
func verdict(yes bool) Agreement {
	if yes {
		return Agrees
	}
	return Differs
}

// missing is the answer where a place was not measured.
func missing(why string) Answer { return Answer{why, Open} }

// notPublic is a claim about a network that nobody outside has.
func notPublic(*Outcome) Answer { return Answer{"not measured", Open} }

const noPlan = "The cabling of that system was never published."

// percent is a gain of a over b.
func percent(a, b float64) string { return fmt.Sprintf("%+.1f %%", (a/b-1)*100) }

// gain says by how much a line is above the best of others at a place, which the
// paper puts at so much; it agrees within a tolerance, both fractions.
func gain(line string, others []string, place string, paper, within float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		best, of := math.Inf(-1), ""
		for _, other := range others {
			if r, name, ok := o.rival(other, place); ok && r.Value > best {
				best, of = r.Value, name
			}
		}
		r, ok := o.At(line, place)
		if !ok || of == "" {
			return missing("not measured")
		}
		text := fmt.Sprintf("%s over %s (%.3f, %.3f)", percent(r.Value, best), of, r.Value, best)
		return Answer{text, verdict(math.Abs(r.Value/best-1-paper) <= within)}
	}
}

// above says at how many places a line is not below any of the others, by more
// than a fraction of slack.
func above(line string, others []string, slack float64) func(*Outcome) Answer {
	return compare(line, others, "below", slack, func(a, b float64) bool { return a >= b*(1-slack) })
}

// below is the same the other way round: smaller is better.
func below(line string, others []string, slack float64) func(*Outcome) Answer {
	return compare(line, others, "above", slack, func(a, b float64) bool { return a <= b*(1+slack) })
}

// compare counts the places at which holds is true of a line and all others. It
// agrees if that is so everywhere, and not for want of a difference: by more than the
// slack at one place at least.
func compare(line string, others []string, word string, slack float64, holds func(a, b float64) bool) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		compared, clear := 0, 0
		var broken, values []string
		for _, p := range o.labels(line) {
			r, _ := o.At(line, p)
			text, any, breaks, alike := fmt.Sprintf("%s: %s %s", p, line, number(r.Value)), false, false, false
			for _, other := range others {
				q, name, ok := o.rival(other, p)
				if !ok {
					continue
				}
				any = true
				alike = alike || math.Abs(r.Value-q.Value) <= slack*q.Value
				if !breaks && (!holds(r.Value, q.Value) || len(values) == 0) {
					text += fmt.Sprintf(", %s %s", name, number(q.Value))
				}
				breaks = breaks || !holds(r.Value, q.Value)
			}
			switch {
			case !any:
				continue
			case breaks:
				broken = append(broken, text)
			case !alike:
				clear++
			}
			compared++
			values = append(values, text)
		}
		if compared == 0 {
			return missing("not measured")
		}
		if compared == 1 {
			return Answer{values[0], verdict(len(broken) == 0 && clear > 0)}
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
		return Answer{text, verdict(len(broken) == 0 && clear > 0)}
	}
}

// within says whether two lines are alike at every place, up to a fraction.
func within(line, other string, fraction float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		worst, at, n := 0.0, "", 0
		for _, p := range o.labels(line) {
			a, _ := o.At(line, p)
			b, _, ok := o.rival(other, p)
			if !ok {
				continue
			}
			n++
			if d := a.Value/b.Value - 1; at == "" || math.Abs(d) > math.Abs(worst) {
				worst, at = d, p
			}
		}
		if n == 0 {
			return missing("not measured")
		}
		return Answer{fmt.Sprintf("at most %+.1f %% apart (at %s) over %d places", worst*100, at, n), verdict(math.Abs(worst) <= fraction)}
	}
}

// times says how many times larger a line is than another, as the median over the
// places or at one; it agrees if that is between low and high.
func times(line, other, place string, low, high float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		var ratios []float64
		for _, p := range o.labels(line) {
			if place != "" && place != p {
				continue
			}
			a, _ := o.At(line, p)
			if b, ok := o.At(other, p); ok && b.Value > 0 {
				ratios = append(ratios, a.Value/b.Value)
			}
		}
		if len(ratios) == 0 {
			return missing("not measured")
		}
		slices.Sort(ratios)
		m := median(ratios)
		text := fold(m) + " times"
		if len(ratios) > 1 {
			text = fmt.Sprintf("%s times (median; %s to %s)", fold(m), fold(ratios[0]), fold(ratios[len(ratios)-1]))
		}
		return Answer{text, verdict(m >= low && m <= high)}
	}
}

// ranges says between which values a line lies, whiskers included; it agrees if
// that is inside low and high.
func ranges(line string, low, high float64) func(*Outcome) Answer {
	return func(o *Outcome) Answer {
		least, most, refused := extent(o, line)
		if least > most {
			return missing("not measured")
		}
		text := number(least)
		if least != most {
			text += " to " + number(most)
		}
		if refused > 0 {
			text += fmt.Sprintf("; %d networks refused", refused)
		}
		return Answer{text, verdict(least >= low && most <= high && refused == 0)}
	}
}

// extent is the least and largest value of a line, and its refusals.
func extent(o *Outcome, line string) (least, most float64, refused int) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, l := range o.Lines {
		if l.Name != line {
			continue
		}
		for _, n := range l.Networks {
			r := o.results[slot(line, n.Label)]
			refused += r.Refusals
			if r.Count > 0 {
				least, most = min(least, r.Low), max(most, r.High)
			}
		}
	}
	return least, most, refused
}

func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// number writes a value with the digits that matter.
func number(v float64) string {
	switch {
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return fmt.Sprintf("%.0f", v)
	case math.Abs(v) >= 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// fold writes a ratio.
func fold(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// some joins the first few of a list.
func some(list []string) string {
	const most = 3
	text := strings.Join(list[:min(most, len(list))], "; ")
	if len(list) > most {
		text += fmt.Sprintf("; and %d more", len(list)-most)
	}
	return text
}
