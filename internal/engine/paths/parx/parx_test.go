package parx_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/parx"
	"github.com/weft-fabric/weft/internal/testnet"
	"github.com/weft-fabric/weft/routing"
)

func network(t *testing.T, spec string, lmc uint8) *fabric.Fabric {
	t.Helper()
	f, err := testnet.Build(t, spec).WithLMC(lmc)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// coordinates is those of a switch by its name, sw-x-y-….
func coordinates(t *testing.T, f *fabric.Fabric, s fabric.NodeID) (at [2]int) {
	t.Helper()
	if _, err := fmt.Sscanf(f.Label(s), "sw-%d-%d", &at[0], &at[1]); err != nil {
		t.Fatalf("%s: %v", f.Label(s), err)
	}
	return at
}

// hops is how far all switches are from one over the trunks that are allowed.
func hops(f *fabric.Fabric, root fabric.NodeID, allowed func(c *fabric.Channel) bool) []int {
	far := make([]int, f.Switches())
	for s := range far {
		far[s] = 1000
	}
	far[root] = 0
	for range far { // Bellman and Ford
		for c := range fabric.ChannelID(f.Trunks()) {
			if ch := f.Channel(c); allowed(ch) {
				far[ch.From] = min(far[ch.From], far[ch.To]+1)
			}
		}
	}
	return far
}

// SC 2019: paths to LID 0 avoid the cables within the left half, and so on, and are as short
// as that allows. Switches to whom that leaves none have some path.
func TestEachAddressAvoidsAHalf(t *testing.T) {
	for _, c := range []struct {
		spec string
		size [2]int
		axis [2]int // of the name that parts left from right, and top from bottom: the longest first, of equals the last
	}{
		{"hyperx:4x4,hosts=2", [2]int{4, 4}, [2]int{1, 0}}, {"hyperx:3x6,hosts=1", [2]int{6, 3}, [2]int{1, 0}},
		{"hyperx:4x3x2,hosts=1", [2]int{4, 3}, [2]int{0, 1}}, {"hyperx:2x2,hosts=2", [2]int{2, 2}, [2]int{1, 0}},
	} {
		failures := 3
		if c.size == [2]int{2, 2} {
			failures = 0 // four cables are all there must be
		}
		f := network(t, c.spec, 2)
		rng := rand.New(rand.NewPCG(1, 2))
		for failed := range failures + 1 {
			fw, err := parx.Finder{}.Paths(context.Background(), f, nil)
			if err != nil {
				t.Fatalf("%s: %v", c.spec, err)
			}
			detours := 0
			for rule := range fabric.LID(4) {
				within, d := make([]bool, f.Switches()), rule/2
				for s := range within {
					within[s] = (coordinates(t, f, fabric.NodeID(s))[c.axis[d]] < c.size[d]/2) == (rule%2 == 0)
				}
				for _, id := range routing.HCA.Endpoints(f) {
					e := f.Endpoint(id)
					want := hops(f, e.Switch, func(ch *fabric.Channel) bool { return !within[ch.From] || !within[ch.To] })
					least := hops(f, e.Switch, func(*fabric.Channel) bool { return true })
					for s := range fabric.NodeID(f.Switches()) {
						if least[s] == 1000 {
							continue
						}
						made, kept := 0, true
						for at := s; at != e.Switch; made++ {
							ch := f.Channel(f.Out(at, fw.Port(at, e.LID+rule)))
							kept = kept && (!within[ch.From] || !within[ch.To])
							at = ch.To
						}
						if want[s] < 1000 && (made != want[s] || !kept) {
							t.Fatalf("%s, rule %d: %d hops from %s to %s, want %d, keeping the rule: %t", c.spec, rule, made, f.Label(s), f.Label(e.Switch), want[s], kept)
						}
						if want[s] < 1000 && made > least[s] {
							detours++
						}
					}
				}
			}
			if failed == failures {
				break
			}
			if detours == 0 && c.size != [2]int{2, 2} {
				t.Errorf("%s: no path is a detour", c.spec)
			}
			if f, err = f.Without([]fabric.ChannelID{fabric.ChannelID(rng.IntN(f.Trunks()))}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What the detours are for: two neighbours have one cable, and the addresses use others too.
func TestNeighboursHaveSeveralWays(t *testing.T) {
	f := network(t, "hyperx:4x4,hosts=1", 2)
	fw, err := parx.Finder{}.Paths(context.Background(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range routing.HCA.Endpoints(f) {
		from, first := f.Endpoint(a).Switch, map[uint8]bool{}
		for _, z := range routing.HCA.Endpoints(f) {
			to := f.Endpoint(z)
			x, y := coordinates(t, f, from), coordinates(t, f, to.Switch)
			if a == z || x[0]/2 != y[0]/2 || x[1]/2 != y[1]/2 {
				continue
			}
			clear(first)
			for lid := range to.LIDs() {
				first[fw.Port(from, lid)] = true
			}
			if len(first) < 3 {
				t.Errorf("from %s to %s, in one quarter, by %d ports", f.Label(from), f.Label(to.Switch), len(first))
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		spec string
		lmc  uint8
		want string
	}{
		{"hyperx:4x4", 1, "four addresses"}, {"torus:6x6", 2, "one place"}, {"hyperx:7", 2, "make a grid of dimension 1"},
		{"xgft:m=3x4,w=2x2,hosts=3", 2, "HyperX"}, {"slimfly:q=5", 2, "HyperX"}, {"mesh:5x4", 2, "places for 20 switches"}, {"dragonfly:p=2", 2, "HyperX"}, {"mesh:1,hosts=3", 2, "HyperX"},
	} {
		f := network(t, c.spec, c.lmc)
		_, err := parx.Finder{}.Paths(context.Background(), f, nil)
		if no := (*routing.Refusal)(nil); !errors.As(err, &no) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.spec, err)
		}
		ok := true
		for _, finding := range (parx.Finder{}).Explain(f) {
			ok = ok && finding.OK
		}
		if ok {
			t.Errorf("%s is refused, but all rules are kept", c.spec)
		}
	}
	for _, finding := range (parx.Finder{}).Explain(network(t, "hyperx:6x4x3", 2)) {
		if !finding.OK || strings.Contains(finding.Rule, "HyperX") && !strings.Contains(finding.Why, "6x4x3") {
			t.Errorf("%+v", finding)
		}
	}
}

// However many cables are missing, it refuses or every switch has a path; the dimensions
// are found with a tenth gone.
func TestDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	f := network(t, "hyperx:6x4,hosts=1", 2)
	cables := f.Trunks()
	for f.Trunks() > 0 {
		fw, err := parx.Finder{}.Paths(context.Background(), f, nil)
		if no := (*routing.Refusal)(nil); err != nil && (!errors.As(err, &no) || f.Trunks() > cables*9/10) {
			t.Fatalf("%d of %d left: %v", f.Trunks(), cables, err)
		}
		for lid, owner := range f.LIDs() {
			far := hops(f, f.Endpoint(owner).Switch, func(*fabric.Channel) bool { return true })
			for s, h := range far {
				if err == nil && (h < 1000) == (fw.Port(fabric.NodeID(s), lid) == routing.NoPort) {
					t.Fatalf("%d of %d left: LID %d from switch %d, %d hops", f.Trunks(), cables, lid, s, h)
				}
			}
		}
		if f, err = f.Without([]fabric.ChannelID{fabric.ChannelID(rng.IntN(f.Trunks())), fabric.ChannelID(rng.IntN(f.Trunks()))}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := (parx.Finder{}).Paths(ctx, network(t, "hyperx:4x4", 2), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and the error is %v", err)
	}
}
