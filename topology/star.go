package topology

import "slices"

// star is the star product of two graphs (J.-C. Bermond, C. Delorme, G. Farhi: Large
// graphs with given degree and diameter III, Annals of Discrete Mathematics 13, 1982):
// each switch x of a structure becomes a copy of a supernode, and each cable of the
// structure one cable from every switch of a copy to that switch of the other copy which
// a bijection of the supernode gives.
//
//	sw-x-s ── sw-x-t   if s and t are joined in the supernode
//	sw-x-s ── sw-y-f(s)   if x and y are joined in the structure, and x < y
//	sw-x-s ── sw-x-f(s)   if x is joined to itself, and f its own inverse
//
// If any two switches of the structure are two hops apart or less, the product has a
// diameter of three for supernodes and bijections of two kinds:
//
//   - f maps the supernode on its complement, and f∘f maps it on itself, as for Paley
//     graphs (see paley). Two steps along the structure and one within a copy, taken
//     first or last, reach all neighbours of f²(s) or of s; taken between, all others.
//   - f is its own inverse, and of every two switches s and t other than f(s) either s and
//     t or f(s) and f(t) are joined, as in pairedQuads; and any two switches of the
//     structure are joined by a walk of exactly two steps, standing still at switches that
//     are joined to themselves counted as a step. The same three steps reach all but f(s),
//     and that three along the structure.
//
// The second is K. Lakhotia and others: PolarStar: Expanding the Horizon of Diameter-3
// Networks, SPAA 2024 (properties R and R*), the first F. Lei and others: Bundlefly: A
// Low-Diameter Topology for Multicore Fiber, ICS 2020.
//
// Order: by switch of the structure, then of the supernode. Ports: the hosts, then the
// cables within the copy by the other switch, then those to other copies by copy, one
// within the copy for a structure's switch that is joined to itself among them.
type star struct {
	structure [][]int // [x] those joined to it, ascending, itself perhaps among them
	supernode [][]int // [s] those joined to it, ascending
	f         []int   // [s]
	hosts     int
}

func (p *star) lay(l *layout) {
	n, inverse := len(p.supernode), make([]int, len(p.f))
	for s, t := range p.f {
		inverse[t] = s
	}
	most := 0
	for _, others := range p.structure {
		most = max(most, len(others))
	}
	for x := range p.structure {
		for s, inside := range p.supernode {
			l.addHosts(l.addSwitch(named("sw", x, s), p.hosts+len(inside)+most), p.hosts)
		}
	}
	// across is the port of switch s of any copy for the i-th of its copy's cables.
	across := func(s, i int) int { return p.hosts + 1 + len(p.supernode[s]) + i }
	for x, others := range p.structure {
		for s, inside := range p.supernode {
			for i, t := range inside {
				if s < t {
					l.cable(x*n+s, p.hosts+1+i, x*n+t, p.hosts+1+slices.Index(p.supernode[t], s))
				}
			}
			for i, y := range others {
				if t := p.f[s]; x < y || x == y && s < t {
					l.cable(x*n+s, across(s, i), y*n+t, across(t, slices.Index(p.structure[y], x)))
				}
			}
		}
	}
}

// paley is the Paley graph of n elements, n a prime power that is 1 modulo 4, and a
// bijection onto its complement: two elements are joined if their difference is a square,
// and the bijection multiplies by an element that is none (R. E. A. C. Paley: On
// orthogonal matrices, Journal of Mathematics and Physics 12, 1933).
func paley(n int) (joined [][]int, f []int) {
	gf := newField(n)
	joined, f = make([][]int, n), make([]int, n)
	for s := range n {
		for e := 0; e < n-1; e += 2 {
			joined[s] = append(joined[s], gf.add(s, gf.exp[e]))
		}
		slices.Sort(joined[s])
		f[s] = gf.mul(s, gf.exp[1])
	}
	return joined, f
}

// paleySizes lists the sizes of Paley graphs up to most.
func paleySizes(most int) []int {
	return slices.DeleteFunc(primePowers(most), func(n int) bool { return n%4 != 1 })
}

// pairedQuads is a graph of 2(d+1) vertices with d neighbours each, d being 0 or 3 modulo
// 4, and the bijection that swaps vertices 2i and 2i+1. Between every two pairs there are
// two edges: from one of the four vertices to both of the other pair. So of s, t and their
// partners, either s and t or the partners are joined.
//
// Which vertex that is follows a tournament of the d+1 pairs in which each beats an even
// number of others: the first half of them falls to 2i, the other to 2i+1. So a vertex
// has two edges for each of half the pairs that its own beats, and one for each that beats
// it: d in all. For an odd number of pairs each beats the half of them that follow in a
// circle; for an even number the last pair is beaten by all others. (PolarStar's
// Inductive-Quad graphs, section 5 there, have the same order, degree and property; they
// are built by induction from graphs on two and eight vertices.)
func pairedQuads(d int) (joined [][]int, f []int) {
	pairs := d + 1
	circle := pairs - 1 + pairs%2 // pairs in the circle
	joined, f = make([][]int, 2*pairs), make([]int, 2*pairs)
	for i := range pairs {
		f[2*i], f[2*i+1] = 2*i+1, 2*i
		var beaten []int
		if i < circle {
			for step := 1; step <= circle/2; step++ {
				beaten = append(beaten, (i+step)%circle)
			}
			if circle < pairs {
				beaten = append(beaten, circle)
			}
		}
		for k, j := range beaten {
			owner := 2*i + k/(len(beaten)/2)
			for _, t := range []int{2 * j, 2*j + 1} {
				joined[owner], joined[t] = append(joined[owner], t), append(joined[t], owner)
			}
		}
	}
	for s := range joined {
		slices.Sort(joined[s])
	}
	return joined, f
}
