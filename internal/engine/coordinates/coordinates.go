// Package coordinates says where the switches of a mesh, torus or hypercube lie in
// their grid, for whoever draws it. The engines that route by coordinates find them in
// the same way (internal/engine/steps/grid).
package coordinates

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/grid"
)

// Grid is the coordinates of a connected part of a fabric.
type Grid struct {
	Name  string  // such as "torus 8x8x8"
	Sizes []int   // [dimension] points along it
	Rings []bool  // [dimension] whether its ends are joined
	At    [][]int // [place in the part][dimension]
}

// Of finds the coordinates of a connected part, given as in fabric.Parts. It returns nil
// if the part is no grid.
func Of(f *fabric.Fabric, part []fabric.NodeID) *Grid {
	found, err := grid.Find(f, part, nil, nil)
	if err != nil {
		return nil
	}
	g := &Grid{Name: found.String()}
	for _, d := range found.Dims {
		g.Sizes, g.Rings = append(g.Sizes, d.Size), append(g.Rings, d.Ring)
	}
	for _, s := range part {
		at := make([]int, len(found.Dims))
		for d := range at {
			at[d] = found.Coordinate(int(found.Point[s]), d)
		}
		g.At = append(g.At, at)
	}
	return g
}
