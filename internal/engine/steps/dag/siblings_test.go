package dag_test

import (
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/testnet"
)

// A graph that was turned to a sibling has the hops and the choices of one that was made
// for it, and an order in which trunks lead to switches before.
func TestTurn(t *testing.T) {
	for _, spec := range []string{"xgft:m=3x4,w=3x2,hosts=2", "planes:ports=8,groups=3,leaves=3,on=2,tails=2,trunk=2"} {
		f := testnet.Build(t, spec)
		pairs := 0
		for a := range fabric.NodeID(f.Switches()) {
			for b := range fabric.NodeID(f.Switches()) {
				if a == b || !dag.Siblings(f, a, b) {
					continue
				}
				pairs++
				var got, want dag.DAG
				dag.Shortest(&got, f, a)
				got.MoveRoot(f, b)
				dag.Shortest(&want, f, b)
				same(t, &got, &want)
			}
		}
		if pairs == 0 {
			t.Errorf("%s has no siblings", spec)
		}
	}
}

func same(t *testing.T, got, want *dag.DAG) {
	t.Helper()
	if got.Root != want.Root || got.Order[0] != got.Root || len(got.Order) != len(want.Order) || !slices.Equal(got.Hops, want.Hops) {
		t.Fatalf("to %d: turned %v, made %v", want.Root, got, want)
	}
	for i, u := range want.Order {
		k := slices.Index(got.Order, u)
		if !slices.Equal(got.Choices(k), want.Choices(i)) || !slices.Equal(got.Head[got.First[k]:got.First[k+1]], want.Head[want.First[i]:want.First[i+1]]) {
			t.Errorf("to %d: the choices of %d are %v, not %v", want.Root, u, got.Choices(k), want.Choices(i))
		}
		for _, h := range got.Head[got.First[k]:got.First[k+1]] {
			if slices.Index(got.Order, h) > k {
				t.Errorf("to %d: %d comes before %d, where it leads", want.Root, u, h)
			}
		}
	}
}

// Switches with one trunk are no siblings.
func TestNoSiblings(t *testing.T) {
	f := testnet.Build(t, "xgft:m=3,w=1,hosts=2")
	if dag.Siblings(f, 0, 1) {
		t.Errorf("0 and 1, with neighbours %v and %v, are siblings", f.Neighbours(0), f.Neighbours(1))
	}
}
