package topology

import (
	"strconv"

	"github.com/weft-fabric/weft/fabric"
)

// Dragonfly is the network of J. Kim, W. J. Dally, S. Scott and D. Abts:
// Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008: G groups of A
// routers with P hosts and H global ports each. Within a group every two routers
// are joined by a cable; every two groups are joined by global cables.
//
// The global cables are those of the palm tree arrangement (C. Camarero, E.
// Vallejo, R. Beivide: Topological Characterization of Hamming and Dragonfly
// Networks and its Implications on Routing, ACM TACO 11(4), 2014). The global
// ports of a group are numbered k = r·H + j for port j of router r, 0 to A·H-1.
// In a network of full size, G = A·H+1,
//
//	port k of group g leads to port A·H-1-k of group (g - k - 1) mod G,
//
// which is symmetric, and joins every two groups by exactly one cable.
//
// With fewer groups the same is done in rounds. The global ports of a group are
// cut into T = ⌊A·H / (G-1)⌋ rounds of G-1, and for round t and 0 ≤ k < G-1
//
//	port t(G-1) + k of group g leads to port t(G-1) + G-2-k of group (g - k - 1) mod G,
//
// so that every two groups are joined by T cables. The last A·H - T(G-1) global
// ports of each group stay dark. T = 1 at full size; one group has no cables out.
//
// Order: by group, then router. Name: sw-g, the group, -r, the router. Ports:
// the hosts; then the A-1 other routers of the group in order; then the H global
// ports.
type Dragonfly struct {
	P int // hosts on each router, from 1
	A int // routers in each group; zero: 2P, as the paper balances it
	H int // global ports of each router; zero: P, likewise
	G int // groups, up to A·H+1; zero: A·H+1
}

func (d *Dragonfly) declare(p *params) size {
	p.number("p", &d.P, 0, 1, fabric.MaxPorts, "hosts on each router")
	p.number("a", &d.A, 2*d.P, 1, 2*fabric.MaxPorts, "routers in each group (default 2p)")
	p.number("h", &d.H, d.P, 1, fabric.MaxPorts, "global ports of each router (default p)")
	p.number("g", &d.G, d.A*d.H+1, 1, d.A*d.H+1, "groups (default a*h+1)")
	routers := product(d.A, d.G)
	return size{switches: routers, hosts: product(routers, d.P), ports: d.P + d.A - 1 + d.H}
}

// Build makes the fabric.
func (d Dragonfly) Build() (*fabric.Fabric, error) {
	if err := settle(&d); err != nil {
		return nil, err
	}
	var l layout
	for g := range d.G {
		for r := range d.A {
			l.addSwitch("sw-g"+strconv.Itoa(g)+"-r"+strconv.Itoa(r), d.P+d.A-1+d.H)
		}
	}
	for g := range d.G {
		for r := range d.A {
			l.addHosts(g*d.A+r, d.P)
			for other := r + 1; other < d.A; other++ {
				// Each leaves itself out of the list of the others.
				l.cable(g*d.A+r, d.P+other, g*d.A+other, d.P+1+r)
			}
		}
		d.cableGroup(&l, g)
	}
	return l.b.Build()
}

// cableGroup lays the global cables from group g to the groups before it.
func (d *Dragonfly) cableGroup(l *layout, g int) {
	if d.G == 1 {
		return
	}
	end := func(group, k int) (router, port int) {
		return group*d.A + k/d.H, d.P + d.A + k%d.H
	}
	for t := range d.A * d.H / (d.G - 1) {
		first := t * (d.G - 1)
		for k := range g { // k < g: group g-k-1 is one before g, without the modulus
			a, aPort := end(g, first+k)
			z, zPort := end(g-k-1, first+d.G-2-k)
			l.cable(a, aPort, z, zPort)
		}
	}
}

func (d Dragonfly) String() string { return specOf(&d) }
