package claims

import "fmt"

// Claims about figures of networks whose cabling a paper leaves open. Lines whose name ends
// with Swept have the same networks in the same order.

// GainSwept says between which gains a line is above the best of others at a place, cabling
// by cabling; it agrees if the paper's gain, a fraction, lies in between.
func GainSwept(line string, others []string, place string, paper float64) Check {
	return func(r *Results) Answer {
		mine, ok := r.At(line+Swept, place)
		if !ok {
			return NotMeasured
		}
		e, n := noExtent(), 0
		for i, v := range mine.Each {
			best := 0.0
			for _, name := range others {
				if theirs, _, ok := r.other(name+Swept, place); ok && i < len(theirs.Each) {
					best = max(best, theirs.Each[i])
				}
			}
			if v == 0 || best == 0 {
				continue
			}
			e.add(v/best-1, v/best-1)
			n++
		}
		if n == 0 {
			return NotMeasured
		}
		inside := paper >= e.least && paper <= e.most
		where := map[bool]string{true: "inside", false: "outside"}[inside]
		return answer(inside, "%+.1f %% to %+.1f %% over %d cablings; the paper's %+.4g %% is %s of it", e.least*100, e.most*100, n, paper*100, where)
	}
}

// AboveSwept says in how many cablings, over all places, a line is not below another by more
// than a fraction of slack; it agrees if in all of them, and clearly above in one at least.
// Where OpenSM's own tables are at hand anywhere, only they count: ours of that name need not
// go by port numbers.
func AboveSwept(line, other string, slack float64) Check {
	return func(r *Results) Answer {
		n, holds, clear := 0, 0, 0
		var below []string
		theirs := other + Swept
		if len(r.Values(OpenSMPrefix+theirs)) > 0 {
			theirs = OpenSMPrefix + theirs
		}
		for _, v := range r.Values(line + Swept) {
			q, ok := r.At(theirs, v.Label)
			if !ok {
				continue
			}
			for i := range min(len(v.Each), len(q.Each)) {
				a, b := v.Each[i], q.Each[i]
				switch {
				case a == 0 || b == 0:
					continue
				case a < b*(1-slack):
					below = append(below, fmt.Sprintf("%s: %s", v.Label, percent(a, b)))
				default:
					holds++
				}
				if a > b*(1+slack) {
					clear++
				}
				n++
			}
		}
		if n == 0 {
			return NotMeasured
		}
		text := fmt.Sprintf("not below %s by more than %.0f %% in %d of %d cablings, clearly above in %d", theirs, slack*100, holds, n, clear)
		if len(below) > 0 {
			text += "; but at " + some(below)
		}
		return answer(holds == n && clear > 0, "%s", text)
	}
}
