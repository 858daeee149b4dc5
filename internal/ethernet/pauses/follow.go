package pauses

import (
	"slices"

	"github.com/weft-fabric/weft/ethernet"
)

// Paused is how many pause frames the device that sends on a link got for a priority, [LinkID × Priorities + priority].
type Paused []uint64

// Follow is the way from a paused link to where its pauses come from, for the alarms of weft watch: each link is
// paused because packets on it go on by the next, and of several the one with the most pauses is taken. It ends at a link
// behind which none is paused, or in front of one that is on the way already: circle.
func Follow(n *ethernet.Network, paused Paused, from ethernet.LinkID, priority uint8) (way []ethernet.LinkID, circle bool) {
	for at := from; ; {
		if slices.Contains(way, at) {
			return way, true
		}
		way = append(way, at)
		next, most := ethernet.LinkID(ethernet.None), uint64(0)
		to := n.Links[at].To
		for i := range n.Classes {
			c := &n.Classes[i]
			if !n.Has(c.Next, at) {
				continue
			}
			n.Each(n.Words(c.Next, to), to, func(out ethernet.LinkID) {
				if p := paused[int(out)*Priorities+int(priority)]; p > most {
					next, most = out, p
				}
			})
		}
		if next == ethernet.None {
			return way, false
		}
		at = next
	}
}

// Over counts the prefixes with hosts whose packets a link carries from its device, and names the first.
func Over(n *ethernet.Network, l ethernet.LinkID) (prefixes int, first string) {
	for i := range n.Classes {
		if c := &n.Classes[i]; c.Hosts && n.Has(c.Next, l) {
			if prefixes == 0 {
				first = c.Prefix().String()
			}
			prefixes += len(c.Prefixes)
		}
	}
	return prefixes, first
}
