package topology

import "github.com/weft-fabric/weft/fabric"

// xgft is the extended generalized fat tree XGFT(h; m1 … mh; w1 … wh) of S. R.
// Öhring, M. Ibel, S. K. Das and M. J. Kumar: On Generalized Fat Trees, IPPS
// 1995, with switches as leaves and hosts below them, as J. Domke, T. Hoefler and
// W. E. Nagel use it (Deadlock-Free Oblivious Routing for Arbitrary Topologies,
// IPDPS 2011, Table I). The original puts processors at level 0.
//
//	level 1 (top)      sw-l1-0      sw-l1-1         W = [2]: parents of a leaf
//	                      each leaf to each top
//	level 0 (leaves)   sw-l0-0  sw-l0-1  sw-l0-2    M = [3]: children of a top
//
// M[i-1] is mi, the number of children of a switch of level i; W[i-1] is wi, the number
// of parents of a switch of level i-1. A switch of level l is a word of h digits d(h) …
// d(1), with digit j below wj for j ≤ l and below mj for j > l. A switch of level l is
// joined to those of level l+1 that agree in all digits except perhaps digit l+1: in a
// child this digit says which child it is, in a parent which parent. So level l has
// m(l+1) … mh × w1 … wl switches.
//
// Order: by level, leaves first, then by the word as a number. Name: sw-l, the
// level, the word from d(h) to d(1). Ports of level l: the hosts (leaves) or the
// children ml, by number; then the parents w(l+1), by number.
type xgft struct {
	M     []int // children by level: m1 … mh
	W     []int // parents by level: w1 … wh
	Hosts int   // on each leaf; zero: m1
}

func (t *xgft) declare(p *params) size {
	p.numbers("m", &t.M, nil, fabric.MaxPorts, "children by level, m1 first")
	p.numbers("w", &t.W, nil, fabric.MaxPorts, "parents by level, w1 first")
	if len(t.M) != len(t.W) {
		p.refuse("w", 0, "m=%s has %d levels and w=%s has %d; they have one number each for every level", sizesText(t.M), len(t.M), sizesText(t.W), len(t.W))
	}
	m1 := 1
	if len(t.M) > 0 {
		m1 = t.M[0]
	}
	p.number("hosts", &t.Hosts, m1, 1, fabric.MaxPorts, "hosts on each leaf (default m1)")
	if p.fault != nil {
		return size{}
	}
	var need size
	for level := range t.levels() {
		need.switches = min(need.switches+product(t.radix(level)...), saturated)
		need.ports = max(need.ports, t.portsDown(level)+t.portsUp(level))
	}
	need.hosts = product(product(t.M...), t.Hosts)
	return need
}

func (t *xgft) levels() int { return len(t.M) + 1 }

// radix is the bases of the digits at a level, d(h) first.
func (t *xgft) radix(level int) []int {
	h := len(t.M)
	r := make([]int, h)
	for j := 1; j <= h; j++ {
		r[h-j] = t.M[j-1]
		if j <= level {
			r[h-j] = t.W[j-1]
		}
	}
	return r
}

func (t *xgft) portsDown(level int) int {
	if level == 0 {
		return t.Hosts
	}
	return t.M[level-1]
}

func (t *xgft) portsUp(level int) int {
	if level == len(t.W) {
		return 0
	}
	return t.W[level]
}

// Build makes the fabric.
func (t xgft) Build() (*fabric.Fabric, error) { return built(&t) }

func (t *xgft) lay(l *layout) { t.layDealt(l, product(t.M...)*t.Hosts) }

// layDealt is lay with so many hosts in all, distributed evenly over the leaves, at most Hosts
// on each.
func (t *xgft) layDealt(l *layout, hosts int) {
	first := make([]int, t.levels()) // number of the first switch of a level
	word := make([]int, len(t.M))
	for level := range t.levels() {
		first[level] = len(l.switches)
		radix := t.radix(level)
		for s := range product(radix...) {
			digitsOf(s, radix, word)
			l.addSwitch(levelName(level, word), t.portsDown(level)+t.portsUp(level))
		}
	}
	leaves := product(t.M...)
	for s := range leaves {
		l.addHosts(s, share(hosts, leaves, s))
	}
	for level := range len(t.M) {
		t.cableUp(l, level, first[level], first[level+1])
	}
}

// cableUp joins a level to the one above; first and above are the numbers of
// their first switches.
func (t *xgft) cableUp(l *layout, level, first, above int) {
	radix, radixAbove := t.radix(level), t.radix(level+1)
	weight := weights(radixAbove)
	changes := len(radix) - 1 - level // index of digit level+1
	word := make([]int, len(radix))
	for s := range product(radix...) {
		digitsOf(s, radix, word)
		child, parent := word[changes], 0
		for i, d := range word {
			if i != changes {
				parent += d * weight[i]
			}
		}
		for b := range t.W[level] {
			l.cable(first+s, t.portsDown(level)+1+b, above+parent+b*weight[changes], 1+child)
		}
	}
}

func (t xgft) String() string { return specOf(&t) }
