package change_test

import (
	"testing"

	"github.com/weft-fabric/weft/change"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// What is said of all failures is what is said of each: repairs of a mesh, on which some
// need others to make way, and of a torus, on which none does.
func TestSurvive(t *testing.T) {
	for _, c := range []struct {
		spec    string
		rebuilt bool
	}{{"mesh:3x3,hosts=2", true}, {"torus:4x4,hosts=2", false}} {
		f := testnet.Build(t, c.spec)
		was := route(t, f, "weave-any")
		failures := append(change.Cables(f), change.Switches(f)...)
		s, err := change.Survive(t.Context(), was, failures, change.Options{Contract: routing.Any})
		if err != nil {
			t.Fatal(err)
		}
		if s.Mended+s.Rebuilt+s.NotMended != len(failures) || len(s.Repairs) != len(failures) || (s.Rebuilt > 0) != c.rebuilt || s.OneStep == 0 {
			t.Errorf("%s: %d failures: %+v", c.spec, len(failures), s)
		}
		worst := s.Worst()
		for i, r := range s.Repairs {
			live, err := f.Without(r.Channels, r.Nodes)
			if err != nil {
				t.Fatal(err)
			}
			p, err := change.Mend(t.Context(), was, live, change.Options{Contract: routing.Any})
			if err != nil {
				t.Fatal(err)
			}
			steps := 0
			for _, s := range p.Steps {
				if s.Mended > 0 {
					steps++
				}
			}
			if r.Steps != steps || r.Left != len(p.Left) {
				t.Errorf("%s, failure %d: %+v; a plan by itself has %d steps", c.spec, i, r, steps)
			}
			if worst[i].Rebuilt && i > 0 && !worst[i-1].Rebuilt {
				t.Error("a failure that needs a rebuild comes after one that does not")
			}
		}
	}
}

// A sample is spread over the whole list, and is the list if that is no longer.
func TestSample(t *testing.T) {
	list := change.Cables(testnet.Build(t, "torus:4x4"))
	if got := change.Sample(list, len(list)); len(got) != len(list) {
		t.Errorf("%d of %d", len(got), len(list))
	}
	got := change.Sample(list, 4)
	for i, at := range []int{0, 8, 16, 24} {
		if got[i].Channels[0] != list[at].Channels[0] {
			t.Errorf("element %d is not element %d of the list", i, at)
		}
	}
}
