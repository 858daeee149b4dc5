package exact_test

import (
	"context"
	"errors"
	"testing"

	"github.com/weft-fabric/weft/deadlock"
	"github.com/weft-fabric/weft/internal/engine/lanes/exact"
	"github.com/weft-fabric/weft/internal/engine/lanes/layer"
	"github.com/weft-fabric/weft/internal/engine/paths/layered"
	"github.com/weft-fabric/weft/internal/engine/paths/shortest"
	"github.com/weft-fabric/weft/internal/engine/paths/sssp"
	"github.com/weft-fabric/weft/internal/engine/paths/symmetric"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

// On small networks the fewest layers are found, the judge agrees, and no
// heuristic needs fewer.
func TestSmallNetworks(t *testing.T) {
	for _, c := range []struct {
		spec string
		want int // with sssp, between host adapters
	}{
		{"ring:4", 1}, {"ring:5", 2}, {"ring:9", 2}, {"mesh:3x3", 2}, {"torus:3x3", 1}, {"torus:4x4", 2}, {"torus:5x5", 2}, {"hypercube:4", 2},
		{"hypercube:5", 2}, {"karytree:k=2,n=3", 1}, {"dragonfly:p=1", 2}, {"dragonfly:p=2", 2},
		{"random:switches=16,links=24,seed=1", 1}, {"random:switches=20,links=50,seed=2", 2}, {"random:switches=32,links=64,seed=1", 2},
	} {
		t.Run(c.spec, func(t *testing.T) {
			if c.spec == "hypercube:5" { // as hypercube:4, and takes most of the time
				testnet.OnlyWhole(t)
			}
			f := testnet.Build(t, c.spec)
			for i, finder := range []routing.PathFinder{sssp.Finder{}, shortest.Finder{}} {
				fw, err := finder.Paths(context.Background(), f, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, scope := range []routing.Scope{routing.HCA, routing.All} {
					b := routing.Budget{VLs: 8, Scope: scope, Contract: routing.Directed}
					l, err := exact.Assigner{}.Lanes(context.Background(), f, fw, b, nil)
					if err != nil {
						t.Fatal(err)
					}
					if i == 0 && scope == routing.HCA && l.Needed != c.want {
						t.Errorf("%d lanes, want %d", l.Needed, c.want)
					}
					v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, deadlock.Options{Contract: routing.Directed, Scope: scope})
					if err != nil || !v.Free() || v.VLs > l.Needed {
						t.Errorf("%T: not free of deadlock with %d lanes: %v", finder, l.Needed, err)
					}
					for _, h := range []routing.LaneAssigner{layer.FirstFit{}, layer.BreakCycles{}} {
						few, err := h.Lanes(context.Background(), f, fw, b, nil)
						if err != nil || few.Needed < l.Needed {
							t.Errorf("%T: %T needs fewer than %d lanes: %v", finder, h, l.Needed, err)
						}
					}
					if _, err = (exact.Assigner{}).Lanes(context.Background(), f, fw, routing.Budget{VLs: l.Needed - 1, Scope: scope, Contract: routing.Directed}, nil); l.Needed > 1 {
						if few := (*routing.TooFewLanes)(nil); !errors.As(err, &few) || few.Need != l.Needed || few.AtLeast {
							t.Errorf("%T: with one lane fewer: %v", finder, err)
						}
					}
				}
			}
		})
	}
}

// Both ways between two switches in one layer: no fewer layers than the heuristics need,
// and with symmetric paths seldom more than directed.
func TestBothWays(t *testing.T) {
	for _, c := range []struct {
		spec   string
		finder routing.PathFinder
		want   int
	}{
		{"ring:5", sssp.Finder{}, 2}, {"torus:4x4", symmetric.Finder{}, 2}, {"torus:4x4", sssp.Finder{}, 2}, {"dragonfly:p=1", sssp.Finder{}, 2},
		{"kautz:b=2,n=3", symmetric.Finder{}, 2}, {"random:switches=16,links=24,seed=1", sssp.Finder{}, 1}, {"karytree:k=2,n=3", sssp.Finder{}, 1},
	} {
		f := testnet.Build(t, c.spec)
		fw, err := c.finder.Paths(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := routing.Budget{VLs: 8}
		l, err := exact.Assigner{}.Lanes(context.Background(), f, fw, b, nil)
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		if l.Needed != c.want {
			t.Errorf("%s, %T: %d lanes, want %d", c.spec, c.finder, l.Needed, c.want)
		}
		v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, deadlock.Options{})
		if err != nil || !v.Free() || v.VLs > l.Needed {
			t.Errorf("%s: not free of deadlock with %d lanes: %v", c.spec, l.Needed, err)
		}
		if few, err := (layer.FirstFit{}).Lanes(context.Background(), f, fw, b, nil); err != nil || few.Needed < l.Needed {
			t.Errorf("%s: first-fit needs fewer than %d lanes: %v", c.spec, l.Needed, err)
		}
	}
}

// A path of a single hop closes no cycle in any layer, but answers to it may take detours,
// which other addresses have: they need one layer, both ways.
func TestBothWaysWithDetours(t *testing.T) {
	f, err := testnet.Build(t, "torus:3x3,hosts=2").WithLMC(2)
	if err != nil {
		t.Fatal(err)
	}
	fw, err := layered.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := exact.Assigner{}.Lanes(context.Background(), f, fw, routing.Budget{VLs: 15}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := deadlock.Verify(context.Background(), &routing.Tables{Fabric: f, Forwarding: fw, Lanes: l}, deadlock.Options{})
	if err != nil || !v.Free() {
		t.Errorf("a credit loop with %d lanes: %v", l.Needed, err)
	}
}

// Beyond what can be solved there are bounds, and they hold.
func TestBounds(t *testing.T) {
	f := testnet.Build(t, "torus:4x4x4")
	fw, err := sssp.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	const effort = 300
	lower, upper, err := exact.Bounds(context.Background(), f, fw, routing.Budget{Contract: routing.Directed}, effort)
	if err != nil || lower < 2 || upper > 5 || lower == upper {
		t.Errorf("%d to %d: %v", lower, upper, err)
	}
	_, err = exact.Assigner{Effort: effort}.Lanes(context.Background(), f, fw, routing.Budget{VLs: 8, Contract: routing.Directed}, nil)
	if refused := (*routing.Refusal)(nil); !errors.As(err, &refused) {
		t.Errorf("not refused: %v", err)
	}
	_, err = exact.Assigner{Effort: effort}.Lanes(context.Background(), f, fw, routing.Budget{VLs: 1, Contract: routing.Directed}, nil)
	if few := (*routing.TooFewLanes)(nil); !errors.As(err, &few) || !few.AtLeast || few.Need != lower {
		t.Errorf("with one lane: %v", err)
	}
}
