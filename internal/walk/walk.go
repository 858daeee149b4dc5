// Package walk follows the packets to a destination over rows of forwarding tables, also where a switch
// may go by any of several: for plans of changes, and for how long packets are on their way.
package walk

import "github.com/weft-fabric/weft/fabric"

// Fate is what becomes of packets to one destination, the worst last.
type Fate uint8

// The fates of packets. After Along, unseen and onTheWay are of no switch.
const (
	unseen   Fate = iota
	onTheWay      // from has not come back from it
	Arrive        // at the destination's switch
	Dropped       // at a switch without an entry that leads on, or delivered elsewhere
	Circle
)

// Walk is what may become of packets where each switch goes by any of several rows, as while one is
// written in place of another. With a single row the switches from which packets arrive form a Tree,
// which says more of them. A Walk is scratch space: Along can fill it again without allocating.
type Walk struct {
	Fate []Fate  // [switch] at worst
	Left []int32 // [switch] number of switches that packets have to leave, at most, until they are delivered or dropped; of those that circle, each counts once

	f    *fabric.Fabric
	rows [][]uint8
}

// Along follows the packets to a destination on switch home from all switches, or, where that is
// None, to wherever they are delivered.
func (w *Walk) Along(f *fabric.Fabric, home fabric.NodeID, rows ...[]uint8) {
	if len(w.Fate) != f.Switches() {
		w.Fate, w.Left = make([]Fate, f.Switches()), make([]int32, f.Switches())
	}
	clear(w.Fate)
	clear(w.Left)
	w.f, w.rows = f, rows
	if home != fabric.None {
		w.Fate[home], w.Left[home] = Arrive, 1
	}
	for s := range w.Fate {
		w.from(fabric.NodeID(s))
	}
}

// from sets and returns the fate of packets at a switch, and sets Left. Of a switch that it is on the
// way from, the fate is Circle.
func (w *Walk) from(s fabric.NodeID) Fate {
	switch w.Fate[s] {
	case onTheWay:
		return Circle
	case unseen:
	default:
		return w.Fate[s]
	}
	w.Fate[s] = onTheWay
	worst, left := Arrive, int32(0)
	for _, row := range w.rows {
		c := w.f.Trunk(s, row[s])
		if c != fabric.None {
			to := w.f.Heads()[c]
			worst = max(worst, w.from(to))
			left = max(left, w.Left[to]+1)
			continue
		}
		worst = max(worst, Dropped)
		if row[s] == 0 || w.f.Out(s, row[s]) != fabric.None {
			left = max(left, 1) // it is delivered here
		}
	}
	w.Fate[s], w.Left[s] = worst, left
	return worst
}
