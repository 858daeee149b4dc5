package experiments

import (
	"fmt"
	"strings"
	"testing"
)

// outcome is results by line over the places 1, 2, 3 …; 0 is none.
func outcome(lines map[string][]float64) *Outcome {
	e := &Experiment{}
	o := &Outcome{Experiment: e, results: map[string]Result{}}
	for _, name := range []string{"a", "b", "c", OpenSMPrefix + "b", "a" + paired, "b" + paired} {
		values, ok := lines[name]
		if !ok {
			continue
		}
		l := Line{Name: name}
		for i, v := range values {
			n := Network{Label: fmt.Sprint(i + 1), X: float64(i + 1)}
			l.Networks = append(l.Networks, n)
			if v != 0 {
				o.results[slot(name, n.Label)] = Result{Value: v, Low: v - 0.1, High: v + 0.1, Count: 1, Index: 10 * v, Switches: i + 1, Cables: i + 1}
			} else {
				o.results[slot(name, n.Label)] = Result{Refusals: 1, Refused: "no"}
			}
		}
		e.Lines = append(e.Lines, l)
	}
	return o
}

func TestChecks(t *testing.T) {
	o := outcome(map[string][]float64{"a": {2, 4, 8}, "b": {1, 4, 9}, "c": {1, 0, 3}})
	pairs := outcome(map[string][]float64{"a": {2, 4}, "b": {1, 2}, "a" + paired: {2, 3}, "b" + paired: {2, 2.9}})
	for name, c := range map[string]struct {
		o     *Outcome
		check func(*Outcome) Answer
		want  Agreement
		says  string
	}{
		"gain":            {o, gain("a", []string{"b", "c"}, "1", 1, 0.01), Agrees, "+100.0 % over b"},
		"gain elsewhere":  {o, gain("a", []string{"b", "c"}, "3", 1, 0.01), Differs, "-11.1 % over b"},
		"no such place":   {o, gain("a", []string{"b"}, "7", 1, 0.01), Open, "not measured"},
		"above":           {o, above("a", []string{"b"}, 0.01), Differs, "not below by more than 1 % at 2 of 3 places, clearly different at 1; but at 3: a 8, b 9"},
		"above loosely":   {o, above("a", []string{"b", "c"}, 0.2), Agrees, "at 3 of 3"},
		"no difference":   {o, above("a", []string{"a"}, 0.2), Differs, "clearly different at 0"},
		"below":           {o, below("b", []string{"a"}, 0.2), Agrees, "at 3 of 3"},
		"significantly":   {o, significantly("a", []string{"b"}, 0.03), Differs, "3 % or more above the best of them at 1 of 3 places; not at 2: +0.0 % over b"},
		"but for some":    {o, significantly("a", []string{"b"}, 0.03, "2", "3"), Agrees, "at 1 of 1"},
		"between":         {o, between([]string{"a"}, []string{"1", "2"}, 2, 4), Agrees, "2.000 to 4.000"},
		"one at":          {o, oneAt("a", []string{"1", "2"}, 2), Differs, "1: 2, 2: 4"},
		"within":          {o, within("a", "b", 1), Agrees, "+100.0 % apart (at 1)"},
		"not within":      {o, within("a", "b", 0.5), Differs, ""},
		"times":           {o, times("a", "b", "", 0.9, 1.1), Agrees, "1 times (median; 0.89 to 2)"},
		"times at one":    {o, times("a", "b", "1", 3, 4), Differs, "2 times"},
		"ranges":          {o, ranges("a", 1.9, 8.1), Agrees, "1.9 to 8.1"},
		"not in range":    {o, ranges("a", 2, 8), Differs, ""},
		"range refused":   {o, ranges("c", 0, 9), Differs, "1 networks refused"},
		"index":           {o, smallerIndex("a", "b"), Differs, "at 1 of 3"},
		"growth":          {o, growth("a", "b", "1", "2", 0.4, 0.6), Agrees, "a grows 2 times, b 4 times: exponents as 0.50 to 1"},
		"longest":         {o, longest([]string{"a", "b"}, 8), Agrees, "a at most 8.1 s, b at most 9.1 s"},
		"refuses":         {o, refuses("c", "2"), Agrees, "refuses: no"},
		"routes":          {o, refuses("c", "1"), Differs, "routes it: 1"},
		"routes all":      {o, routesAll("a"), Agrees, "3 places routed, 0 refused"},
		"not all":         {o, routesAll("c"), Differs, "1 refused"},
		"falling":         {o, falling("a", 0), Differs, "from 2 to 8"},
		"steady":          {o, steady("a", []string{"2", "3"}, 0.5), Agrees, "between 4.000 and 8.000"},
		"widening":        {o, widening("a", []string{"c"}, "1", "3"), Agrees, "+100.0 % at 1, +166.7 % at 3"},
		"crossing":        {o, crossing("b", "a", 2.2, 0.5), Agrees, "at about 2"},
		"no crossing":     {o, crossing("a", "c", 2, 9), Differs, "do not cross"},
		"same":            {o, sameAs("a", "a"), Agrees, ""},
		"not the same":    {o, sameAs("a", "b"), Differs, ""},
		"spread":          {o, spread([]string{"a"}, 0.3), Agrees, "at most 0.2 apart"},
		"wide spread":     {o, spread([]string{"a"}, 0.1), Differs, "at 3 of 3 places"},
		"peak":            {o, peak([]string{"a"}, 2.5, 3.5), Agrees, "a: 3"},
		"above at":        {o, aboveAt("a", "b", []string{"1"}), Agrees, "1: a 2, b 1"},
		"below at":        {o, belowAt("a", "b", []string{"2"}), Differs, ""},
		"all within":      {o, allWithin([]string{"a", "b"}, 0.5), Agrees, "50 % below the best (at 1, b)"},
		"rises":           {o, risesWithLinks("a"), Agrees, "2 increases, 2 of them"},
		"savings":         {o, savings("a", "b", []string{"1", "2"}, 0, 1), Agrees, "1: 2 and 1"},
		"at most":         {o, atMost("a", "2", 8), Agrees, "2 times as fast"},
		"first":           {o, lastIs([]string{"a"}, 8), Differs, "a: 8"},
		"range at":        {o, rangesAt("a", "2", 3.9, 4.1), Agrees, "3.9 to 4.1, mean 4"},
		"range up to":     {o, rangesUpTo("a", 2, 1, 5), Agrees, "1.9 to 4.1 over 2 networks"},
		"logarithm":       {outcome(map[string][]float64{"a": {1, 2, 2.6, 3}}), logarithmic("a"), Agrees, "1.00 layers more"},
		"no logarithm":    {o, logarithmic("a"), Differs, ""},
		"more":            {pairs, more("a", "b"), Agrees, "a 4.000, b 2.000 (+100.0 %)"},
		"near":            {pairs, near("a"+paired, "b"+paired), Agrees, ""},
		"not near":        {pairs, near("a", "b"), Differs, ""},
		"closer in pairs": {pairs, closer("a", "b"), Agrees, "+100.0 % uniform, +3.4 % pairwise"},
		"poorest":         {pairs, poorest("b", []string{"a"}), Agrees, "b 2.000, a 4.000 (-50.0 %)"},
		"best":            {pairs, bestOf("b", []string{"a"}), Differs, ""},
	} {
		got := c.check(c.o)
		if got.Agreement != c.want || !strings.Contains(got.Ours, c.says) {
			t.Errorf("%s: %s, %q; want %s, %q", name, got.Agreement, got.Ours, c.want, c.says)
		}
	}
}

// Where OpenSM's own tables were measured, comparisons are made with these.
func TestOpenSMGoesFirst(t *testing.T) {
	o := outcome(map[string][]float64{"a": {4, 4}, "b": {4, 4}, OpenSMPrefix + "b": {2}})
	if got := gain("a", []string{"b"}, "1", 1, 0.1)(o); got.Agreement != Agrees || !strings.Contains(got.Ours, "over OpenSM b") {
		t.Errorf("%+v", got)
	}
	if got := gain("a", []string{"b"}, "2", 0, 0.1)(o); got.Agreement != Agrees || !strings.Contains(got.Ours, "over b (") {
		t.Errorf("%+v", got)
	}
}
