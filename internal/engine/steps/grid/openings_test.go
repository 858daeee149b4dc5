package grid_test

import (
	"testing"

	"github.com/weft-fabric/weft/internal/engine/steps/grid"
	"github.com/weft-fabric/weft/internal/engine/steps/grid/gridtest"
)

// On open rings every point comes to every other, straight on at most once where its ring is open, by ways no
// longer than round the ring, and most by shortest ones.
func TestOpenRings(t *testing.T) {
	for i, b := range []gridtest.Box{gridtest.Torus(5), gridtest.Torus(6), gridtest.Torus(7), gridtest.Torus(8), gridtest.Torus(16), gridtest.Torus(7, 4), gridtest.Torus(9, 5, 3)} {
		t.Run(b.String(), func(t *testing.T) {
			g := found(t, build(t, b, uint64(i)))
			o := g.OpenWays()
			longer, pairs := 0, 0
			for from := range g.Switch {
				for to := range g.Switch {
					if from == to {
						continue
					}
					pairs++
					last, straight, hops, least := grid.NoDir, 0, 0, 0
					for d := range g.Dims {
						if c := g.Coordinate(to, d); c != g.Coordinate(from, d) {
							_, n := g.Shorter(d, g.Coordinate(from, d), c)
							least += n
						}
					}
					for p := from; p != to; hops++ {
						if hops > b.Points() {
							t.Fatalf("no way from %s to %s", g.PointName(from), g.PointName(to))
						}
						r := o.Next(p, to)
						if last != grid.NoDir && r.Dim() < last.Dim() {
							t.Fatalf("from %s to %s: back to dimension %d", g.PointName(from), g.PointName(to), r.Dim())
						}
						if r != last {
							straight = 0
						} else if straight++; straight > 1 && g.Open(p, r) {
							t.Fatalf("from %s to %s: three channels in a row where the ring is open", g.PointName(from), g.PointName(to))
						}
						last, p = r, g.Next(p, r)
					}
					if hops > least {
						longer++
					}
				}
			}
			if longer*4 > pairs {
				t.Errorf("%d of %d ways are longer than needed", longer, pairs)
			}
			open := 0
			for p := range g.Switch {
				for r := range grid.Dir(2 * len(g.Dims)) {
					if g.Open(p, r) {
						open++
					}
				}
			}
			want := 0
			for _, dim := range g.Dims {
				if dim.Dateline() {
					want += 2 * b.Points() / dim.Size
				}
			}
			if open != want {
				t.Errorf("%d openings, want one in each direction of each ring: %d", open, want)
			}
		})
	}
}
