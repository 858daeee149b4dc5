package topology

import (
	"math/rand/v2"

	"github.com/weft-fabric/weft/fabric"
)

// random is a connected random network: a random spanning tree, and then random
// cables until there are Links. J. Domke, T. Hoefler and W. E. Nagel count lanes
// on such networks (Deadlock-Free Oblivious Routing for Arbitrary Topologies,
// IPDPS 2011, Figure 9: 128 switches, 16 hosts each, a varying number of links).
//
//	sw-0 ──── sw-3 ──── sw-1      Switches-1 cables: a random tree (──)
//	  ╎         │         ╎       Links cables in all: further ones join
//	  └╌╌╌╌╌╌ sw-2 ╌╌╌╌╌╌╌┘       two switches drawn at random (╌╌)
//
// Jellyfish has a fixed number of links on each switch instead.
//
// The tree: the switches in random order, each joined to a random one before it (this
// favours shallow trees; it is not uniform over all of them). A further cable joins two
// random switches. No cable has both ends in one switch, and no two cables join the
// same pair as long as some pair is not joined: only from Switches·(Switches-1)/2 links
// on are there parallel cables, and their pairs are drawn independently of the others.
//
// Links is at most a sixth of the free ports, Switches·(254-Hosts)/6. Then less than a
// third of the switches can ever be full, there are always two with a free port and,
// while there are no parallel cables, two that are not joined: no cable ever has to be
// removed again.
//
// The draws are math/rand/v2's PCG with Seed and a constant stream; the same
// parameters give the same network, and more Links only add cables to it. Order:
// switches by number. Ports: the hosts, then the cables as they were drawn.
type random struct {
	Switches int    // from 2
	Links    int    // cables between switches, from Switches-1
	Hosts    int    // on each switch; zero: 1
	Seed     uint64 // of the random stream
}

// randomStream is the second half of the PCG seed: "weft" and "rand" in ASCII.
const randomStream = 0x77656674_72616e64

func (r *random) declare(p *params) size {
	p.number("switches", &r.Switches, 0, 2, int(fabric.MaxLID)/2, "switches")
	p.number("hosts", &r.Hosts, 1, 1, fabric.MaxPorts-3, "hosts on each switch (default 1)")
	p.number("links", &r.Links, 0, r.Switches-1, r.Switches*(fabric.MaxPorts-r.Hosts)/6, "cables between switches")
	p.seed(&r.Seed, "of the random stream (default 0)")
	// The ports are not known before the draw; the draw keeps to their limit.
	return size{switches: r.Switches, hosts: product(r.Switches, r.Hosts)}
}

// Build makes the fabric.
func (r random) Build() (*fabric.Fabric, error) { return built(&r) }

func (r *random) lay(l *layout) {
	d := drawing{
		rand:   rand.New(rand.NewPCG(r.Seed, randomStream)),
		degree: make([]int, r.Switches),
		most:   fabric.MaxPorts - r.Hosts,
		joined: make(map[[2]int]bool, r.Links),
	}
	d.tree()
	for len(d.links) < r.Links {
		d.link()
	}
	for s, degree := range d.degree {
		l.addSwitch(named("sw", s), r.Hosts+degree)
		l.addHosts(s, r.Hosts)
	}
	used := make([]int, r.Switches)
	for _, k := range d.links {
		used[k[0]]++
		used[k[1]]++
		l.cable(k[0], r.Hosts+used[k[0]], k[1], r.Hosts+used[k[1]])
	}
}

// drawing is a random network under construction.
type drawing struct {
	rand   *rand.Rand
	links  [][2]int
	degree []int           // [switch]
	most   int             // the largest degree allowed
	joined map[[2]int]bool // pairs with a cable, smaller switch first
}

// tree draws the spanning tree.
func (d *drawing) tree() {
	order := d.rand.Perm(len(d.degree))
	for i := 1; i < len(order); i++ {
		parent := order[d.rand.IntN(i)]
		for d.degree[parent] == d.most {
			parent = order[d.rand.IntN(i)]
		}
		d.join(min(parent, order[i]), max(parent, order[i]))
	}
}

// link draws one more cable.
func (d *drawing) link() {
	n := len(d.degree)
	simple := len(d.joined) < n*(n-1)/2
	for {
		a, z := d.rand.IntN(n), d.rand.IntN(n)
		if a < z && d.degree[a] < d.most && d.degree[z] < d.most && !(simple && d.joined[[2]int{a, z}]) {
			d.join(a, z)
			return
		}
	}
}

func (d *drawing) join(a, z int) {
	d.links = append(d.links, [2]int{a, z})
	d.joined[[2]int{a, z}] = true
	d.degree[a]++
	d.degree[z]++
}

func (r random) String() string { return specOf(&r) }
