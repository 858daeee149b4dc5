// Package layout says where to draw the switches of a fabric, by what the fabric is:
//
//   - a tree gets its levels, the hosts at the bottom, and the switches of a pod side by
//     side (levels.go);
//   - groups that are joined all to all, as in a Dragonfly, stand on a ring (groups.go);
//   - a mesh or torus is a grid by its coordinates (grid.go);
//   - whatever else there is gets places whose distances are the hops between the switches,
//     as far as a plane allows (distances.go).
//
// What a fabric is follows from its cables alone, not from names. The same fabric gets the
// same places on every machine: nothing depends on chance, on time or on fused
// multiplication, which some processors have.
package layout

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/inspect"
	"github.com/weft-fabric/weft/internal/words"
)

// Kind is what a fabric is drawn as.
type Kind string

// The kinds.
const (
	Levels    Kind = "levels"
	Groups    Kind = "groups"
	Grid      Kind = "grid"
	Distances Kind = "distances"
	Mixed     Kind = "mixed" // parts of several kinds
)

// Layout is a place for every switch. One unit is about the distance of two neighbours.
type Layout struct {
	Kind   Kind
	Name   string    // what the fabric was found to be, in words
	X, Y   []float64 // [switch] to the right and down
	Level  []int32   // [switch] as in inspect.LevelOf: 0 has hosts
	Group  []int     // [switch] its pod, or group of a Dragonfly; -1: none
	Groups int
}

// Of places the switches of a fabric. Parts of a fabric that no cable joins stand
// side by side, the largest first.
func Of(f *fabric.Fabric) *Layout {
	l := &Layout{
		X: make([]float64, f.Switches()), Y: make([]float64, f.Switches()),
		Level: inspect.LevelOf(f), Group: make([]int, f.Switches()),
	}
	for s := range l.Group {
		l.Group[s] = -1
	}
	parts := f.Parts()
	for i, part := range parts {
		g := newGraph(f, part)
		kind, name := l.part(g)
		switch {
		case i == 0:
			l.Kind, l.Name = kind, name
		case len(part) > 1 && kind != l.Kind:
			l.Kind = Mixed
		}
		g.normalise()
		for m, s := range part {
			l.X[s], l.Y[s] = g.x[m], g.y[m]
		}
	}
	l.shelve(parts)
	for s := range l.X { // places that are no longer than they have to be, in pages and files
		l.X[s], l.Y[s] = round(l.X[s]), round(l.Y[s])
	}
	return l
}

// part places the switches of a part by the first kind that it is.
func (l *Layout) part(g *graph) (Kind, string) {
	if len(g.part) > 2 { // with fewer there is nothing to tell
		if name := g.byLevels(l); name != "" {
			return Levels, name
		}
		if name := g.byGrid(); name != "" {
			return Grid, name
		}
		if name := g.byGroups(l); name != "" {
			return Groups, name
		}
	}
	g.byDistances()
	return Distances, "an irregular network"
}

// round keeps a sixty-fourth of a unit.
func round(v float64) float64 { return math.Round(v*64) / 64 }

// graph is a connected part of a fabric, with neighbours counted once however many
// cables join them.
type graph struct {
	f     *fabric.Fabric
	part  []fabric.NodeID
	next  [][]int32 // [member] its neighbours, ascending
	level []int32   // [member]
	x, y  []float64 // [member]
}

// newGraph is a part of a fabric, with all places 0.
func newGraph(f *fabric.Fabric, part []fabric.NodeID) *graph {
	g := &graph{f: f, part: part, next: make([][]int32, len(part)), x: make([]float64, len(part)), y: make([]float64, len(part))}
	member := make(map[fabric.NodeID]int32, len(part))
	for m, s := range part {
		member[s] = int32(m)
	}
	for m, s := range part {
		first, end := f.TrunksFrom(s)
		for _, v := range f.Heads()[first:end] {
			g.next[m] = append(g.next[m], member[v])
		}
		slices.Sort(g.next[m])
		g.next[m] = slices.Compact(g.next[m])
	}
	return g
}

// pairs counts the pairs of neighbours.
func (g *graph) pairs() int {
	n := 0
	for _, to := range g.next {
		n += len(to)
	}
	return n / 2
}

// byName orders members by the names of their switches, numbers in them by value, and
// those of one name by GUID.
func (g *graph) byName(a, b int32) int {
	p, q := g.f.Node(g.part[a]), g.f.Node(g.part[b])
	return cmp.Or(words.Natural(p.Name, q.Name), cmp.Compare(p.GUID, q.GUID))
}

// normalise moves a part so that its least coordinates are 0.
func (g *graph) normalise() {
	x, y := slices.Min(g.x), slices.Min(g.y)
	for m := range g.x {
		g.x[m] -= x
		g.y[m] -= y
	}
}

// shelve moves the parts side by side, in rows about as wide as they are high.
func (l *Layout) shelve(parts [][]fabric.NodeID) {
	if len(parts) < 2 {
		return
	}
	const gap = 2
	width := func(v []float64, part []fabric.NodeID) float64 {
		most := 0.0
		for _, s := range part {
			most = max(most, v[s])
		}
		return most + gap
	}
	area, widest := 0.0, 0.0
	for _, p := range parts {
		w := width(l.X, p)
		area, widest = area+w*width(l.Y, p), max(widest, w)
	}
	limit := max(widest, math.Sqrt(area)*1.3)
	x, y, high := 0.0, 0.0, 0.0
	for _, p := range parts {
		w, h := width(l.X, p), width(l.Y, p)
		if x > 0 && x+w > limit {
			x, y, high = 0, y+high, 0
		}
		for _, s := range p {
			l.X[s] += x
			l.Y[s] += y
		}
		x, high = x+w, max(high, h)
	}
}
