package forest

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// Pairs lists the paths by the two switches that they join.
type Pairs struct {
	switches int
	newest   []int32 // [to × switches + from] the last hop, by number, at which a path from the one to the other begins; None
	older    []int32 // [hop] the one before; None
}

// Pairs is the paths by pair of switches. Memory: 4 bytes for every pair and for every hop.
func (f *Forest) Pairs() *Pairs {
	n := f.Fabric.Switches()
	p := &Pairs{switches: n, newest: slices.Repeat([]int32{None}, n*n), older: make([]int32, len(f.Trunk))}
	for i := range f.Ends {
		to := p.newest[int(f.Ends[i].Switch)*n:][:n]
		for hop, last := f.Range(i); hop < last; hop++ {
			from := f.Fabric.Channel(f.Trunk[hop]).From
			to[from], p.older[hop] = hop, to[from]
		}
	}
	return p
}

// Append appends the first hops of the different paths from one switch to another, in
// the order of the LIDs that they lead to.
func (p *Pairs) Append(hops []int32, from, to fabric.NodeID) []int32 {
	before := len(hops)
	for h := p.newest[int(to)*p.switches+int(from)]; h != None; h = p.older[h] {
		hops = append(hops, h)
	}
	slices.Reverse(hops[before:])
	return hops
}
