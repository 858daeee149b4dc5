package topology

import "github.com/weft-fabric/weft/fabric"

// kautz is the Kautz graph K(B, N) (W. H. Kautz: Bounds on Directed (d, k) Graphs,
// in Theory of Cellular Logic Networks and Machines, AFCRL-68-0668, 1968) with the
// switches as vertices, as J. Domke, T. Hoefler and W. E. Nagel use it
// (Deadlock-Free Oblivious Routing for Arbitrary Topologies, IPDPS 2011, Table I).
// A switch is a word of N letters from an alphabet of B+1, with no equal letters side
// by side; there are (B+1)·B^(N-1) of them. From each word a cable leads to every word
// that drops its first letter and appends another.
//
//	sw-0-1 ─┬─► sw-1-0 ═► sw-0-1                     B = 2, N = 2:
//	        └─► sw-1-2 ─► sw-2-0, sw-2-1 …           6 switches, 12 cables
//
// Every switch has B cables out and B in, 2B in all. Cables work both ways. The words
// that alternate between two letters are joined by two cables, and no switch is more
// than N hops away from another.
//
// Order: by word. Ports: the hosts, then the cables out by the letter appended, then
// the cables in by the letter that the neighbour drops.
type kautz struct {
	B     int // cables out of a switch, from 2
	N     int // letters of a word, from 2: the diameter
	Hosts int // on each switch; zero: 1
}

func (k *kautz) declare(p *params) size {
	p.number("b", &k.B, 0, 2, fabric.MaxPorts/2, "cables out of a switch; as many come in")
	p.number("n", &k.N, 0, 2, 14, "letters of a word: the diameter")
	hostsParam(p, &k.Hosts)
	if p.fault != nil {
		return size{}
	}
	n := k.switches()
	return size{switches: n, hosts: product(n, k.Hosts), ports: k.Hosts + 2*k.B}
}

// Build makes the fabric.
func (k kautz) Build() (*fabric.Fabric, error) { return built(&k) }

func (k *kautz) lay(l *layout) { k.layDealt(l, k.Hosts*k.switches()) }

func (k *kautz) switches() int {
	n := k.B + 1
	for range k.N - 1 {
		n = product(n, k.B)
	}
	return n
}

// layDealt is lay with so many hosts in all, distributed evenly, at most Hosts on a switch.
func (k *kautz) layDealt(l *layout, hosts int) {
	n := k.switches()
	word := make([]int, k.N)
	for s := range n {
		k.spell(s, word)
		l.addHosts(l.addSwitch(named("sw", word...), k.Hosts+2*k.B), share(hosts, n, s))
	}
	for s := range n {
		k.spell(s, word)
		for out := range k.B {
			l.cable(s, k.Hosts+1+out, k.after(s, word[1], out), k.Hosts+k.B+1+rankBeside(word[0], word[1]))
		}
	}
}

// spell writes into word the letters of switch s. Its digits are the first letter, then for each
// other its rank among the letters that differ from the one before.
func (k *kautz) spell(s int, word []int) {
	for i := k.N - 1; i > 0; i-- {
		word[i] = s % k.B
		s /= k.B
	}
	word[0] = s
	for i := 1; i < k.N; i++ {
		if word[i] >= word[i-1] {
			word[i]++
		}
	}
}

// after is the number of a word that follows s; second is the second letter of s, and
// out the digit of the appended letter.
func (k *kautz) after(s, second, out int) int {
	sameFirst := k.switches() / (k.B + 1) // words that begin with the same letter
	return second*sameFirst + s%(sameFirst/k.B)*k.B + out
}

// rankBeside is the rank of a letter among those other than other.
func rankBeside(letter, other int) int {
	if letter > other {
		return letter - 1
	}
	return letter
}

func (k kautz) String() string { return specOf(&k) }
