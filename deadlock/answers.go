package deadlock

import (
	"bytes"
	"slices"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// answers is the service levels of answers (routing.Contract.EitherWay). The passive
// side of a connection answers on the SL of the request: a source may send to a
// destination on any SL on which the destination may send to it. An answer goes to the
// LID from which the request came.
type answers struct {
	t      *routing.Tables
	groups int      // number of groups on all switches
	mask   []uint16 // [row of the destination × groups + group.index] SLs as bits
}

// newAnswers collects, for each row and group (sources on a switch with the same service
// levels and lanes, see sources.go), the SLs on which the row sends to the group's sources:
// on these they may answer it. It returns nil where everything has SL 0, so that answers
// add nothing; then SLRow has no rows.
func newAnswers(t *routing.Tables, groups [][]group) *answers {
	if t.Lanes.SLRow(0) == nil {
		return nil
	}
	a := &answers{t: t}
	for s := range groups {
		a.groups += len(groups[s])
	}
	a.mask = make([]uint16, t.Lanes.Rows*a.groups)
	back := make([]uint16, t.Lanes.Rows) // [row of the answer's destination] the same for one group
	for s := range groups {
		for i := range groups[s] {
			g := &groups[s][i]
			clear(back)
			var before []uint8
			for _, e := range g.from {
				for lid := range t.Fabric.Endpoint(e).LIDs() {
					row := t.Lanes.SLRow(lid)
					if bytes.Equal(row, before) {
						continue // as mostly on one switch
					}
					for r, sl := range row {
						back[r] |= bit(sl)
					}
					before = row
				}
			}
			for r, mask := range back {
				a.mask[r*a.groups+g.index] = mask
			}
		}
	}
	return a
}

// answersTo is newAnswers for the tables after these, if d is not nil: with the same service levels.
func (d *derivation) answersTo(t *routing.Tables, groups [][]group) *answers {
	if d == nil || d.answers[0] == nil || !slices.EqualFunc(d.groups, groups, sameSources) {
		return newAnswers(t, groups)
	}
	a := *d.answers[0]
	a.t = t
	return &a
}

// sameSources reports whether groups on a switch are of the same sources.
func sameSources(a, b []group) bool {
	return slices.EqualFunc(a, b, func(a, b group) bool { return a.index == b.index && slices.Equal(a.from, b.from) })
}

// same reports whether answers are known to be the same, without a look at each.
func (a *answers) same(b *answers) bool {
	if a == nil || b == nil {
		return a == b
	}
	return len(a.mask) > 0 && len(b.mask) > 0 && &a.mask[0] == &b.mask[0] && a.groups == b.groups
}

// toGroups is the SLs on which a row may send to the sources of each group, so that they
// may answer it on these, as bits, [group.index].
func (a *answers) toGroups(row int32) []uint16 {
	return a.mask[int(row)*a.groups:][:a.groups]
}

// toSource is the SLs on which a row may send to one source, so that it may answer the row
// on these, as bits.
func (a *answers) toSource(row int32, e fabric.EndpointID) uint16 {
	mask := uint16(0)
	for lid := range a.t.Fabric.Endpoint(e).LIDs() {
		mask |= bit(a.t.Lanes.SLRow(lid)[row])
	}
	return mask
}

// ofOthers is the service levels of answers for a LID, as bits, of the sources of a group that
// are not its endpoint itself.
func (a *answers) ofOthers(g *group, lid fabric.LID) uint16 {
	to := a.t.Fabric.Owner(lid)
	mask := uint16(0)
	for _, e := range g.from {
		if e != to {
			mask |= a.toSource(a.t.Lanes.Row[to], e)
		}
	}
	return mask
}

// bit is a service level as a bit; 0 for routing.NoSL, which is beyond all bits.
func bit(sl uint8) uint16 { return 1 << sl }
