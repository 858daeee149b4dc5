package waits

import "slices"

// ShortestCycle is a shortest cycle, as vertices, nil if there is none. rank is the result of
// Rank: -1 marks what it could not order. Of several shortest cycles it is one through
// the lowest vertex, always the same. Edges from a vertex to itself are not looked for.
//
// Complexity: one search from both ends for each vertex of the core.
func ShortestCycle(rank []int32, successors Successors) []int32 {
	c := newCore(rank, successors)
	var best []int32
	for v := range int32(len(c.vertex)) {
		if cycle := c.cycleThrough(v, len(best)); cycle != nil {
			best = cycle
		}
		if len(best) == 2 {
			break // none is shorter: the caller has dealt with loops of one edge
		}
	}
	for i, v := range best {
		best[i] = c.vertex[v]
	}
	return best
}

// core is the part of a graph in which every vertex lies on a cycle or on a way from
// one cycle to another, numbered densely.
type core struct {
	vertex      []int32 // [core vertex] its number in the graph
	ahead, back side
}

// side is the edges in one direction and a search along them.
type side struct {
	first []int32 // [core vertex, plus one] into next
	next  []int32
	seen  []int32 // [core vertex] the root of the last search that visited it, plus one: 0 is never
	from  []int32 // [core vertex] its predecessor in that search
	depth []int32 // [core vertex] edges from the root
	queue []int32
	level int // where in queue the deepest level begins
}

// newCore builds the core from the vertices without a rank. Vertices that can be reached
// from a cycle and reach none have no rank either; they are removed here.
func newCore(rank []int32, successors Successors) *core {
	begin := make([]int32, len(rank)+1) // [vertex] where its predecessors among the unranked begin in before
	left := make([]int32, len(rank))    // successors among the unranked
	var after, edges []int32            // edges: from, to
	for v := range int32(len(rank)) {
		if rank[v] >= 0 {
			continue
		}
		after = successors(v, after[:0])
		for _, u := range after {
			if rank[u] < 0 {
				edges = append(edges, v, u)
				begin[u+1]++
				left[v]++
			}
		}
	}
	for v := range rank {
		begin[v+1] += begin[v]
	}
	before, filled := make([]int32, len(edges)/2), slices.Clone(begin)
	for i := 0; i < len(edges); i += 2 {
		u := edges[i+1]
		before[filled[u]] = edges[i]
		filled[u]++
	}
	removed := make([]bool, len(rank))
	var queue []int32
	for v := range int32(len(rank)) {
		if rank[v] < 0 && left[v] == 0 {
			queue = append(queue, v)
		}
	}
	for i := 0; i < len(queue); i++ {
		removed[queue[i]] = true
		for _, v := range before[begin[queue[i]]:begin[queue[i]+1]] {
			if left[v]--; left[v] == 0 {
				queue = append(queue, v)
			}
		}
	}
	c := &core{}
	id := make([]int32, len(rank)) // [vertex] its number in the core; -1: it is not there
	for v := range int32(len(rank)) {
		id[v] = -1
		if rank[v] < 0 && !removed[v] {
			id[v] = int32(len(c.vertex))
			c.vertex = append(c.vertex, v)
		}
	}
	c.ahead = newSide(c.vertex, id, len(before), successors)
	c.back = newSide(c.vertex, id, len(before), func(v int32, list []int32) []int32 { return append(list, before[begin[v]:begin[v+1]]...) })
	return c
}

// newSide is the edges among the vertices of the core, by neighbours: most of them at most. id is the
// number in the core of each vertex of the graph; -1: it is not there.
func newSide(vertices, id []int32, most int, neighbours Successors) side {
	n := len(vertices)
	s := side{first: make([]int32, 1, n+1), next: make([]int32, 0, most), seen: make([]int32, n), from: make([]int32, n), depth: make([]int32, n)}
	var after []int32
	for _, v := range vertices {
		after = neighbours(v, after[:0])
		for _, u := range after {
			if id[u] >= 0 {
				s.next = append(s.next, id[u])
			}
		}
		s.first = append(s.first, int32(len(s.next)))
	}
	return s
}

// begin starts a search at root.
func (s *side) begin(root int32) {
	s.queue = append(s.queue[:0], root)
	s.seen[root], s.depth[root] = root+1, 0
	s.level = 0
}

// deepen searches one level further, only among vertices with higher numbers than the root, and says
// whether it found any.
func (s *side) deepen() bool {
	root := s.queue[0]
	begin, end := s.level, len(s.queue)
	for _, v := range s.queue[begin:end] {
		for _, u := range s.next[s.first[v]:s.first[v+1]] {
			if u > root && s.seen[u] != root+1 {
				s.seen[u], s.from[u], s.depth[u] = root+1, v, s.depth[v]+1
				s.queue = append(s.queue, u)
			}
		}
	}
	s.level = end
	return len(s.queue) > end
}

// cycleThrough is a shortest cycle through root and higher vertices; nil if there is
// none shorter than limit (0: no limit). Cycles through lower vertices were searched
// before. The search goes forwards and backwards, each time on the side with fewer vertices
// in its deepest level, and ends where the two meet: at an edge from a vertex seen forwards
// to a vertex seen backwards.
func (c *core) cycleThrough(root int32, limit int) []int32 {
	c.ahead.begin(root)
	c.back.begin(root)
	for length := 1; limit == 0 || length < limit; length++ {
		// There is no shorter one, so every cycle of this length has an edge between the deepest levels.
		if v, u, ok := c.meet(root); ok {
			return c.trace(root, v, u)
		}
		deeper := &c.ahead
		if len(c.back.queue)-c.back.level < len(c.ahead.queue)-c.ahead.level {
			deeper = &c.back
		}
		if !deeper.deepen() {
			return nil
		}
	}
	return nil
}

// meet finds an edge from the deepest level ahead to the deepest level back.
func (c *core) meet(root int32) (v, u int32, ok bool) {
	deepest := c.back.depth[c.back.queue[c.back.level]]
	for _, v := range c.ahead.queue[c.ahead.level:] {
		for _, u := range c.ahead.next[c.ahead.first[v]:c.ahead.first[v+1]] {
			if c.back.seen[u] == root+1 && c.back.depth[u] == deepest {
				return v, u, true
			}
		}
	}
	return 0, 0, false
}

// trace is the cycle from root ahead to v, over the edge to u, and back to root, as core vertices.
func (c *core) trace(root, v, u int32) []int32 {
	var way []int32
	for ; v != root; v = c.ahead.from[v] {
		way = append(way, v)
	}
	way = append(way, root)
	slices.Reverse(way)
	for ; u != root; u = c.back.from[u] {
		way = append(way, u)
	}
	return way
}
