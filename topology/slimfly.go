package topology

import (
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// slimFly is the Slim Fly of M. Besta and T. Hoefler: Slim Fly: A Cost Effective
// Low-Diameter Network Topology, SC 2014, section II, on the graphs of B. D. McKay,
// M. Miller and J. Širáň: A Note on Large Graphs of Diameter Two and Given Maximum
// Degree, Journal of Combinatorial Theory B 74(1), 1998. Q = 4w + δ is a prime power
// with δ = 1, 0 or -1. It has 2Q² switches, each with (3Q-δ)/2 cables to others, and
// no two switches are more than two hops apart.
//
//	sw-0-x-y   Q columns x of Q switches y      sw-1-m-c   Q columns m of Q switches c
//
//	┌ x=0 ┐┌ x=1 ┐ … ┌ x=Q-1 ┐                  ┌ m=0 ┐┌ m=1 ┐ … ┌ m=Q-1 ┐
//	│     ││     │   │       │   y = m·x + c    │     ││     │   │       │
//	│ y-y'││ y-y'│   │ y-y'  │ ════════════════ │ c-c'││ c-c'│   │ c-c'  │
//	│ ∈ X ││ ∈ X │   │ ∈ X   │  across: a cable │ ∈ X'││ ∈ X'│   │ ∈ X'  │
//	└─────┘└─────┘   └───────┘  if and only if  └─────┘└─────┘   └───────┘
//
// Sums and products are those of GF(Q). With a primitive element ξ the sets are
//
//	δ =  1:  X = {1, ξ², ξ⁴, …, ξ^(Q-3)}
//	δ =  0:  X = {1, ξ², ξ⁴, …, ξ^(Q-2)}
//	δ = -1:  X = {1, ξ², …, ξ^(2w-2)} ∪ {ξ^(2w-1), ξ^(2w+1), …, ξ^(4w-3)}
//
// and X' = ξX. Each set equals its own negative, because cables have no direction. Q =
// 5 makes the Hoffman-Singleton graph, the largest possible graph of degree 7 and
// diameter 2.
//
// The paper balances a switch with half as many hosts as it has cables to others,
// rounded up, which is the default. T. Schneider, O. Bibartiu and T. Hoefler (Ensuring
// Deadlock-Freedom in Low-Diameter InfiniBand Networks, HOTI 2016, Figure 7) use as
// many hosts as cables: Q = 3, 5, 7, 11, 13 with 5, 7, 11, 17, 19 hosts. (Their table
// says 337 switches for Q = 13; there are 2·13² = 338.)
//
// Order: by side, column, row. Elements of GF(Q) are numbers below Q: for a prime Q
// themselves, otherwise the digits of a polynomial in base p. Ports: the hosts, then
// the cables within the column by the exponent of the difference, then those across by
// column.
type slimFly struct {
	Q     int // prime power from 3
	Hosts int // on each switch; zero: half the cables to others, rounded up
}

// mostQ is larger than any Q whose 2Q² switches with a host each have enough LIDs.
const mostQ = 110

func (s *slimFly) declare(p *params) size {
	// Every prime power above 2 is -1, 0 or 1 modulo 4.
	p.choice("q", &s.Q, 0, primePowers(mostQ)[1:], "it is a prime power from 3 to 109", "prime power; there are 2q² switches")
	degree := s.degree()
	p.number("hosts", &s.Hosts, max(1, (degree+1)/2), 1, fabric.MaxPorts, "hosts on each switch (default half of its cables to others)")
	n := product(2, s.Q, s.Q)
	return size{switches: n, hosts: product(n, s.Hosts), ports: s.Hosts + degree}
}

// degree is (3Q-δ)/2 = Q + 2w, the cables of a switch to others.
func (s *slimFly) degree() int { return s.Q + (s.Q+1)/4*2 }

// exponents is those e for which ξ^e is in X: switches whose rows differ by ξ^e are
// joined in the columns of the first side.
func (s *slimFly) exponents() []int {
	var list []int
	if s.Q%4 == 3 {
		half := (s.Q - 1) / 2 // 2w-1, the exponent of -1
		for e := 0; e < half; e += 2 {
			list = append(list, e, e+half)
		}
		slices.Sort(list)
		return list
	}
	for e := 0; e < s.Q-1; e += 2 {
		list = append(list, e)
	}
	return list
}

// Build makes the fabric.
func (s slimFly) Build() (*fabric.Fabric, error) { return built(&s) }

func (s *slimFly) lay(l *layout) {
	for side := range 2 {
		for column := range s.Q {
			for row := range s.Q {
				l.addHosts(l.addSwitch(named("sw", side, column, row), s.Hosts+s.degree()), s.Hosts)
			}
		}
	}
	s.join(l.cable)
}

// join calls cable with both ends of every cable between switches; these are numbers in the
// order of lay. Bundlefly takes the switches from it without the ports.
func (s *slimFly) join(cable func(a, aPort, z, zPort int)) {
	gf := newField(s.Q)
	inside := s.exponents()
	for side := range 2 {
		for row := range s.Q {
			for i, e := range inside {
				other := gf.add(row, gf.exp[(e+side)%(s.Q-1)])
				// The other switch has this one at minus the difference.
				back := slices.IndexFunc(inside, func(e int) bool { return gf.add(other, gf.exp[(e+side)%(s.Q-1)]) == row })
				for column := range s.Q {
					if first := (side*s.Q + column) * s.Q; row < other {
						cable(first+row, s.Hosts+1+i, first+other, s.Hosts+1+back)
					}
				}
			}
		}
	}
	across := s.Hosts + len(inside) + 1
	for x := range s.Q {
		for m := range s.Q {
			for c := range s.Q {
				y := gf.add(gf.mul(m, x), c)
				cable(x*s.Q+y, across+m, (s.Q+m)*s.Q+c, across+x)
			}
		}
	}
}

func (s slimFly) String() string { return specOf(&s) }
