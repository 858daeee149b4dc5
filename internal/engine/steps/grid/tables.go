package grid

import (
	"context"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/dag"
	"github.com/weft-fabric/weft/routing"
)

// Route writes the rows of every LID on the switches of the grid, by the direction that next says from
// a point towards another. After each destination point it calls done, with the LIDs there, which are
// valid until done returns.
func (g *Grid) Route(ctx context.Context, f *fabric.Fabric, t *routing.Forwarding, next func(from, to int) Dir, done func(dest int, lids []fabric.LID)) error {
	w := newWriter(f, g)
	dirs := make([]Dir, len(g.Switch))
	for dest, s := range g.Switch {
		if s == fabric.None {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for point := range dirs {
			dirs[point] = next(point, dest)
		}
		w.write(t, dest, dirs)
		done(dest, w.lids)
	}
	return nil
}

// writer writes directions into forwarding tables.
type writer struct {
	f     *fabric.Fabric
	g     *Grid
	port  []uint8      // [point × directions + direction] of the first cable
	count []uint32     // [trunk] destinations sent by it; nil where no cables are parallel
	first []uint8      // scratch: [switch] the row of the first LID
	lids  []fabric.LID // those on the switch written last, its own first
}

func newWriter(f *fabric.Fabric, g *Grid) *writer {
	dirs := 2 * len(g.Dims)
	w := &writer{f: f, g: g, port: make([]uint8, len(g.Switch)*dirs), first: slices.Repeat([]uint8{routing.NoPort}, f.Switches())}
	for p := range g.Switch {
		for r := range dirs {
			switch links := g.Links(p, Dir(r)); {
			case len(links) == 0:
				w.port[p*dirs+r] = routing.NoPort
				continue
			case len(links) > 1 && w.count == nil:
				w.count = make([]uint32, f.Trunks())
				fallthrough
			default:
				w.port[p*dirs+r] = f.Channel(links[0]).FromPort
			}
		}
	}
	return w
}

// write writes the rows of every LID on the switch at point dest by the directions in dirs,
// [point], and sets lids to these LIDs. Of parallel cables it takes the one that a switch sends the
// fewest destinations by so far; LIDs of switches do not count.
func (w *writer) write(t *routing.Forwarding, dest int, dirs []Dir) {
	directions := 2 * len(w.g.Dims)
	for p, s := range w.g.Switch {
		if s != fabric.None && p != dest {
			w.first[s] = w.port[p*directions+int(dirs[p])]
		}
	}
	w.lids = dag.LIDsOn(w.f, w.g.Switch[dest], w.lids[:0])
	for _, lid := range w.lids {
		row := t.Row(lid)
		copy(row, w.first)
		e := w.f.Endpoint(w.f.Owner(lid))
		row[w.g.Switch[dest]] = w.f.LastPort(e)
		if w.count != nil {
			w.balance(row, dest, dirs, e.Class)
		}
	}
}

// balance writes a row for write anew, choosing among parallel cables, and counts it.
func (w *writer) balance(row []uint8, dest int, dirs []Dir, class fabric.Class) {
	for p, s := range w.g.Switch {
		if s == fabric.None || p == dest {
			continue
		}
		best := dag.LeastUsed(w.g.Links(p, dirs[p]), w.count, 0)
		if class != fabric.SwitchPort {
			w.count[best]++
		}
		row[s] = w.f.Channel(best).FromPort
	}
}
