package packets

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/adaptive"
)

// addresses is the addresses of every destination switch that each source switch may use
// under adaptive routing. With source routes a destination has an address for each source
// and path, of which a source would have to look for its own.
type addresses struct {
	first    []int   // [destination switch × switches + source switch, plus one] into list
	list     []int32 // adaptive.Address
	switches int
}

// listAddresses lists them in two passes: counting, then filling.
func listAddresses(t *adaptive.Tables) addresses {
	n := t.Fabric.Switches()
	a := addresses{first: make([]int, n*n+1), switches: n}
	for pass := range 2 {
		for i := range adaptive.Address(t.Addresses()) {
			row := a.first[int(t.Destination(i))*n:]
			for s, lanes := range t.AllowedRow(i) {
				switch {
				case lanes == 0:
				case pass == 0:
					row[s+1]++
				default:
					a.list[row[s]] = int32(i)
					row[s]++
				}
			}
		}
		if pass == 0 {
			for i := range n * n {
				a.first[i+1] += a.first[i]
			}
			a.list = make([]int32, a.first[n*n])
		}
	}
	copy(a.first[1:], a.first) // each has moved to where the next begins
	a.first[0] = 0
	return a
}

// of is the addresses of a destination that a source may use, ascending.
func (a *addresses) of(from, to fabric.NodeID) []int32 {
	i := int(to)*a.switches + int(from)
	return a.list[a.first[i]:a.first[i+1]]
}
