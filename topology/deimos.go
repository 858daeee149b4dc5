package topology

import (
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
)

// deimos is the 724-node cluster of TU Dresden on which DFSSSP was measured: T.
// Hoefler, T. Schneider, A. Lumsdaine: Optimized Routing for Large-Scale
// InfiniBand Networks, HOTI 2009, Figure 7; J. Domke, T. Hoefler, W. E. Nagel:
// Deadlock-Free Oblivious Routing for Arbitrary Topologies, IPDPS 2011, section
// VI.
//
//	 258 ports        228 ports        258 ports
//	┌──────────┐     ┌──────────┐     ┌──────────┐
//	│   d0     ├──30─┤   d1     ├──30─┤   d2     │
//	└──────────┘     └──────────┘     └──────────┘
//
// The ports are what the cross cables leave for hosts. Each 288-port director is as family
// director makes it: a fat tree of 24 leaf and 12 spine
// crossbars of 24 ports. Leaf i has twelve outer ports, 1 to 12, and its port 13+j
// goes to port 1+i of spine j.
//
// The papers give these figures, but not the outer ports of the cross cables, nor which 20
// of the other 744 are unused. Cables and Hosts say where they are, each director by
// itself, the cross cables first:
//
//   - spread: one on each leaf, round robin: as even as can be;
//   - packed: leaf after leaf, each filled before the next is begun;
//   - drawn: on outer ports drawn by lot, by math/rand/v2's PCG with Seed and a constant
//     stream.
//
// On a leaf cross cables take the outer ports from the top and hosts those from the
// bottom. The cables from d0 to d1 are the first 30 of both, those from d1 to d2 the last
// 30 of d1 and the first 30 of d2.
//
// Deviations: links are 4xHDR, as in this whole package; those of the machine were
// slower.
//
// Order: by director, its leaves and then its spines; hosts by leaf.
type deimos struct {
	Cables string // spread, packed or drawn; empty: spread
	Hosts  string // likewise
	Seed   uint64 // of the random stream, for drawn
}

// deimosStream is the second half of the PCG seed: "weft" and "deim" in ASCII.
const deimosStream = 0x77656674_6465696d

const (
	deimosPorts = 288 // outer ports of a director
	deimosRadix = 24  // ports of a crossbar
	deimosCross = 30  // cables between two directors
)

// deimosHosts is the number of hosts of each director.
var deimosHosts = []int{251, 222, 251}

func (d *deimos) declare(p *params) size {
	p.word("cables", &d.Cables, seatings, "outer ports of the cables between directors: spread over the leaves (default), packed or drawn")
	p.word("hosts", &d.Hosts, seatings, "outer ports of the hosts, likewise")
	p.seed(&d.Seed, "of the random stream, for drawn (default 0)")
	in := directorOf(deimosPorts, deimosRadix)
	need := size{switches: len(deimosHosts) * (in.leaves + in.spines), ports: deimosRadix}
	for _, hosts := range deimosHosts {
		need.hosts += hosts
	}
	return need
}

// Build makes the fabric.
func (d deimos) Build() (*fabric.Fabric, error) { return built(&d) }

func (d *deimos) lay(l *layout) {
	in := directorOf(deimosPorts, deimosRadix)
	rng := rand.New(rand.NewPCG(d.Seed, deimosStream))
	type outlet struct{ sw, port int }
	cross := make([][]outlet, len(deimosHosts)) // [director] where its cross cables are plugged in
	for i, hosts := range deimosHosts {
		cables := deimosCross
		if i == 1 {
			cables *= 2 // the middle one has cables to both others
		}
		free := in.outerPorts()
		var leaves []int
		var ports []int
		for _, leaf := range seat(d.Cables, free, cables, rng) {
			leaves, ports = append(leaves, leaf), append(ports, free[leaf])
			free[leaf]--
		}
		has := make([]int, in.leaves)
		for _, leaf := range seat(d.Hosts, free, hosts, rng) {
			has[leaf]++
		}
		first := in.add(l, i, has)
		for c, leaf := range leaves {
			cross[i] = append(cross[i], outlet{first + leaf, ports[c]})
		}
	}
	for c := range deimosCross {
		l.cable(cross[0][c].sw, cross[0][c].port, cross[1][c].sw, cross[1][c].port)
		middle := cross[1][deimosCross+c]
		l.cable(middle.sw, middle.port, cross[2][c].sw, cross[2][c].port)
	}
}

func (d deimos) String() string { return specOf(&d) }
