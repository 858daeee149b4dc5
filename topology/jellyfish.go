package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weft-fabric/weft/fabric"
)

// jellyfish is the random regular graph of A. Singla, C.-Y. Hong, L. Popa and P. B.
// Godfrey: Jellyfish: Networking Data Centers Randomly, NSDI 2012, section 3: every
// switch has the same number of cables to randomly chosen others. It is also the random
// network of T. Hoefler, T. Schneider and A. Lumsdaine (Optimized Routing for
// Large-Scale InfiniBand Networks, HOTI 2009, section IV.E): 24-port crossbars with 12
// endpoints and 12 cables each, 43 of them for 516 endpoints.
//
//	       ╲ │ ╱
//	──── switch ────   Degree cables to switches drawn at random, no two
//	      ╱│││╲        to the same and none to itself
//	      hosts
//
// The method of the paper: join two random switches that have a free port and are not
// joined yet, until there are none left; then, as long as a switch has two free ports,
// remove a random cable neither of whose ends is joined to it, and join it to both
// ends. Where two switches have one free port each, the two ends of such a cable are
// joined to one of them each; the paper leaves such ports unused. If the result is not
// connected, which is rare, the drawing starts again with the next numbers of the
// stream.
//
// The draws are math/rand/v2's PCG with Seed and a constant stream; the same
// parameters give the same network. Order: switches by number. Ports: the hosts,
// then the cables by the number of the switch that they lead to.
type jellyfish struct {
	Switches int
	Degree   int    // cables of each switch to others, from 3; Switches times Degree is even
	Hosts    int    // on each switch; zero: 1
	Seed     uint64 // of the random stream
}

// jellyfishStream is the second half of the PCG seed: "weft" and "jell" in ASCII.
const jellyfishStream = 0x77656674_6a656c6c

func (j *jellyfish) declare(p *params) size {
	p.number("switches", &j.Switches, 0, 4, int(fabric.MaxLID)/2, "switches")
	p.number("hosts", &j.Hosts, 1, 1, fabric.MaxPorts-3, "hosts on each switch (default 1)")
	most := min(j.Switches-1, fabric.MaxPorts-j.Hosts)
	var fit []int
	for d := 3; d <= most; d++ {
		if j.Switches%2 == 0 || d%2 == 0 {
			fit = append(fit, d)
		}
	}
	why := fmt.Sprintf("it is 3 to %d, and even if switches is odd", most)
	p.choice("degree", &j.Degree, 0, fit, why, "cables of each switch to others")
	p.seed(&j.Seed, "of the random stream (default 0)")
	return size{switches: j.Switches, hosts: product(j.Switches, j.Hosts), ports: j.Hosts + j.Degree}
}

// Build makes the fabric.
func (j jellyfish) Build() (*fabric.Fabric, error) { return built(&j) }

func (j *jellyfish) lay(l *layout) {
	rng := rand.New(rand.NewPCG(j.Seed, jellyfishStream))
	var r *regular
	for r == nil || !r.connected() {
		r = newRegular(rng, j.Switches, j.Degree)
		r.draw()
		r.complete()
	}
	for s := range j.Switches {
		slices.Sort(r.next[s])
		l.addHosts(l.addSwitch(named("sw", s), j.Hosts+j.Degree), j.Hosts)
	}
	for s, next := range r.next {
		for i, z := range next {
			if back, _ := slices.BinarySearch(r.next[z], s); s < z {
				l.cable(s, j.Hosts+1+i, z, j.Hosts+1+back)
			}
		}
	}
}

func (j jellyfish) String() string { return specOf(&j) }

// regular is a random regular graph under construction.
type regular struct {
	rand   *rand.Rand
	degree int
	next   [][]int // [switch] neighbours
	open   []int   // switches with free ports
}

func newRegular(rng *rand.Rand, n, degree int) *regular {
	return &regular{rand: rng, degree: degree, next: make([][]int, n), open: countUp(0, n)}
}

// draw joins switches at random until no two switches with free ports are unjoined.
func (r *regular) draw() {
	const patience = 64 // draws without success before all pairs are listed
	for vain := 0; len(r.open) > 1; {
		a, z := r.open[r.rand.IntN(len(r.open))], r.open[r.rand.IntN(len(r.open))]
		if vain >= patience {
			pairs := r.unjoined()
			if len(pairs) == 0 {
				return
			}
			pair := pairs[r.rand.IntN(len(pairs))]
			a, z = pair[0], pair[1]
		}
		if a == z || r.joined(a, z) {
			vain++
			continue
		}
		vain = 0
		r.join(a, z)
	}
}

// unjoined is the pairs of switches with free ports that are not joined.
func (r *regular) unjoined() [][2]int {
	var pairs [][2]int
	for i, a := range r.open {
		for _, z := range r.open[:i] {
			if !r.joined(a, z) {
				pairs = append(pairs, [2]int{a, z})
			}
		}
	}
	return pairs
}

// complete uses up free ports that draw could not. It removes a cable and joins each of
// its ends to one of two free ports, which may be on one switch. There always is such a
// cable: a switch that is not joined to the first has more neighbours than the second,
// so that one of them is not joined to the second.
func (r *regular) complete() {
	for len(r.open) > 0 {
		a, z := r.open[0], r.open[len(r.open)-1]
		if len(r.next[a]) <= r.degree-2 {
			z = a
		}
		var fit [][2]int
		for x := range r.next {
			if x == a || r.joined(a, x) {
				continue
			}
			for _, y := range r.next[x] {
				if y != z && !r.joined(z, y) {
					fit = append(fit, [2]int{x, y})
				}
			}
		}
		cable := fit[r.rand.IntN(len(fit))]
		r.unjoin(cable[0], cable[1])
		r.join(a, cable[0])
		r.join(z, cable[1])
	}
}

func (r *regular) joined(a, z int) bool { return slices.Contains(r.next[a], z) }

func (r *regular) join(a, z int) {
	r.next[a], r.next[z] = append(r.next[a], z), append(r.next[z], a)
	for _, s := range []int{a, z} {
		if len(r.next[s]) == r.degree {
			r.open = slices.DeleteFunc(r.open, func(o int) bool { return o == s })
		}
	}
}

// unjoin removes the cable between two full switches; both get another at once.
func (r *regular) unjoin(a, z int) {
	for _, end := range [2][2]int{{a, z}, {z, a}} {
		r.next[end[0]] = slices.DeleteFunc(r.next[end[0]], func(s int) bool { return s == end[1] })
	}
}

// connected reports whether all switches can be reached from the first.
func (r *regular) connected() bool {
	seen := make([]bool, len(r.next))
	seen[0] = true
	queue := []int{0}
	for i := 0; i < len(queue); i++ {
		for _, z := range r.next[queue[i]] {
			if !seen[z] {
				seen[z] = true
				queue = append(queue, z)
			}
		}
	}
	return len(queue) == len(seen)
}
