package exact

import (
	"cmp"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// core is what is hard of an instance: the edges that lie on cycles, and the
// bundles that have such edges, except those whose edges are all in another bundle. A
// path that is free of others is a bundle by itself, and a bundle is a set of edges: a core path.
type core struct {
	in     Instance
	edges  []edge
	out    [][]int32 // [vertex] edges that leave it
	paths  [][]int32 // [core path] its edges
	bundle []int32   // [core path] its bundle in the instance
	home   []int32   // [bundle of the instance] the core path whose layer it shares; none: any layer does
}

type edge struct{ from, to fabric.ChannelID } // vertices; trunks, in a network

const none = -1

// reduce is the core of an instance.
func reduce(in Instance) *core {
	c := &core{in: in, out: make([][]int32, in.Vertices), home: make([]int32, in.bundles())}
	all := c.number()
	c.keepCyclic(all)
	c.keepMaximal(c.bundled(all))
	return c
}

// bundled is the edges of every bundle, [bundle], each once, from those of every path, [path].
func (c *core) bundled(all [][]int32) [][]int32 {
	if c.in.Bundle == nil {
		return all
	}
	bundles := make([][]int32, c.in.bundles())
	for p, edges := range all {
		b := &bundles[c.in.bundle(p)]
		for _, e := range edges {
			if !slices.Contains(*b, e) {
				*b = append(*b, e)
			}
		}
	}
	return bundles
}

// number numbers the edges, in edges and out, and returns those of every path of the instance.
func (c *core) number() [][]int32 {
	all := make([][]int32, len(c.in.Paths))
	for p, path := range c.in.Paths {
		for i := 1; i < len(path); i++ {
			e := edge{fabric.ChannelID(path[i-1]), fabric.ChannelID(path[i])}
			at := slices.IndexFunc(c.out[e.from], func(id int32) bool { return c.edges[id].to == e.to })
			if at < 0 {
				at = len(c.out[e.from])
				c.out[e.from] = append(c.out[e.from], int32(len(c.edges)))
				c.edges = append(c.edges, e)
			}
			all[p] = append(all[p], c.out[e.from][at])
		}
	}
	return all
}

// keepCyclic takes the edges that lie on no cycle, those between different components, out of all
// paths, [path], and out of c.out.
func (c *core) keepCyclic(all [][]int32) {
	component := c.components()
	cyclic := func(id int32) bool {
		e := c.edges[id]
		return component[e.from] == component[e.to]
	}
	not := func(id int32) bool { return !cyclic(id) }
	for p := range all {
		all[p] = slices.DeleteFunc(all[p], not)
	}
	for v := range c.out {
		c.out[v] = slices.DeleteFunc(c.out[v], not)
	}
}

// components is the number of each vertex's strongly connected component (R. Tarjan, 1972), found
// without recursion.
func (c *core) components() []int32 {
	n := c.in.Vertices
	component := make([]int32, n)
	index, low := make([]int32, n), make([]int32, n) // index 0: not seen
	next := make([]int, n)
	var open, path []int32 // seen and without a component; the way of the search
	count, found := int32(0), int32(0)
	for v := range int32(n) {
		if index[v] != 0 {
			continue
		}
		path = append(path[:0], v)
		for len(path) > 0 {
			u := path[len(path)-1]
			if index[u] == 0 {
				count++
				index[u], low[u], component[u] = count, count, none
				open = append(open, u)
			}
			if next[u] < len(c.out[u]) {
				w := int32(c.edges[c.out[u][next[u]]].to)
				next[u]++
				if index[w] == 0 {
					path = append(path, w)
				} else if component[w] == none {
					low[u] = min(low[u], index[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				parent := path[len(path)-1]
				low[parent] = min(low[parent], low[u])
			}
			if low[u] == index[u] {
				at := slices.Index(open, u)
				for _, w := range open[at:] {
					component[w] = found
				}
				open = open[:at]
				found++
			}
		}
	}
	return component
}

// keepMaximal makes core paths of the bundles, given by their edges, [bundle], that are not all in
// another bundle, the first of equals, longest first, and sets the home of every bundle.
func (c *core) keepMaximal(all [][]int32) {
	byLength := make([]int32, 0, len(all))
	for p := range all {
		c.home[p] = none
		if len(all[p]) > 0 {
			byLength = append(byLength, int32(p))
		}
	}
	slices.SortStableFunc(byLength, func(a, b int32) int { return cmp.Compare(len(all[b]), len(all[a])) })
	over := make([][]int32, len(c.edges)) // core paths over every edge
	for _, p := range byLength {
		if c.home[p] = c.pathWith(all[p], over); c.home[p] != none {
			continue
		}
		c.home[p] = int32(len(c.paths))
		for _, e := range all[p] {
			over[e] = append(over[e], c.home[p])
		}
		c.paths, c.bundle = append(c.paths, all[p]), append(c.bundle, p)
	}
}

// pathWith is a core path with all of these edges, or none. over is the core paths so far, [edge].
func (c *core) pathWith(edges []int32, over [][]int32) int32 {
	rarest := slices.MinFunc(edges, func(a, b int32) int { return cmp.Compare(len(over[a]), len(over[b])) })
	for _, q := range over[rarest] {
		if !slices.ContainsFunc(edges, func(e int32) bool { return !slices.Contains(c.paths[q], e) }) {
			return q
		}
	}
	return none
}

// expand is the layer of every path of the instance, [path], by a cover of the core.
func (c *core) expand(in Instance, best *cover) []int {
	layer := make([]int, len(in.Paths))
	for p := range layer {
		if h := c.home[in.bundle(p)]; h != none {
			layer[p] = int(best.layer[h])
		}
	}
	return layer
}

// maxForClique is how many core paths, the longest, a clique is looked for among.
const maxForClique = 2000

// clique is core paths no two of which can share a layer, as many as it happens to
// find: from every path a clique grows by the paths that clash with most others, and the largest of
// these is taken.
func (c *core) clique() []int32 {
	n := min(len(c.paths), maxForClique)
	clash := make([][]bool, n)
	degree := make([]int, n)
	at := make([]int32, c.in.Vertices) // [vertex] its place on the path at hand, from 1; 0: it is not there
	whole := c.whole()
	for p := range clash {
		clash[p] = make([]bool, n)
		for _, path := range whole[c.bundle[p]] {
			for i, v := range path {
				at[v] = int32(i + 1)
			}
			for q := range p {
				if !clash[p][q] && slices.ContainsFunc(whole[c.bundle[q]], func(other []int32) bool { return c.opposed(other, at) }) {
					clash[p][q], clash[q][p] = true, true
					degree[p]++
					degree[q]++
				}
			}
			for _, v := range path {
				at[v] = 0
			}
		}
	}
	var best, candidates []int32
	for seed := range int32(n) {
		if degree[seed] < len(best) {
			continue
		}
		clique := []int32{seed}
		candidates = candidates[:0]
		for q := range int32(n) {
			if clash[seed][q] {
				candidates = append(candidates, q)
			}
		}
		for len(candidates) > 0 {
			p := slices.MaxFunc(candidates, func(a, b int32) int { return cmp.Or(cmp.Compare(degree[a], degree[b]), cmp.Compare(b, a)) })
			clique = append(clique, p)
			candidates = slices.DeleteFunc(candidates, func(q int32) bool { return !clash[p][q] })
		}
		if len(clique) > len(best) {
			best = clique
		}
	}
	return best
}

// whole is the paths of every bundle of the instance, [bundle][path of it], as vertices.
func (c *core) whole() [][][]int32 {
	whole := make([][][]int32, c.in.bundles())
	for p, path := range c.in.Paths {
		whole[c.in.bundle(p)] = append(whole[c.in.bundle(p)], path)
	}
	return whole
}

// opposed reports whether a path passes two vertices in the other order than another path, of which
// at gives the places, [vertex]. Two paths close a cycle if and only if they do: otherwise one order
// of all vertices suits both.
func (c *core) opposed(path, at []int32) bool {
	last := int32(0)
	for _, v := range path {
		if at[v] == 0 {
			continue
		}
		if at[v] < last {
			return true
		}
		last = at[v]
	}
	return false
}
