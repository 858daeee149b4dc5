// Package turnlanes assigns a lane to every turn of a fabric, service level by service
// level, so that given paths have lanes and no cycle of dependencies closes. The lane
// assigner weave and the engines of package internal/engine/weave use it.
//
// It decides everything that InfiniBand tables can express: for every service level a
// lane for every turn, which is a pair of in-port and out-port. A switch does not see
// the lane by which a packet came; the turn and the service level alone decide. Packets
// begin on lane 0, and two rules hold:
//
//   - lanes never fall along a path;
//   - the turns that are taken within a lane, from it to itself, are a graph without
//     cycles over the trunks, one graph for each lane and all service levels.
//
// A service level admits a path whose turns have lanes in it that keep to both rules.
//
// Guarantee: the admitted paths cannot deadlock. Along a cycle of dependencies lanes
// cannot fall, so they cannot rise either: the cycle lies within one lane, whose graph
// has none (W. J. Dally, C. L. Seitz, IEEE Trans. Computers 36(5), 1987, Theorem 1).
// Beginning on lane 0 costs nothing: a first turn that would be taken within a higher
// lane becomes one that rises to it. So if a path is admitted, all its suffixes are,
// and only paths that are no suffix of another have to be placed.
//
// Method. Paths are placed one by one, those with most hops first, in the first service
// level that can admit them. Among the lanes possible for its free turns, a path takes
// those that add the fewest turns to the graphs, found by a shortest path over (turn,
// lane). A turn that would close a cycle in a graph is excluded from that graph for
// good, because graphs only grow, and the search is repeated. Rising is free: with as
// many lanes as hops the graphs stay empty, which is DF-DN; with one lane there is one
// graph, which is one layer of LASH. (T. Schneider, O. Bibartiu, T. Hoefler, HOTI 2016;
// T. Skeie, O. Lysne, I. Theiss, IPDPS 2002.)
//
// A ring of five with two lanes, on which every switch sends to the third one after it:
//
//	path      turns at   their lanes in service level 0       graph of lane 1
//	1→2→3→4    2, 3      1, 1: the first rises                 the turn at 3
//	2→3→4→5    3, 4      1, 1                                  3, 4
//	3→4→5→1    4, 5      1, 1                                  3, 4, 5
//	4→5→1→2    5, 1      1, 1                                  3, 4, 5, 1
//	5→1→2→3    1, 2      1, and 1 would close the circle       no turn at 2
//
// The turn at 2 rose in the first path, and would be taken within lane 1 by the last one. So
// that goes to service level 1, where its turns have lanes of their own: 0 at switch 1, the
// only turn in the graph of lane 0, and 1 at switch 2, which rises.
//
// Complexity: O(h·V) for a path of h turns on V lanes, plus a search in the graph
// (package acyclic) for each turn that is new to it; a path is tried at most h·V times
// before it is given up. Memory: 12 bytes and 4·V for every turn of the fabric, and
// Paths.
package turnlanes

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/acyclic"
)

// Levels is the largest number of service levels that are assigned: 15 of the 16,
// because many default tables map SL 15 to the management lane.
const Levels = 15

// Change says when packets change lanes.
type Change uint8

// Never and Always are the extremes that others have published.
const (
	Free   Change = iota // wherever it saves entries in the graphs
	Never                // each service level has a lane of its own: layers, as of LASH
	Always               // at every turn, as in DF-DN
)

// unset is the lane of a turn that a service level does not use yet.
const unset = 15

// Assignment is the lane of every turn in every service level, for the turns of the
// paths placed so far.
type Assignment struct {
	f      *fabric.Fabric
	lanes  int
	levels int // limit of the number of service levels
	used   int // number of service levels in use
	policy Policy
	change Change
	graphs []*acyclic.Graph // [lane] the turns taken within it
	held   []uint16         // [turn] lanes, as bits, whose graph holds it
	barred []uint16         // [turn] lanes, as bits, in whose graph it would close a cycle
	lane   []uint64         // [turn] four bits for each service level: its lane, or unset
	part   []int32          // [trunk] its part of the fabric, or none (parts); nil: turns may lead from each to all
	late   uint64           // parts, as bits, to which alone turns lead from others, and from which none do

	undo []change // changes since the first of the current paths was placed

	fit fitter
}

// New is an empty assignment for 1 to 15 lanes and 1 to Levels service levels. With
// Never there are as many service levels as lanes, whatever levels is.
func New(f *fabric.Fabric, lanes, levels int, policy Policy, change Change) *Assignment {
	if lanes < 1 || lanes > unset || levels < 1 || levels > Levels {
		panic(fmt.Sprintf("%d lanes and %d service levels", lanes, levels))
	}
	if change == Never {
		levels = lanes
	}
	l := &Assignment{
		f: f, lanes: lanes, levels: levels, policy: policy, change: change,
		held:   make([]uint16, f.Turns()),
		barred: make([]uint16, f.Turns()),
		lane:   make([]uint64, f.Turns()),
	}
	for range lanes {
		l.graphs = append(l.graphs, acyclic.New(f))
	}
	for t := range l.lane {
		l.lane[t] = ^uint64(0)
	}
	return l
}

// add adds a turn to the graph of a lane, but not to held. It returns false where that would close a
// cycle, or lead between parts otherwise than from an early to a late one.
func (l *Assignment) add(lane uint8, t acyclic.Turn) bool {
	if l.part != nil {
		if a, b := l.part[t.In], l.part[t.Out]; a != none && b != none && a != b && !l.earlyToLate(a, b) {
			return false
		}
	}
	return l.graphs[lane].Add(t.In, t.Out)
}

// FreeParts lets further paths take all turns that close no cycle, between whichever parts.
func (l *Assignment) FreeParts() {
	l.part = nil
	clear(l.barred)
}

// Bars reports whether a turn was found not to fit into the graph of the only lane. With more lanes
// packets may rise there.
func (l *Assignment) Bars(turn int32) bool { return l.lanes == 1 && l.barred[turn] != 0 }

// start is the lane on which packets begin.
func (l *Assignment) start(sl int) uint8 {
	if l.change == Never {
		return uint8(sl)
	}
	return 0
}

// Lanes is the number of lanes, used or not.
func (l *Assignment) Lanes() int { return l.lanes }

// Used is the number of service levels in use, at least 1.
func (l *Assignment) Used() int { return max(1, l.used) }

// at is the lane of a turn in a service level, or unset.
func (l *Assignment) at(turn int32, sl int) uint8 { return uint8(l.lane[turn] >> (4 * sl) & 15) }

func (l *Assignment) set(turn int32, sl int, lane uint8) {
	l.lane[turn] = l.lane[turn]&^(15<<(4*sl)) | uint64(lane)<<(4*sl)
}

// passes reports whether a turn may be taken from one lane to another without a change of
// the graphs.
func (l *Assignment) passes(turn int32, from, to uint8) bool {
	return to != unset && (from < to || from == to && l.held[turn]>>to&1 == 1)
}

// admits reports whether a service level admits a path already.
func (l *Assignment) admits(sl int, steps []acyclic.Turn) bool {
	from := l.start(sl)
	for _, s := range steps {
		to := l.at(s.ID, sl)
		if !l.passes(s.ID, from, to) {
			return false
		}
		from = to
	}
	return true
}

// Reserved is a turn that has a lane from the start.
type Reserved struct {
	acyclic.Turn
	Lane   uint8
	Within bool // packets also come to it on that lane, rather than all from a lower one
}

// reserve gives turns lanes in service level 0 of an empty assignment. They must not
// close a cycle.
func (l *Assignment) reserve(turns []Reserved) {
	for _, r := range turns {
		if r.Within && !l.graphs[r.Lane].Add(r.In, r.Out) {
			panic("reserved turns close a cycle")
		}
		if r.Within {
			l.held[r.ID] |= 1 << r.Lane
		}
		l.set(r.ID, 0, r.Lane)
		l.used = 1
	}
}

// AssignReserved is an assignment for one service level in which some turns have lanes from the start, which close no cycle,
// and the others are not to be taken.
func AssignReserved(f *fabric.Fabric, turns []Reserved, lanes int) *Assignment {
	l := New(f, lanes, 1, Even, Free)
	l.reserve(turns)
	for t := range l.lane {
		l.barred[t] = ^l.held[t]
		if l.at(int32(t), 0) == unset {
			l.set(int32(t), 0, 0) // on which no packet comes to it from a lower one
		}
	}
	return l
}
