package repair

import (
	"bytes"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// twins finds destinations whose packets do the same as those to an earlier one: on the same
// switch, with the same service levels, and with the same entries on all other switches. Where
// an engine routes switch by switch, nearly all hosts of a switch are such, and what one of them
// causes in a graph, or may not, holds for all.
type twins struct {
	levels *levels
	last   []fabric.LID // [switch] of the destinations there that have no earlier twin, the last; 0: none
	before []fabric.LID // [LID] the one before it
}

func newTwins(l *levels) *twins {
	return &twins{levels: l, last: make([]fabric.LID, l.f.Switches()), before: make([]fabric.LID, l.f.TopLID()+1)}
}

// of is the first of the destinations asked about so far that is a twin of this one: itself, if
// no earlier one is. Rows are compared in all of some tables.
func (t *twins) of(lid fabric.LID, rows ...*routing.Forwarding) fabric.LID {
	f := t.levels.f
	home := f.Endpoint(f.Owner(lid)).Switch
	for _, fw := range rows {
		if c := f.Trunk(home, fw.Port(home, lid)); c != fabric.None {
			return lid // its switch sends its packets on: there it was not before
		}
	}
	for other := t.last[home]; other != 0; other = t.before[other] {
		if t.levels.alike(lid, other) && alikeBut(home, lid, other, rows) {
			return other
		}
	}
	t.last[home], t.before[lid] = lid, t.last[home]
	return lid
}

// alikeBut says whether the rows of two LIDs are the same in all of some tables, but for their
// own switch.
func alikeBut(home fabric.NodeID, a, b fabric.LID, tables []*routing.Forwarding) bool {
	for _, fw := range tables {
		x, y := fw.Row(a), fw.Row(b)
		if !bytes.Equal(x[:home], y[:home]) || !bytes.Equal(x[home+1:], y[home+1:]) {
			return false
		}
	}
	return true
}

// alike says whether packets to two LIDs of the same switch have the same service levels from
// every other switch.
func (l *levels) alike(a, b fabric.LID) bool {
	if l.fixed != 0 {
		return true
	}
	x, y := l.lanes.SLRow(a), l.lanes.SLRow(b)
	return bytes.Equal(x, y) && (x == nil) == (y == nil) &&
		(l.back == nil || l.lanes.Row[l.f.Owner(a)] == l.lanes.Row[l.f.Owner(b)])
}
