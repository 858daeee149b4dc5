package topology

import "github.com/weft-fabric/weft/fabric"

// torus is a mesh whose every dimension is a ring: the k-ary n-cube, with a k for
// each dimension (W. J. Dally, C. L. Seitz: Deadlock-Free Message Routing in
// Multiprocessor Interconnection Networks, IEEE Transactions on Computers
// C-36(5), 1987).
//
//	┌─────────────────────┐
//	sw-0-0 ── sw-0-1 ── sw-0-2
//	  │         │         │          Dims 2x3
//	sw-1-0 ── sw-1-1 ── sw-1-2
//	└─────────────────────┘
//
// A dimension of size 2 has one cable between its two switches, not two, and so one
// port; a dimension of size 1 has none. Order and ports are those of a mesh, with no port
// unused.
type torus struct {
	Dims  []int // switches along each dimension, from 1
	Hosts int   // on each switch; zero: 1
}

func (t *torus) declare(p *params) size {
	p.numbers("dims", &t.Dims, nil, int(fabric.MaxLID)/2, "switches along each dimension")
	hostsParam(p, &t.Hosts)
	return t.grid().size()
}

func (t *torus) grid() *grid {
	return &grid{dims: t.Dims, hosts: t.Hosts, wrap: true, name: coordinateName}
}

// Build makes the fabric.
func (t torus) Build() (*fabric.Fabric, error) { return built(&t) }

func (t *torus) lay(l *layout) { t.grid().lay(l) }

func (t torus) String() string { return specOf(&t) }
