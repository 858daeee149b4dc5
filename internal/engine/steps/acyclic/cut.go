package acyclic

import (
	"github.com/weft-fabric/weft/fabric"
)

// Dependency is an edge of a graph over lanes.
type Dependency struct{ In, Out fabric.ChannelID }

// Cut finds dependencies without which nothing leads from one vertex to another, so that the
// dependency the other way round would close no cycle: those of the least total weight. It takes
// nothing out of the graph. A negative weight says that a dependency has to stay. ok is false if
// every cut weighs more than most.
//
// It is a least cut by maximum flow (E. A. Dinic: Algorithm for Solution of a Problem of
// Maximum Flow in a Network with Power Estimation, Soviet Math. Doklady 11, 1970) over
// the part of the graph between the two in the topological order.
func (g *Lanes) Cut(from, to fabric.ChannelID, most int, weight func(Dependency) int) (cut []Dependency, total int, ok bool) {
	n := g.between(from, to, most, weight)
	for n.rank() {
		for n.flow <= most {
			sent := n.send(0, most+1)
			if sent == 0 {
				break
			}
			n.flow += sent
		}
		if n.flow > most {
			return nil, n.flow, false
		}
	}
	for i := 0; i < len(n.edges); i += 2 {
		if a, b := n.edges[i^1].to, n.edges[i].to; n.level[a] != 0 && n.level[b] == 0 {
			cut = append(cut, Dependency{n.vertex[a], n.vertex[b]})
		}
	}
	return cut, n.flow, true
}

// residual is the part of a graph between two vertices, numbered from 0, the first of
// them.
type residual struct {
	vertex []fabric.ChannelID
	target int32 // the second; -1: no dependency leads there
	edges  []edge
	first  []int32 // [vertex] into edges, -1: none
	level  []int32 // [vertex] hops from the first by edges with room, plus one; 0: none lead there
	at     []int32 // [vertex] the edge to try next
	queue  []int32
	flow   int
}

// edge is a dependency, or at the odd places the way back along the one before.
type edge struct {
	to   int32 // vertex of the residual
	next int32 // the next edge from the same vertex; -1: none
	room int   // for flow
}

// between is the residual of the vertices that can be reached from one vertex and are not behind
// another in the order.
func (g *Lanes) between(from, to fabric.ChannelID, most int, weight func(Dependency) int) *residual {
	n := &residual{target: -1}
	number := map[fabric.ChannelID]int32{}
	add := func(v fabric.ChannelID) int32 {
		i, known := number[v]
		if !known {
			i = int32(len(n.vertex))
			number[v] = i
			n.vertex, n.first = append(n.vertex, v), append(n.first, -1)
			if v == to {
				n.target = i
			}
		}
		return i
	}
	add(from)
	for i := int32(0); int(i) < len(n.vertex); i++ {
		v := n.vertex[i]
		if v == to {
			continue
		}
		g.successors(v, func(u fabric.ChannelID) {
			if g.label[u] > g.label[to] {
				return
			}
			room := weight(Dependency{v, u})
			if room < 0 {
				room = most + 1
			}
			j := add(u)
			n.edges = append(n.edges, edge{to: j, next: n.first[i], room: room}, edge{to: i, next: n.first[j]})
			n.first[i], n.first[j] = int32(len(n.edges)-2), int32(len(n.edges)-1)
		})
	}
	n.level, n.at = make([]int32, len(n.vertex)), make([]int32, len(n.vertex))
	return n
}

// rank finds the levels, makes at the first edges again, and reports whether there is room on some way
// to the target.
func (n *residual) rank() bool {
	clear(n.level)
	copy(n.at, n.first)
	n.level[0] = 1
	n.queue = append(n.queue[:0], 0)
	for i := 0; i < len(n.queue); i++ {
		v := n.queue[i]
		for e := n.first[v]; e >= 0; e = n.edges[e].next {
			if u := n.edges[e].to; n.edges[e].room > 0 && n.level[u] == 0 {
				n.level[u] = n.level[v] + 1
				n.queue = append(n.queue, u)
			}
		}
	}
	return n.target >= 0 && n.level[n.target] != 0
}

// send sends as much as one way from a vertex to the target has room for, at most so
// much, and returns how much that is; 0: there is no way left.
func (n *residual) send(v int32, most int) int {
	if v == n.target {
		return most
	}
	for ; n.at[v] >= 0; n.at[v] = n.edges[n.at[v]].next {
		e := n.at[v]
		u := n.edges[e].to
		if n.edges[e].room == 0 || n.level[u] != n.level[v]+1 {
			continue
		}
		if sent := n.send(u, min(most, n.edges[e].room)); sent > 0 {
			n.edges[e].room -= sent
			n.edges[e^1].room += sent
			return sent
		}
	}
	return 0
}
