package topology

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// hyperX is the network of J. H. Ahn, N. Binkert, A. Davis, M. McLaren and R. S.
// Schreiber: HyperX: Topology, Routing, and Packaging of Efficient Large-Scale
// Networks, SC 2009: a grid in which a switch is joined to all others along every
// dimension, not to its neighbours only. With one cable each it is the Hamming graph,
// and with all dimensions of size 2 the hypercube; one dimension is the complete
// graph.
//
//	┌──────────┐┌──────────┐
//	sw-0-0 ── sw-0-1 ── sw-0-2      Dims 2x3: each row is joined
//	└────│─────────│─────────┘│     all to all, and so is each
//	     │         │          │     column
//	sw-1-0 ── sw-1-1 ── sw-1-2
//	└────────────────────────┘
//
// K is the paper's relative bandwidth of each dimension: cables between two switches
// that differ in that coordinate alone. A switch has Σ K[d]·(Dims[d]-1) cables to
// others, and no two are more hops apart than there are dimensions above 1.
//
// Order: by coordinates, the last one fastest. Ports: the hosts; then for each
// dimension the others by coordinate, K ports for each.
type hyperX struct {
	Dims  []int // switches along each dimension, from 1
	K     []int // cables along each dimension; none: 1 each
	Hosts int   // on each switch; zero: 1
}

func (h *hyperX) declare(p *params) size {
	p.numbers("dims", &h.Dims, nil, fabric.MaxPorts, "switches along each dimension")
	ones := slices.Repeat([]int{1}, max(1, min(len(h.Dims), maxList)))
	p.numbers("k", &h.K, ones, fabric.MaxPorts, "cables between two switches along each dimension (default 1 each)")
	hostsParam(p, &h.Hosts)
	if len(h.K) != len(h.Dims) {
		p.refuse("k", 0, "dims=%s has %d dimensions and k=%s has %d; they have one number each for every dimension", sizesText(h.Dims), len(h.Dims), sizesText(h.K), len(h.K))
	}
	if p.fault != nil {
		return size{}
	}
	ports := h.Hosts
	for d, n := range h.Dims {
		ports += product(h.K[d], n-1)
	}
	n := product(h.Dims...)
	return size{switches: n, hosts: product(n, h.Hosts), ports: ports}
}

// Build makes the fabric.
func (h hyperX) Build() (*fabric.Fabric, error) { return built(&h) }

func (h *hyperX) lay(l *layout) {
	need := h.declare(new(params))
	at := make([]int, len(h.Dims))
	for s := range need.switches {
		digitsOf(s, h.Dims, at)
		l.addHosts(l.addSwitch(coordinateName(at), need.ports), h.Hosts)
	}
	weight := weights(h.Dims)
	for s := range need.switches {
		digitsOf(s, h.Dims, at)
		port := h.Hosts + 1 // the first of the dimension
		for d, n := range h.Dims {
			for other := at[d] + 1; other < n; other++ {
				for c := range h.K[d] {
					// A switch is not in its own list of the others, so indices after it are one lower.
					l.cable(s, port+(other-1)*h.K[d]+c, s+(other-at[d])*weight[d], port+at[d]*h.K[d]+c)
				}
			}
			port += h.K[d] * (n - 1)
		}
	}
}

func (h hyperX) String() string { return specOf(&h) }
