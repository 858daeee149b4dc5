package topology

import "github.com/weft-fabric/weft/fabric"

// ring is N switches in a circle: the simplest network whose shortest paths can
// deadlock, each packet waiting for the one ahead of it (W. J. Dally, C. L. Seitz:
// Deadlock-Free Message Routing in Multiprocessor Interconnection Networks, IEEE
// Transactions on Computers C-36(5), 1987).
//
//	sw-0 ── sw-1 ── sw-2 ── … ── sw-(N-1)
//	  └──────────────────────────────┘
//
// Also with N = 2 the two switches are joined by one cable, not by two. The order and
// the ports are those of a torus of one dimension.
type ring struct {
	N     int // switches, from 2
	Hosts int // on each switch; zero: 1
}

func (r *ring) declare(p *params) size {
	p.number("n", &r.N, 0, 2, int(fabric.MaxLID)/2, "switches")
	hostsParam(p, &r.Hosts)
	return r.grid().size()
}

func (r *ring) grid() *grid {
	return &grid{dims: []int{r.N}, hosts: r.Hosts, wrap: true, name: coordinateName}
}

// Build makes the fabric.
func (r ring) Build() (*fabric.Fabric, error) { return built(&r) }

func (r *ring) lay(l *layout) { r.grid().lay(l) }

func (r ring) String() string { return specOf(&r) }
