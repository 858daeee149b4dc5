package dag_test

import (
	"context"
	"slices"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/internal/testnet"
)

// InOrder shows every graph that it is asked for, once and in order, however many.
func TestInOrder(t *testing.T) {
	f := testnet.Build(t, "torus:9x9,hosts=2")
	for n := range f.Switches() + 1 {
		order := fabric.All[fabric.NodeID](f.Switches())[f.Switches()-n:]
		slices.Reverse(order)
		var seen []fabric.NodeID
		err := dag.InOrder(context.Background(), f, order, dag.Shortest, func(d *dag.DAG, lids []fabric.LID) {
			if len(d.Order) != f.Switches() || !slices.Equal(lids, dag.LIDsOn(f, d.Root, nil)) {
				t.Errorf("to %d: %d switches and LIDs %v", d.Root, len(d.Order), lids)
			}
			seen = append(seen, d.Root)
		})
		if err != nil || !slices.Equal(seen, order) {
			t.Errorf("%v shown for %v, %v", seen, order, err)
		}
	}
}

// InOrder builds and shows nothing more once it is cancelled, and a panic of whoever builds
// is the caller's.
func TestInOrderEnds(t *testing.T) {
	f := testnet.Build(t, "torus:9x9,hosts=2")
	ctx, cancel := context.WithCancel(context.Background())
	built, shown := 0, 0
	build := func(d *dag.DAG, f *fabric.Fabric, root fabric.NodeID) {
		built++
		dag.Shortest(d, f, root)
	}
	err := dag.ByDestination(ctx, f, build, func(*dag.DAG, []fabric.LID) {
		if shown++; shown == 3 {
			cancel()
		}
	})
	if err == nil || shown != 3 || built == f.Switches() {
		t.Errorf("%d built and %d shown after three and a cancel, %v", built, shown, err)
	}
	defer func() {
		if got := recover(); got != "built" {
			t.Errorf("panic %v", got)
		}
	}()
	build = func(d *dag.DAG, f *fabric.Fabric, root fabric.NodeID) {
		if root == 20 {
			panic("built")
		}
		dag.Shortest(d, f, root)
	}
	_ = dag.ByDestination(context.Background(), f, build, func(*dag.DAG, []fabric.LID) {})
	t.Error("no panic")
}
