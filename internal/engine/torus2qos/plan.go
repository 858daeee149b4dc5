package torus2qos

import (
	"context"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/grid"
	"github.com/weft-fabric/weft/routing"
)

// plan is how one part of a fabric, a grid, is routed.
type plan struct {
	f         *fabric.Fabric
	g         *grid.Grid
	datelines []int     // dimensions with a dateline, ascending; the index is the bit of the service level
	crosses   [][]uint8 // [bit][from coordinate × size + to coordinate] 1<<bit where the way crosses the dateline, else 0
	detour    *detour   // nil: no switch is missing
}

// newPlan checks the rules of a grid, and plans its routes.
func newPlan(f *fabric.Fabric, g *grid.Grid) (*plan, error) {
	for _, rule := range rules {
		if err := rule.check(f, g); err != nil {
			return nil, err
		}
	}
	pl := &plan{f: f, g: g, datelines: datelines(g)}
	pl.detour, _ = newDetour(f, g) // checked by the rules
	for bit, d := range pl.datelines {
		pl.crosses = append(pl.crosses, crossings(g, d, 1<<bit))
	}
	return pl, nil
}

// datelines is the dimensions that need one.
func datelines(g *grid.Grid) []int {
	var dims []int
	for d, dim := range g.Dims {
		if dim.Dateline() {
			dims = append(dims, d)
		}
	}
	return dims
}

// crossings is mark for the ways along dimension d, in an undamaged ring, that step
// between the last and the first coordinate, [from coordinate × size + to coordinate]; 0 for others.
func crossings(g *grid.Grid, d int, mark uint8) []uint8 {
	k := g.Dims[d].Size
	crosses := make([]uint8, k*k)
	for c := range k {
		for t := range k {
			if c == t {
				continue
			}
			if r, _ := g.Shorter(d, c, t); (r == grid.Up(d)) == (t < c) {
				crosses[c*k+t] = mark
			}
		}
	}
	return crosses
}

// setLanes writes the SL2VL maps of the plan's switches into m: the lane at an out-port is the bit, in
// the service level, of the dimension that it points along. All other ports keep lane 0.
func (pl *plan) setLanes(f *fabric.Fabric, m *routing.SL2VL) {
	for p, s := range pl.g.Switch {
		if s == fabric.None {
			continue
		}
		for bit, d := range pl.datelines {
			for _, r := range [2]grid.Dir{grid.Up(d), grid.Down(d)} {
				for _, c := range pl.g.Links(p, r) {
					out := f.Channel(c).FromPort
					for in := range f.Node(s).Ports + 1 {
						for sl := range uint8(routing.SLs) {
							m.Set(s, uint8(in), out, sl, sl>>bit&1)
						}
					}
				}
			}
		}
	}
}

// route writes the forwarding and the service levels into t, and calls done after each destination switch.
func (pl *plan) route(ctx context.Context, t *routing.Tables, done func()) error {
	levels := make([]uint8, pl.f.Switches())
	return pl.g.Route(ctx, pl.f, t.Forwarding, pl.next, func(dest int, lids []fabric.LID) {
		if len(pl.datelines) > 0 {
			pl.grant(dest, levels)
			for _, lid := range lids {
				copy(t.Lanes.SLRow(lid), levels)
			}
		}
		done()
	})
}

// grant sets levels, [switch], to the service level from every switch to a point.
func (pl *plan) grant(dest int, levels []uint8) {
	for p, s := range pl.g.Switch {
		if s == fabric.None {
			continue
		}
		sl := uint8(0)
		for bit, d := range pl.datelines {
			sl |= pl.crosses[bit][pl.g.Coordinate(p, d)*pl.g.Dims[d].Size+pl.g.Coordinate(dest, d)]
		}
		levels[s] = sl
	}
}

// next is the direction from a point towards another; there is one, unless one
// of them is the missing switch.
func (pl *plan) next(from, to int) grid.Dir {
	d, c := pl.g.InOrder(from, to)
	switch {
	case d < 0:
		return grid.NoDir
	case pl.detour != nil && pl.g.With(from, d, c) == pl.detour.hole:
		return pl.detour.next(from, to, d)
	}
	return pl.g.Toward(from, d, c)
}
