package judge

import (
	"math/bits"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
)

// laneReach is the set of lanes of trunks that the packets of a flowSet can hold. It is
// finer than reach, which does not tell trunks apart: it gives the route of a packet,
// and what a packet waits for under wormhole switching. A state is a lane of a trunk
// that a packet holds, numbered as a vertex of the graph; if the trunk ends at the
// destination, the packet has arrived. One state stands for all lanes of a group.
type laneReach struct {
	laneKinds
	flowSet

	states []int32  // [state] its vertex, in breadth-first order
	parent []int32  // [state] the state it was first reached from; -1: the source
	first  []int32  // [state, plus one] into next
	next   []int32  // the states that follow each state
	index  []int32  // [vertex] its state; valid only if met has the current round
	met    []uint32 // [vertex] the last round in which it was met
	round  uint32   // the number of the call of follow

	// Scratch of beyond.
	seen  []uint32 // [state] the last call that came to it
	from  []int32  // [state] the state it came from; -1: it began there
	pass  uint32   // the number of the call
	queue []int32
}

// newLaneReach allocates for the network of t. If apart, lanes are not grouped into
// kinds.
func newLaneReach(t *adaptive.Tables, apart bool) *laneReach {
	n := t.Fabric.Trunks() * len(t.Lanes)
	return &laneReach{
		laneKinds: newLaneKinds(t, apart),
		index:     make([]int32, n), met: make([]uint32, n), seen: make([]uint32, n), from: make([]int32, n),
	}
}

// follow forgets the last set and finds every state that p can reach.
func (w *laneReach) follow(p flowSet) {
	w.allow(p.lanes)
	w.flowSet = p
	w.states, w.parent, w.first, w.next = w.states[:0], w.parent[:0], append(w.first[:0], 0), w.next[:0]
	if w.round++; w.round == 0 { // the counter wrapped: clear the old marks, they could equal a new round
		clear(w.met)
		w.round = 1
	}
	for _, s := range w.sources {
		w.onwards(s, fabric.None, 0, w.leads, func(v int32) { w.meet(v, -1) })
	}
	for i := 0; i < len(w.states); i++ {
		in, lane := w.split(w.states[i])
		if at := w.t.Fabric.Heads()[in]; at != w.dest {
			w.onwards(at, in, lane, w.t.Lanes[lane].Next&w.leads, func(v int32) {
				w.next = append(w.next, w.meet(v, int32(i)))
			})
		}
		w.first = append(w.first, int32(len(w.next)))
	}
}

// split undoes v = trunk × lanes + lane.
func (w *laneReach) split(v int32) (fabric.ChannelID, uint8) {
	n := int32(len(w.t.Lanes))
	return fabric.ChannelID(v / n), uint8(v % n)
}

// meet returns the state of a vertex and adds it, with the state it was reached from,
// if it is new.
func (w *laneReach) meet(v, parent int32) int32 {
	if w.met[v] != w.round {
		w.met[v], w.index[v] = w.round, int32(len(w.states))
		w.states, w.parent = append(w.states, v), append(w.parent, parent)
	}
	return w.index[v]
}

// onwards visits every vertex to which a packet can go on from a switch by some lanes, given as bits, if
// it came by trunk in on lane from; in None: it starts there.
func (w *laneReach) onwards(at fabric.NodeID, in fabric.ChannelID, from uint8, lanes uint16, visit func(v int32)) {
	first, end := w.t.Fabric.TrunksFrom(at)
	for ; lanes != 0; lanes &= lanes - 1 {
		to := uint8(bits.TrailingZeros16(lanes))
		set := w.t.Ways(w.address, in, from, to)
		for c := set.Next(first, end); c < end; c = set.Next(c+1, end) {
			visit(w.vertex(c, to))
		}
	}
}

func (w *laneReach) successors(i int) []int32 { return w.next[w.first[i]:w.first[i+1]] }

// lanesOf is the lanes that a state stands for, as bits.
func (w *laneReach) lanesOf(i int32) uint16 {
	_, lane := w.split(w.states[i])
	return w.alike[lane]
}

// vertex is the number of a lane of a trunk in the graph.
func (w *laneReach) vertex(c fabric.ChannelID, lane uint8) int32 {
	return int32(int(c)*len(w.t.Lanes) + int(lane))
}

// beyond visits every vertex that the routing subfunction offers to a packet after it
// left state i by one or more ways outside the subfunction, with the state where it is
// offered. It needs lanes that are not grouped.
func (w *laneReach) beyond(i int, visit func(v, at int32)) {
	if w.pass++; w.pass == 0 { // wrapped, as in follow
		clear(w.seen)
		w.pass = 1
	}
	w.queue = append(w.queue[:0], int32(i))
	w.from[i] = -1
	for n := 0; n < len(w.queue); n++ {
		at := w.queue[n]
		_, lane := w.split(w.states[at])
		for _, next := range w.successors(int(at)) {
			relied := w.t.Lanes[lane].Rely&w.lanesOf(next) != 0
			switch {
			case relied && n > 0:
				visit(w.states[next], at)
			case !relied && w.seen[next] != w.pass && int(next) != i:
				w.seen[next] = w.pass
				w.from[next] = at
				w.queue = append(w.queue, next)
			}
		}
	}
}

// via is the vertices between the start of the last call of beyond and a state, the
// last one first.
func (w *laneReach) via(at int32) []int32 {
	var way []int32
	for ; w.from[at] != -1; at = w.from[at] {
		way = append(way, w.states[at])
	}
	return way
}
