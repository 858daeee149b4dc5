package exact

import (
	"cmp"
	"slices"
)

// cover is layers without cycles, with some or all paths in them.
type cover struct {
	c      *core
	layer  []int32 // [core path] none: in none
	layers []*layer
}

// layer is a graph without a cycle, in which every vertex has its place in a
// topological order that is kept while edges are added (D. J. Pearce, P. H. J.
// Kelly: A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs, ACM
// JEA 11, 2006).
type layer struct {
	c     *core
	paths []int32 // [edge] paths over it
	place []int32 // [vertex]
	in    [][]int32

	mark          []bool // [vertex] scratch
	ahead, behind []int32
	places        []int32
}

func newCover(c *core, layers int) *cover {
	v := &cover{c: c, layer: make([]int32, len(c.paths))}
	for p := range v.layer {
		v.layer[p] = none
	}
	for range layers {
		v.add()
	}
	return v
}

func (v *cover) count() int { return len(v.layers) }

// add adds an empty layer.
func (v *cover) add() {
	n := v.c.in.Vertices
	l := &layer{c: v.c, paths: make([]int32, len(v.c.edges)), place: make([]int32, n), in: make([][]int32, n), mark: make([]bool, n)}
	for u := range l.place {
		l.place[u] = int32(u)
	}
	v.layers = append(v.layers, l)
}

// put puts a path into a layer unless that closes a cycle.
func (v *cover) put(p int32, l int) bool {
	if v.layers[l].insert(v.c.paths[p]) < 0 {
		v.layer[p] = int32(l)
		return true
	}
	return false
}

// putAnywhere puts a path into the first layer that takes it.
func (v *cover) putAnywhere(p int32) bool {
	for l := range v.layers {
		if v.put(p, l) {
			return true
		}
	}
	return false
}

// firstFit puts path after path into the first layer that takes it, a new one if
// there is none. nil: one fits into no layer.
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
		if l.paths[e] == 0 && !l.link(e) {
			for _, d := range edges[:i] {
				l.remove(d)
			}
			return i
		}
		l.paths[e]++
	}
	return none
}

func (l *layer) remove(e int32) {
	if l.paths[e]--; l.paths[e] == 0 {
		to := l.c.edges[e].to
		i := slices.Index(l.in[to], e)
		l.in[to] = slices.Delete(l.in[to], i, i+1)
	}
}

// link makes the order agree with a new edge. It fails where that closes a cycle.
func (l *layer) link(e int32) bool {
	from, to := l.c.edges[e].from, l.c.edges[e].to
	if l.place[from] > l.place[to] && !l.reorder(from, to) {
		return false
	}
	l.in[to] = append(l.in[to], e)
	return true
}

// reorder makes room for an edge whose from stands behind its to: what leads to
// from moves before what to leads to, in the places that both have now. It fails
// where to leads to from.
func (l *layer) reorder(from, to int32) bool {
	l.ahead = append(l.ahead[:0], to)
	l.mark[to] = true
	acyclic := true
	for i := 0; i < len(l.ahead); i++ {
		for _, e := range l.c.out[l.ahead[i]] {
			v := l.c.edges[e].to
			if l.paths[e] == 0 || l.mark[v] || l.place[v] > l.place[from] {
				continue
			}
			acyclic = acyclic && v != from
			l.mark[v] = true
			l.ahead = append(l.ahead, v)
		}
	}
	l.behind = l.behind[:0]
	if acyclic {
		l.behind = append(l.behind, from)
		l.mark[from] = true
		for i := 0; i < len(l.behind); i++ {
			for _, e := range l.in[l.behind[i]] {
				if v := l.c.edges[e].from; !l.mark[v] && l.place[v] >= l.place[to] {
					l.mark[v] = true
					l.behind = append(l.behind, v)
				}
			}
		}
		l.swap()
	}
	for _, v := range l.ahead {
		l.mark[v] = false
	}
	for _, v := range l.behind {
		l.mark[v] = false
	}
	return acyclic
}

// swap gives the places of what is ahead and behind to what is behind first.
func (l *layer) swap() {
	byPlace := func(a, b int32) int { return cmp.Compare(l.place[a], l.place[b]) }
	slices.SortFunc(l.ahead, byPlace)
	slices.SortFunc(l.behind, byPlace)
	l.places = l.places[:0]
	for _, v := range l.behind {
		l.places = append(l.places, l.place[v])
	}
	for _, v := range l.ahead {
		l.places = append(l.places, l.place[v])
	}
	slices.Sort(l.places)
	for i, v := range l.behind {
		l.place[v] = l.places[i]
	}
	for i, v := range l.ahead {
		l.place[v] = l.places[len(l.behind)+i]
	}
}

// cycle is a shortest cycle through one edge of a path in the layer with that
// path added.
func (l *layer) cycle(edges []int32, through int32) []int32 {
	for _, e := range edges {
		l.paths[e]++
	}
	from, to := l.c.edges[through].from, l.c.edges[through].to
	by := map[int32]int32{to: through} // [vertex] the edge by which the search came
	queue := []int32{to}
	for i := 0; i < len(queue); i++ {
		if _, done := by[from]; done {
			break
		}
		for _, e := range l.c.out[queue[i]] {
			v := l.c.edges[e].to
			if _, seen := by[v]; l.paths[e] > 0 && !seen {
				by[v] = e
				queue = append(queue, v)
			}
		}
	}
	for _, e := range edges {
		l.paths[e]--
	}
	cycle := []int32{through}
	for v := from; v != to; v = l.c.edges[by[v]].from {
		cycle = append(cycle, by[v])
	}
	return cycle
}
