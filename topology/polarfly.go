package topology

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// polarFly is the PolarFly of K. Lakhotia and others: PolarFly: A Cost-Effective and
// Flexible Low-Diameter Topology, SC 2022, on the polarity graph of P. Erdős, A. Rényi
// and V. T. Sós (On a problem of graph theory, Studia Scientiarum Mathematicarum
// Hungarica 1, 1966). Switches are the Q² + Q + 1 points of the projective plane
// PG(2, Q), Q a prime power; a cable joins two points whose coordinates have products
// that add up to 0.
//
//	sw-i ── sw-j   if and only if   x_i·x_j + y_i·y_j + z_i·z_j = 0 in GF(Q), i ≠ j
//
// No two switches are more than two hops apart, and with D cables a switch no network of
// that diameter has more than D² + 1 switches (Moore's bound), of which this one has
// D² - D + 1. Each has D = Q + 1 cables to others, except the Q + 1 quadrics, the points
// to which the rule joins themselves: they have Q.
//
// A switch has half as many hosts as cables by default, rounded up, as in the paper.
//
// Order: points are (1, y, z), (0, 1, z), (0, 0, 1) by number. Ports: the hosts, then the
// cables by the number of the other switch.
type polarFly struct {
	Q     int // prime power from 2
	Hosts int // on each switch; zero: half of Q+1, rounded up
}

// mostPolar is the largest Q whose Q² + Q + 1 switches with a host each have enough LIDs.
const mostPolar = 151

// declare reads the parameters into f, with their defaults, and counts what lay will make.
func (f *polarFly) declare(p *params) size {
	const required = 0 // as a default
	p.choice("q", &f.Q, required, primePowers(mostPolar), "it is a prime power from 2 to 151", "prime power; there are q²+q+1 switches")
	half := max(1, (f.Q+2)/2) // of Q+1, rounded up; a wrong Q, below 0, is refused above
	p.number("hosts", &f.Hosts, half, 1, fabric.MaxPorts, "hosts on each switch (default half of q+1)")
	switches := min(product(f.Q, f.Q)+f.Q+1, saturated)
	return size{switches: switches, hosts: product(switches, f.Hosts), ports: f.Hosts + f.Q + 1}
}

// Build makes the fabric.
func (f polarFly) Build() (*fabric.Fabric, error) { return built(&f) }

// lay adds the switches with their hosts, and cables the points that the rule joins.
func (f *polarFly) lay(l *layout) {
	plane := projectivePlane(newField(f.Q)) // [point] the points that the rule joins it to, ascending
	for i := range plane {
		s := l.addSwitch(named("sw", i), f.Hosts+f.Q+1)
		l.addHosts(s, f.Hosts)
	}
	dropLoops(plane)
	for i, others := range plane {
		for k, j := range others {
			if i < j {
				l.cable(i, f.Hosts+1+k, j, f.Hosts+1+slices.Index(plane[j], i))
			}
		}
	}
}

// dropLoops takes every vertex of a graph, joined, out of its own neighbours: no cable joins a switch to itself.
func dropLoops(joined [][]int) {
	for v, others := range joined {
		joined[v] = slices.DeleteFunc(others, func(u int) bool { return u == v })
	}
}

func (f polarFly) String() string { return specOf(&f) }
