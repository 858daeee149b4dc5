package topology

import "github.com/weft-fabric/weft/fabric"

// oft is the two-level Orthogonal Fat-Tree of M. Valerio, L. E. Moser and P. M.
// Melliar-Smith: Recursively Scalable Fat-Trees as Interconnection Networks, IPCCC
// 1994, as T. Schneider, O. Bibartiu and T. Hoefler use it (Ensuring
// Deadlock-Freedom in Low-Diameter InfiniBand Networks, HOTI 2016, section VI.C):
// two single-path trees stacked on one set of middle switches.
//
//	sw-l0-0   sw-l0-1   …   sw-l0-(R-1)     R leaves with K hosts each
//	     ╲ K  ╱    a leaf is a point, a middle switch a line; each leaf
//	      ╲  ╱     is joined to the K lines that its point lies on
//	sw-l1-0   sw-l1-1   …   sw-l1-(R-1)     R middle switches, no hosts
//	      ╱  ╲
//	     ╱ K  ╲
//	sw-l2-0   sw-l2-1   …   sw-l2-(R-1)     R leaves with K hosts each
//
// Points and lines are those of the projective plane of order K-1: R = K² - K + 1 of
// each, K points on a line and K lines through a point, and two points on exactly one
// line. So two leaves are two hops apart, by a single path, or by K of them where
// they are the same point of the two trees. It has 3R switches of 2K ports and
// 2KR hosts.
//
// The plane is PG(2, K-1) over the field of K-1 elements, so that K-1 has to be a prime
// power. The paper also mentions K = 16, which would take a plane of order 15, and none
// is known. The nearest possible values are K = 14 and K = 17. (A plane of order 16
// without one line and its points, and without the other lines through one of these
// points, has 256 points and 256 lines, 16 to each; but then every leaf has no middle
// switch in common with 15 others, and that is not an Orthogonal Fat-Tree.)
//
// Order: by level, then by number. Points are (1, y, z), (0, 1, z), (0, 0, 1) by
// number, lines the same; a point lies on a line if the products of their
// coordinates add up to 0. Ports of a leaf: the hosts, then its lines in order; of a
// middle switch: its points on level 0, then those on level 2.
type oft struct {
	K int // cables of a leaf, and number of its hosts; K-1 is a prime power
}

// mostK is larger than any K whose 3R switches and 2KR hosts have enough LIDs.
const mostK = 32

func (t *oft) declare(p *params) size {
	choices := primePowers(mostK - 1)
	for i := range choices {
		choices[i]++
	}
	p.choice("k", &t.K, 0, choices, "k-1 has to be a prime power, as no projective plane of another order is known (and over 28 there are not LIDs enough)", "hosts of a leaf, and its cables to others; k-1 is a prime power")
	r := product(t.K, t.K) - t.K + 1
	return size{switches: product(3, r), hosts: product(2, t.K, r), ports: 2 * t.K}
}

// Build makes the fabric.
func (t oft) Build() (*fabric.Fabric, error) { return built(&t) }

func (t *oft) lay(l *layout) {
	lines := projectivePlane(newField(t.K - 1))
	for level := range 3 {
		for i := range lines {
			l.addSwitch(levelName(level, []int{i}), 2*t.K)
		}
	}
	r := len(lines)
	for _, level := range []int{0, 2} {
		used := make([]int, r) // [point] cables on the leaf so far
		for line, points := range lines {
			for i, point := range points {
				l.cable(level*r+point, t.K+1+used[point], r+line, level/2*t.K+1+i)
				used[point]++
			}
		}
		for leaf := range r {
			l.addHosts(level*r+leaf, t.K)
		}
	}
}

// projectivePlane is the points on each line of PG(2, q), in order. A line and an equation
// that its points solve are the same thing, so that each is found in O(1).
func projectivePlane(gf *field) [][]int {
	q := gf.q
	lines := make([][]int, q*q+q+1)
	for i := range lines {
		a := [3]int{1, i / q, i % q}
		if i >= q*q {
			a = [3]int{0, 1, i - q*q}
		}
		if i == q*q+q {
			a = [3]int{0, 0, 1}
		}
		line := make([]int, 0, q+1)
		for y := range q {
			line = gf.appendRoots(line, y*q, gf.add(a[0], gf.mul(a[1], y)), a[2])
		}
		line = gf.appendRoots(line, q*q, a[1], a[2])
		if a[2] == 0 {
			line = append(line, q*q+q)
		}
		lines[i] = line
	}
	return lines
}

// appendRoots appends first + z for every z that solves s + a·z = 0, in order.
func (f *field) appendRoots(list []int, first, s, a int) []int {
	switch {
	case a != 0:
		return append(list, first+f.root(s, a))
	case s == 0:
		for z := range f.q {
			list = append(list, first+z)
		}
	}
	return list
}

func (t oft) String() string { return specOf(&t) }
