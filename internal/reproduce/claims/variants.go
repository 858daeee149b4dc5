package claims

import (
	"slices"
	"strings"
)

// ByVariant is a check of a claim about lines that may have variants: it holds the claim against the
// lines as printed and against those as improved, and Answer.By says how the two compare.
func ByVariant(check Check) Check {
	return func(r *Results) Answer {
		if !slices.ContainsFunc(r.lines, func(l Line) bool { return strings.HasSuffix(l.Name, AsPrinted) }) {
			return check(r)
		}
		printed, improved := check(r.variant(true)), check(r.variant(false))
		switch {
		case printed.Agreement == Open || improved.Agreement == Open:
			return printed
		case printed == improved:
			return Answer{Ours: printed.Ours, Agreement: printed.Agreement, By: Both}
		}
		a := Answer{Ours: "as printed: " + printed.Ours + ". As improved: " + improved.Ours, Agreement: printed.Agreement}
		switch printed.Agreement {
		case improved.Agreement:
			a.By = Both
		case Agrees:
			a.By = Printed
		default:
			a.By = Improved
		}
		return a
	}
}

// variant is the results with one line of each name: as printed or as improved, where
// there are both.
func (r *Results) variant(printed bool) *Results {
	v := &Results{at: map[location]Result{}}
	has := map[string]bool{} // by name, whether there is a variant as printed
	for _, l := range r.lines {
		name, isPrinted := strings.CutSuffix(l.Name, AsPrinted)
		has[name] = has[name] || isPrinted
	}
	for _, l := range r.lines {
		name, isPrinted := strings.CutSuffix(l.Name, AsPrinted)
		if has[name] && isPrinted != printed {
			continue
		}
		for _, p := range l.Places {
			if result, ok := r.Get(l.Name, p.Label); ok {
				v.Set(name, p.Label, result)
			}
		}
		l.Name = name
		v.lines = append(v.lines, l)
	}
	return v
}
