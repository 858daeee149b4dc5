// Package balance finds the shortest paths on which random traffic gets most
// bandwidth: it routes every destination again and again.
//
// It begins like P-SSSP (T. Hoefler, T. Schneider, A. Lumsdaine: Optimized Routing
// for Large-Scale InfiniBand Networks, HOTI 2009; package sssp), and then takes
// each destination's tree out of the loads and routes it again.
//
// Guarantee: connected within each part of the network, every path minimal, the
// same tables whatever the number of cores. Deadlock-free only together with a
// lane assigner.
package balance

import (
	"context"
	"time"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/routing"
)

// Finder is balance. The zero Finder is ready to use.
type Finder struct {
	// Passes is how often at most a tree is routed again; 0 is DefaultPasses, and
	// a negative number leaves it at the first routing.
	Passes int

	// Work is how many trunks may be looked at in all, over all trials and
	// passes; 0 is what LeastPasses passes take, but between LeastWork and
	// MostWork. The first routing is always finished.
	Work int64

	// Time ends the search after a time by the clock, between two passes; 0 is no
	// such limit. With it results depend on the machine, and on what else it does.
	Time time.Duration

	// Seed is for the order of destinations.
	Seed uint64

	// Uniform takes all trunks for equally fast. Otherwise a trunk of half the
	// rate counts each of its routes twice.
	Uniform bool

	// Regular keeps paths in a mesh, torus or hypercube to one order of the
	// dimensions, and balances only what is left to choose: the way round a ring
	// and the cables in parallel. Its few kinds of turns need few lanes. It
	// changes nothing on other networks.
	Regular bool

	// Weights is how much traffic endpoints send and receive, relative to each
	// other, from 0 to MaxWeight [EndpointID]; storage may weigh more, login
	// nodes less. Nil: all host adapters alike, others next to nothing.
	Weights []uint8
}

// Limits and defaults.
const (
	DefaultPasses = 24
	LeastPasses   = 5
	LeastWork     = 150_000_000
	MostWork      = 1_000_000_000
	MaxWeight     = 100
)

// Paths implements routing.PathFinder.
func (fd Finder) Paths(ctx context.Context, f *fabric.Fabric, p routing.Progress) (*routing.Forwarding, error) {
	n, err := newNetwork(ctx, f, fd)
	if err != nil {
		return nil, err
	}
	best, err := search(ctx, n, fd, p)
	if err != nil {
		return nil, err
	}
	t := routing.NewForwarding(f)
	best.write(t)
	if len(n.hosts) > 1 {
		t.Notes = append(t.Notes, best.note())
	}
	if err := best.rest(ctx, t); err != nil {
		return nil, err
	}
	return t, nil
}
