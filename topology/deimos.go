package topology

import (
	"fmt"

	"github.com/weft-fabric/weft/fabric"
)

// Deimos is the 724-node cluster of TU Dresden on which DFSSSP was measured: T.
// Hoefler, T. Schneider, A. Lumsdaine: Optimized Routing for Large-Scale
// InfiniBand Networks, HOTI 2009, Figure 7; J. Domke, T. Hoefler, W. E. Nagel:
// Deadlock-Free Oblivious Routing for Arbitrary Topologies, IPDPS 2011, section
// VI. It has no parameters.
//
//	 258 ports        228 ports        258 ports
//	┌──────────┐     ┌──────────┐     ┌──────────┐
//	│   d0     ├──30─┤   d1     ├──30─┤   d2     │
//	└──────────┘     └──────────┘     └──────────┘
//
// Each 288-port director is a fat tree of 24 leaf and 12 spine crossbars of 24
// ports. Leaf i has twelve outer ports, 1 to 12, and its port 13+j goes to port
// 1+i of spine j.
//
// The papers give these figures, not the ports, nor which 20 of the 744 outer
// ports without a cross cable are dark. Here both are dealt out evenly. Cross
// cables take the outer ports from the top: the c-th cable of a director is at
// port 12-⌊c/24⌋ of leaf c mod 24. The cables from d0 to d1 are the first 30 of
// both, those from d1 to d2 the last 30 of d1 and the first 30 of d2. Hosts, 251,
// 222 and 251, take the outer ports from the bottom, one on each leaf in turn
// while it has a free port.
//
// Deviations: links are 4xHDR, like everywhere in this package; the machine's
// were slower.
//
// Order: by director, its leaves and then its spines; hosts by leaf.
type Deimos struct{}

const (
	deimosDirectors = 3
	deimosLeaves    = 24 // of a director
	deimosSpines    = 12 // of a director
	deimosRadix     = 24 // ports of a crossbar
	deimosOuter     = 12 // outer ports of a leaf
	deimosCross     = 30 // cables between two directors
)

// deimosHosts is the hosts of each director.
var deimosHosts = [deimosDirectors]int{251, 222, 251}

func (*Deimos) declare(*params) size {
	need := size{switches: deimosDirectors * (deimosLeaves + deimosSpines), ports: deimosRadix}
	for _, hosts := range deimosHosts {
		need.hosts += hosts
	}
	return need
}

// Build makes the fabric.
func (d Deimos) Build() (*fabric.Fabric, error) {
	var l layout
	for director := range deimosDirectors {
		addDirector(&l, director)
	}
	for c := range deimosCross {
		joinDirectors(&l, 0, c, c)
		joinDirectors(&l, 1, deimosCross+c, c)
	}
	return l.b.Build()
}

// addDirector adds the crossbars and hosts of a director.
func addDirector(l *layout, director int) {
	first := len(l.switches)
	for i := range deimosLeaves {
		l.addCrossbar(fmt.Sprintf("sw-d%d-leaf-%d", director, i), deimosRadix, first)
	}
	for j := range deimosSpines {
		l.addCrossbar(fmt.Sprintf("sw-d%d-spine-%d", director, j), deimosRadix, first)
	}
	for i, hosts := range dealHosts(director) {
		l.addHosts(first+i, hosts)
		for j := range deimosSpines {
			l.cable(first+i, deimosOuter+1+j, first+deimosLeaves+j, 1+i)
		}
	}
}

// dealHosts counts the hosts of each leaf of a director.
func dealHosts(director int) []int {
	free := make([]int, deimosLeaves)
	cross := deimosCross
	if director == 1 {
		cross *= 2 // the one in the middle
	}
	for i := range free {
		free[i] = deimosOuter
	}
	for c := range cross {
		free[c%deimosLeaves]--
	}
	hosts := make([]int, deimosLeaves)
	for i, left := 0, deimosHosts[director]; left > 0; i = (i + 1) % deimosLeaves {
		if hosts[i] < free[i] {
			hosts[i]++
			left--
		}
	}
	return hosts
}

// joinDirectors joins the a-th cross cable of a director to the z-th of the next.
func joinDirectors(l *layout, director, a, z int) {
	leaf := func(director, c int) (sw, port int) {
		return director*(deimosLeaves+deimosSpines) + c%deimosLeaves, deimosOuter - c/deimosLeaves
	}
	from, fromPort := leaf(director, a)
	to, toPort := leaf(director+1, z)
	l.cable(from, fromPort, to, toPort)
}

func (d Deimos) String() string { return specOf(&d) }
