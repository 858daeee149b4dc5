package grid

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/internal/dag"
)

// Writer writes directions into forwarding tables.
type Writer struct {
	f     *fabric.Fabric
	g     *Grid
	port  []uint8  // [point × directions + direction] of the first cable
	count []uint32 // [trunk] destinations sent by it; nil where no cables are parallel
	first []uint8  // scratch: [switch] the row of the first LID
	lids  []fabric.LID
}

// NewWriter is a Writer for a grid of f.
func NewWriter(f *fabric.Fabric, g *Grid) *Writer {
	dirs := 2 * len(g.Dims)
	w := &Writer{f: f, g: g, port: make([]uint8, len(g.Switch)*dirs), first: make([]uint8, f.Switches())}
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
	for s := range w.first {
		w.first[s] = routing.NoPort
	}
	return w
}

// LIDs is the LIDs on the switch at a point, its own first; valid until the next call.
func (w *Writer) LIDs(point int) []fabric.LID {
	w.lids = dag.LIDsOn(w.f, w.g.Switch[point], w.lids[:0])
	return w.lids
}

// Write sends every LID on the switch at point dest the way that dirs says,
// [point]. Of parallel cables it takes the one that a switch sends the fewest
// destinations by so far; LIDs of switches do not count.
func (w *Writer) Write(t *routing.Forwarding, dest int, dirs []Dir) {
	all := 2 * len(w.g.Dims)
	for p, s := range w.g.Switch {
		if s != fabric.None && p != dest {
			w.first[s] = w.port[p*all+int(dirs[p])]
		}
	}
	for _, lid := range w.LIDs(dest) {
		row := t.Row(lid)
		copy(row, w.first)
		e := w.f.Endpoint(w.f.Owner(lid))
		row[w.g.Switch[dest]] = w.f.LastPort(e)
		if w.count != nil {
			w.balance(row, dest, dirs, e.Class)
		}
	}
}

// balance chooses among parallel cables.
func (w *Writer) balance(row []uint8, dest int, dirs []Dir, class fabric.Class) {
	for p, s := range w.g.Switch {
		if s == fabric.None || p == dest {
			continue
		}
		links := w.g.Links(p, dirs[p])
		best := links[0]
		for _, c := range links[1:] {
			if w.count[c] < w.count[best] {
				best = c
			}
		}
		if class != fabric.SwitchPort {
			w.count[best]++
		}
		row[s] = w.f.Channel(best).FromPort
	}
}
