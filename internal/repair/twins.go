package repair

import (
	"bytes"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/engine/steps/packetset"
	"github.com/weft-fabric/weft/routing"
)

// twins finds destinations whose packets do the same as those to an earlier one: on the same
// switch, with the same service levels, and with the same entries on all other switches. Where
// an engine routes switch by switch, nearly all hosts of a switch are such, and what one of them
// causes in a graph, or may not, holds for all.
type twins struct {
	f       *fabric.Fabric
	sources *packetset.Sources
	last    []fabric.LID // [switch] of the destinations there that have no earlier twin, the one asked about last; 0: none
	before  []fabric.LID // [LID] the one asked about before it, of the same switch; 0: none
}

func newTwins(p *problem) *twins {
	return &twins{f: p.f, sources: p.sources, last: make([]fabric.LID, p.f.Switches()), before: make([]fabric.LID, p.f.TopLID()+1)}
}

// of is the first of the destinations asked about so far that is a twin of this one by all of some
// tables. If there is none, it is the destination itself, which is kept as one that later ones may be twins of.
func (t *twins) of(lid fabric.LID, rows ...*routing.Forwarding) fabric.LID {
	home := packetset.Home(t.f, lid)
	for _, fw := range rows {
		if t.f.Trunk(home, fw.Port(home, lid)) != fabric.None {
			return lid // its switch sends its packets on: there it was not before
		}
	}
	for other := t.last[home]; other != 0; other = t.before[other] {
		if t.sources.Alike(lid, other) && alikeBut(home, lid, other, rows) {
			return other
		}
	}
	t.last[home], t.before[lid] = lid, t.last[home]
	return lid
}

// alikeBut reports whether two LIDs of switch home have the same entries on all other switches, in each of
// some tables.
func alikeBut(home fabric.NodeID, a, b fabric.LID, tables []*routing.Forwarding) bool {
	for _, fw := range tables {
		x, y := fw.Row(a), fw.Row(b)
		if !bytes.Equal(x[:home], y[:home]) || !bytes.Equal(x[home+1:], y[home+1:]) {
			return false
		}
	}
	return true
}
