package adaptive

import (
	"iter"

	"github.com/weft-fabric/weft/fabric"
)

// SourceRoutes is a routing in which sources choose whole paths, as technologies with
// routes in the header can: every path is an address of its destination, which its source
// alone may use, on any of the lanes that paths yields with it, as bits. A packet keeps to the lane on
// which it began. Paths come by destination switch; each is read twice and not kept.
func SourceRoutes(f *fabric.Fabric, lanes int, paths iter.Seq2[[]fabric.ChannelID, uint16]) *Tables {
	heads := f.Heads()
	addresses := make([]int, f.Switches())
	for path := range paths {
		addresses[heads[path[len(path)-1]]]++
	}
	t := New(f, addresses)
	const phases = 1 // an address has one path: no choice depends on the trunk before
	choices := NewChoices(f, t.Addresses(), phases, make([]uint8, f.Trunks()))
	for l := range lanes {
		t.Lanes = append(t.Lanes, Lane{Choices: choices, Next: 1 << l, Rely: 1 << l})
	}
	next := Address(0)
	for path, allowed := range paths {
		set := choices.Fresh(next, 0)
		for _, c := range path {
			set.Add(c)
		}
		t.AllowedRow(next)[f.Channel(path[0]).From] = allowed
		next++
	}
	return t
}
