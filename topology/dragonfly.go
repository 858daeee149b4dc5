package topology

import (
	"math/rand/v2"
	"strconv"

	"github.com/weft-fabric/weft/fabric"
)

// dragonfly is the network of J. Kim, W. J. Dally, S. Scott and D. Abts:
// Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008: G groups of A
// routers with P hosts and H global ports each. Within a group every two routers
// are joined by a cable; every two groups are joined by global cables.
//
//	group 0        group 1        …   group G-1
//	┌───────────┐  ┌───────────┐      ┌───────────┐
//	│ r0 ─── r1 │  │ r0 ─── r1 │      │ r0 ─── r1 │   A routers, all joined
//	│  │ ╲ ╱ │  │  │  │ ╲ ╱ │  │      │  │ ╲ ╱ │  │   P hosts on each
//	│ r2 ─── r3 │  │ r2 ─── r3 │      │ r2 ─── r3 │   H global ports on each
//	└─┬───────┬─┘  └─┬───────┬─┘      └─┬───────┬─┘
//	  └── every two groups joined by T global cables
//
// The global ports of a group are numbered k = r·H + j for port j of router r, 0 to
// A·H-1, and used in T = ⌊A·H / (G-1)⌋ rounds of G-1, one cable to each other group in
// each round; the last A·H - T(G-1) ports of each group stay unused. T = 1 at full size,
// G = A·H+1. One group has no cables out. Which port leads where is Global (C.
// Camarero, E. Vallejo, R. Beivide: Topological Characterization of Hamming and
// Dragonfly Networks and its Implications on Routing, ACM TACO 11(4), 2014). For
// round t and 0 ≤ k < G-1,
//
//   - palmtree: port t(G-1) + k of group g leads to group (g - k - 1) mod G, to its
//     port t(G-1) + G-2-k;
//   - consecutive: port t(G-1) + k of group g leads to the k-th of the other groups
//     in the order of their numbers, group k or k+1 (also called absolute);
//   - random: as consecutive, but the used ports of each group are shuffled, by
//     math/rand/v2's PCG with Seed and a constant stream.
//
// All three join every two groups by T cables.
//
// Order: by group, then router. Name: sw-g, the group, -r, the router. Ports:
// the hosts; then the A-1 other routers of the group in order; then the H global
// ports.
type dragonfly struct {
	P int // hosts on each router, from 1
	A int // routers in each group; zero: 2P, the balance of the paper
	H int // global ports of each router; zero: P, the balance of the paper
	G int // groups, up to A·H+1; zero: A·H+1

	Global string // palmtree, consecutive or random; empty: palmtree
	Seed   uint64 // of the random stream, for random
}

// dragonflyStream is the second half of the PCG seed: "weft" and "drag" in ASCII.
const dragonflyStream = 0x77656674_64726167

func (d *dragonfly) declare(p *params) size {
	p.number("p", &d.P, 0, 1, fabric.MaxPorts, "hosts on each router")
	p.number("a", &d.A, 2*d.P, 1, 2*fabric.MaxPorts, "routers in each group (default 2p)")
	p.number("h", &d.H, d.P, 1, fabric.MaxPorts, "global ports of each router (default p)")
	p.number("g", &d.G, d.A*d.H+1, 1, d.A*d.H+1, "groups (default a*h+1)")
	p.word("global", &d.Global, []string{"palmtree", "consecutive", "random"}, "how global cables are laid: palmtree (default), consecutive or random")
	p.seed(&d.Seed, "of the random stream, for global=random (default 0)")
	routers := product(d.A, d.G)
	return size{switches: routers, hosts: product(routers, d.P), ports: d.P + d.A - 1 + d.H}
}

// Build makes the fabric.
func (d dragonfly) Build() (*fabric.Fabric, error) { return built(&d) }

func (d *dragonfly) lay(l *layout) {
	for g := range d.G {
		for r := range d.A {
			l.addSwitch("sw-g"+strconv.Itoa(g)+"-r"+strconv.Itoa(r), d.P+d.A-1+d.H)
		}
	}
	for g := range d.G {
		for r := range d.A {
			l.addHosts(g*d.A+r, d.P)
			for other := r + 1; other < d.A; other++ {
				// A switch is not in its own list of the others, so indices after it are one lower.
				l.cable(g*d.A+r, d.P+other, g*d.A+other, d.P+1+r)
			}
		}
	}
	d.cableGroups(l)
}

// globalPorts is, for each group, its global ports by where they lead: entry t(G-1) + i
// is the port that leads in round t to the i-th other group, in the order of their
// numbers.
func (d *dragonfly) globalPorts() [][]int {
	used := d.rounds() * (d.G - 1)
	rng := rand.New(rand.NewPCG(d.Seed, dragonflyStream))
	ports := make([][]int, d.G)
	for g := range ports {
		ports[g] = countUp(0, used)
		switch d.Global {
		case "palmtree":
			for n := range ports[g] {
				i := n % (d.G - 1)
				other := i
				if i >= g {
					other++
				}
				ports[g][n] = n - i + (g-other-1+d.G)%d.G
			}
		case "random":
			rng.Shuffle(used, func(a, b int) { ports[g][a], ports[g][b] = ports[g][b], ports[g][a] })
		}
	}
	return ports
}

// rounds is T, the number of cables between two groups.
func (d *dragonfly) rounds() int { return d.A * d.H / max(d.G-1, 1) }

// cableGroups lays the global cables.
func (d *dragonfly) cableGroups(l *layout) {
	ports := d.globalPorts()
	end := func(group, k int) (router, port int) {
		return group*d.A + k/d.H, d.P + d.A + k%d.H
	}
	for g := range d.G {
		for other := range g {
			for t := range d.rounds() {
				// A group is not in its own list of the others.
				a, aPort := end(g, ports[g][t*(d.G-1)+other])
				z, zPort := end(other, ports[other][t*(d.G-1)+g-1])
				l.cable(a, aPort, z, zPort)
			}
		}
	}
}

func (d dragonfly) String() string { return specOf(&d) }
