package change

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Hops is the largest number of switches that a packet in the network still has to
// leave on its way to its destination, or to where it is dropped, once some tables are in force
// everywhere. Packets to LIDs that nobody has any more count as well.
// Multiplied by the lifetime of a packet in a switch, it bounds how long packets of
// earlier tables can exist. That time has to pass between two steps, because the proof
// of a step covers the tables before and after it only. Complexity: O(D·S) for D
// destination LIDs and S switches.
func Hops(t *routing.Tables) int {
	most := 0
	w := &leaver{t: t, left: make([]int, t.Fabric.Switches())}
	for lid := range t.Fabric.TopLID() + 1 {
		for s := range w.left {
			w.left[s] = -1
		}
		for s := range w.left {
			most = max(most, w.follow(fabric.NodeID(s), lid))
		}
	}
	return most
}

// leaver follows the packets to one LID.
type leaver struct {
	t    *routing.Tables
	left []int           // [switch] switches that a packet there has to leave; -1: not known; 0 while it is followed, so that one that circles counts once around
	way  []fabric.NodeID // of the packet that is followed
}

// follow is how many switches a packet at one has to leave.
func (w *leaver) follow(s fabric.NodeID, lid fabric.LID) int {
	f, n := w.t.Fabric, 0
	for w.way = w.way[:0]; ; s = f.Heads()[f.Out(s, w.t.Forwarding.Port(s, lid))] {
		if n = w.left[s]; n >= 0 {
			break
		}
		w.left[s] = 0
		port := w.t.Forwarding.Port(s, lid)
		c := f.Out(s, port)
		if c == fabric.None && port != 0 { // dropped
			break
		}
		w.way = append(w.way, s)
		if int(c) >= f.Trunks() || c == fabric.None { // delivered, wherever
			break
		}
	}
	n = max(n, 0)
	for _, at := range slices.Backward(w.way) {
		n++
		w.left[at] = n
	}
	return n
}
