// Package coloring gives demands in fat trees ways that do not meet, where such ways exist.
//
// What a leaf sends to another goes up to a spine and down again, so that demands between leaves are the edges of a
// bipartite graph, of senders and receivers, and spines are colors: no two demands meet if no two edges of a color have
// an end in common. D. Kőnig (Über Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre, Math. Annalen 77,
// 1916): as many colors as the largest degree suffice. With fewer, an end is split into several, each with no more edges
// than colors, so that no color has more than the rounded-up part of the edges of any end: the least that there can be.
//
// With three levels, leaves choose a plane (the switches above them, one in each pod), and within each plane the pods are
// the ends, and the tops the colors, as in a Clos network of five stages (C. Clos, A study of non-blocking switching networks, BSTJ
// 32, 1953; V. Beneš, 1965: rearrangeable).
//
// Complexity: O(E·V) for E demands of V leaves, since an edge may change the colors of a path through all ends; memory O(V·C + E) for C
// colors.
package coloring

// Edges gives each edge from[i] – to[i] of a bipartite graph, whose ends are numbered from 0 on both sides, a color below
// colors, [edge]: at each end each color has at most its share of the end's edges, rounded up. before has colors, [edge], that
// are kept where that can be; nil, or -1 for an edge: none.
func Edges(from, to []int32, colors int, before []int32) []int32 {
	g := &graph{colors: colors, color: make([]int32, len(from)), ends: [2][]int32{make([]int32, len(from)), make([]int32, len(from))}}
	g.split(0, from, before)
	g.split(1, to, before)
	for i := range g.color {
		g.color[i] = -1
		if before == nil || before[i] < 0 || int(before[i]) >= colors {
			continue
		}
		if c := before[i]; g.at(0, int32(i), c) < 0 && g.at(1, int32(i), c) < 0 {
			g.set(int32(i), c)
		}
	}
	for i := range g.color {
		if g.color[i] < 0 {
			g.add(int32(i))
		}
	}
	return g.color
}

// graph is edges of which some are colored, so that at each end, once split, each color has one edge at most.
type graph struct {
	colors int
	ends   [2][]int32 // [side][edge] its end, split
	has    [2][]int32 // [side][end × colors + color] the edge plus one; 0: none
	color  []int32    // [edge]; -1: none yet
}

// split sets ends and has of a side: it numbers ends anew, from those of each edge as given, [edge], and splits those with more
// edges than colors. Edges with one color before go to different ends where that can be.
func (g *graph) split(side int, given, before []int32) {
	parts := map[int32][]int32{} // [end as given] the ends that it was split into
	count := []int{}             // [end] its edges
	degree := map[int32]int{}
	for _, v := range given {
		degree[v]++
	}
	used := map[[2]int32]bool{} // [end, color] before
	for i, v := range given {
		if parts[v] == nil {
			for range (degree[v] + g.colors - 1) / g.colors {
				parts[v] = append(parts[v], int32(len(count)))
				count = append(count, 0)
			}
		}
		best := int32(-1)
		for _, part := range parts[v] {
			switch {
			case count[part] == g.colors:
			case best < 0, before != nil && before[i] >= 0 && used[[2]int32{best, before[i]}] && !used[[2]int32{part, before[i]}]:
				best = part
			}
		}
		if before != nil && before[i] >= 0 {
			used[[2]int32{best, before[i]}] = true
		}
		count[best]++
		g.ends[side][i] = best
	}
	g.has[side] = make([]int32, len(count)*g.colors)
}

// at is the edge of a color at the end of an edge on a side; -1: none.
func (g *graph) at(side int, edge, color int32) int32 {
	return g.has[side][int(g.ends[side][edge])*g.colors+int(color)] - 1
}

// set gives an edge a color.
func (g *graph) set(edge, color int32) {
	g.color[edge] = color
	for side := range 2 {
		g.has[side][int(g.ends[side][edge])*g.colors+int(color)] = edge + 1
	}
}

// clear frees the color of an edge at its ends, for set to give it another.
func (g *graph) clear(edge int32) {
	for side := range 2 {
		g.has[side][int(g.ends[side][edge])*g.colors+int(g.color[edge])] = 0
	}
}

// add colors one more edge: in a color that is free at both ends; else in one that is free at its first end, after it has
// exchanged that color and one that is free at the second end along the path of these two colors from there. That path cannot
// come back to the first end, since it would come there by the color that is free.
func (g *graph) add(edge int32) {
	first, second := int32(-1), int32(-1)
	for c := range int32(g.colors) {
		here, there := g.at(0, edge, c) < 0, g.at(1, edge, c) < 0
		if here && there {
			g.set(edge, c)
			return
		}
		if here && first < 0 {
			first = c
		}
		if there && second < 0 {
			second = c
		}
	}
	var path []int32
	for e, side, c := g.at(1, edge, first), 0, second; e >= 0; side = 1 - side {
		path = append(path, e)
		e = g.at(side, e, c)
		c = first + second - c
	}
	for _, e := range path {
		g.clear(e)
	}
	for _, e := range path {
		g.set(e, first+second-g.color[e])
	}
	g.set(edge, first)
}
