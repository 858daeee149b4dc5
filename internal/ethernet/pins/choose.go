// Package pins chooses one way to each adapter, and writes what routers need for it: each leaf announces the
// addresses of its adapters with communities that name the one device above which hears of it, and with
// three tiers the one above that. Longest prefix wins; when anything on the way dies, BGP withdraws the
// pin, and packets take the route of the subnet.
package pins

import (
	"cmp"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Roots is the switches that routes to an address at a leaf come down by, from the one above the leaf upwards, one or two: of
// each level the one that most other leaves' packets pass. exact says that all packets do. It is nil if no
// other leaf's packets arrive. weft pin asks it of the tables of an engine, whose ways then become pins.
func Roots(t *routing.Tables, lid fabric.LID, leaf fabric.NodeID, leaves []fabric.NodeID, level func(fabric.NodeID) int32) (up []fabric.NodeID, exact bool) {
	f := t.Fabric
	votes := map[fabric.NodeID]int{}                // ways by their last switch above the leaf
	ways := make([][]fabric.NodeID, 0, len(leaves)) // switches from another leaf on, without the leaf itself
	for _, from := range leaves {
		if from == leaf {
			continue
		}
		var way []fabric.NodeID
		s := from
		for range f.Switches() {
			if s == leaf {
				break
			}
			out := f.Trunk(s, t.Forwarding.Port(s, lid))
			if out == fabric.None {
				break
			}
			way = append(way, s)
			s = f.Channel(out).To
		}
		if s != leaf || len(way) < 2 {
			continue
		}
		ways = append(ways, way)
		votes[way[len(way)-1]]++
	}
	first := winner(votes)
	if first == fabric.None {
		return nil, false
	}
	exact = votes[first] == len(ways)
	up = []fabric.NodeID{first}
	clear(votes)
	tops := 0                  // ways with a switch above the first
	for _, way := range ways { // of the ways that come down by it, the one above
		if i := len(way) - 2; way[len(way)-1] == first && i > 0 && level(way[i]) > level(first) {
			votes[way[i]]++
			tops++
		}
	}
	if top := winner(votes); top != fabric.None {
		exact = exact && votes[top] == tops
		up = append(up, top)
	}
	return up, exact
}

// winner is who has most votes, of equals the lowest number; None if nobody has one.
func winner(votes map[fabric.NodeID]int) fabric.NodeID {
	best := fabric.NodeID(fabric.None)
	for s, n := range votes {
		if best == fabric.None || cmp.Or(cmp.Compare(n, votes[best]), cmp.Compare(best, s)) > 0 {
			best = s
		}
	}
	return best
}
