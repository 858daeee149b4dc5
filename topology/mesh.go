package topology

import "github.com/weft-fabric/weft/fabric"

// mesh is a grid of Dims[0] × Dims[1] × … switches, each joined to its
// neighbours along every dimension, without wraparound: the k-ary n-mesh, with
// a k for each dimension (W. J. Dally, B. Towles: Principles and Practices of
// Interconnection Networks, Morgan Kaufmann 2004, chapter 5).
//
//	sw-0-0 ── sw-0-1 ── sw-0-2
//	  │         │         │          Dims 2x3
//	sw-1-0 ── sw-1-1 ── sw-1-2
//
// Order: by coordinates, the last one fastest. Ports: the hosts, then for each
// dimension the port up and the port down; at the ends of a dimension the outer one is
// unused. A dimension of size 2 has one port, of size 1 none.
type mesh struct {
	Dims  []int // switches along each dimension, from 1
	Hosts int   // on each switch; zero: 1
}

func (m *mesh) declare(p *params) size {
	p.numbers("dims", &m.Dims, nil, int(fabric.MaxLID)/2, "switches along each dimension")
	hostsParam(p, &m.Hosts)
	return m.grid().size()
}

func (m *mesh) grid() *grid {
	return &grid{dims: m.Dims, hosts: m.Hosts, name: coordinateName}
}

// Build makes the fabric.
func (m mesh) Build() (*fabric.Fabric, error) { return built(&m) }

func (m *mesh) lay(l *layout) { m.grid().lay(l) }

func (m mesh) String() string { return specOf(&m) }
