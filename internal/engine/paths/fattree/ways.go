package fattree

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/levels"
	"github.com/weft-fabric/weft/internal/engine/steps/orient"
)

// ways is the trunks up and down from every switch, for the spreader; newWays finds them once.
type ways struct {
	*orient.Orientation
	up   []fabric.ChannelID // up from s: up[upFirst[s]:upFirst[s+1]], by port
	down []fabric.ChannelID // likewise

	// The up trunks whose cables may carry the traffic of a destination down: those to
	// parents from which at least half as many hosts can be reached by going up
	// and then down as from the best of them. So no destination is given to a
	// switch cut off from above.
	climb []fabric.ChannelID

	upFirst, downFirst, climbFirst []int32 // [switch, plus one] into up, down and climb

	idle   []bool // [switch] it is in a part without hosts, whose cables may lie within a level; its destinations get no stem
	uneven []bool // [switch] it has more cables to one parent than to another

	// There are no idle parts, all switches of a level have as many hosts, trunks up and trunks down, and
	// the LIDs of a leaf's hosts are no more than its trunks up, or a multiple of them. Then d-mod-k alone
	// balances loads, and the spreader keeps none.
	regular bool
}

func newWays(l *levels.Levels) *ways {
	n := l.Fabric.Switches()
	w := &ways{
		Orientation: orient.New(l.Fabric, l.Order),
		upFirst:     make([]int32, n+1),
		downFirst:   make([]int32, n+1),
		climbFirst:  make([]int32, n+1),
	}
	for _, part := range l.Part {
		w.idle = append(w.idle, l.Idle[part])
	}
	for s := range n {
		for c, end := l.Fabric.TrunksFrom(fabric.NodeID(s)); c < end; c++ {
			if w.Up[c] {
				w.up = append(w.up, c)
			} else {
				w.down = append(w.down, c)
			}
		}
		w.upFirst[s+1], w.downFirst[s+1] = int32(len(w.up)), int32(len(w.down))
	}
	w.chooseClimbs(l)
	w.findUneven(l.Fabric.Heads())
	w.regular = w.isRegular(l)
	return w
}

// isRegular finds out regular.
func (w *ways) isRegular(l *levels.Levels) bool {
	type shape struct{ height, hosts, up, down int }
	var last shape
	for i, s := range l.Order { // level by level
		own := shape{height: int(l.Height[s]), hosts: int(l.Hosts[s]), up: len(w.upFrom(s)), down: len(w.downFrom(s))}
		if w.idle[s] {
			return false
		}
		if i > 0 && own.height == last.height && own != last {
			return false
		}
		// Else the LIDs beyond the last full round over the trunks are spread by load, see fullRounds.
		if lids, trunks := hostLIDs(l.Fabric, s), len(w.climbFrom(s)); trunks > 0 && lids > trunks && lids%trunks > 0 {
			return false
		}
		last = own
	}
	return true
}

// hostLIDs counts the LIDs of the host adapters on a switch.
func hostLIDs(f *fabric.Fabric, s fabric.NodeID) int {
	n := 0
	for _, e := range f.Attached(s) {
		if ep := f.Endpoint(e); ep.Class == fabric.HostAdapter {
			n += 1 << ep.LMC
		}
	}
	return n
}

// findUneven sets uneven.
func (w *ways) findUneven(heads []fabric.NodeID) {
	n := len(w.upFirst) - 1
	w.uneven = make([]bool, n)
	cables := make([]int, n) // [switch] to the parent
	for s := range fabric.NodeID(n) {
		up := w.upFrom(s)
		for _, c := range up {
			cables[heads[c]]++
		}
		for _, c := range up {
			w.uneven[s] = w.uneven[s] || cables[heads[c]] != cables[heads[up[0]]]
		}
		for _, c := range up {
			cables[heads[c]] = 0
		}
	}
}

func (w *ways) upFrom(s fabric.NodeID) []fabric.ChannelID {
	return w.up[w.upFirst[s]:w.upFirst[s+1]]
}

func (w *ways) downFrom(s fabric.NodeID) []fabric.ChannelID {
	return w.down[w.downFirst[s]:w.downFirst[s+1]]
}

func (w *ways) climbFrom(s fabric.NodeID) []fabric.ChannelID {
	return w.climb[w.climbFirst[s]:w.climbFirst[s+1]]
}

// chooseClimbs sets climb and climbFirst.
func (w *ways) chooseClimbs(l *levels.Levels) {
	heads := l.Fabric.Heads()
	reach := l.Reach(l.Order, l.Hosts)
	gain := make([]int64, len(l.Order)) // [switch] the most hosts below any one of it and the switches above it
	for _, s := range l.Order {         // from the top
		gain[s] = reach.Sum(s, l.Hosts)
		for _, c := range w.upFrom(s) {
			gain[s] = max(gain[s], gain[heads[c]])
		}
	}
	for s := range l.Order {
		most := int64(0)
		for _, c := range w.upFrom(fabric.NodeID(s)) {
			most = max(most, gain[heads[c]])
		}
		for _, c := range w.upFrom(fabric.NodeID(s)) {
			if 2*gain[heads[c]] >= most {
				w.climb = append(w.climb, c)
			}
		}
		w.climbFirst[s+1] = int32(len(w.climb))
	}
}
