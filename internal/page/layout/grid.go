package layout

import (
	"math"

	"github.com/weft-fabric/weft/internal/engine/coordinates"
)

// bow is by how much of its length a ring is bent, so that the cable that closes it does
// not run under the others.
const bow = 0.07

// byGrid places a mesh or torus by its coordinates. It returns what it found, in words; empty: it is
// none, and nothing was placed. The other kinds likewise.
//
// The first dimension goes right, the second down, the third aslant within the space
// that is left between two points; further ones alike in ever smaller cells. A single
// ring is a circle.
func (g *graph) byGrid() string {
	grid := coordinates.Of(g.f, g.part)
	if grid == nil {
		return ""
	}
	if len(grid.Sizes) == 1 && grid.Rings[0] {
		g.circle(grid)
		return grid.Name
	}
	step := make([][2]float64, len(grid.Sizes)) // [dimension] from a point to the next
	unit := 1.0
	for d := len(grid.Sizes) - 1; d >= 0; {
		switch {
		case d%2 == 0 && d > 0: // the last of an odd number of dimensions
			step[d] = [2]float64{unit, 0.55 * unit}
			unit *= float64(grid.Sizes[d]) + 0.6
			d--
		case d == 0:
			step[d] = [2]float64{unit, 0}
			d--
		default:
			step[d-1], step[d] = [2]float64{unit, 0}, [2]float64{0, unit}
			unit *= float64(max(grid.Sizes[d-1], grid.Sizes[d])) + 0.8
			d -= 2
		}
	}
	for m := range g.part {
		for d, c := range grid.At[m] {
			x, y := float64(step[d][0]*float64(c)), float64(step[d][1]*float64(c))
			if n := grid.Sizes[d]; grid.Rings[d] && n > 2 {
				t := float64(c) / float64(n-1)
				bend := float64(bow*float64(n-1)) * float64(4*t*(1-t))
				x, y = x+float64(bend*step[d][1]), y-float64(bend*step[d][0])
			}
			g.x[m] += x
			g.y[m] += y
		}
	}
	return grid.Name
}

// circle places a single ring.
func (g *graph) circle(grid *coordinates.Grid) {
	r := float64(grid.Sizes[0]) / (2 * math.Pi)
	for m := range g.part {
		a := 2*math.Pi*float64(grid.At[m][0])/float64(grid.Sizes[0]) - math.Pi/2
		g.x[m], g.y[m] = float64(r*math.Cos(a)), float64(r*math.Sin(a))
	}
}
