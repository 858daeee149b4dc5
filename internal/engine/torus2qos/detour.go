package torus2qos

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/grid"
	"github.com/weft-fabric/weft/routing"
)

// detour is how paths get round a missing switch at which they would have turned from one dimension
// to another.
type detour struct {
	g    *grid.Grid
	hole int        // the point of the missing switch
	side []grid.Dir // [dimension] the side on which detours along it pass; NoDir: none are needed
}

const ruleDetour = "beside a missing switch the cables of the detour are there, on one side for each dimension"

// newDetour chooses the side on which to pass the missing switch, up before
// down. It is nil where no switch is missing.
func newDetour(f *fabric.Fabric, g *grid.Grid) (*detour, error) {
	holes := g.Holes()
	if len(holes) == 0 {
		return nil, nil
	}
	v := &detour{g: g, hole: holes[0], side: make([]grid.Dir, len(g.Dims))}
	v.side[0] = grid.NoDir
	for j := 1; j < len(g.Dims); j++ {
		up, atUp := v.blocked(grid.Up(j))
		if up == "" {
			v.side[j] = grid.Up(j)
			continue
		}
		down, _ := v.blocked(grid.Down(j))
		if down == "" {
			v.side[j] = grid.Down(j)
			continue
		}
		at := fabric.NodeID(fabric.None)
		if atUp >= 0 {
			at = g.Switch[atUp]
		}
		return nil, routing.Refuse(f, ruleDetour, at, 0, "round the missing switch at %s of a %s: %s, and %s",
			g.PointName(v.hole), g, up, down)
	}
	return v, nil
}

// blocked is why detours cannot pass the hole on a side, "" if they can, and the point where a cable is
// missing, or -1. They need, from each neighbour of the hole along a lower dimension, one hop
// in that direction and one back into the hole's line.
func (v *detour) blocked(side grid.Dir) (why string, at int) {
	g := v.g
	if g.Next(v.hole, side) < 0 {
		return "the grid ends on one side", -1
	}
	for i := range side.Dim() {
		for _, toward := range [2]grid.Dir{grid.Up(i), grid.Down(i)} {
			beside := g.Next(v.hole, toward^1) // the opposite direction
			if beside < 0 {
				continue
			}
			if len(g.Links(beside, side)) == 0 {
				return "the cable from " + g.PointName(beside) + " to " + g.PointName(g.Next(beside, side)) + " is missing", beside
			}
			if past := g.Next(beside, side); len(g.Links(past, toward)) == 0 {
				return "the cable from " + g.PointName(past) + " to " + g.PointName(g.Next(past, toward)) + " is missing", past
			}
		}
	}
	return "", -1
}

// next is the direction from a point that is in line with the hole along
// dimension i and has the hole as its corner: on to the neighbour of the hole,
// and there off along the first dimension in which there is a way to go. The line hangs together
// (grid.RuleJoined), so that its cables go on to the hole's neighbour on either side.
func (v *detour) next(from, to, i int) grid.Dir {
	g := v.g
	r, hops := g.Shorter(i, g.Coordinate(from, i), g.Coordinate(v.hole, i))
	if hops > 1 {
		return r
	}
	for j := i + 1; j < len(g.Dims); j++ {
		if g.Coordinate(to, j) != g.Coordinate(from, j) {
			return v.side[j]
		}
	}
	return grid.NoDir // only to the hole itself, where nobody is
}

func (v *detour) String() string {
	return "paths turn early beside the missing switch at " + v.g.PointName(v.hole)
}
