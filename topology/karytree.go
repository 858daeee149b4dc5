package topology

import "github.com/weft-fabric/weft/fabric"

// karyTree is the k-ary n-tree of F. Petrini and M. Vanneschi: k-ary n-trees:
// High Performance Networks for Massively Parallel Architectures, IPPS 1997. It
// has k^n hosts and n levels of k^(n-1) switches.
//
//	level 0 (roots)     sw-l0-0   sw-l0-1
//	                       │  ╲ ╱  │             K = 2, N = 2
//	level 1 (leaves)    sw-l1-0   sw-l1-1
//	                      ╱ ╲       ╱ ╲
//	hosts                0   1     2   3
//
// As in the paper, a switch is (w, l) with a word w = w0 … w(n-2) of n-1 digits
// below k and a level l, 0 for the roots and n-1 for the leaves. (w, l) and
// (w', l+1) are joined where w and w' agree in every digit but, perhaps, digit
// l. Leaf w holds the hosts whose number in base k begins with w.
//
// Order: by level, roots first, then by w as a number. Name: sw-l, the level, the
// digits of w. Ports of (w, l): port 1+d leads down, to the switch with digit
// w(l) = d or to host d; port k+1+d leads up, to digit w(l-1) = d. Roots have k
// ports, the other switches 2k. With n = 1 there is one switch.
type karyTree struct {
	K int // half the ports of a switch: the hosts of a leaf, from 2
	N int // levels, from 1
}

func (t *karyTree) declare(p *params) size {
	p.number("k", &t.K, 0, 2, fabric.MaxPorts, "hosts of a leaf and cables of a switch each way")
	p.number("n", &t.N, 0, 1, 12, "levels of switches")
	if p.fault != nil {
		return size{}
	}
	perLevel := 1
	for range t.N - 1 {
		perLevel = product(perLevel, t.K)
	}
	return size{
		switches: product(t.N, perLevel),
		hosts:    product(perLevel, t.K),
		ports:    t.K * min(t.N, 2),
	}
}

// Build makes the fabric.
func (t karyTree) Build() (*fabric.Fabric, error) { return built(&t) }

func (t *karyTree) lay(l *layout) {
	radix := make([]int, t.N-1)
	perLevel := 1
	for i := range radix {
		radix[i] = t.K
		perLevel *= t.K
	}
	w := make([]int, len(radix))
	for level := range t.N {
		ports := 2 * t.K
		if level == 0 {
			ports = t.K
		}
		for s := range perLevel {
			digitsOf(s, radix, w)
			l.addSwitch(levelName(level, w), ports)
		}
	}
	weight := weights(radix)
	for level := range t.N - 1 {
		for s := range perLevel {
			digitsOf(s, radix, w)
			own := w[level]
			for d := range t.K {
				below := s + (d-own)*weight[level]
				l.cable(level*perLevel+s, 1+d, (level+1)*perLevel+below, t.K+1+own)
			}
		}
	}
	for s := range perLevel {
		l.addHosts((t.N-1)*perLevel+s, t.K)
	}
}

func (t karyTree) String() string { return specOf(&t) }
