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
	w := &leaver{f: t.Fabric, left: make([]int32, t.Fabric.Switches())}
	for lid := range t.Fabric.TopLID() + 1 {
		row := t.Forwarding.Row(lid)
		for s := range w.left {
			w.left[s] = unfollowed
		}
		for s, n := range w.left {
			if n == unfollowed {
				most = max(most, int(w.follow(fabric.NodeID(s), row)))
			}
		}
	}
	return most
}

// leaver follows the packets to one LID.
type leaver struct {
	f    *fabric.Fabric
	left []int32         // [switch] switches that a packet there has to leave; 0 while it is followed, so that one that circles counts once around
	way  []fabric.NodeID // of the packet that is followed
}

const unfollowed = -1

// follow is how many switches a packet at one has to leave.
func (w *leaver) follow(s fabric.NodeID, row []uint8) int32 {
	heads, n := w.f.Heads(), int32(0)
	for w.way = w.way[:0]; ; {
		if n = w.left[s]; n != unfollowed {
			break
		}
		w.left[s], n = 0, 0
		c := w.f.Out(s, row[s])
		if c == fabric.None && row[s] != 0 { // dropped
			break
		}
		w.way = append(w.way, s)
		if c == fabric.None || int(c) >= len(heads) { // delivered, wherever
			break
		}
		s = heads[c]
	}
	for _, at := range slices.Backward(w.way) {
		n++
		w.left[at] = n
	}
	return n
}
