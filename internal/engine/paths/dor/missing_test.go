package dor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/paths/dor"
	"github.com/weft-fabric/weft/internal/engine/steps/grid"
	"github.com/weft-fabric/weft/internal/engine/steps/grid/gridtest"
	"github.com/weft-fabric/weft/routing"
)

// A grid with points missing is refused at the first neighbour, by direction, of the
// first missing point that has one: whatever lies at the edge, at point 0, or in the
// middle of a larger hole.
func TestRefusalNamesTheFirstNeighbour(t *testing.T) {
	missing := 0
	for _, c := range []struct {
		box  gridtest.Box
		gone [][]int // points, in the generator's numbers
	}{
		{gridtest.Mesh(5, 5), [][]int{{1}, {5}, {6}, {12}, {0, 1, 5}, {19, 23, 24}, {0, 1}, {3, 4, 9}, {6, 7, 11}}},
		{gridtest.Mesh(4, 3), [][]int{{1}, {4}, {10}}},
		{gridtest.Torus(5, 5), [][]int{{0}, {1}, {5}, {24}}},
		{gridtest.Mesh(3, 3, 3), [][]int{{1}, {3}, {9}, {0, 1, 3, 9}, {26, 25, 23, 17}}},
	} {
		for seed := range uint64(4) {
			f := build(t, c.box, seed)
			for _, points := range c.gone {
				var nodes []fabric.NodeID
				for _, p := range points {
					for s := range fabric.NodeID(f.Switches()) {
						if f.Node(s).Name == gridtest.Name(p) {
							nodes = append(nodes, s)
						}
					}
				}
				g, err := f.Without(nil, nodes)
				if err != nil {
					t.Fatal(err)
				}
				want := firstNeighbour(g)
				if want == fabric.None {
					continue // no grid is recognised, or one without the missing points
				}
				missing++
				_, err = dor.Finder{}.Paths(context.Background(), g, nil)
				var no *routing.Refusal
				if !errors.As(err, &no) || no.Node != want {
					t.Errorf("%s without points %v: %v; the first neighbour is %s", c.box, points, err, g.Label(want))
				}
			}
		}
	}
	if missing < 40 {
		t.Errorf("only %d networks are grids with points missing", missing)
	}
}

// firstNeighbour is the switch beside the first missing point that is beside one.
func firstNeighbour(f *fabric.Fabric) fabric.NodeID {
	grids, err := grid.FindAll(f, nil, nil)
	if err != nil {
		return fabric.None
	}
	for _, g := range grids {
		for _, hole := range g.Holes() {
			for d := range g.Dims {
				for _, r := range []grid.Dir{grid.Up(d), grid.Down(d)} {
					if p := g.Next(hole, r); p != -1 && g.Switch[p] != fabric.None {
						return g.Switch[p]
					}
				}
			}
		}
	}
	return fabric.None
}
