package claims

import (
	"fmt"
	"strings"
	"testing"
)

// outcome is results by line over the places 1, 2, 3 …; 0 is none.
func outcome(lines map[string][]float64) *Results {
	r := NewResults(nil)
	for _, name := range []string{"a", "b", "c", OpenSMPrefix + "b", "a" + Pairs, "b" + Pairs} {
		values, ok := lines[name]
		if !ok {
			continue
		}
		l := Line{Name: name}
		for i, v := range values {
			at := Place{Label: fmt.Sprint(i + 1), X: float64(i + 1)}
			l.Places = append(l.Places, at)
			if v != 0 {
				r.Set(name, at.Label, Result{Value: v, Low: v - 0.1, High: v + 0.1, Count: 1, Index: 10 * v, Switches: i + 1, Cables: i + 1})
			} else {
				r.Set(name, at.Label, Result{Refusals: 1, Refused: "no"})
			}
		}
		r.lines = append(r.lines, l)
	}
	return r
}

func TestChecks(t *testing.T) {
	o := outcome(map[string][]float64{"a": {2, 4, 8}, "b": {1, 4, 9}, "c": {1, 0, 3}})
	pairs := outcome(map[string][]float64{"a": {2, 4}, "b": {1, 2}, "a" + Pairs: {2, 3}, "b" + Pairs: {2, 2.9}})
	for name, c := range map[string]struct {
		o     *Results
		check Check
		want  Agreement
		says  string
	}{
		"gain":            {o, Gain("a", []string{"b", "c"}, "1", 1, 0.01), Agrees, "+100.0 % over b"},
		"gain elsewhere":  {o, Gain("a", []string{"b", "c"}, "3", 1, 0.01), Differs, "-11.1 % over b"},
		"no such place":   {o, Gain("a", []string{"b"}, "7", 1, 0.01), Open, "not measured"},
		"above":           {o, Above("a", []string{"b"}, 0.01), Differs, "not below by more than 1 % at 2 of 3 places, clearly different at 1; but at 3: a 8, b 9"},
		"above loosely":   {o, Above("a", []string{"b", "c"}, 0.2), Agrees, "at 3 of 3"},
		"no difference":   {o, Above("a", []string{"a"}, 0.2), Differs, "clearly different at 0"},
		"below":           {o, Below("b", []string{"a"}, 0.2), Agrees, "at 3 of 3"},
		"significantly":   {o, Significantly("a", []string{"b"}, 0.03), Differs, "3 % or more above the best of them at 1 of 3 places; not at 2: +0.0 % over b"},
		"but for some":    {o, Significantly("a", []string{"b"}, 0.03, "2", "3"), Agrees, "at 1 of 1"},
		"between":         {o, Between([]string{"a"}, []string{"1", "2"}, 2, 4), Agrees, "2.000 to 4.000"},
		"one at":          {o, OneAt("a", []string{"1", "2"}, 2), Differs, "1: 2, 2: 4"},
		"within":          {o, Within("a", "b", 1), Agrees, "+100.0 % apart (at 1)"},
		"not within":      {o, Within("a", "b", 0.5), Differs, ""},
		"times":           {o, Times("a", "b", "", 1, About), Agrees, "1 times (median; 0.89 to 2)"},
		"times at one":    {o, Times("a", "b", "1", 3, About), Differs, "2 times"},
		"ranges":          {o, Ranges("a", 1.9, 8.1), Agrees, "1.9 to 8.1"},
		"not in range":    {o, Ranges("a", 2, 8), Differs, ""},
		"range refused":   {o, Ranges("c", 0, 9), Differs, "1 networks refused"},
		"index":           {o, SmallerIndex("a", "b"), Differs, "at 1 of 3"},
		"growth":          {o, Growth("a", "b", "1", "2", 0.4, 0.6), Agrees, "a grows 2 times, b 4 times: exponents as 0.50 to 1"},
		"longest":         {o, Longest([]string{"a", "b"}, 8), Agrees, "a at most 8.1 s, b at most 9.1 s"},
		"refuses":         {o, Refuses("c", "2"), Agrees, "refuses: no"},
		"routes":          {o, Refuses("c", "1"), Differs, "routes it: 1"},
		"routes all":      {o, RoutesAll("a"), Agrees, "3 places routed, 0 refused"},
		"not everywhere":  {o, RoutesAll("c"), Differs, "1 refused"},
		"falling":         {o, Falling("a", 0), Differs, "from 2 to 8"},
		"steady":          {o, Steady("a", []string{"2", "3"}, 0.5), Agrees, "between 4.000 and 8.000"},
		"hardly widening": {outcome(map[string][]float64{"a": {1.02, 1.029}, "b": {1, 1}}), Widening("a", []string{"b"}, "1", "2"), Open, "+2.0 % at 1, +2.9 % at 2"},
		"narrowing":       {outcome(map[string][]float64{"a": {1.04, 1.02}, "b": {1, 1}}), Widening("a", []string{"b"}, "1", "2"), Differs, ""},
		"widening":        {o, Widening("a", []string{"c"}, "1", "3"), Agrees, "+100.0 % at 1, +166.7 % at 3"},
		"crossing":        {o, Crossing("b", "a", 2.2), Agrees, "at about 2"},
		"no crossing":     {o, Crossing("a", "c", 2), Differs, "do not cross"},
		"same":            {o, SameAs("a", "a"), Agrees, ""},
		"not the same":    {o, SameAs("a", "b"), Differs, ""},
		"spread":          {o, Spread([]string{"a"}, 0.3), Agrees, "at most 0.2 apart"},
		"wide spread":     {o, Spread([]string{"a"}, 0.1), Differs, "at 3 of 3 places"},
		"peak":            {o, Peak([]string{"a"}, 3), Agrees, "a: 3"},
		"above at":        {o, AboveAt("a", "b", []string{"1"}), Agrees, "1: a 2, b 1"},
		"slightly above":  {o, NearlyAboveAt("a", "b", []string{"1"}, 1), Agrees, "1: a 2, b 1"},
		"above by much":   {o, NearlyAboveAt("a", "b", []string{"1"}, 0.9), Differs, ""},
		"hardly above":    {outcome(map[string][]float64{"a": {1.009}, "b": {1}}), NearlyAboveAt("a", "b", []string{"1"}, 0.1), Differs, ""},
		"multiple":        {o, TimesBest("a", []string{"b", "c"}, "1", 2, About), Agrees, "2 times b (2.000, 1.000)"},
		"another":         {o, TimesBest("a", []string{"b"}, "1", 3, About), Differs, ""},
		"all within":      {o, AllWithin([]string{"a", "b"}, 0.5), Agrees, "50 % below the best (at 1, b)"},
		"rises":           {o, RisesWithLinks("a"), Agrees, "2 increases, 2 of them"},
		"savings":         {o, Savings("a", "b", []string{"1", "2"}, 0, 1), Agrees, "1: 2 and 1"},
		"absolute":        {o, Absolute("a", "2", 8), Open, "2 times as fast"},
		"ranges like":     {o, RangesLike("a", 1, 9), Agrees, "1.9 to 8.1"},
		"not like":        {o, RangesLike("a", 2, 10), Differs, "1.9 to 8.1"},
		"first":           {o, LastIs([]string{"a"}, 8), Differs, "a: 8"},
		"range at":        {o, RangesAt("a", "2", 3.9, 4.1), Agrees, "3.9 to 4.1, mean 4"},
		"range up to":     {o, RangesUpTo("a", 2, 1, 5), Agrees, "1.9 to 4.1 over 2 networks"},
		"logarithm":       {outcome(map[string][]float64{"a": {1, 2, 2.6, 3}}), Logarithmic("a"), Agrees, "1.00 layers more"},
		"no logarithm":    {o, Logarithmic("a"), Differs, ""},
		"more":            {pairs, More("a", []string{"b"}, "2"), Agrees, "a 4.000, b 2.000 (+100.0 ± 1.0 %)"},
		"no more":         {pairs, More("a", []string{"b", "a"}, "2"), Open, "(+0.0 ± 0.5 %)"},
		"hardly more":     {outcome(map[string][]float64{"a": {1.009}, "b": {1}}), More("a", []string{"b"}, "1"), Open, "(+0.9 ± 2.0 %)"},
		"hardly less":     {outcome(map[string][]float64{"a": {0.991}, "b": {1}}), Less("a", []string{"b"}, "1"), Open, "(-0.9 ± 2.0 %)"},
		"near":            {pairs, Near("a"+Pairs, "b"+Pairs, "2"), Agrees, ""},
		"not near":        {pairs, Near("a", "b", "2"), Differs, ""},
		"closer in pairs": {pairs, Closer("a", "b", "2", Half), Agrees, "+100.0 ± 1.0 % uniform, +3.4 ± 1.0 % pairwise"},
		"not far closer":  {pairs, Closer("a", "b", "2", 0.01), Differs, ""},
		"gains in pairs":  {pairs, Gains("b", "a", "2"), Agrees, "-50.0 ± 1.0 % uniform, -3.3 ± 1.0 % pairwise"},
		"loses in pairs":  {pairs, Gains("a", "b", "2"), Differs, ""},
		"no other gain":   {pairs, Gains("a", "a", "2"), Open, ""},
		"less":            {pairs, Less("b", []string{"a"}, "2"), Agrees, "b 2.000, a 4.000 (-50.0 ± 1.0 %)"},
		"all":             {pairs, All(Less("b", []string{"a"}, "2"), More("a", []string{"b"}, "1")), Agrees, "b 2.000, a 4.000 (-50.0 ± 1.0 %); a 2.000, b 1.000"},
		"one of all open": {pairs, All(Less("b", []string{"a"}, "2"), More("a", []string{"a"}, "1")), Open, "a 2.000, a 2.000 (+0.0 ± 1.0 %)"},
		"one of all no":   {pairs, All(More("b", []string{"a"}, "2"), More("a", []string{"a"}, "1")), Differs, ""},
		"read otherwise":  {pairs, Read(func(l string) Check { return More(l, []string{"b"}, "2") }, "a", "b"), Agrees, "(+100.0 ± 1.0 %). Read otherwise: b 2.000, b 2.000 (+0.0 ± 1.0 %): open"},
		"read one way":    {pairs, Read(func(l string) Check { return More(l, []string{"b"}, "2") }, "a", "c"), Agrees, "a 4.000, b 2.000 (+100.0 ± 1.0 %)"},
		"not all":         {pairs, All(Less("b", []string{"a"}, "2"), Less("a", []string{"b"}, "1")), Differs, ""},
		"all but one":     {pairs, All(Less("b", []string{"a"}, "2"), Less("a", []string{"b"}, "7")), Open, "not measured"},
		"apart":           {pairs, Apart([]string{"a" + Pairs, "b" + Pairs}, "2", 0.05), Agrees, "2.900 to 3.000: at most 3.3 ± 0.7 % below the best"},
		"too far apart":   {pairs, Apart([]string{"a", "b"}, "2", 0.4), Differs, "50.0 ± 1.0 %"},
		"times vary":      {o, StopsBySize("a", []string{"1", "3"}, []float64{3, 9}), Agrees, "2, 8 µs: the longest is 4 times the shortest, in the paper 3 times"},
		"other way round": {o, StopsBySize("a", []string{"1", "3"}, []float64{9, 3}), Differs, ""},
		"times are flat":  {outcome(map[string][]float64{"a": {11, 10}}), StopsBySize("a", []string{"1", "2"}, []float64{9, 3}), Differs, "1.1 times the shortest, in the paper 3 times"},
		"one never stops": {o, StopsBySize("c", []string{"1", "2"}, []float64{9, 3}), Open, "not measured"},
		"wider":           {o, Wider("a", "c", "b", "3"), Agrees, "+166.7 ± 0.7 % over c, -11.1 ± 0.7 % over b"},
		"not wider":       {o, Wider("a", "b", "c", "3"), Differs, ""},
	} {
		got := c.check(c.o)
		if got.Agreement != c.want || !strings.Contains(got.Ours, c.says) {
			t.Errorf("%s: %s, %q; want %s, %q", name, got.Agreement, got.Ours, c.want, c.says)
		}
	}
}

// How many networks a number of lanes is enough for.
func TestEnough(t *testing.T) {
	lanes := func(each ...float64) *Results {
		r := NewResults(nil)
		most, refused := 0.0, 0
		for _, v := range each {
			most = max(most, v)
			if v == 0 {
				refused++
			}
		}
		r.Set("a", "1", Result{Value: 1, High: most, Count: len(each), Refusals: refused, Each: each})
		return r
	}
	for _, c := range []struct {
		r    *Results
		want Answer
	}{
		{lanes(2, 3, 3, 3), Answer{Ours: "2 on 1 of 4 networks, 3 at the most", Agreement: Agrees}},
		{lanes(2, 3, 3, 3, 3), Answer{Ours: "2 on 1 of 5 networks, 3 at the most", Agreement: Differs}},
		{lanes(2, 3, 3, 4), Answer{Ours: "2 on 1 of 4 networks, 4 at the most", Agreement: Differs}},
		{lanes(2, 2, 0), Answer{Ours: "2 on 2 of 3 networks, 2 at the most", Agreement: Differs}},
		{lanes(), NotMeasured},
	} {
		if got := Enough("a", "1", 2, Many, 3)(c.r); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

// A difference of throughputs is no difference within its error, which is of the networks one
// by one: what two lines have in common does not count.
func TestErrorsOfThroughputs(t *testing.T) {
	r := NewResults(nil)
	for line, each := range map[string][]float64{
		"a": {0.6, 0.8}, "b": {0.5, 0.9}, "half": {0.3, 0.4}, "twice": {0.6, 0.8},
		"many": {0.50, 0.52, 0.54, 0.50, 0.52, 0.54, 0.50, 0.52}, "less": {0.48, 0.48, 0.52, 0.48, 0.50, 0.50, 0.48, 0.50},
		"refused": {0, 0.7},
	} {
		sum, n := 0.0, 0
		for _, v := range each {
			if v > 0 {
				sum, n = sum+v, n+1
			}
		}
		r.Set(line, "1", Result{Value: sum / float64(n), Count: n, Refusals: len(each) - n, Each: each})
	}
	for name, c := range map[string]struct {
		check Check
		want  Answer
	}{
		// Without the first a is 1/9 below b, without the second 1/5 above.
		"far from sure":    {More("a", []string{"b"}, "1"), Answer{Ours: "a 0.700, b 0.700 (+0.0 ± 31.1 %)", Agreement: Open}},
		"always twice":     {More("twice", []string{"half"}, "1"), Answer{Ours: "twice 0.700, half 0.350 (+100.0 ± 4.0 %)", Agreement: Agrees}},
		"never less":       {Less("twice", []string{"half"}, "1"), Answer{Ours: "twice 0.700, half 0.350 (+100.0 ± 4.0 %)", Agreement: Differs}},
		"a bit, of many":   {More("many", []string{"less"}, "1"), Answer{Ours: "many 0.518, less 0.492 (+5.1 ± 1.4 %)", Agreement: Agrees}},
		"near the limit":   {Near("many", "less", "1"), Answer{Ours: "many 0.518, less 0.492 (+5.1 ± 1.4 %)", Agreement: Open}},
		"one left of two":  {More("a", []string{"refused"}, "1"), Answer{Ours: "a 0.700, refused 0.700 (+0.0 ± 2.9 %)", Agreement: Open}},
		"apart, not sure":  {Apart([]string{"many", "less"}, "1", Nearly), Answer{Ours: "0.492 to 0.518: at most 4.8 ± 1.4 % below the best", Agreement: Open}},
		"apart, for sure":  {Apart([]string{"many", "less"}, "1", Alike), Answer{Ours: "0.492 to 0.518: at most 4.8 ± 1.4 % below the best", Agreement: Agrees}},
		"wider, not sure":  {Wider("twice", "a", "b", "1"), Answer{Ours: "+0.0 ± 2.0 % over a, +0.0 ± 31.1 % over b", Agreement: Open}},
		"nothing measured": {Near("a", "none", "1"), NotMeasured},
	} {
		if got := c.check(r); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Where a mean is largest, and whether it grows as a logarithm, is as sure as the means of the networks are.
func TestCurvesHaveErrors(t *testing.T) {
	curve := func(each ...[]float64) *Results {
		r := NewResults([]Line{{Name: "a"}})
		for i, x := range []float64{1, 2, 4, 8}[:len(each)] {
			at := Place{Label: fmt.Sprint(x), X: x}
			r.lines[0].Places = append(r.lines[0].Places, at)
			r.Set("a", at.Label, Result{Value: Mean(each[i]), Count: len(each[i]), Each: each[i]})
		}
		return r
	}
	for name, c := range map[string]struct {
		got, want Answer
	}{
		"surely there":      {Peak([]string{"a"}, 2)(curve([]float64{3, 3}, []float64{4, 4}, []float64{3, 3})), Answer{Ours: "a: 2", Agreement: Agrees}},
		"surely elsewhere":  {Peak([]string{"a"}, 2)(curve([]float64{3, 3}, []float64{4, 4}, []float64{5, 5})), Answer{Ours: "a: 4", Agreement: Differs}},
		"there or not":      {Peak([]string{"a"}, 2)(curve([]float64{3, 3}, []float64{4, 5}, []float64{4, 4})), Answer{Ours: "a: 2 to 4", Agreement: Open}},
		"nowhere near":      {Peak([]string{"a"}, 9)(curve([]float64{3, 3}, []float64{4, 5}, []float64{4, 4})), Answer{Ours: "a: 2 to 4", Agreement: Differs}},
		"surely logarithm":  {Logarithmic("a")(curve([]float64{1, 1}, []float64{2, 2}, []float64{3, 3}, []float64{4, 4})), Answer{Ours: "1.00 layers more for each doubling; R² 1.000 by the logarithm, 0.920 by a straight line (+0.080 ± 0.000)", Agreement: Agrees}},
		"surely straight":   {Logarithmic("a")(curve([]float64{1, 1}, []float64{2, 2}, []float64{4, 4}, []float64{8, 8})), Answer{Ours: "2.30 layers more for each doubling; R² 0.920 by the logarithm, 1.000 by a straight line (-0.080 ± 0.000)", Agreement: Differs}},
		"logarithm or line": {Logarithmic("a")(curve([]float64{1, 1}, []float64{2, 3}, []float64{3, 4}, []float64{6, 4})), Answer{Ours: "1.30 layers more for each doubling; R² 0.994 by the logarithm, 0.921 by a straight line (+0.073 ± 0.333)", Agreement: Open}},
		"neither":           {Logarithmic("a")(curve([]float64{1, 1}, []float64{5, 5}, []float64{1, 1}, []float64{6, 6})), Answer{Ours: "1.10 layers more for each doubling; R² 0.292 by the logarithm, 0.340 by a straight line (-0.049 ± 0.000)", Agreement: Differs}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}

// What a paper leaves open is counted in all ways to read it.
func TestInSome(t *testing.T) {
	r := NewResults(nil)
	r.Set("a", "1", Result{Value: 1.25, Low: 1, High: 2, Count: 4, Each: []float64{1, 1, 2, 1}})
	r.Set("b", "1", Result{Value: 2, Low: 2, High: 2, Count: 2, Each: []float64{2, 2}})
	for name, c := range map[string]struct{ got, want Answer }{
		"some":         {InSome("a", "1", 2, "ways")(r), Answer{Ours: "2 in 1 of 4 ways, of all 1 to 2", Agreement: Agrees}},
		"none":         {InSome("a", "1", 3, "ways")(r), Answer{Ours: "3 in 0 of 4 ways, of all 1 to 2", Agreement: Differs}},
		"all":          {InSome("b", "1", 2, "ways")(r), Answer{Ours: "2 in 2 of 2 ways", Agreement: Agrees}},
		"not measured": {InSome("b", "2", 2, "ways")(r), NotMeasured},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}

// What is swept is compared cabling by cabling.
func TestSwept(t *testing.T) {
	lines := map[string][][]float64{ // [line][place][cabling]
		"a" + Swept:                {{2, 3, 0}, {4, 4, 4}},
		"b" + Swept:                {{1, 2, 1}, {4, 4, 0}},
		"c" + Swept:                {{2, 1, 1}, {5, 1, 1}},
		OpenSMPrefix + "d" + Swept: {{1, 1, 1}, {2, 2, 2}},
		"d" + Swept:                {{9, 9, 9}, {9, 9, 9}},
	}
	r := NewResults(nil)
	for name, places := range lines {
		l := Line{Name: name}
		for i, each := range places {
			at := Place{Label: fmt.Sprint(i + 1)}
			l.Places = append(l.Places, at)
			r.Set(name, at.Label, Result{Value: 1, Count: 1, Each: each})
		}
		r.lines = append(r.lines, l)
	}
	for name, c := range map[string]struct {
		check Check
		want  Agreement
		says  string
	}{
		"inside":         {GainSwept("a", []string{"b", "c"}, "1", 0.25), Agrees, "+0.0 % to +50.0 % over 2 cablings; the paper's +25 % is inside of it"},
		"outside":        {GainSwept("a", []string{"b"}, "2", 0.25), Differs, "+0.0 % to +0.0 % over 2 cablings; the paper's +25 % is outside of it"},
		"nobody else":    {GainSwept("a", []string{"e"}, "1", 0.25), Open, "not measured"},
		"no such place":  {GainSwept("a", []string{"b"}, "3", 0.25), Open, "not measured"},
		"above":          {AboveSwept("a", "b", 0.01), Agrees, "not below b, swept by more than 1 % in 4 of 4 cablings, clearly above in 2"},
		"below in one":   {AboveSwept("a", "c", 0.01), Differs, "in 4 of 5 cablings, clearly above in 3; but at 2: -20.0 %"},
		"OpenSM's first": {AboveSwept("a", "d", 0.01), Agrees, "not below OpenSM d, swept by more than 1 % in 5 of 5"},
		"only equal":     {AboveSwept("a", "a", 0.01), Differs, "clearly above in 0"},
		"no line":        {AboveSwept("e", "a", 0.01), Open, "not measured"},
	} {
		if got := c.check(r); got.Agreement != c.want || !strings.Contains(got.Ours, c.says) {
			t.Errorf("%s: %s, %q; want %s, %q", name, got.Agreement, got.Ours, c.want, c.says)
		}
	}
}

// Where OpenSM's own tables were measured, comparisons are made with these.
func TestOpenSMGoesFirst(t *testing.T) {
	o := outcome(map[string][]float64{"a": {4, 4}, "b": {4, 4}, OpenSMPrefix + "b": {2}})
	if got := Gain("a", []string{"b"}, "1", 1, 0.1)(o); got.Agreement != Agrees || !strings.Contains(got.Ours, "over OpenSM b") {
		t.Errorf("%+v", got)
	}
	if got := Gain("a", []string{"b"}, "2", 0, 0.1)(o); got.Agreement != Agrees || !strings.Contains(got.Ours, "over b (") {
		t.Errorf("%+v", got)
	}
}

// How a line goes from place to place is said of one program's values, not of OpenSM's where they
// are at hand and ours elsewhere.
func TestTrendsAreOfOneProgram(t *testing.T) {
	some := outcome(map[string][]float64{"a": {4, 4, 8, 9}, OpenSMPrefix + "b": {0, 3, 3}, "b": {9, 5, 8, 8}})
	one := outcome(map[string][]float64{OpenSMPrefix + "b": {0, 3, 0}, "b": {9, 9, 8, 8}})
	for name, c := range map[string]struct {
		o     *Results
		check Check
		want  Answer
	}{
		"OpenSM is steady":      {some, Steady("b", []string{"2", "3", "4"}, Alike), Answer{Ours: "OpenSM b (2 to 3) between 3.000 and 3.000", Agreement: Agrees}},
		"at all of them":        {some, Steady("b", []string{"2", "3"}, Alike), Answer{Ours: "OpenSM b between 3.000 and 3.000", Agreement: Agrees}},
		"OpenSM does not fall":  {some, Falling("b", 0), Answer{Ours: "OpenSM b (2 to 3) from 3 to 3", Agreement: Agrees}},
		"one place is no trend": {one, Falling("b", 0), Answer{Ours: "b from 9 to 8", Agreement: Agrees}},
		"ours are not steady":   {one, Steady("b", []string{"1", "2", "3"}, 0.1), Answer{Ours: "b between 8.000 and 9.000", Agreement: Differs}},
		"two alike":             {one, Steady("b", []string{"3", "4"}, 0.1), Answer{Ours: "b between 8.000 and 8.000", Agreement: Agrees}},
		"one place":             {one, Steady("b", []string{"3"}, 0.1), NotMeasured},
	} {
		if got := c.check(c.o); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Where there are lines as printed and as improved, the printed ones decide, and the
// answer reports whether the others agree.
func TestVariants(t *testing.T) {
	r := NewResults(nil)
	for name, v := range map[string]float64{"a" + AsPrinted: 3, "a": 2, "b": 2} {
		r.lines = append(r.lines, Line{Name: name, Places: []Place{{Label: "1"}}})
		r.Set(name, "1", Result{Value: v, Low: v, High: v, Count: 1})
	}
	for name, c := range map[string]struct {
		check Check
		want  Answer
	}{
		"printed alone":  {Ranges("a", 3, 3), Answer{"as printed: 3. As improved: 2", Agrees, Printed}},
		"improved alone": {Ranges("a", 2, 2), Answer{"as printed: 3. As improved: 2", Differs, Improved}},
		"both":           {Ranges("a", 2, 3), Answer{"as printed: 3. As improved: 2", Agrees, Both}},
		"neither":        {Ranges("a", 4, 5), Answer{"as printed: 3. As improved: 2", Differs, Both}},
		"no variants":    {Ranges("b", 2, 2), Answer{"2", Agrees, Both}},
		"compared":       {AboveAt("a", "b", []string{"1"}), Answer{"as printed: 1: a 3, b 2. As improved: 1: a 2, b 2", Agrees, Printed}},
		"refusals":       {RoutesAll("a"), Answer{"1 places routed, 0 refused", Agrees, Both}},
		"not measured":   {Ranges("c", 0, 9), NotMeasured},
	} {
		if got := ByVariant(c.check)(r); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	r.lines = r.lines[:0] // no line has a variant
	if got := ByVariant(Ranges("b", 2, 2))(r); got.By != "" {
		t.Errorf("without variants: %+v", got)
	}
}

// Other programs were timed: ours can agree with them, and not refute them.
func TestTimed(t *testing.T) {
	for said, want := range map[Agreement]Agreement{Agrees: Agrees, Differs: Open, Open: Open} {
		a := Timed(func(*Results) Answer { return Answer{Ours: "1.1 times", Agreement: said} })(nil)
		if a.Agreement != want || a.Ours != "1.1 times" {
			t.Errorf("%s: %v", said, a)
		}
	}
}
