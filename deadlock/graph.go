package deadlock

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
)

// wordsPerTurn is the size of the bit matrix, lane by lane, of one turn.
func wordsPerTurn(lanes int) int { return (lanes*lanes + 63) / 64 }

func setBit(turn []uint64, lanes int, from, to uint8) {
	i := int(from)*lanes + int(to)
	turn[i/64] |= 1 << (i % 64)
}

// diagonals is the matrices of turns on which every lane waits for itself only.
func diagonals(same []uint16, lanes int) []uint64 {
	words := wordsPerTurn(lanes)
	matrix := make([]uint64, len(same)*words)
	for i, mask := range same {
		for ; mask != 0; mask &= mask - 1 {
			vl := uint8(bits.TrailingZeros16(mask))
			setBit(matrix[i*words:], lanes, vl, vl)
		}
	}
	return matrix
}

// waits is the lanes that a lane waits for in the matrix of one turn, as bits.
func waits(turn []uint64, lane, lanes int) uint64 {
	i := lane * lanes
	row := turn[i/64] >> (i % 64)
	if over := i%64 + lanes - 64; over > 0 {
		row |= turn[i/64+1] << (lanes - over)
	}
	return row & (1<<lanes - 1)
}

// graph is the channel dependency graph. A vertex is a lane of a trunk, numbered
// trunk × lanes + lane; an edge says that a packet on the one may wait for the
// other.
type graph struct {
	f      *fabric.Fabric
	lanes  int
	matrix []uint64 // [turn × words + …] from-lane × lanes + to-lane, as bits
}

// count counts the edges.
func (g *graph) count() int {
	n := 0
	for _, w := range g.matrix {
		n += bits.OnesCount64(w)
	}
	return n
}

// successors calls visit for every vertex that v leads to, ascending by trunk,
// then lane.
func (g *graph) successors(v int32, visit func(int32)) {
	in, lane := fabric.ChannelID(int(v)/g.lanes), int(v)%g.lanes
	words := wordsPerTurn(g.lanes)
	first, end := g.f.TrunksFrom(g.f.Heads()[in])
	turn := g.f.FirstTurn(in)
	for out := first; out < end; out++ {
		m := g.matrix[turn*words:][:words]
		turn++
		for row := waits(m, lane, g.lanes); row != 0; row &= row - 1 {
			visit(int32(int(out)*g.lanes + bits.TrailingZeros64(row)))
		}
	}
}

// rank gives every vertex a number that rises along every edge, the length of
// the longest way to it. Vertices on cycles and behind them get none: -1. It
// says whether all got one.
func (g *graph) rank() (rank []int32, all bool) {
	n := g.f.Trunks() * g.lanes
	waiting := make([]int32, n)
	for v := range int32(n) {
		g.successors(v, func(u int32) { waiting[u]++ })
	}
	rank = make([]int32, n)
	queue := make([]int32, 0, n)
	for v := range int32(n) {
		if waiting[v] == 0 {
			queue = append(queue, v)
		}
	}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		g.successors(v, func(u int32) {
			rank[u] = max(rank[u], rank[v]+1)
			if waiting[u]--; waiting[u] == 0 {
				queue = append(queue, u)
			}
		})
	}
	for v := range rank {
		if waiting[v] > 0 {
			rank[v] = -1
		}
	}
	return rank, len(queue) == n
}

// shortestCycle is a shortest cycle among the vertices that rank could not rank;
// of several, the one through the lowest vertex.
func (g *graph) shortestCycle(rank []int32) []int32 {
	c := g.core(rank)
	var best []int32
	for v := range int32(len(c.first) - 1) {
		if cycle := c.cycleThrough(v, len(best)); cycle != nil {
			best = cycle
		}
		if len(best) == 2 {
			break // two cables in a circle: shorter than that there is none
		}
	}
	for i, v := range best {
		best[i] = c.vertex[v]
	}
	return best
}

// core is the part of a graph in which every vertex lies on a cycle or between
// two, numbered densely.
type core struct {
	vertex []int32 // [core vertex] its number in the graph
	first  []int32 // [core vertex, plus one] into next
	next   []int32 // successors
	seen   []int32 // [core vertex] the search that saw it last, plus one
	parent []int32 // [core vertex]
	queue  []int32
}

// core builds the core from the vertices without a rank: what comes behind a
// cycle has none either and is peeled off here.
func (g *graph) core(rank []int32) *core {
	before := make([][]int32, len(rank)) // predecessors among the unranked
	left := make([]int32, len(rank))     // successors among the unranked
	for v := range int32(len(rank)) {
		if rank[v] >= 0 {
			continue
		}
		g.successors(v, func(u int32) {
			if rank[u] < 0 {
				before[u] = append(before[u], v)
				left[v]++
			}
		})
	}
	gone := make([]bool, len(rank))
	var queue []int32
	for v := range int32(len(rank)) {
		if rank[v] < 0 && left[v] == 0 {
			queue = append(queue, v)
		}
	}
	for i := 0; i < len(queue); i++ {
		gone[queue[i]] = true
		for _, v := range before[queue[i]] {
			if left[v]--; left[v] == 0 {
				queue = append(queue, v)
			}
		}
	}
	c := &core{first: []int32{0}}
	id := make([]int32, len(rank))
	for v := range int32(len(rank)) {
		id[v] = -1
		if rank[v] < 0 && !gone[v] {
			id[v] = int32(len(c.vertex))
			c.vertex = append(c.vertex, v)
		}
	}
	for _, v := range c.vertex {
		g.successors(v, func(u int32) {
			if id[u] >= 0 {
				c.next = append(c.next, id[u])
			}
		})
		c.first = append(c.first, int32(len(c.next)))
	}
	c.seen, c.parent = make([]int32, len(c.vertex)), make([]int32, len(c.vertex))
	return c
}

// cycleThrough is a shortest cycle through root and higher vertices, nil unless
// it is shorter than limit (0: no limit). Lower vertices need no look: their
// cycles are known.
func (c *core) cycleThrough(root int32, limit int) []int32 {
	c.queue = append(c.queue[:0], root)
	c.seen[root] = root + 1
	length, levelEnd := 1, 1 // edges from root to the successors of queue[i]; where that changes
	for i := 0; i < len(c.queue); i++ {
		if i == levelEnd {
			length, levelEnd = length+1, len(c.queue)
		}
		if limit > 0 && length >= limit {
			return nil
		}
		v := c.queue[i]
		for _, u := range c.next[c.first[v]:c.first[v+1]] {
			if u == root {
				return c.trace(v)
			}
			if u > root && c.seen[u] != root+1 {
				c.seen[u], c.parent[u] = root+1, v
				c.queue = append(c.queue, u)
			}
		}
	}
	return nil
}

// trace is the way from the root of the search to v.
func (c *core) trace(v int32) []int32 {
	var way []int32
	for root := c.queue[0]; v != root; v = c.parent[v] {
		way = append(way, v)
	}
	way = append(way, c.queue[0])
	for i, j := 0, len(way)-1; i < j; i, j = i+1, j-1 {
		way[i], way[j] = way[j], way[i]
	}
	return way
}
