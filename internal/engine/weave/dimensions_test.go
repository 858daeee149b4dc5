package weave_test

import (
	"context"
	"testing"

	"github.com/weft-fabric/weft/internal/engine/paths/balance"
	"github.com/weft-fabric/weft/internal/engine/steps/grid/gridtest"
	"github.com/weft-fabric/weft/internal/engine/weave"
	"github.com/weft-fabric/weft/routing"
)

// On tori with rings of seven and more, which shortest paths cannot share, weave-any has a lane for each dimension
// with a ring of five or more, and one besides.
func TestOpenRings(t *testing.T) {
	for i, c := range []struct {
		box   gridtest.Box
		lanes int
	}{
		{gridtest.Torus(7), 2}, {gridtest.Torus(8, 3), 2}, {gridtest.Torus(7, 4), 2}, {gridtest.Torus(8, 7), 3}, {gridtest.Torus(7, 5, 4), 3},
		{gridtest.Box{Size: []int{8, 5, 3}, Ring: []bool{true, false, true}, Hosts: 2, Cables: 2}, 2},
		{gridtest.Box{Size: []int{9, 6}, Ring: []bool{true, true}, Hosts: 1, Every: 2}, 3},
	} {
		t.Run(c.box.String(), func(t *testing.T) {
			f, err := c.box.Build(uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			for _, scope := range []routing.Scope{routing.HCA, routing.All} {
				b := routing.Budget{VLs: 4, Scope: scope, Contract: routing.Any}
				tables, v := route(t, f, weave.Any{Paths: []routing.PathFinder{balance.Finder{Seed: 1}}}, routing.Any, b)
				if tables.Lanes.Needed != c.lanes || v.SLs != 1 {
					t.Errorf("scope %s: %d lanes needed, want %d; %d service levels", scope, tables.Lanes.Needed, c.lanes, v.SLs)
				}
			}
			// With fewer lanes than that it goes on with what suits them.
			few := routing.Budget{VLs: 1, Contract: routing.Any}
			tables, err := weave.Any{Paths: []routing.PathFinder{balance.Finder{Seed: 1}}}.Route(context.Background(), f, few, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := verify(f, tables, routing.Any, few); err != nil {
				t.Error(err)
			}
		})
	}
}
