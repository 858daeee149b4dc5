package acyclic

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// order is a list of all vertices, such as trunks, with labels that rise along it.
type order struct {
	label      []int64            // [vertex]
	next, prev []fabric.ChannelID // [vertex, then the one sentinel before the first and after the last]
}

// spacing of labels after relabelling: room for many moves to one place.
const spacing = 1 << 32

// newOrder is the list of all vertices as given.
func newOrder(vertices []fabric.ChannelID) order {
	n := len(vertices)
	o := order{
		label: make([]int64, n),
		next:  make([]fabric.ChannelID, n+1),
		prev:  make([]fabric.ChannelID, n+1),
	}
	last := fabric.ChannelID(n)
	for _, c := range vertices {
		o.next[last], o.prev[c] = c, last
		last = c
	}
	o.next[last], o.prev[n] = fabric.ChannelID(n), last
	o.relabel()
	return o
}

// relabel spaces the labels evenly.
func (o *order) relabel() {
	end := fabric.ChannelID(len(o.label))
	label := int64(0)
	for c := o.next[end]; c != end; c = o.next[c] {
		o.label[c] = label
		label += spacing
	}
}

// sort sorts some vertices by their places in the list.
func (o *order) sort(some []fabric.ChannelID) {
	slices.SortFunc(some, func(a, b fabric.ChannelID) int {
		if o.label[a] < o.label[b] {
			return -1
		}
		return 1
	})
}

// moveAfter moves some vertices, in the order given, to right behind another.
func (o *order) moveAfter(place fabric.ChannelID, some []fabric.ChannelID) {
	for _, c := range some {
		o.takeOut(c)
	}
	o.insert(place, o.next[place], some)
}

// moveBefore moves some vertices, in the order given, to right before another.
func (o *order) moveBefore(place fabric.ChannelID, some []fabric.ChannelID) {
	for _, c := range some {
		o.takeOut(c)
	}
	o.insert(o.prev[place], place, some)
}

// takeOut takes a vertex out of the list.
func (o *order) takeOut(c fabric.ChannelID) {
	o.next[o.prev[c]], o.prev[o.next[c]] = o.next[c], o.prev[c]
}

// insert links vertices, which are not in the list, in between two neighbours and labels them; where
// there is no room between the neighbours' labels, it labels all anew.
func (o *order) insert(left, right fabric.ChannelID, some []fabric.ChannelID) {
	at := left
	for _, c := range some {
		o.next[at], o.prev[c] = c, at
		at = c
	}
	o.next[at], o.prev[right] = right, at

	end := fabric.ChannelID(len(o.label))
	n := int64(len(some) + 1)
	var low, high int64
	switch {
	case left != end && right != end:
		low, high = o.label[left], o.label[right]
	case left != end:
		low = o.label[left]
		high = low + n*spacing
	default:
		high = o.label[right]
		low = high - n*spacing
	}
	step := (high - low) / n
	if step == 0 || low < -maxLabel || high > maxLabel {
		o.relabel()
		return
	}
	for _, c := range some {
		low += step
		o.label[c] = low
	}
}

// maxLabel keeps labels far from overflow.
const maxLabel = 1 << 61
