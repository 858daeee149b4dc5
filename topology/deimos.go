package topology

import "github.com/weft-fabric/weft/fabric"

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
// Each 288-port director is a Director: a fat tree of 24 leaf and 12 spine
// crossbars of 24 ports. Leaf i has twelve outer ports, 1 to 12, and its port 13+j
// goes to port 1+i of spine j.
//
// The papers give these figures, but not the ports, nor which 20 of the 744 outer ports
// without a cross cable are unused. Here both are distributed evenly. Cross cables take
// the outer ports from the top: the c-th cable of a director is at port 12-⌊c/24⌋ of
// leaf c mod 24. The cables from d0 to d1 are the first 30 of both, those from d1 to d2
// the last 30 of d1 and the first 30 of d2. Hosts, 251, 222 and 251, take the outer
// ports from the bottom, one on each leaf round robin while it has a free port.
//
// Deviations: links are 4xHDR, as in this whole package; those of the machine were
// slower.
//
// Order: by director, its leaves and then its spines; hosts by leaf.
type Deimos struct{}

const (
	deimosPorts = 288 // outer ports of a director
	deimosRadix = 24  // ports of a crossbar
	deimosCross = 30  // cables between two directors
)

// deimosHosts is the hosts of each director.
var deimosHosts = []int{251, 222, 251}

func (*Deimos) declare(*params) size {
	in := directorOf(deimosPorts, deimosRadix)
	need := size{switches: len(deimosHosts) * (in.leaves + in.spines), ports: deimosRadix}
	for _, hosts := range deimosHosts {
		need.hosts += hosts
	}
	return need
}

// Build makes the fabric.
func (d Deimos) Build() (*fabric.Fabric, error) { return built(&d) }

func (d *Deimos) lay(l *layout) {
	in := directorOf(deimosPorts, deimosRadix)
	first := make([]int, len(deimosHosts)) // [director] its first leaf
	for i, hosts := range deimosHosts {
		free := in.outerPorts()
		cross := deimosCross
		if i == 1 {
			cross *= 2 // the middle one has cables to both others
		}
		for c := range cross {
			free[c%in.leaves]--
		}
		first[i] = in.add(l, i, dealHosts(free, hosts))
	}
	// join joins the a-th cross cable of a director to the z-th of the next.
	join := func(i, a, z int) {
		l.cable(first[i]+a%in.leaves, deimosRadix/2-a/in.leaves, first[i+1]+z%in.leaves, deimosRadix/2-z/in.leaves)
	}
	for c := range deimosCross {
		join(0, c, c)
		join(1, deimosCross+c, c)
	}
}

func (d Deimos) String() string { return specOf(&d) }
