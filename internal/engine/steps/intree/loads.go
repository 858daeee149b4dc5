package intree

import (
	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Loads counts the routes over trunks when all sources send to the destinations charged
// so far.
type Loads struct {
	On      []uint64 // [trunk] number of routes
	Sources []uint32 // [switch] number of routes that begin there
	Through []uint64 // [switch] routes that begin there or pass it, in the tree charged last

	heads []fabric.NodeID
}

// NewLoads begins with no routes. Sources are the ports of adapters and routers.
func NewLoads(f *fabric.Fabric) *Loads {
	return &Loads{
		On: make([]uint64, f.Trunks()), Sources: routing.Adapters.PerSwitch(f), Through: make([]uint64, f.Switches()),
		heads: f.Heads(),
	}
}

// Charge adds the routes of an in-tree, times over; -1 as a uint64 subtracts them.
// order is its switches, the root first and each after the one that it forwards to by
// out, [switch].
func (l *Loads) Charge(order []fabric.NodeID, out []fabric.ChannelID, times uint64) {
	// In variables of their own the slices stay in registers.
	on, through, sources, heads := l.On, l.Through, l.Sources, l.heads
	for _, u := range order {
		through[u] = uint64(sources[u])
	}
	for i := len(order) - 1; i > 0; i-- {
		u := order[i]
		c, n := out[u], through[u]
		on[c] += n * times
		through[heads[c]] += n
	}
}

// Most is the number of routes on the fullest trunk.
func (l *Loads) Most() uint64 {
	most := uint64(0)
	for _, n := range l.On {
		most = max(most, n)
	}
	return most
}

// Squares is the sum of the squared loads: of paths of the same lengths it is the least where loads are
// even. The conversion keeps a product from being fused with the sum, which would give another sum on
// other machines.
func Squares[N int64 | uint64](loads []N) float64 {
	sum := 0.0
	for _, n := range loads {
		sum += float64(float64(n) * float64(n))
	}
	return sum
}
