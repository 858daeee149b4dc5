package topology

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// bundlefly is the Bundlefly of F. Lei, D. Dong, X. Liao and J. Duato: Bundlefly: A
// Low-Diameter Topology for Multicore Fiber, ICS 2020: the star product (see star) of the
// graph of a Slim Fly and a Paley graph, three hops wide at most. All cables between two
// supernodes can share one multicore fibre.
//
// It has 2Q² supernodes of P switches; a switch has (3Q-δ)/2 cables to other supernodes,
// Q = 4w + δ, and (P-1)/2 within its own.
//
// A switch has a third as many hosts as cables by default, rounded up, as in the
// comparison in PolarStar's paper.
type bundlefly struct {
	Q     int // prime power from 3
	P     int // switches of a supernode: a prime power that is 1 modulo 4
	Hosts int // on each switch; zero: a third of its cables to others, rounded up
}

func (b *bundlefly) declare(p *params) size {
	p.choice("q", &b.Q, 0, primePowers(mostQ)[1:], "it is a prime power from 3 to 109", "prime power; there are 2q² supernodes")
	p.choice("p", &b.P, 0, paleySizes(2*fabric.MaxPorts), "it has to be a prime power that is 1 modulo 4", "switches of a supernode: a prime power that is 1 modulo 4")
	degree := (&slimFly{Q: b.Q}).degree() + b.P/2
	p.number("hosts", &b.Hosts, max(1, (degree+2)/3), 1, fabric.MaxPorts, "hosts on each switch (default a third of its cables to others)")
	n := product(2, b.Q, b.Q, b.P)
	return size{switches: n, hosts: product(n, b.Hosts), ports: b.Hosts + degree}
}

// Build makes the fabric.
func (b bundlefly) Build() (*fabric.Fabric, error) { return built(&b) }

func (b *bundlefly) lay(l *layout) {
	p := star{structure: make([][]int, 2*b.Q*b.Q), hosts: b.Hosts}
	(&slimFly{Q: b.Q}).join(func(x, _, y, _ int) {
		p.structure[x], p.structure[y] = append(p.structure[x], y), append(p.structure[y], x)
	})
	for _, others := range p.structure {
		slices.Sort(others)
	}
	p.supernode, p.f = paley(b.P)
	p.lay(l)
}

func (b bundlefly) String() string { return specOf(&b) }
