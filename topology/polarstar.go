package topology

import "github.com/weft-fabric/weft/fabric"

// polarStar is the PolarStar of K. Lakhotia and others: PolarStar: Expanding the Horizon of
// Diameter-3 Networks, SPAA 2024: the star product (see star) of the polarity graph of
// PolarFly and a supernode of D cables a switch, three hops wide at most.
//
//	supernode=iq     2(D+1) switches; D is 0 or 3 modulo 4 (pairedQuads)
//	supernode=paley  2D+1 switches, a prime power that is 1 modulo 4
//
// It has Q² + Q + 1 supernodes; a switch has Q + 1 cables to others, and D within its own.
// With supernode=iq the quadrics of the polarity graph, which it joins to themselves, have
// one cable more within the supernode; with paley that port stays free.
//
// A switch has a third as many hosts as cables by default, rounded up, as in the paper.
type polarStar struct {
	Q         int    // prime power from 2
	D         int    // cables of a switch within its supernode
	Supernode string // iq or paley; empty: iq
	Hosts     int    // on each switch; zero: a third of Q+1+D, rounded up
}

const (
	quads       = "iq"
	paleyGraphs = "paley"
)

func (s *polarStar) declare(p *params) size {
	p.choice("q", &s.Q, 0, primePowers(mostPolar), "it is a prime power from 2 to 151", "prime power; there are q²+q+1 supernodes")
	p.word("supernode", &s.Supernode, []string{quads, paleyGraphs}, "iq (default) or paley")
	choices, why := s.degrees()
	p.choice("d", &s.D, 0, choices, why, "cables of a switch within its supernode, of 2d+2 switches (paley: 2d+1)")
	degree := s.Q + 1 + s.D
	p.number("hosts", &s.Hosts, max(1, (degree+2)/3), 1, fabric.MaxPorts, "hosts on each switch (default a third of its cables to others)")
	n := product(min(product(s.Q, s.Q)+s.Q+1, saturated), s.order())
	return size{switches: n, hosts: product(n, s.Hosts), ports: s.Hosts + degree}
}

// order is the switches of a supernode.
func (s *polarStar) order() int {
	if s.Supernode == paleyGraphs {
		return 2*s.D + 1
	}
	return 2*s.D + 2
}

// degrees is the choices for D, and what is wrong with any other.
func (s *polarStar) degrees() (choices []int, why string) {
	if s.Supernode == paleyGraphs {
		for _, n := range paleySizes(fabric.MaxPorts) {
			choices = append(choices, (n-1)/2)
		}
		return choices, "2d+1 has to be a prime power that is 1 modulo 4"
	}
	for d := 3; d < fabric.MaxPorts; d++ {
		if d%4 == 0 || d%4 == 3 {
			choices = append(choices, d)
		}
	}
	return choices, "it is 3, 4, 7, 8 and so on: 0 or 3 modulo 4"
}

// Build makes the fabric.
func (s polarStar) Build() (*fabric.Fabric, error) { return built(&s) }

func (s *polarStar) lay(l *layout) {
	p := star{structure: projectivePlane(newField(s.Q)), hosts: s.Hosts}
	if s.Supernode == paleyGraphs {
		p.supernode, p.f = paley(s.order())
		dropLoops(p.structure)
	} else {
		p.supernode, p.f = pairedQuads(s.D)
	}
	p.lay(l)
}

func (s polarStar) String() string { return specOf(&s) }
