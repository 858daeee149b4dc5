package topology

import (
	"fmt"
	"slices"
	"testing"
)

// TestPolarFlyDiameter: Q²+Q+1 switches, Q(Q+1)²/2 cables, two hops, for primes and powers.
func TestPolarFlyDiameter(t *testing.T) {
	for _, q := range []int{2, 3, 4, 5, 7, 8, 9, 11, 13, 16} {
		f := build(t, fmt.Sprintf("polarfly:q=%d,hosts=1", q))
		n := q*q + q + 1
		if got, want := measure(f), (shape{n, n, q * (q + 1) * (q + 1) / 2, q, q + 1, q + 2, 2, 2}); got != want {
			t.Errorf("q = %d: %+v, want %+v", q, got, want)
		}
		checkSimple(t, f)
	}
}

// TestPolarFlyWiring: for a prime everything is arithmetic modulo q.
func TestPolarFlyWiring(t *testing.T) {
	for _, q := range []int{2, 3, 5, 7} {
		var points [][3]int
		for i := range q * q {
			points = append(points, [3]int{1, i / q, i % q})
		}
		for i := range q {
			points = append(points, [3]int{0, 1, i})
		}
		points = append(points, [3]int{0, 0, 1})
		pairs, quadrics := pairsOf(build(t, fmt.Sprintf("polarfly:q=%d", q))), 0
		for i, a := range points {
			for j, b := range points {
				joined := (a[0]*b[0]+a[1]*b[1]+a[2]*b[2])%q == 0
				if i == j && joined {
					quadrics++
				} else if got := pairs[[2]int{i, j}] == 1; got != joined {
					t.Errorf("q = %d: %v and %v joined: %v, want %v", q, a, b, got, joined)
				}
			}
		}
		if quadrics != q+1 {
			t.Errorf("q = %d: %d quadrics", q, quadrics)
		}
	}
}

// TestSupernodes: degree, no loops, both directions, and of every two vertices that the
// bijection does not map on each other, they or their images are joined: only one of
// both in Paley graphs, whose bijection applied twice changes nothing.
func TestSupernodes(t *testing.T) {
	for _, n := range []int{5, 9, 13, 17, 25, 29, 49} {
		joined, f := paley(n)
		checkSupernode(t, fmt.Sprintf("Paley %d", n), joined, f, (n-1)/2)
		for s := range n {
			for u := range n {
				there := slices.Contains(joined[s], u)
				if s != u && there == slices.Contains(joined[f[s]], f[u]) {
					t.Fatalf("Paley %d: %d and %d and their images are both joined or both not", n, s, u)
				}
				if there != slices.Contains(joined[f[f[s]]], f[f[u]]) {
					t.Fatalf("Paley %d: images of images of %d and %d differ", n, s, u)
				}
			}
		}
	}
	for _, d := range []int{0, 3, 4, 7, 8, 11, 12, 15, 16} {
		joined, f := pairedQuads(d)
		checkSupernode(t, fmt.Sprintf("quads %d", d), joined, f, d)
		for s := range joined {
			if f[f[s]] != s || f[s] == s {
				t.Fatalf("quads %d: %d, its partner %d, and its %d", d, s, f[s], f[f[s]])
			}
			for u := range joined {
				if u != s && u != f[s] && !slices.Contains(joined[s], u) && !slices.Contains(joined[f[s]], f[u]) {
					t.Fatalf("quads %d: neither %d and %d are joined nor their partners", d, s, u)
				}
			}
		}
	}
}

func checkSupernode(t *testing.T, name string, joined [][]int, f []int, degree int) {
	t.Helper()
	if image := slices.Sorted(slices.Values(f)); len(slices.Compact(image)) != len(joined) {
		t.Fatalf("%s: %v is no bijection", name, f)
	}
	for s, others := range joined {
		if len(others) != degree || !slices.IsSorted(others) || len(slices.Compact(slices.Clone(others))) != degree {
			t.Fatalf("%s: %d has neighbours %v", name, s, others)
		}
		for _, u := range others {
			if u == s || !slices.Contains(joined[u], s) {
				t.Fatalf("%s: %d has neighbours %v, and %d has %v", name, s, others, u, joined[u])
			}
		}
	}
}

// TestStarProducts: three hops, and every cable is one of the definition.
func TestStarProducts(t *testing.T) {
	for _, test := range []struct {
		spec      string
		structure string // of one host a switch
		order     int    // of a supernode
		supernode func(n int) ([][]int, []int)
		loops     int // structure's switches joined to themselves
	}{
		{"polarstar:q=2,d=3", "polarfly:q=2,hosts=1", 8, quadsOf, 3},
		{"polarstar:q=3,d=4", "polarfly:q=3,hosts=1", 10, quadsOf, 4},
		{"polarstar:q=4,d=3", "polarfly:q=4,hosts=1", 8, quadsOf, 5},
		{"polarstar:q=5,d=7", "polarfly:q=5,hosts=1", 16, quadsOf, 6},
		{"polarstar:q=2,supernode=paley,d=2", "polarfly:q=2,hosts=1", 5, paley, 0},
		{"polarstar:q=4,supernode=paley,d=4", "polarfly:q=4,hosts=1", 9, paley, 0},
		{"polarstar:q=5,supernode=paley,d=6", "polarfly:q=5,hosts=1", 13, paley, 0},
		{"bundlefly:q=3,p=5", "slimfly:q=3,hosts=1", 5, paley, 0},
		{"bundlefly:q=4,p=9", "slimfly:q=4,hosts=1", 9, paley, 0},
		{"bundlefly:q=5,p=5", "slimfly:q=5,hosts=1", 5, paley, 0},
	} {
		f := build(t, test.spec)
		checkSimple(t, f)
		if m := measure(f); m.diameter != 3 {
			t.Errorf("%s: diameter %d", test.spec, m.diameter)
		}
		n := test.order
		inside, image := test.supernode(n)
		structure, loops := pairsOf(build(t, test.structure)), map[int]bool{}
		for pair := range pairsOf(f) {
			x, s, y, u := pair[0]/n, pair[0]%n, pair[1]/n, pair[1]%n
			switch {
			case x == y && slices.Contains(inside[s], u):
			case x == y && image[s] == u && image[u] == s:
				loops[x] = true
			case x < y && structure[[2]int{x, y}] == 1 && image[s] == u:
			case x > y && structure[[2]int{x, y}] == 1 && image[u] == s:
			default:
				t.Fatalf("%s: a cable from switch %d of supernode %d to switch %d of supernode %d", test.spec, s, x, u, y)
			}
		}
		if len(loops) != test.loops {
			t.Errorf("%s: %d supernodes with cables between partners, want %d", test.spec, len(loops), test.loops)
		}
	}
}

func quadsOf(n int) ([][]int, []int) { return pairedQuads(n/2 - 1) }
