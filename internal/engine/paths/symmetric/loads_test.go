package symmetric

import (
	"context"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/internal/testnet"
)

// The loads of a pass are those of its paths, each followed by itself, where some have no way back over the same
// switches and where all have.
func TestLoads(t *testing.T) {
	apart := 0
	for _, spec := range []string{"torus:5x5x4,hosts=2", "dragonfly:p=3", "random:switches=30,links=70,hosts=2,seed=1"} {
		n := newNetwork(testnet.Build(t, spec))
		pairs, err := n.pairs(context.Background(), false)
		if err != nil {
			t.Fatal(err)
		}
		s := newSystem(n)
		for range passes {
			if err := s.route(context.Background(), pairs); err != nil {
				t.Fatal(err)
			}
			made := slices.Clone(s.cost)
			copy(s.cost, s.expected)
			for _, p := range pairs {
				s.charge(p.a, p.b)
				s.charge(p.b, p.a)
			}
			if !slices.Equal(made, s.cost) {
				t.Fatalf("%s: other loads than those of the paths", spec)
			}
			apart += s.apart
			s.expect()
		}
	}
	if apart == 0 {
		t.Error("every way back is the same: the test says nothing of others")
	}
}
