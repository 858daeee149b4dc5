package topology

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// hypercube is 2^N switches, one for each word of N bits, joined where exactly
// one bit differs: the binary n-cube (C. L. Seitz: The Cosmic Cube,
// Communications of the ACM 28(1), 1985).
//
//	sw-00 ── sw-01
//	  │        │         N = 2
//	sw-10 ── sw-11
//
// Order: by the word as a number. Ports: the hosts, then one port for each bit,
// the leftmost bit of the name first.
type hypercube struct {
	N     int // bits, 1 to 14
	Hosts int // on each switch; zero: 1
}

func (h *hypercube) declare(p *params) size {
	p.number("n", &h.N, 0, 1, 14, "dimensions")
	hostsParam(p, &h.Hosts)
	if p.fault != nil {
		return size{}
	}
	return h.grid().size()
}

func (h *hypercube) grid() *grid {
	return &grid{dims: slices.Repeat([]int{2}, h.N), hosts: h.Hosts, name: binaryName}
}

// Build makes the fabric.
func (h hypercube) Build() (*fabric.Fabric, error) { return built(&h) }

func (h *hypercube) lay(l *layout) { h.grid().lay(l) }

func (h hypercube) String() string { return specOf(&h) }
