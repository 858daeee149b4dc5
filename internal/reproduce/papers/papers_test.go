package papers

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/internal/reproduce/claims"
	"github.com/weft-fabric/weft/internal/reproduce/measure"
	"github.com/weft-fabric/weft/topology"
)

// Every row of the table makes sense: its id is one, its lines are engines, its
// networks can be made, and quick runs have something to do.
func TestCatalogue(t *testing.T) {
	id := regexp.MustCompile(`^[a-z]+\d{4}-[0-9a-z]+$`)
	seen := map[string]bool{}
	specs := map[string]bool{}
	for _, e := range All() {
		if !id.MatchString(e.ID) || seen[e.ID] {
			t.Errorf("id %q is odd, or there twice", e.ID)
		}
		seen[e.ID] = true
		quick, full := e.Count()
		if quick == 0 || full < quick {
			t.Errorf("%s: %d points in quick runs, %d in full ones", e.ID, quick, full)
		}
		if e.Title == "" || e.Shows == "" || e.X == "" || measure.Version[e.Measure] == 0 {
			t.Errorf("%s: something is not said", e.ID)
		}
		for _, l := range e.Lines {
			if e.Measure != measure.Ports && e.Measure != measure.Example {
				if err := measure.CheckEngine(e.Measure, l.Engine); err != nil {
					t.Errorf("%s: %v", e.ID, err)
				}
			}
			labels := map[string]bool{}
			for _, n := range l.Places {
				if labels[n.Label] {
					t.Errorf("%s, %s: two places are called %s", e.ID, l.Name, n.Label)
				}
				labels[n.Label] = true
				if e.Curves && n.X == 0 {
					t.Errorf("%s, %s: %s is at 0", e.ID, l.Name, n.Label)
				}
				for _, drawn := range measure.Networks(n.Spec, 1, 1, false) {
					spec, _, _ := strings.Cut(drawn.Spec, " ")
					specs[spec] = true
				}
			}
		}
		for _, c := range e.Claims {
			if c.Where == "" || c.Says == "" || c.Check == nil {
				t.Errorf("%s: a claim is not complete: %+v", e.ID, c)
			}
		}
	}
	for spec := range specs {
		if _, err := topology.Parse(spec); err != nil && spec != measure.ExampleSpec {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// The list of the papers' figures that are to be had.
func TestCatalogueIsComplete(t *testing.T) {
	want := strings.Fields(`hoti2009-4a hoti2009-4b hoti2009-4c hoti2009-4d hoti2009-4e hoti2009-4f hoti2009-5 hoti2009-6 hoti2009-8b hoti2009-9b
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

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		words string
		n     int
		first string
	}{
		{"all", len(All()), "hoti2009-4a"},
		{"tpds2006-3 hoti2009-6", 2, "hoti2009-6"},
		{"hoti2009-6 hoti2009", 10, "hoti2009-4a"},
	} {
		list, err := Select(strings.Fields(c.words))
		if err != nil || len(list) != c.n || list[0].ID != c.first {
			t.Errorf("%s: %d experiments, %v", c.words, len(list), err)
		}
	}
	for word, near := range map[string]string{"hoti2009-4": `"hoti2009-4a"`, "tpds206": `"tpds2006"`, "al": `"all"`, "ipdps2011-t2": `"ipdps2011-t1"`} {
		if _, err := Select([]string{word}); err == nil || !strings.Contains(err.Error(), "; nearest is "+near) {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// Bands and what stands beside a paper's lines are measured less often where the effort says so,
// the paper's own lines never.
func TestLessBeside(t *testing.T) {
	for _, c := range []struct {
		id     string
		line   claims.Line
		figure func(Point) int
		full   int
	}{
		{"ipdps2011-9", claims.Line{Beside: true}, func(p Point) int { return p.Networks }, 20},
		{"ipdps2011-9", claims.Line{}, func(p Point) int { return p.Networks }, 100},
		{"hoti2009-4d", claims.Line{Band: true}, func(p Point) int { return p.Patterns }, 1000},
		{"hoti2009-4d", claims.Line{}, func(p Point) int { return p.Patterns }, 10000},
		{"hoti2016-13", claims.Line{Beside: true}, func(p Point) int { return p.Repeats }, 3},
		{"hoti2016-13", claims.Line{}, func(p Point) int { return p.Repeats }, 11},
	} {
		list, err := Select([]string{c.id})
		if err != nil {
			t.Fatal(err)
		}
		e, found := list[0], 0
		kind := map[string]claims.Line{}
		for _, l := range e.Lines {
			kind[l.Name] = l
		}
		for _, p := range e.Points(false, 1, nil) {
			if l := kind[p.Line]; l.Beside == c.line.Beside && l.Band == c.line.Band {
				found++
				if got := c.figure(p); got != c.full {
					t.Errorf("%s, %s at %s: %d, want %d", c.id, p.Line, p.Place, got, c.full)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s has no line like %+v", c.id, c.line)
		}
	}
}
