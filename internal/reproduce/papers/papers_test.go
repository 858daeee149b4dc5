package papers

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/sweep"
)

// Every row of the table makes sense: its id is one, its campaign can be read, every line has
// a value at every place of the full set and somewhere in the quick one, and the campaign has
// nothing that no line shows.
func TestCatalogue(t *testing.T) {
	id := regexp.MustCompile(`^[a-z]+\d{4}-[0-9a-z]+$`)
	seen := map[string]bool{}
	for _, e := range All() {
		if !id.MatchString(e.ID) || seen[e.ID] {
			t.Errorf("id %q is odd, or there twice", e.ID)
		}
		seen[e.ID] = true
		if e.Title == "" || e.Shows == "" || e.X == "" || (e.Sweep == nil) != e.Measure.Counted() {
			t.Errorf("%s: something is not said", e.ID)
		}
		for _, l := range e.Lines {
			labels := map[string]bool{}
			for _, n := range l.Places {
				if labels[n.Label] {
					t.Errorf("%s, %s: two places are called %s", e.ID, l.Name, n.Label)
				}
				labels[n.Label] = true
				if e.Curves && n.X == 0 {
					t.Errorf("%s, %s: %s is at 0", e.ID, l.Name, n.Label)
				}
			}
		}
		for _, c := range e.Claims {
			if c.Where == "" || c.Says == "" || c.Check == nil {
				t.Errorf("%s: a claim is not complete: %+v", e.ID, c)
			}
		}
		if e.Sweep != nil {
			shown(t, &e, true)
			shown(t, &e, false)
		}
	}
}

// shown checks that lines and campaign of an experiment are about the same.
func shown(t *testing.T, e *Experiment, quick bool) {
	t.Helper()
	values, err := e.Selection(quick, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	places, used := map[string]int{}, map[[2]string]bool{}
	for _, v := range values {
		places[v.Line]++
		for _, s := range v.Samples {
			beside := s.Beside()
			used[[2]string{s.Point.ID, s.Measure.Key()}] = true
			used[[2]string{s.Point.ID, beside.Key()}] = true
		}
	}
	for _, l := range e.Lines {
		if n := places[l.Name]; n == 0 || !quick && n != len(l.Places) {
			t.Errorf("%s, quick %t: %s has values at %d of %d places", e.ID, quick, l.Name, n, len(l.Places))
		}
	}
	parts, err := e.campaign(quick, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		for _, p := range part.Points {
			for _, m := range p.Measures {
				if !used[[2]string{p.ID, m.Key()}] {
					t.Errorf("%s, quick %t: no line shows %s %s of %s on %s", e.ID, quick, m.Name, m.Text(), p.Engine.Name, p.Network.String())
				}
			}
		}
	}
}

// Another seed is another one of everything drawn, and nothing else.
func TestSeeds(t *testing.T) {
	list, err := Select([]string{"ipdps2011-9"})
	if err != nil {
		t.Fatal(err)
	}
	one, err1 := list[0].Selection(true, 1, nil)
	three, err2 := list[0].Selection(true, 3, nil)
	if err1 != nil || err2 != nil || len(one) != len(three) {
		t.Fatal(err1, err2, len(one), len(three))
	}
	a, b := one[0].Samples[2], three[0].Samples[0]
	if a.Point.ID != b.Point.ID || a.Network != b.Network || !strings.HasSuffix(a.Network, "seed=3") || a.Point.Seed != 3 {
		t.Errorf("the third network from 1 is %+v, the first from 3 %+v", a, b)
	}
}

// The list of the papers' figures that are to be had.
func TestCatalogueIsComplete(t *testing.T) {
	want := strings.Fields(`hoti2009-3b hoti2009-4a hoti2009-4b hoti2009-4c hoti2009-4d hoti2009-4e hoti2009-4f hoti2009-5 hoti2009-6 hoti2009-8b hoti2009-9b
		ipdps2011-iv ipdps2011-4 ipdps2011-5 ipdps2011-6 ipdps2011-7 ipdps2011-8 ipdps2011-9 ipdps2011-10 ipdps2011-t1
		hoti2016-7 hoti2016-8 hoti2016-9 hoti2016-10 hoti2016-11 hoti2016-12 hoti2016-13
		tpds2006-3 tpds2006-4 tpds2006-5 tpds2006-6 tpds2006-7 tpds2006-8 tpds2006-9 tpds2006-10 tpds2006-11 tpds2006-12 tpds2006-13 tpds2006-14 tpds2006-15
		micro2020-a2a micro2020-rp micro2020-sp micro2020-time`)
	var got []string
	for _, e := range All() {
		got = append(got, e.ID)
	}
	for _, id := range want {
		if !slices.Contains(got, id) {
			t.Errorf("%s is missing", id)
		}
	}
}

// A claim that nothing was measured for is open, and never agrees.
func TestClaimsWithoutResultsAreOpen(t *testing.T) {
	for _, e := range All() {
		for _, c := range e.Claims {
			if a := c.Check(claims.NewResults(e.Lines)); a.Agreement != claims.Open {
				t.Errorf("%s: %q is %s without a result: %s", e.ID, c.Says, a.Agreement, a.Ours)
			}
		}
	}
}

// Other programs were timed than are here: whatever ours take, a sentence about a time is not
// refuted.
func TestTimesRefuteNothing(t *testing.T) {
	for _, e := range All() {
		if e.Measure != Seconds {
			continue
		}
		for seed := range uint64(20) {
			draw := rand.New(rand.NewPCG(seed, 1))
			r := claims.NewResults(e.Lines)
			for _, l := range e.Lines {
				for _, at := range l.Places {
					seconds := math.Exp(10 * draw.NormFloat64())
					r.Set(l.Name, at.Label, claims.Result{Value: seconds, Low: seconds, High: seconds, Count: 1})
				}
			}
			for _, c := range e.Claims {
				if a := c.Check(r); a.Agreement == claims.Differs {
					t.Errorf("%s: %q differs: %s", e.ID, c.Says, a.Ours)
				}
			}
		}
	}
}

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		words string
		n     int
		first string
	}{
		{"all", len(All()), "hoti2009-3b"},
		{"tpds2006-3 hoti2009-6", 2, "hoti2009-6"},
		{"hoti2009-6 hoti2009", 11, "hoti2009-3b"},
	} {
		list, err := Select(strings.Fields(c.words))
		if err != nil || len(list) != c.n || list[0].ID != c.first {
			t.Errorf("%s: %d experiments, %v", c.words, len(list), err)
		}
	}
	for word, near := range map[string]string{"hoti2009-4": `"hoti2009-4a"`, "tpds206": `"tpds2006"`, "al": `"all"`, "ipdps2011-ti": `"ipdps2011-t1"`} {
		if _, err := Select([]string{word}); err == nil || !strings.Contains(err.Error(), "; nearest is "+near) {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// Dumps at hand are measured as a line's first network is, with the hosts as the only
// endpoints.
func TestRealFabrics(t *testing.T) {
	list, err := Select([]string{"ipdps2011-4"})
	if err != nil {
		t.Fatal(err)
	}
	e := list[0].WithReal([]string{"mine"})
	values, err := e.Selection(true, 2, map[string]sweep.Network{"mine": {File: "mine.ibnetdiscover", Digest: "aa", Kind: "aa"}})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, v := range values {
		if v.Place != "mine" {
			continue
		}
		found++
		p := v.Samples[0].Point
		if len(v.Samples) != 1 || p.Network.String() != "mine.ibnetdiscover" || p.Seed != 2 || !p.Engine.Exact || v.Samples[0].Measure.Setting("ranks") != "guid" {
			t.Errorf("%s: %+v", v.Line, v.Samples)
		}
	}
	if found != len(e.Lines) {
		t.Errorf("%d lines of %d have a value on it", found, len(e.Lines))
	}
}

// The page says how often was measured, and that bands and what stands beside a paper's
// lines are measured less often.
func TestEffort(t *testing.T) {
	for id, want := range map[string]Effort{
		"ipdps2011-9":   {Networks: 100, Improved: 10, Beside: 2},
		"ipdps2011-iv":  {Networks: 1000, Improved: 100, Beside: 10},
		"ipdps2011-5":   {Patterns: 1000},
		"hoti2009-4d":   {Patterns: 10000, Swept: 1000, Networks: 4},
		"hoti2009-5":    {Patterns: 2500, Networks: 4},
		"hoti2009-4f":   {Repeats: 5, BesideRepeats: 2},
		"hoti2016-13":   {Repeats: 11, BesideRepeats: 2},
		"hoti2016-7":    {Repeats: 50},
		"tpds2006-7":    {Patterns: 50000, Networks: 16, Beside: 4},
		"micro2020-a2a": {Networks: 10, Beside: 2},
		"micro2020-rp":  {Networks: 10, Beside: 2, Patterns: 101},
	} {
		list, err := Select([]string{id})
		if err != nil {
			t.Fatal(err)
		}
		values, err := list[0].Selection(false, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := list[0].Effort(values)
		if got.Networks == 1 {
			got.Networks = 0
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
	}
}
