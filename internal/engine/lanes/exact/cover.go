package exact

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// cover is layers without cycles, with some or all core paths in them.
type cover struct {
	c      *core
	layer  []int32 // [core path] none: in none
	layers []*layer
}

// layer is a graph without a cycle.
type layer struct {
	c     *core
	paths []int32 // [edge] paths over it
	graph *acyclic.AnyGraph
}

func newCover(c *core, layers int) *cover {
	v := &cover{c: c, layer: slices.Repeat([]int32{none}, len(c.paths))}
	for range layers {
		v.add()
	}
	return v
}

func (v *cover) count() int { return len(v.layers) }

func (v *cover) add() {
	v.layers = append(v.layers, &layer{c: v.c, paths: make([]int32, len(v.c.edges)), graph: acyclic.NewAnyGraph(v.c.in.Vertices)})
}

// put puts a path into a layer unless that closes a cycle, and reports whether it did.
func (v *cover) put(p int32, l int) bool {
	if v.layers[l].insert(v.c.paths[p]) < 0 {
		v.layer[p] = int32(l)
		return true
	}
	return false
}

// putAnywhere puts a path into the first layer that takes it, and reports whether there is one.
func (v *cover) putAnywhere(p int32) bool {
	for l := range v.layers {
		if v.put(p, l) {
			return true
		}
	}
	return false
}

// firstFit puts path after path into the first layer that takes it, a new one if
// there is none. nil: some bundle closes a cycle by itself.
func (c *core) firstFit() *cover {
	v := newCover(c, 0)
	for p := range int32(len(c.paths)) {
		if !v.putAnywhere(p) {
			v.add()
			if !v.put(p, v.count()-1) {
				return nil
			}
		}
	}
	return v
}

// insert adds the edges of a path, all or none. It returns the first that closes
// a cycle, by its place in the path; none: all are in.
func (l *layer) insert(edges []int32) int {
	for i, e := range edges {
		if l.paths[e] == 0 && !l.graph.Add(l.c.edges[e].from, l.c.edges[e].to) {
			for _, d := range edges[:i] {
				if l.paths[d]--; l.paths[d] == 0 {
					l.graph.Remove(l.c.edges[d].from, l.c.edges[d].to)
				}
			}
			return i
		}
		l.paths[e]++
	}
	return none
}

// cycle is a shortest cycle through one edge of a path, as edges, in the layer with that path added,
// which it closes. The layer stays without the path.
func (l *layer) cycle(edges []int32, through int32) []int32 {
	for _, e := range edges {
		l.paths[e]++
	}
	from, to := l.c.edges[through].from, l.c.edges[through].to
	cameBy := map[fabric.ChannelID]int32{to: through} // [vertex] the edge by which the search came
	queue := []fabric.ChannelID{to}
	for i := 0; i < len(queue); i++ {
		if _, done := cameBy[from]; done {
			break
		}
		for _, e := range l.c.out[queue[i]] {
			v := l.c.edges[e].to
			if _, seen := cameBy[v]; l.paths[e] > 0 && !seen {
				cameBy[v] = e
				queue = append(queue, v)
			}
		}
	}
	for _, e := range edges {
		l.paths[e]--
	}
	cycle := []int32{through}
	for v := from; v != to; v = l.c.edges[cameBy[v]].from {
		cycle = append(cycle, cameBy[v])
	}
	return cycle
}
